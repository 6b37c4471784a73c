--> {"client": "psycopg", "parameters": ["mood"], "columns": [["name", 19], ["oid", 26], ["array_oid", 26], ["regtype", 25], ["labels", 1003]]}
SELECT name, oid, array_oid, regtype, array_agg(label) AS labels
FROM (
    SELECT
        t.typname AS name, t.oid AS oid, t.typarray AS array_oid,
        t.oid::regtype::text AS regtype, e.enumlabel AS label
    FROM pg_type t
    LEFT JOIN  pg_enum e
    ON e.enumtypid = t.oid
    WHERE t.oid = to_regtype($1)
    ORDER BY e.enumsortorder
) x
GROUP BY name, oid, array_oid, regtype
--> {"client": "psycopg", "parameters": ["people"], "columns": [["name", 19], ["oid", 26], ["array_oid", 26], ["regtype", 25], ["field_names", 1003], ["field_types", 1028]]}
SELECT
    t.typname AS name, t.oid AS oid, t.typarray AS array_oid,
    t.oid::regtype::text AS regtype,
    coalesce(a.fnames, '{}') AS field_names,
    coalesce(a.ftypes, '{}') AS field_types
FROM pg_type t
LEFT JOIN (
    SELECT
        attrelid,
        array_agg(attname) AS fnames,
        array_agg(atttypid) AS ftypes
    FROM (
        SELECT a.attrelid, a.attname, a.atttypid
        FROM pg_attribute a
        JOIN pg_type t ON t.typrelid = a.attrelid
        WHERE t.oid = to_regtype($1)
        AND a.attnum > 0
        AND NOT a.attisdropped
        ORDER BY a.attnum
    ) x
    GROUP BY attrelid
) a ON a.attrelid = t.typrelid
WHERE t.oid = to_regtype($1)
--> {"client": "psycopg", "parameters": ["int4range"], "columns": [["name", 19], ["oid", 26], ["array_oid", 26], ["regtype", 25], ["subtype_oid", 26]]}
SELECT t.typname AS name, t.oid AS oid, t.typarray AS array_oid,
    t.oid::regtype::text AS regtype,
    r.rngsubtype AS subtype_oid
FROM pg_type t
JOIN pg_range r ON t.oid = r.rngtypid
WHERE t.oid = to_regtype($1)
--> {"client": "psycopg", "parameters": ["int4multirange"], "columns": [["name", 19], ["oid", 26], ["array_oid", 26], ["regtype", 25], ["range_oid", 26], ["subtype_oid", 26]]}
SELECT t.typname AS name, t.oid AS oid, t.typarray AS array_oid,
    t.oid::regtype::text AS regtype,
    r.rngtypid AS range_oid, r.rngsubtype AS subtype_oid
FROM pg_type t
JOIN pg_range r ON t.oid = r.rngmultitypid
WHERE t.oid = to_regtype($1)
--> {"client": "psycopg2", "columns": [["oid", 26], ["typarray", 26], ["attname", 19], ["atttypid", 26]]}
SELECT t.oid, typarray, attname, atttypid
FROM pg_type t
JOIN pg_namespace ns ON typnamespace = ns.oid
JOIN pg_attribute a ON attrelid = typrelid
WHERE typname = 'people' AND nspname = 'public'
    AND attnum > 0 AND NOT attisdropped
ORDER BY attnum
--> {"client": "pg8000", "columns": [["version", 25], ["current_user", 19]]}
select version(), current_user
--> {"client": "pandas", "columns": [["table_name", 19]]}
select table_name from information_schema.tables where table_schema='public'
