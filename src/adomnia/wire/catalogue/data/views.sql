-- The views that are derived from the catalogue's tables, as DuckDB reads them.
-- A column that is left out is NULL; a view that is not here is empty.

CREATE VIEW pg_catalog.pg_authid AS
SELECT r.oid, r.rolname, r.oid = 10 AS rolsuper, true AS rolinherit,
    false AS rolcreaterole, false AS rolcreatedb, r.oid <> 10 AS rolcanlogin,
    false AS rolreplication, false AS rolbypassrls, -1 AS rolconnlimit
FROM (VALUES (10, fn.pg_get_userbyid(10)), (16386, fn.current_user())) AS r(oid, rolname);

CREATE VIEW pg_catalog.pg_database AS
SELECT 16384 AS oid, fn.current_database() AS datname, 10 AS datdba, 6 AS encoding,
    'c' AS datlocprovider, false AS datistemplate, true AS datallowconn,
    -1 AS datconnlimit, 0 AS datfrozenxid, 0 AS datminmxid, 1663 AS dattablespace,
    'C' AS datcollate, 'C' AS datctype;

CREATE VIEW pg_catalog.pg_roles AS
SELECT a.rolname, a.rolsuper, a.rolinherit, a.rolcreaterole, a.rolcreatedb, a.rolcanlogin,
    a.rolreplication, a.rolconnlimit, '********' AS rolpassword, a.rolbypassrls, a.oid
FROM cat.pg_authid AS a;

CREATE VIEW pg_catalog.pg_user AS
SELECT a.rolname AS usename, a.oid AS usesysid, a.rolcreatedb AS usecreatedb,
    a.rolsuper AS usesuper, a.rolreplication AS userepl, a.rolbypassrls AS usebypassrls,
    '********' AS passwd
FROM cat.pg_authid AS a WHERE a.rolcanlogin;

CREATE VIEW pg_catalog.pg_tables AS
SELECT n.nspname AS schemaname, c.relname AS tablename, fn.pg_get_userbyid(10) AS tableowner,
    c.relhasindex AS hasindexes, false AS hasrules, false AS hastriggers,
    false AS rowsecurity
FROM cat.pg_class AS c JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind = 'r';

CREATE VIEW pg_catalog.pg_views AS
SELECT n.nspname AS schemaname, c.relname AS viewname, fn.pg_get_userbyid(10) AS viewowner,
    fn.pg_get_viewdef(c.oid) AS definition
FROM cat.pg_class AS c JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind = 'v';

CREATE VIEW pg_catalog.pg_indexes AS
SELECT n.nspname AS schemaname, c.relname AS tablename, i.relname AS indexname,
    fn.pg_get_indexdef(i.oid) AS indexdef
FROM cat.pg_index AS x JOIN cat.pg_class AS c ON c.oid = x.indrelid
JOIN cat.pg_class AS i ON i.oid = x.indexrelid
JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace;

CREATE VIEW pg_catalog.pg_settings AS
SELECT s.key AS name, s.value AS setting, 'Client Connection Defaults' AS category,
    'user' AS context, 'string' AS vartype, 'session' AS source, s.value AS boot_val,
    s.value AS reset_val, false AS pending_restart
FROM (SELECT unnest(map_entries(
    CAST(getvariable('settings') AS MAP(VARCHAR, VARCHAR)))) AS s);

CREATE VIEW information_schema.information_schema_catalog_name AS
SELECT fn.current_database() AS catalog_name;

CREATE VIEW information_schema.schemata AS
SELECT fn.current_database() AS catalog_name, n.nspname AS schema_name, fn.pg_get_userbyid(10) AS
    schema_owner
FROM cat.pg_namespace AS n;

CREATE VIEW information_schema.tables AS
SELECT fn.current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
    CASE c.relkind WHEN 'r' THEN 'BASE TABLE' ELSE 'VIEW' END AS table_type,
    'NO' AS is_insertable_into, 'NO' AS is_typed
FROM cat.pg_class AS c
JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v');

CREATE VIEW information_schema.views AS
SELECT fn.current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
    fn.pg_get_viewdef(c.oid) AS view_definition, 'NONE' AS check_option,
    'NO' AS is_updatable, 'NO' AS is_insertable_into, 'NO' AS is_trigger_updatable,
    'NO' AS is_trigger_deletable, 'NO' AS is_trigger_insertable_into
FROM cat.pg_class AS c JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind = 'v';

CREATE VIEW information_schema.columns AS
SELECT fn.current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
    a.attname AS column_name, a.attnum AS ordinal_position,
    CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END AS is_nullable,
    CASE WHEN t.typcategory = 'A' AND t.typlen = -1 AND t.typname[1] = '_' THEN 'ARRAY'
        ELSE fn.format_type(a.atttypid, a.atttypmod) END AS data_type,
    CASE t.typname WHEN 'int8' THEN 64 WHEN 'int4' THEN 32 WHEN 'int2' THEN 16
        WHEN 'float8' THEN 53 WHEN 'float4' THEN 24 END AS numeric_precision,
    CASE WHEN t.typname IN ('int2', 'int4', 'int8', 'float4', 'float8') THEN 2
        WHEN t.typname = 'numeric' THEN 10 END AS numeric_precision_radix,
    CASE WHEN t.typname IN ('int2', 'int4', 'int8') THEN 0 END AS numeric_scale,
    CASE WHEN t.typname = 'date' THEN 0
        WHEN t.typname IN ('timestamp', 'timestamptz') THEN 6 END AS datetime_precision,
    fn.current_database() AS udt_catalog, 'pg_catalog' AS udt_schema, t.typname AS udt_name,
    CAST(a.attnum AS VARCHAR) AS dtd_identifier, 'NO' AS is_self_referencing,
    'NO' AS is_identity, 'NO' AS identity_cycle, 'NEVER' AS is_generated,
    'NO' AS is_updatable
FROM cat.pg_attribute AS a
JOIN cat.pg_class AS c ON c.oid = a.attrelid
JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace
JOIN cat.pg_type AS t ON t.oid = a.atttypid
WHERE c.relkind IN ('r', 'v') AND a.attnum > 0;

CREATE VIEW information_schema.table_constraints AS
SELECT fn.current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS
    constraint_name, fn.current_database() AS table_catalog, n.nspname AS table_schema, c.relname
    AS table_name, CASE k.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'FOREIGN KEY' END
    AS constraint_type, 'NO' AS is_deferrable,
    'NO' AS initially_deferred, 'YES' AS enforced
FROM cat.pg_constraint AS k
JOIN cat.pg_class AS c ON c.oid = k.conrelid
JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace;

CREATE VIEW information_schema.key_column_usage AS
SELECT fn.current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS
    constraint_name, fn.current_database() AS table_catalog, n.nspname AS table_schema, c.relname
    AS table_name, a.attname AS column_name, 1 AS ordinal_position,
    CASE k.contype WHEN 'f' THEN 1 END AS position_in_unique_constraint
FROM cat.pg_constraint AS k
JOIN cat.pg_class AS c ON c.oid = k.conrelid
JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace
JOIN cat.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.conkey[1];

CREATE VIEW information_schema.referential_constraints AS
SELECT fn.current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS
    constraint_name, fn.current_database() AS unique_constraint_catalog,
    n.nspname AS unique_constraint_schema, p.conname AS unique_constraint_name,
    'NONE' AS match_option, 'NO ACTION' AS update_rule, 'NO ACTION' AS delete_rule
FROM cat.pg_constraint AS k
JOIN cat.pg_constraint AS p ON p.conindid = k.conindid AND p.contype = 'p'
JOIN cat.pg_namespace AS n ON n.oid = k.connamespace
WHERE k.contype = 'f';

CREATE VIEW information_schema.constraint_column_usage AS
SELECT fn.current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS
    constraint_name, fn.current_database() AS table_catalog, n.nspname AS table_schema, c.relname
    AS table_name, a.attname AS column_name
FROM cat.pg_constraint AS k
JOIN cat.pg_class AS c ON c.oid = CASE k.contype WHEN 'f' THEN k.confrelid ELSE k.conrelid END
JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace
JOIN cat.pg_attribute AS a ON a.attrelid = c.oid
    AND a.attnum = CASE k.contype WHEN 'f' THEN k.confkey[1] ELSE k.conkey[1] END;

CREATE VIEW information_schema.constraint_table_usage AS
SELECT fn.current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS
    constraint_name, fn.current_database() AS table_catalog, n.nspname AS table_schema, c.relname
    AS table_name
FROM cat.pg_constraint AS k
JOIN cat.pg_class AS c ON c.oid = CASE k.contype WHEN 'f' THEN k.confrelid ELSE k.conrelid END
JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace;

CREATE VIEW information_schema.table_privileges AS
SELECT fn.pg_get_userbyid(10) AS grantor, 'PUBLIC' AS grantee, 'SELECT' AS privilege_type, 'NO' AS
    is_grantable, fn.current_database() AS table_catalog, n.nspname AS table_schema,
    c.relname AS table_name, 'YES' AS with_hierarchy
FROM cat.pg_class AS c
JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v');

CREATE VIEW information_schema.role_table_grants AS
SELECT fn.pg_get_userbyid(10) AS grantor, 'PUBLIC' AS grantee, 'SELECT' AS privilege_type, 'NO' AS
    is_grantable, fn.current_database() AS table_catalog, n.nspname AS table_schema,
    c.relname AS table_name, 'YES' AS with_hierarchy
FROM cat.pg_class AS c
JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v');

CREATE VIEW information_schema.column_privileges AS
SELECT fn.pg_get_userbyid(10) AS grantor, 'PUBLIC' AS grantee, 'SELECT' AS privilege_type, 'NO' AS
    is_grantable, fn.current_database() AS table_catalog, n.nspname AS table_schema,
    c.relname AS table_name, a.attname AS column_name
FROM cat.pg_attribute AS a
JOIN cat.pg_class AS c ON c.oid = a.attrelid
JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace
JOIN cat.pg_type AS t ON t.oid = a.atttypid
WHERE c.relkind IN ('r', 'v') AND a.attnum > 0;

CREATE VIEW information_schema.character_sets AS
SELECT 'UTF8' AS character_set_name, 'UCS' AS character_repertoire,
    'UTF8' AS form_of_use, fn.current_database() AS default_collate_catalog,
    'pg_catalog' AS default_collate_schema, 'default' AS default_collate_name;

CREATE VIEW information_schema.collations AS
SELECT fn.current_database() AS collation_catalog, 'pg_catalog' AS collation_schema,
    c.collname AS collation_name, 'NO PAD' AS pad_attribute
FROM cat.pg_collation AS c;

CREATE VIEW information_schema.enabled_roles AS
SELECT fn.current_user() AS role_name;
