"""What the catalogue tells of what is declared, in PostgreSQL's functions, names and types."""

from __future__ import annotations

import pytest
from declared import ask, view

from adomnia.wire.catalogue import Catalogue, SharedCatalogue


def test_key_of_a_public_table(catalogue: Catalogue) -> None:
    keys = ask(catalogue, "SELECT indexdef FROM pg_indexes WHERE tablename = 'regions'")
    assert keys == [("CREATE UNIQUE INDEX regions_pkey ON public.regions USING btree (region_id)",)]
    usage = "SELECT table_name, column_name FROM information_schema.key_column_usage"
    assert ask(catalogue, usage) == [("regions", "region_id")]


def test_public_tables_can_be_read(catalogue: Catalogue) -> None:
    rows = ask(catalogue, "SELECT name, area FROM public.regions WHERE region_id > $1", 1)
    assert sorted(rows) == [("East", None), ("South", 2.5)]


def test_no_statistic_of_the_data(catalogue: Catalogue) -> None:
    sizes = ask(
        catalogue,
        "SELECT reltuples, relpages, relallvisible, pg_relation_size(oid), "
        "pg_total_relation_size(oid), pg_stat_get_live_tuples(oid) FROM pg_class "
        "WHERE relkind = 'r'",
    )
    assert set(sizes) == {(-1.0, 0, 0, 0, 0, None)}
    for name in ("pg_stats", "pg_stat_user_tables", "pg_stat_all_tables", "pg_stats_ext",
                 "pg_stat_user_indexes", "pg_stat_activity", "pg_stat_database"):  # fmt: skip
        assert ask(catalogue, f"SELECT * FROM {name}") == []


def test_settings_are_the_sessions(shared: SharedCatalogue) -> None:
    settings = {"harbour.epsilon": "0.1"}
    catalogue = view(shared, settings, database="town", pid=5)
    asked = "SELECT current_setting('harbour.epsilon'), current_database(), pg_backend_pid()"
    assert ask(catalogue, asked) == [("0.1", "town", 5)]
    settings["harbour.epsilon"] = "0.2"
    assert ask(catalogue, "SELECT setting FROM pg_settings WHERE name = 'harbour.epsilon'") == [
        ("0.2",)
    ]
    assert ask(catalogue, "SELECT set_config('search_path', $1, false)", "x") == [("x",)]
    assert settings["search_path"] == "x"
    catalogue.describe("SELECT set_config('search_path', 'y', false)")
    assert settings["search_path"] == "x"


@pytest.mark.parametrize(("sql", "expected"), [
    ("SELECT 'people'::regclass, 'people'::regclass::oid", ("people", 16400)),
    ("SELECT 16420::regclass::text, 1::regclass", ("harbour.budget", "1")),
    ("SELECT 'int4'::regtype, 'text[]'::regtype::oid", ("integer", 1009)),
    ("SELECT to_regclass('nowhere'), to_regtype('bigint')::oid", (None, 20)),
    ("SELECT 'a_b' LIKE 'a\\_b', 'axb' LIKE 'a\\_b'", (True, False)),
    ("SELECT 'abc' ~ 'B', 'abc' ~* 'B', 'abc' OPERATOR(pg_catalog.!~) '^a'",
     (False, True, False)),
    ("SELECT 'b' = ANY('{a,\"b\"}'), 3 <> ALL(ARRAY[1, 2])", (True, True)),
    ("SELECT array_to_string(ARRAY['a', NULL, 'b'], '-', '?'), array_upper(ARRAY[4, 5], 1)",
     ("a-?-b", 2)),
    ("SELECT format('%I.%s %L %%', 'A b', 1, 'x''y')", ("\"A b\".1 'x''y' %",)),
    ("SELECT quote_ident('people'), quote_ident('My'), quote_literal('it''s')",
     ("people", '"My"', "'it''s'")),
    ("SELECT 7 / 2, 7 / 2.0, 150000::int / 100", (3, 3.5, 1500)),
    ("SELECT has_table_privilege('people', 'SELECT'), has_table_privilege('people', 'INSERT')",
     (True, False)),
    ("SELECT pg_typeof('x'::name), current_schemas(true)",
     ("name", ["pg_catalog", "public"])),
    ("SELECT indkey[0], indkey FROM pg_index", (1, [1])),
    ("SELECT version() LIKE 'PostgreSQL 15%'", (True,)),
])  # fmt: skip
def test_functions(sql: str, expected: tuple[object, ...], catalogue: Catalogue) -> None:
    [row] = ask(catalogue, sql)
    assert row == expected


def test_columns_are_named_as_postgresql_does(catalogue: Catalogue) -> None:
    sql = (
        "SELECT 1, 'x'::text, version(), RELNAME, relname AS \"Name\", count(*) OVER (), "
        "CASE WHEN true THEN 1 END, (SELECT 2 AS two), ARRAY[1], oid::regclass "
        "FROM pg_class LIMIT 1"
    )
    names = [column.name for column in catalogue.run(sql).columns]
    assert names == ["?column?", "text", "version", "relname", "Name", "count", "case", "two",
                     "array", "oid"]  # fmt: skip


def test_parameters_are_of_the_type_they_are_compared_to(catalogue: Catalogue) -> None:
    sql = (
        "SELECT 1 FROM pg_class WHERE oid = $1 AND relname = $2 AND relkind = ANY($3) "
        "AND relnatts = $4::int AND oid = ANY($5::oid[]) AND relhasindex = $6 LIMIT $7"
    )
    assert catalogue.parameters(sql, []) == [26, 25, 1009, 23, 1028, 16, 20]
    assert catalogue.parameters(sql, [23])[0] == 23
    found = ask(catalogue, "SELECT relname FROM pg_class WHERE oid = ANY($1::oid[])", [16400])
    assert found == [("people",)]


def test_system_columns(catalogue: Catalogue) -> None:
    sql = (
        "SELECT t.tableoid::regclass, t.xmin FROM "
        "(SELECT c.tableoid, c.xmin FROM pg_class c WHERE relname = 'people') AS t"
    )
    assert ask(catalogue, sql) == [("pg_class", 0)]
