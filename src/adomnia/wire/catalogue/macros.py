"""Macros: PostgreSQL's functions on its catalogue, written for DuckDB.

A line is `name(arguments) = body`; several lines of one name are its overloads. What a session
differs in (`person`, `database`, `settings`) are variables of its own connection.
"""

# ruff: noqa: S608 (fixed texts of our own; nothing of a client enters them)

from __future__ import annotations

from collections import defaultdict

from adomnia.server.postgres.catalogue.constants import CONSTANT
from adomnia.wire.catalogue.defaults import VERSION
from adomnia.wire.catalogue.types import REGISTRIES

__all__ = ["EMULATED", "TABLE_MACROS", "macro_statements"]

PERSON, DATABASE = (f"CAST(getvariable('{name}') AS VARCHAR)" for name in ("person", "database"))
DEFINED = "(SELECT max(x.definition) FROM cat.definitions AS x WHERE x.oid = a)"
SETTINGS = "CAST(getvariable('settings') AS MAP(VARCHAR, VARCHAR))"


def _visible(table: str, namespace: str) -> str:
    return (
        f"COALESCE((SELECT max(x.{namespace} IN (11, 2200)) FROM cat.{table} AS x "
        "WHERE x.oid = a), false)"
    )


def _named(table: str, name: str) -> str:
    """The name of an oid, as PostgreSQL prints it: a dash for none, the number if unknown."""
    found = f"(SELECT max(x.{name}) FROM cat.{table} AS x WHERE x.oid = a)"
    return f"CASE WHEN a = 0 THEN '-' ELSE COALESCE({found}, CAST(a AS VARCHAR)) END"


def _looked_up(table: str, name: str) -> str:
    """The oid of a name, with or without the schema, or of digits."""
    plain = "replace(replace(CAST(a AS VARCHAR), 'pg_catalog.', ''), '\"', '')"
    found = f"(SELECT min(x.oid) FROM cat.{table} AS x WHERE x.{name} = {plain})"
    return f"COALESCE(TRY_CAST(CAST(a AS VARCHAR) AS UINTEGER), {found})"


def _described(condition: str) -> str:
    return f"(SELECT max(d.description) FROM cat.pg_description AS d WHERE {condition})"


MACROS = f"""
current_user() = {PERSON}
current_database() = {DATABASE}
current_schema() = 'public'
current_schemas(a) = CASE WHEN a THEN ['pg_catalog', 'public'] ELSE ['public'] END
version() = 'PostgreSQL {VERSION} (adomnia)'
current_setting(a) = {SETTINGS}[lower(a)]
current_setting(a, b) = {SETTINGS}[lower(a)]
pg_backend_pid() = CAST(getvariable('pid') AS INTEGER)
pg_get_userbyid(a) = CASE a WHEN 10 THEN 'adomnia' WHEN 16386 THEN {PERSON} \
ELSE 'unknown (OID=' || a || ')' END
pg_table_is_visible(a) = {_visible("pg_class", "relnamespace")}
pg_type_is_visible(a) = {_visible("pg_type", "typnamespace")}
pg_function_is_visible(a) = {_visible("pg_proc", "pronamespace")}
format_type(a, b) = (SELECT max(x.shown) FROM cat.shown_types AS x WHERE x.oid = a) \
|| CASE WHEN b >= 4 AND a IN (1042, 1043) THEN '(' || (b - 4) || ')' ELSE '' END
obj_description(a) = {_described("d.objoid = a AND d.objsubid = 0")}
obj_description(a, b) = CASE WHEN b = 'pg_class' THEN \
{_described("d.objoid = a AND d.objsubid = 0")} END
col_description(a, b) = {_described("d.objoid = a AND d.objsubid = b")}
pg_get_indexdef(a) = {DEFINED}
pg_get_indexdef(a, b, c) = CASE WHEN b = 0 THEN {DEFINED} ELSE \
(SELECT max(x.attname) FROM cat.pg_attribute AS x \
WHERE x.attrelid = a AND x.attnum = b) END
pg_get_function_result(a) = 'internal'
pg_get_constraintdef(a) = {DEFINED}
pg_get_constraintdef(a, b) = {DEFINED}
pg_get_viewdef(a) = {DEFINED}
pg_get_viewdef(a, b) = {DEFINED}
pg_get_expr(a, b) = CAST(a AS VARCHAR)
pg_get_expr(a, b, c) = CAST(a AS VARCHAR)
pg_size_pretty(a) = a || ' bytes'
pg_has_role(a, b) = CAST(a AS VARCHAR) IN ('16386', {PERSON})
pg_has_role(a, b, c) = CAST(b AS VARCHAR) IN ('16386', {PERSON})
pg_encoding_to_char(a) = CASE a WHEN 6 THEN 'UTF8' WHEN 0 THEN 'SQL_ASCII' ELSE '' END
pg_char_to_encoding(a) = CASE upper(a) WHEN 'UTF8' THEN 6 WHEN 'SQL_ASCII' THEN 0 ELSE -1 END
quote_ident(a) = CASE WHEN regexp_matches(a, '^[a-z_][a-z0-9_$]*$') THEN a \
ELSE '"' || replace(a, '"', '""') || '"' END
quote_literal(a) = '''' || replace(CAST(a AS VARCHAR), '''', '''''') || ''''
quote_nullable(a) = COALESCE('''' || replace(CAST(a AS VARCHAR), '''', '''''') || '''', 'NULL')
pg_my_temp_schema() = CAST(0 AS UINTEGER)
pg_relation_is_updatable(a, b) = 0
pg_column_is_updatable(a, b, c) = false
array_to_string(a, b) = list_aggregate(a, 'string_agg', b)
array_to_string(a, b, c) = list_aggregate([COALESCE(CAST(x AS VARCHAR), c) FOR x IN a], \
'string_agg', b)
array_upper(a, b) = CASE WHEN len(a) > 0 THEN CAST(len(a) AS INTEGER) END
array_length(a, b) = CASE WHEN len(a) > 0 THEN CAST(len(a) AS INTEGER) END
array_lower(a, b) = CASE WHEN len(a) > 0 THEN 1 END
array_ndims(a) = CASE WHEN len(a) > 0 THEN 1 END
array_dims(a) = CASE WHEN len(a) > 0 THEN '[1:' || len(a) || ']' END
cardinality(a) = CAST(len(a) AS INTEGER)
array_remove(a, b) = [x FOR x IN a IF x IS DISTINCT FROM b]
array_position(a, b) = CAST(list_position(a, b) AS INTEGER)
string_to_array(a, b) = string_split(a, b)
_pg_expandarray(a) = unnest([struct_pack(x := a[i], n := CAST(i AS INTEGER)) \
FOR i IN generate_series(1, len(a))])
_pg_char_max_length(a, b) = CAST(NULL AS INTEGER)
regclass_out(a) = {_named("shown_classes", "shown")}
regtype_out(a) = {_named("shown_types", "shown")}
regproc_out(a) = {_named("pg_proc", "proname")}
regprocedure_out(a) = {_named("pg_proc", "proname")}
regnamespace_out(a) = {_named("pg_namespace", "nspname")}
regrole_out(a) = {_named("pg_authid", "rolname")}
regcollation_out(a) = {_named("pg_collation", "collname")}
regclass_in(a) = {_looked_up("class_names", "name")}
regtype_in(a) = {_looked_up("type_names", "name")}
regproc_in(a) = {_looked_up("pg_proc", "proname")}
regprocedure_in(a) = {_looked_up("pg_proc", "proname")}
regnamespace_in(a) = {_looked_up("pg_namespace", "nspname")}
regrole_in(a) = {_looked_up("pg_authid", "rolname")}
regcollation_in(a) = {_looked_up("pg_collation", "collname")}
"""

_LINES = (
    *MACROS.strip().splitlines(),
    *(
        f"{name}({', '.join('abcd'[:arity])}) = {body}"
        for body, arities, names in CONSTANT
        for name in names.split()
        for arity in arities
    ),
)

EMULATED = frozenset(line.split("(", 1)[0] for line in _LINES)
"""The functions that are macros here."""

TABLE_MACROS = {
    "aclexplode": "CAST(0 AS UINTEGER) AS grantor, CAST(0 AS UINTEGER) AS grantee, "
    "'' AS privilege_type, false AS is_grantable",
    "pg_options_to_table": "'' AS option_name, '' AS option_value",
    "pg_get_keywords": "'' AS word, '' AS catcode, false AS barelabel, '' AS catdesc, "
    "'' AS baredesc",
    "pg_timezone_names": "'' AS name, '' AS abbrev, '' AS utc_offset, false AS is_dst",
    "pg_partition_ancestors": "CAST(0 AS UINTEGER) AS relid",
    "pg_partition_tree": "CAST(0 AS UINTEGER) AS relid, CAST(0 AS UINTEGER) AS parentrelid, "
    "false AS isleaf, 0 AS level",
    "pg_listening_channels": "'' AS pg_listening_channels",
    "pg_get_publication_tables": "CAST(0 AS UINTEGER) AS relid",
    "pg_lock_status": "'' AS locktype",
}
"""Functions in the place of a table: all of them are empty here."""


def macro_statements() -> list[str]:
    """The statements that make all macros."""
    overloads: dict[str, list[str]] = defaultdict(list)
    for line in _LINES:
        head, body = line.split(" = ", 1)
        name, arguments = head.split("(", 1)
        overloads[name].append(f"({arguments} AS {body}")
    scalar = [f"CREATE MACRO fn.{name}{', '.join(each)}" for name, each in overloads.items()]
    listed = [
        f"CREATE MACRO fn.{name}_outs(a) AS (SELECT array_agg(fn.{name}_out(u.x) ORDER BY u.n) "
        "FROM unnest(a) WITH ORDINALITY AS u(x, n))"
        for name in REGISTRIES
    ]
    empty = [
        f"CREATE MACRO fn.{name}() AS TABLE SELECT {columns} WHERE false"
        for name, columns in TABLE_MACROS.items()
    ]
    return scalar + listed + empty
