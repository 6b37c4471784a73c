-- Those of PostgreSQL's functions that the views of the catalogue call.
-- Who is connected and to what (`person`, `database`, `product`) are variables of the connection.

CREATE MACRO fn.current_user() AS CAST(getvariable('person') AS VARCHAR);
CREATE MACRO fn.current_database() AS CAST(getvariable('database') AS VARCHAR);
CREATE MACRO fn.pg_get_userbyid(a) AS
        CASE a WHEN 10 THEN CAST(getvariable('product') AS VARCHAR)
            WHEN 16386 THEN fn.current_user()
            ELSE 'unknown (OID=' || a || ')' END;
CREATE MACRO fn.format_type(a, b) AS
        (SELECT max(x.shown)
            FROM cat.shown_types AS x
            WHERE x.oid = a) || CASE
            WHEN b >= 4 AND a IN (1042, 1043) THEN '(' || (b - 4) || ')'
            ELSE '' END;
CREATE MACRO fn.pg_get_indexdef(a) AS
        (SELECT max(x.definition) FROM cat.definitions AS x WHERE x.oid = a),
    (a, b, c) AS
        CASE
            WHEN b = 0 THEN (SELECT max(x.definition)
            FROM cat.definitions AS x
            WHERE x.oid = a)
            ELSE (SELECT max(x.attname)
            FROM cat.pg_attribute AS x
            WHERE x.attrelid = a AND x.attnum = b) END;
CREATE MACRO fn.pg_get_viewdef(a) AS
        (SELECT max(x.definition) FROM cat.definitions AS x WHERE x.oid = a),
    (a, b) AS (SELECT max(x.definition) FROM cat.definitions AS x WHERE x.oid = a);
