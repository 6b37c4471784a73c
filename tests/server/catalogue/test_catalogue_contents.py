"""What the catalogue tells: what is declared, to each person their own, and never the data."""

from __future__ import annotations

import pytest
from hamlet import ask, view, write_hamlet

from adomnia.curator.database import PrivateDatabase, open_database
from adomnia.wire.catalogue import Catalogue

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


def test_same_for_other_data(
    tmp_path_factory: pytest.TempPathFactory, hamlet: PrivateDatabase
) -> None:
    """With three rows or 137, every table of the catalogue is the same to the last value."""
    folder = tmp_path_factory.mktemp("other")
    with open_database(write_hamlet(folder, rows=3)) as other:
        one, two = (view(each) for each in (hamlet, other))
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


def test_a_person_sees_themselves_alone(hamlet: PrivateDatabase) -> None:
    alice = view(hamlet)
    dora = view(hamlet, "dora", "curator")
    assert ask(alice, "SELECT rolname FROM pg_roles ORDER BY 1") == [("adomnia",), ("alice",)]
    assert ask(dora, "SELECT usename FROM pg_user") == [("dora",)]
    assert ask(alice, "SELECT current_user, session_user, user") == [("alice",) * 3]
    assert ask(alice, "SELECT * FROM adomnia.budget") == [("alice", "epsilon", "0", "1")]
    for stranger in ("data", "zoe"):
        assert ask(view(hamlet, stranger), "SELECT * FROM adomnia.budget") == []
    whose = [row[0] for row in ask(dora, "SELECT whose FROM adomnia.budget")]
    assert whose == ["data", "alice", "bob"]
    for schema, name in ask(alice, EVERYTHING + " WHERE c.relkind IN ('r', 'v')"):
        if name != "people":
            assert "bob" not in str(ask(alice, f'SELECT * FROM {schema}."{name}"'))


def test_budget_is_the_ledgers(tmp_path_factory: pytest.TempPathFactory) -> None:
    with open_database(write_hamlet(tmp_path_factory.mktemp("spent"))) as database:
        bob = view(database, "bob")
        assert ask(bob, "SELECT spent, remaining FROM adomnia.budget") == [("0", "2")]
        database.session("bob").ask("SELECT COUNT(*) FROM people", epsilon="1/2")
        assert ask(bob, "SELECT spent, remaining FROM adomnia.budget") == [("1/2", "3/2")]
