-- What stands in PostgreSQL's tables here, made of what is staged: `staged_types`,
-- `staged_relations`, `staged_columns` and `staged_references`. Of the data itself there is no
-- statistic, and how many rows a relation has is never said (-1: unknown). An object's row type,
-- index, constraint, rule and references have the oids that follow its own. Whatever refers, or is
-- referred to, is said to have triggers: clients look for its references only then.

INSERT INTO cat.pg_namespace (oid, nspname, nspowner) VALUES
    (11, 'pg_catalog', 10), (99, 'pg_toast', 10), (2200, 'public', 10),
    (12999, 'information_schema', 10), (16385, getvariable('product'), 10);

INSERT INTO cat.pg_am (oid, amname, amhandler, amtype) VALUES
    (2, 'heap', 0, 't'), (403, 'btree', 0, 'i');

INSERT INTO cat.pg_language BY NAME
SELECT l.oid, l.name AS lanname, 10 AS lanowner, false AS lanispl, l.trusted AS lanpltrusted,
    0 AS lanplcallfoid, 0 AS laninline, 0 AS lanvalidator
FROM (VALUES (12, 'internal', false), (13, 'c', false), (14, 'sql', true)) AS l(oid, name, trusted);

INSERT INTO cat.pg_collation BY NAME
SELECT c.oid, c.name AS collname, 11 AS collnamespace, 10 AS collowner, c.provider AS collprovider,
    true AS collisdeterministic, -1 AS collencoding, c.name AS collcollate, c.name AS collctype
FROM (VALUES (100, 'default', 'd'), (950, 'C', 'c'), (951, 'POSIX', 'c')) AS c(oid, name, provider);

INSERT INTO cat.pg_tablespace (oid, spcname, spcowner) VALUES
    (1663, 'pg_default', 10), (1664, 'pg_global', 10);

INSERT INTO cat.pg_range BY NAME
SELECT t.oid AS rngtypid, s.oid AS rngsubtype, m.oid AS rngmultitypid, 0 AS rngcollation,
    0 AS rngsubopc, 0 AS rngcanonical, 0 AS rngsubdiff
FROM (VALUES ('int4range', 'int4'), ('int8range', 'int8'), ('numrange', 'numeric'),
    ('tsrange', 'timestamp'), ('tstzrange', 'timestamptz'), ('daterange', 'date')
) AS r(name, element)
JOIN staged_types AS t ON t.name = r.name
JOIN staged_types AS s ON s.name = r.element
JOIN staged_types AS m ON m.name = replace(r.name, 'range', 'multirange')
ORDER BY t.place;

INSERT INTO cat.pg_type BY NAME
SELECT t.oid, t.name AS typname, 11 AS typnamespace, 10 AS typowner, t.length AS typlen,
    t.length IN (1, 2, 4, 8) AND t.name <> 'macaddr8' AS typbyval, t.kind AS typtype,
    t.category AS typcategory, t.preferred AS typispreferred, true AS typisdefined,
    CASE WHEN t.name IN ('box', '_box') THEN ';' ELSE ',' END AS typdelim, 0 AS typrelid,
    0 AS typsubscript, t.element AS typelem, t."array" AS typarray, t.reads AS typinput,
    t.writes AS typoutput, CASE t.kind WHEN 'p' THEN 0 ELSE t.receives END AS typreceive,
    CASE t.kind WHEN 'p' THEN 0 ELSE t.sends END AS typsend, 0 AS typmodin, 0 AS typmodout,
    0 AS typanalyze, t.align AS typalign, t.storage AS typstorage, false AS typnotnull,
    0 AS typbasetype, -1 AS typtypmod, 0 AS typndims, t.collation AS typcollation
FROM staged_types AS t ORDER BY t.place;

-- The row type of a declared relation is a record.
INSERT INTO cat.pg_type BY NAME
SELECT t.* REPLACE (r.oid + 1 AS oid, r.name AS typname, n.oid AS typnamespace, 'c' AS typtype,
    'C' AS typcategory, r.oid AS typrelid, 0 AS typarray)
FROM staged_relations AS r
JOIN cat.pg_namespace AS n ON n.nspname = r.schema
JOIN cat.pg_type AS t ON t.typname = 'record'
WHERE r.declared ORDER BY r.oid;

-- The functions that read and write types; no client calls them, but types point at them.
INSERT INTO cat.pg_proc BY NAME
SELECT f.oid, f.name AS proname, 11 AS pronamespace, 10 AS proowner, 12 AS prolang, 1 AS procost,
    0 AS prorows, 0 AS provariadic, 0 AS prosupport, 'f' AS prokind, false AS prosecdef,
    false AS proleakproof, true AS proisstrict, false AS proretset, 'i' AS provolatile,
    's' AS proparallel, 1 AS pronargs, 0 AS pronargdefaults,
    CASE WHEN f.reads THEN 2281 ELSE 2275 END AS prorettype,
    [CASE WHEN f.reads THEN 2275 ELSE 2281 END] AS proargtypes, f.name AS prosrc
FROM (SELECT oid, name, suffix(name, 'in') OR suffix(name, 'recv') AS reads FROM staged_functions)
    AS f ORDER BY f.oid;

INSERT INTO cat.pg_class BY NAME
SELECT c.oid, c.name AS relname, n.oid AS relnamespace, c.type AS reltype, 0 AS reloftype,
    10 AS relowner, c.method AS relam, c.oid AS relfilenode, 0 AS reltablespace, 0 AS relpages,
    -1 AS reltuples, 0 AS relallvisible, 0 AS reltoastrelid, c.keyed AS relhasindex,
    false AS relisshared, 'p' AS relpersistence, c.kind AS relkind, c.columns AS relnatts,
    0 AS relchecks, c.kind = 'v' AS relhasrules,
    c.oid IN (SELECT relation FROM staged_references UNION ALL SELECT other FROM staged_references)
    AS relhastriggers,
    false AS relhassubclass, false AS relrowsecurity, false AS relforcerowsecurity,
    true AS relispopulated, CASE WHEN c.kind = 'r' AND c.declared THEN 'd' ELSE 'n' END
    AS relreplident, false AS relispartition, 0 AS relrewrite, 0 AS relfrozenxid, 0 AS relminmxid
FROM (
    SELECT r.oid, r.name, r.schema, CASE WHEN r.declared THEN r.oid + 1 ELSE 0 END AS type,
        CASE r.kind WHEN 'r' THEN 2 ELSE 0 END AS method, r.key IS NOT NULL AS keyed, r.kind,
        r.columns, r.declared, r.place
    FROM staged_relations AS r
    UNION ALL
    SELECT r.oid + 2, r.name || '_pkey', r.schema, 0, 403, false, 'i', 1, false, 100000 + r.place
    FROM staged_relations AS r WHERE r.key IS NOT NULL
) AS c JOIN cat.pg_namespace AS n ON n.nspname = c.schema ORDER BY c.place;

INSERT INTO cat.pg_attribute BY NAME
SELECT a.relation AS attrelid, a.name AS attname, t.oid AS atttypid, -1 AS attstattarget,
    t.length AS attlen, a.number AS attnum, CAST(t.name[1] = '_' AS INTEGER) AS attndims,
    -1 AS attcacheoff, -1 AS atttypmod, t.length IN (1, 2, 4, 8) AS attbyval, t.align AS attalign,
    t.storage AS attstorage, '' AS attcompression, a.fixed AS attnotnull, false AS atthasdef,
    false AS atthasmissing, '' AS attidentity, '' AS attgenerated, false AS attisdropped,
    true AS attislocal, 0 AS attinhcount, t.collation AS attcollation
FROM (
    SELECT c.relation, c.number, c.name, c.type, c.is_key AS fixed, c.place FROM staged_columns AS c
    UNION ALL
    SELECT c.relation + 2, 1, c.name, c.type, false, c.place FROM staged_columns AS c WHERE c.is_key
) AS a JOIN staged_types AS t ON t.name = a.type ORDER BY a.place, a.relation;

INSERT INTO cat.pg_index BY NAME
SELECT c.relation + 2 AS indexrelid, c.relation AS indrelid, 1 AS indnatts, 1 AS indnkeyatts,
    true AS indisunique, false AS indnullsnotdistinct, true AS indisprimary,
    false AS indisexclusion, true AS indimmediate, false AS indisclustered, true AS indisvalid,
    false AS indcheckxmin, true AS indisready, true AS indislive, false AS indisreplident,
    [c.number] AS indkey, [t.collation] AS indcollation, [0] AS indclass, [0] AS indoption
FROM staged_columns AS c JOIN staged_types AS t ON t.name = c.type WHERE c.is_key ORDER BY c.place;

INSERT INTO cat.pg_constraint BY NAME
SELECT c.relation + 3 AS oid, r.name || '_pkey' AS conname, n.oid AS connamespace, 'p' AS contype,
    false AS condeferrable, false AS condeferred, true AS convalidated, c.relation AS conrelid,
    0 AS contypid, c.relation + 2 AS conindid, 0 AS conparentid, 0 AS confrelid,
    ' ' AS confupdtype, ' ' AS confdeltype, ' ' AS confmatchtype, true AS conislocal,
    0 AS coninhcount, true AS connoinherit, [c.number] AS conkey
FROM staged_columns AS c
JOIN staged_relations AS r ON r.oid = c.relation
JOIN cat.pg_namespace AS n ON n.nspname = r.schema
WHERE c.is_key ORDER BY c.place;

INSERT INTO cat.pg_constraint BY NAME
SELECT f.oid, r.name || '_' || c.name || '_fkey' AS conname, n.oid AS connamespace,
    'f' AS contype, false AS condeferrable, false AS condeferred, true AS convalidated,
    r.oid AS conrelid, 0 AS contypid, f.other + 2 AS conindid, 0 AS conparentid,
    f.other AS confrelid, 'a' AS confupdtype, 'a' AS confdeltype, 's' AS confmatchtype,
    true AS conislocal, 0 AS coninhcount, true AS connoinherit, [c.number] AS conkey,
    [k.number] AS confkey, [0] AS conpfeqop, [0] AS conppeqop, [0] AS conffeqop
FROM staged_references AS f
JOIN staged_relations AS r ON r.oid = f.relation
JOIN staged_columns AS c ON c.relation = f.relation AND c.name = f."column"
JOIN staged_columns AS k ON k.relation = f.other AND k.is_key
JOIN cat.pg_namespace AS n ON n.nspname = r.schema
ORDER BY f.place;

INSERT INTO cat.pg_description BY NAME
SELECT d.relation AS objoid, 1259 AS classoid, d.number AS objsubid, d.comment AS description
FROM (
    SELECT r.oid AS relation, 0 AS number, r.comment FROM staged_relations AS r
    UNION ALL
    SELECT c.relation, c.number, c.comment FROM staged_columns AS c
) AS d WHERE d.comment IS NOT NULL ORDER BY d.relation, d.number;

INSERT INTO cat.pg_rewrite BY NAME
SELECT r.oid + 4 AS oid, '_RETURN' AS rulename, r.oid AS ev_class, '1' AS ev_type,
    'O' AS ev_enabled, true AS is_instead
FROM staged_relations AS r WHERE r.declared AND r.kind = 'v' ORDER BY r.oid;

-- What oids are called, and what names mean: those in view need no schema.

CREATE TABLE cat.shown_classes AS
SELECT c.oid, CASE WHEN n.nspname IN ('pg_catalog', 'public') THEN c.relname
    ELSE n.nspname || '.' || c.relname END AS shown
FROM cat.pg_class AS c JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace;

CREATE TABLE cat.class_names AS
SELECT c.oid, c.relname AS name
FROM cat.pg_class AS c JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname IN ('pg_catalog', 'public')
UNION ALL
SELECT c.oid, n.nspname || '.' || c.relname
FROM cat.pg_class AS c JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace;

CREATE TABLE cat.shown_types AS
SELECT CAST(oid AS UINTEGER) AS oid, shown FROM staged_types
UNION ALL
SELECT CAST(oid + 1 AS UINTEGER), name FROM staged_relations WHERE declared;

CREATE TABLE cat.type_names AS
SELECT DISTINCT CAST(t.oid AS UINTEGER) AS oid, t.name
FROM (
    SELECT oid, shown AS name FROM cat.shown_types
    UNION ALL SELECT oid, name FROM staged_types
    UNION ALL SELECT "array", name || '[]' FROM staged_types WHERE "array" <> 0
    UNION ALL SELECT 23, 'int'
) AS t ORDER BY ALL;

CREATE TABLE cat.definitions AS
SELECT CAST(d.oid AS UINTEGER) AS oid, d.definition
FROM (
    SELECT oid + 2 AS oid, 'CREATE UNIQUE INDEX ' || name || '_pkey ON ' || schema || '.' || name
        || ' USING btree (' || key || ')' AS definition
    FROM staged_relations WHERE key IS NOT NULL
    UNION ALL
    SELECT oid + 3, 'PRIMARY KEY (' || key || ')' FROM staged_relations WHERE key IS NOT NULL
    UNION ALL
    SELECT f.oid, 'FOREIGN KEY (' || f."column" || ') REFERENCES ' || r.name || '(' || r.key || ')'
    FROM staged_references AS f JOIN staged_relations AS r ON r.oid = f.other
    UNION ALL
    SELECT oid, coalesce(' ' || told, ' TABLE ' || schema || '.' || name) || ';'
    FROM staged_relations WHERE declared AND kind = 'v'
) AS d;
