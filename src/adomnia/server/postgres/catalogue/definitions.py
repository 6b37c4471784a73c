"""Definitions: the views that are derived from the catalogue's tables, as DuckDB reads them.

A column that a definition leaves out is NULL; a view without a definition is empty.
"""

# ruff: noqa: S608 (fixed texts of our own; nothing of a client enters them)

from __future__ import annotations

__all__ = ["DEFINITIONS"]

_HERE = "CAST(getvariable('database') AS VARCHAR)"
_PERSON = "CAST(getvariable('person') AS VARCHAR)"
_RELATIONS = "FROM cat.pg_class AS c JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace"
_KEYS = (
    "FROM cat.pg_constraint AS k JOIN cat.pg_class AS c ON c.oid = k.conrelid "
    "JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace"
)
_COLUMNS = (
    "FROM cat.pg_attribute AS a JOIN cat.pg_class AS c ON c.oid = a.attrelid "
    "JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace "
    "JOIN cat.pg_type AS t ON t.oid = a.atttypid WHERE c.relkind IN ('r', 'v') AND a.attnum > 0"
)
_GRANT = (
    "'adomnia' AS grantor, 'PUBLIC' AS grantee, 'SELECT' AS privilege_type, 'NO' AS is_grantable"
)
_KEYED = (
    f"{_HERE} AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name, "
    f"{_HERE} AS table_catalog, n.nspname AS table_schema, c.relname AS table_name"
)

DEFINITIONS = {
    "pg_catalog.pg_authid": f"""
        SELECT r.oid, r.rolname, r.oid = 10 AS rolsuper, true AS rolinherit,
            false AS rolcreaterole, false AS rolcreatedb, r.oid <> 10 AS rolcanlogin,
            false AS rolreplication, false AS rolbypassrls, -1 AS rolconnlimit
        FROM (VALUES (10, 'adomnia'), (16386, {_PERSON})) AS r(oid, rolname)""",
    "pg_catalog.pg_database": f"""
        SELECT 16384 AS oid, {_HERE} AS datname, 10 AS datdba, 6 AS encoding,
            'c' AS datlocprovider, false AS datistemplate, true AS datallowconn,
            -1 AS datconnlimit, 0 AS datfrozenxid, 0 AS datminmxid, 1663 AS dattablespace,
            'C' AS datcollate, 'C' AS datctype""",
    "pg_catalog.pg_roles": """
        SELECT a.rolname, a.rolsuper, a.rolinherit, a.rolcreaterole, a.rolcreatedb, a.rolcanlogin,
            a.rolreplication, a.rolconnlimit, '********' AS rolpassword, a.rolbypassrls, a.oid
        FROM cat.pg_authid AS a""",
    "pg_catalog.pg_user": """
        SELECT a.rolname AS usename, a.oid AS usesysid, a.rolcreatedb AS usecreatedb,
            a.rolsuper AS usesuper, a.rolreplication AS userepl, a.rolbypassrls AS usebypassrls,
            '********' AS passwd
        FROM cat.pg_authid AS a WHERE a.rolcanlogin""",
    "pg_catalog.pg_tables": f"""
        SELECT n.nspname AS schemaname, c.relname AS tablename, 'adomnia' AS tableowner,
            c.relhasindex AS hasindexes, false AS hasrules, false AS hastriggers,
            false AS rowsecurity
        {_RELATIONS} WHERE c.relkind = 'r'""",
    "pg_catalog.pg_views": f"""
        SELECT n.nspname AS schemaname, c.relname AS viewname, 'adomnia' AS viewowner,
            fn.pg_get_viewdef(c.oid) AS definition
        {_RELATIONS} WHERE c.relkind = 'v'""",
    "pg_catalog.pg_indexes": """
        SELECT n.nspname AS schemaname, c.relname AS tablename, i.relname AS indexname,
            fn.pg_get_indexdef(i.oid) AS indexdef
        FROM cat.pg_index AS x JOIN cat.pg_class AS c ON c.oid = x.indrelid
        JOIN cat.pg_class AS i ON i.oid = x.indexrelid
        JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace""",
    "pg_catalog.pg_settings": """
        SELECT s.key AS name, s.value AS setting, 'Client Connection Defaults' AS category,
            'user' AS context, 'string' AS vartype, 'session' AS source, s.value AS boot_val,
            s.value AS reset_val, false AS pending_restart
        FROM (SELECT unnest(map_entries(
            CAST(getvariable('settings') AS MAP(VARCHAR, VARCHAR)))) AS s)""",
    "information_schema.information_schema_catalog_name": f"SELECT {_HERE} AS catalog_name",
    "information_schema.schemata": f"""
        SELECT {_HERE} AS catalog_name, n.nspname AS schema_name, 'adomnia' AS schema_owner
        FROM cat.pg_namespace AS n""",
    "information_schema.tables": f"""
        SELECT {_HERE} AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
            CASE c.relkind WHEN 'r' THEN 'BASE TABLE' ELSE 'VIEW' END AS table_type,
            'NO' AS is_insertable_into, 'NO' AS is_typed
        {_RELATIONS} WHERE c.relkind IN ('r', 'v')""",
    "information_schema.views": f"""
        SELECT {_HERE} AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
            fn.pg_get_viewdef(c.oid) AS view_definition, 'NONE' AS check_option,
            'NO' AS is_updatable, 'NO' AS is_insertable_into, 'NO' AS is_trigger_updatable,
            'NO' AS is_trigger_deletable, 'NO' AS is_trigger_insertable_into
        {_RELATIONS} WHERE c.relkind = 'v'""",
    "information_schema.columns": f"""
        SELECT {_HERE} AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
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
            {_HERE} AS udt_catalog, 'pg_catalog' AS udt_schema, t.typname AS udt_name,
            CAST(a.attnum AS VARCHAR) AS dtd_identifier, 'NO' AS is_self_referencing,
            'NO' AS is_identity, 'NO' AS identity_cycle, 'NEVER' AS is_generated,
            'NO' AS is_updatable
        {_COLUMNS}""",
    "information_schema.table_constraints": f"""
        SELECT {_KEYED}, 'PRIMARY KEY' AS constraint_type, 'NO' AS is_deferrable,
            'NO' AS initially_deferred, 'YES' AS enforced
        {_KEYS}""",
    "information_schema.key_column_usage": f"""
        SELECT {_KEYED}, a.attname AS column_name, 1 AS ordinal_position
        {_KEYS} JOIN cat.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.conkey[1]""",
    "information_schema.constraint_column_usage": f"""
        SELECT {_KEYED}, a.attname AS column_name
        {_KEYS} JOIN cat.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.conkey[1]""",
    "information_schema.constraint_table_usage": f"SELECT {_KEYED} {_KEYS}",
    "information_schema.table_privileges": f"""
        SELECT {_GRANT}, {_HERE} AS table_catalog, n.nspname AS table_schema,
            c.relname AS table_name, 'YES' AS with_hierarchy
        {_RELATIONS} WHERE c.relkind IN ('r', 'v')""",
    "information_schema.role_table_grants": f"""
        SELECT {_GRANT}, {_HERE} AS table_catalog, n.nspname AS table_schema,
            c.relname AS table_name, 'YES' AS with_hierarchy
        {_RELATIONS} WHERE c.relkind IN ('r', 'v')""",
    "information_schema.column_privileges": f"""
        SELECT {_GRANT}, {_HERE} AS table_catalog, n.nspname AS table_schema,
            c.relname AS table_name, a.attname AS column_name
        {_COLUMNS}""",
    "information_schema.character_sets": f"""
        SELECT 'UTF8' AS character_set_name, 'UCS' AS character_repertoire,
            'UTF8' AS form_of_use, {_HERE} AS default_collate_catalog,
            'pg_catalog' AS default_collate_schema, 'default' AS default_collate_name""",
    "information_schema.collations": f"""
        SELECT {_HERE} AS collation_catalog, 'pg_catalog' AS collation_schema,
            c.collname AS collation_name, 'NO PAD' AS pad_attribute
        FROM cat.pg_collation AS c""",
    "information_schema.enabled_roles": f"SELECT {_PERSON} AS role_name",
    "adomnia.budget": """
        SELECT b.whose, b.unit, b.spent, b.remaining
        FROM (SELECT unnest(CAST(getvariable('budget') AS
            STRUCT(whose VARCHAR, unit VARCHAR, spent VARCHAR, remaining VARCHAR)[])) AS b)""",
}
