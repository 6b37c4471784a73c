"""What the catalogue tells: what is declared, to each person their own, and never the data."""

from __future__ import annotations

import pytest
from hamlet import ask, write_hamlet

from adomnia.curator.database import Database, open_database
from adomnia.server.postgres.catalogue import Catalogue

EVERYTHING = (
    "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
)


def test_tables_and_their_columns(catalogue: Catalogue) -> None:
    tables = ask(
        catalogue,
        "SELECT table_schema, table_name, table_type FROM information_schema.tables "
        "WHERE table_schema IN ('public', 'adomnia') ORDER BY 1, 2",
    )
    assert tables == [
        ("adomnia", "budget", "VIEW"),
        ("adomnia", "domains", "VIEW"),
        ("public", "people", "BASE TABLE"),
        ("public", "regions", "BASE TABLE"),
    ]
    columns = ask(
        catalogue,
        "SELECT attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum) "
        "FROM pg_attribute WHERE attrelid = 'people'::regclass AND attnum > 0 ORDER BY attnum",
    )
    assert columns == [
        ("sex", "text", "one of F, M"),
        ("age", "bigint", "whole numbers from 0 to 120"),
        ("weight", "numeric", "numbers from 0 to 200 in steps of 0.5"),
        ("member", "boolean", "one of true, false"),
        ("admitted", "date", "days from 2015-01-01 to 2025-12-31"),
        ("region", "bigint", "one of 1, 2, 3"),
        ("diagnosis", "text", "one of A, B; all else is other"),
    ]


def test_comment_says_the_promise(catalogue: Catalogue) -> None:
    [(comment,)] = ask(catalogue, "SELECT obj_description('people'::regclass)")
    assert "epsilon 4" in comment
    assert "rows cannot be read" in comment


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
    for view in ("pg_stats", "pg_stat_user_tables", "pg_stat_all_tables", "pg_stats_ext",
                 "pg_stat_user_indexes", "pg_stat_activity", "pg_stat_database"):  # fmt: skip
        assert ask(catalogue, f"SELECT * FROM {view}") == []


def test_same_for_other_data(tmp_path_factory: pytest.TempPathFactory, hamlet: Database) -> None:
    """With three rows or 137, every table of the catalogue is the same to the last value."""
    folder = tmp_path_factory.mktemp("other")
    with open_database(write_hamlet(folder, rows=3)) as other:
        one, two = (Catalogue(each, "alice", "analyst") for each in (hamlet, other))
        names = ask(one, EVERYTHING + " WHERE c.relkind IN ('r', 'v') AND c.relname <> 'people'")
        assert len(names) > 120
        for schema, name in names:
            sql = f'SELECT * FROM {schema}."{name}"'
            assert one.run(sql) == two.run(sql), name


def test_what_is_not_declared_is_not_told(catalogue: Catalogue) -> None:
    for schema, name in ask(catalogue, EVERYTHING + " WHERE c.relkind IN ('r', 'v')"):
        if name != "people":
            told = str(ask(catalogue, f'SELECT * FROM {schema}."{name}"'))
            assert "surname" not in told
            assert "Zzmayer" not in told
            assert "parquet" not in told


def test_a_person_sees_themselves_alone(hamlet: Database) -> None:
    alice = Catalogue(hamlet, "alice", "analyst")
    dora = Catalogue(hamlet, "dora", "curator")
    assert ask(alice, "SELECT rolname FROM pg_roles ORDER BY 1") == [("adomnia",), ("alice",)]
    assert ask(dora, "SELECT usename FROM pg_user") == [("dora",)]
    assert ask(alice, "SELECT current_user, session_user, user") == [("alice",) * 3]
    assert ask(alice, "SELECT * FROM adomnia.budget") == [("alice", "epsilon", "0", "1")]
    for stranger in ("data", "zoe"):
        assert ask(Catalogue(hamlet, stranger, "analyst"), "SELECT * FROM adomnia.budget") == []
    whose = [row[0] for row in ask(dora, "SELECT whose FROM adomnia.budget")]
    assert whose == ["data", "alice", "bob"]
    for schema, name in ask(alice, EVERYTHING + " WHERE c.relkind IN ('r', 'v')"):
        if name != "people":
            assert "bob" not in str(ask(alice, f'SELECT * FROM {schema}."{name}"'))


def test_budget_is_the_ledgers(tmp_path_factory: pytest.TempPathFactory) -> None:
    with open_database(write_hamlet(tmp_path_factory.mktemp("spent"))) as database:
        bob = Catalogue(database, "bob", "analyst")
        assert ask(bob, "SELECT spent, remaining FROM adomnia.budget") == [("0", "2")]
        database.session("bob").ask("SELECT COUNT(*) FROM people", epsilon="1/2")
        assert ask(bob, "SELECT spent, remaining FROM adomnia.budget") == [("1/2", "3/2")]


def test_settings_are_the_sessions(hamlet: Database) -> None:
    settings = {"adomnia.epsilon": "0.1"}
    catalogue = Catalogue(hamlet, "alice", "analyst", settings=settings, name="town", pid=5)
    asked = "SELECT current_setting('adomnia.epsilon'), current_database(), pg_backend_pid()"
    assert ask(catalogue, asked) == [("0.1", "town", 5)]
    settings["adomnia.epsilon"] = "0.2"
    assert ask(catalogue, "SELECT setting FROM pg_settings WHERE name = 'adomnia.epsilon'") == [
        ("0.2",)
    ]
    assert ask(catalogue, "SELECT set_config('search_path', $1, false)", "x") == [("x",)]
    assert settings["search_path"] == "x"
    catalogue.describe("SELECT set_config('search_path', 'y', false)")
    assert settings["search_path"] == "x"


@pytest.mark.parametrize(("sql", "expected"), [
    ("SELECT 'people'::regclass, 'people'::regclass::oid", ("people", 16400)),
    ("SELECT 16420::regclass::text, 1::regclass", ("adomnia.budget", "1")),
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
