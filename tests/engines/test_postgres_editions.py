"""Editions on a server: who may read them, who may write them, and what a lost load leaves."""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from postgres_place import SECRET, assert_silent, count, placed, table

from adomnia.engines.edition_store import EditionName, Means
from adomnia.engines.postgres import edition_store
from adomnia.engines.postgres.edition_store import EditionSchema
from adomnia.errors import MachineryError, PolicyError

NAME = EditionName("0123456789abcdef", 1)


@pytest.fixture
def place():
    with placed() as made:
        yield made.fill()


@pytest.fixture
def schema(place):
    """A schema of the reader's, dropped at the end."""
    name = f"editions_{uuid4().hex}"
    place.owner.execute(f"CREATE SCHEMA {name} AUTHORIZATION reader")
    yield name
    place.owner.execute(f"DROP SCHEMA {name} CASCADE")


def store(place, schema, role="reader", relation="people"):
    return EditionSchema(place.server.url(role=role), f"{place.schema}.{relation}", schema)


def load(kept, name=NAME, private=None):
    with kept.writing() as writer:
        facts = writer.write(private or table(), Means())
        writer.publish(name)
    return facts


@contextmanager
def role(place, *rights):
    """A role of its own that may read the table, and has these rights."""
    name = f"role_{uuid4().hex}"
    place.owner.execute(f"CREATE ROLE {name} LOGIN")
    place.owner.execute(f"GRANT USAGE ON SCHEMA {place.schema} TO {name}")
    place.owner.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {place.schema} TO {name}")
    for right in rights:
        place.owner.execute(right.format(name))
    try:
        yield name
    finally:
        place.owner.execute(f"DROP OWNED BY {name} CASCADE")
        place.owner.execute(f"DROP ROLE {name}")


def tables(place, schema):
    found = place.owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [schema])
    return sorted(name for (name,) in found.fetchall())


def test_codes_are_small_and_text_is_in_tables_of_words(place, schema):
    load(store(place, schema))
    assert tables(place, schema) == [f"{NAME}", f"{NAME}_facts", f"{NAME}_w0"]
    types = place.owner.execute(
        "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute "
        f"WHERE attrelid = '{schema}.\"{NAME}\"'::regclass AND attnum > 0 ORDER BY attnum"
    )
    kinds = ["integer", "smallint", "smallint", "boolean", "boolean"]
    assert types.fetchall() == [(f"c{place}", kind) for place, kind in enumerate(kinds)]
    words = place.owner.execute(f'SELECT code, word FROM {schema}."{NAME}_w0"').fetchall()
    assert words == [(1, SECRET)]


def test_foreign_roles_cannot_read_it_whatever_is_granted_by_default(place, schema):
    default = f"ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO"
    with role(place, f"GRANT USAGE ON SCHEMA {schema} TO {{}}") as foreign:
        with psycopg.connect(place.server.url(role="reader"), autocommit=True) as reader:
            reader.execute(f"{default} PUBLIC")
            reader.execute(f'{default} "{foreign}"')
        load(store(place, schema))
        with psycopg.connect(place.server.url(role=foreign), autocommit=True) as other:
            for name in tables(place, schema):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    other.execute(f'SELECT * FROM {schema}."{name}"')
        assert store(place, schema, foreign).open(NAME, table()) is None
        with closing(store(place, schema).open(NAME, table())) as engine:
            assert count(engine) == 3


def test_a_table_that_somebody_else_put_there_is_not_read(place, schema):
    load(store(place, schema))
    with role(place, f"GRANT USAGE, CREATE ON SCHEMA {schema} TO {{}}") as foreign:
        planted = EditionName(NAME.ledger, 2)
        with psycopg.connect(place.server.url(role=foreign), autocommit=True) as other:
            for end in ("", "_facts"):
                other.execute(f'CREATE TABLE {schema}."{planted}{end}" (facts text)')
            other.execute(f'GRANT SELECT ON {schema}."{planted}_facts" TO PUBLIC')
        assert store(place, schema).open(planted, table()) is None
        with pytest.raises(MachineryError):
            load(store(place, schema), planted)
        with closing(store(place, schema).open(NAME, table())) as engine:
            assert count(engine) == 3


def swap(place, schema, name):
    """Put a view in the place of a table, whose function runs with the rights of who reads it."""
    place.owner.execute(
        f'ALTER TABLE {schema}."{name}" RENAME TO "kept"; '
        f"CREATE FUNCTION {schema}.spy(bigint) RETURNS bigint LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE 'the function ran'; END $$; "
        f'CREATE VIEW {schema}."{name}" AS SELECT kept.* FROM {schema}.kept '
        f'WHERE {schema}.spy(1) = 1; GRANT SELECT ON {schema}."{name}" TO PUBLIC'
    )


def test_a_schema_of_somebody_else_is_refused_with_what_to_run(place, schema, capfd):
    kept = store(place, schema)
    load(kept)
    with closing(kept.open(NAME, table())) as engine:
        place.owner.execute(
            f"ALTER SCHEMA {schema} OWNER TO CURRENT_USER; GRANT ALL ON SCHEMA {schema} TO reader"
        )
        for refusing in (lambda: load(kept), lambda: kept.open(NAME, table()), engine.ready):
            with pytest.raises((PolicyError, MachineryError)) as refused:
                refusing()
            assert "is not the role's own" in refused.value.message
            assert f'ALTER SCHEMA "{schema}" OWNER TO' in refused.value.hint
            assert_silent(refused.value, capfd)
        with pytest.raises(MachineryError):
            count(engine)
        place.owner.execute(f"ALTER SCHEMA {schema} OWNER TO reader")
        assert count(engine) == 3


@pytest.mark.parametrize("end", ["", "_w0", "_facts"])
def test_a_view_in_the_place_of_a_table_is_never_read(place, schema, end, capfd):
    kept = store(place, schema)
    load(kept)
    with closing(kept.open(NAME, table())) as engine:
        assert count(engine, f"name = '{SECRET}'") == 3
        swap(place, schema, f"{NAME}{end}")
        for reading in (engine.ready, lambda: count(engine, f"name = '{SECRET}'")):
            with pytest.raises(MachineryError) as refused:
                reading()
            assert "not the role's own tables" in refused.value.message
            assert_silent(refused.value, capfd)
    if end == "_facts":
        assert kept.open(NAME, table()) is None
    else:
        with pytest.raises(MachineryError, match="not the role's own tables"):
            kept.open(NAME, table())


def test_a_role_that_may_not_create_is_told_what_to_do(place, schema, capfd):
    with role(place, f"GRANT USAGE ON SCHEMA {schema} TO {{}}") as poor:
        for where in (schema, "no_such_schema"):
            with pytest.raises(PolicyError) as refused:
                load(store(place, where, poor))
            assert "the role may not make" in refused.value.message
            assert f'CREATE SCHEMA "{where}" AUTHORIZATION' in refused.value.hint
            assert "in_place = true" in refused.value.hint
            assert_silent(refused.value, capfd)


def test_the_schema_is_made_by_a_role_that_may(place):
    made = f"made_{uuid4().hex}"
    with role(place, "GRANT CREATE ON DATABASE postgres TO {}") as rich:
        load(store(place, made, rich))
        acl = "SELECT nspacl::text FROM pg_namespace WHERE nspname = %s"
        assert "=U/" not in (place.owner.execute(acl, [made]).fetchone()[0] or "").split(",")
        assert len(tables(place, made)) == 3


def test_a_role_whose_transactions_only_read_loads(place, schema):
    read_only = "?options=-c%20default_transaction_read_only%3Don"
    url = place.server.url(role="reader") + read_only
    load(EditionSchema(url, f"{place.schema}.people", schema))
    with closing(EditionSchema(url, "people", schema).open(NAME, table())) as engine:
        assert count(engine) == 3


def test_a_connection_that_is_lost_leaves_nothing(place, schema, capfd):
    with store(place, schema).writing() as writer:
        writer.write(table(), Means())
        writer.connection.close()
        with pytest.raises(MachineryError) as lost:
            writer.publish(NAME)
    assert_silent(lost.value, capfd)
    assert tables(place, schema) == []


def test_a_source_that_fails_says_nothing(place, schema, capfd):
    place.run("CREATE VIEW bad AS SELECT id / 0 AS id, city, name FROM people")
    with pytest.raises(PolicyError) as failed:
        load(store(place, schema, relation="bad"))
    assert_silent(failed.value, capfd)
    assert tables(place, schema) == []


def test_an_edition_that_is_read_is_erased_by_the_next_load(place, schema, monkeypatch):
    monkeypatch.setattr(edition_store, "LOCK_TIMEOUT", 1)
    kept = store(place, schema)
    load(kept)
    with closing(kept.open(NAME, table())) as engine, engine.snapshot() as question:
        assert count(question) == 3
        for number in (2, 3):
            with kept.writing() as writer:
                writer.write(table(), Means())
                writer.publish(EditionName(NAME.ledger, number))
                writer.erase(NAME.ledger, range(9), keep=1)
        assert [name for name in tables(place, schema) if len(name) == 23][:1] == [f"{NAME}"]
        assert count(question) == 3
    with kept.writing() as writer:
        writer.erase(NAME.ledger, range(9), keep=1)
    assert [name for name in tables(place, schema) if len(name) == 23] == [f"000003_{NAME.ledger}"]


def test_long_names_and_many_words_are_told_apart(place, schema):
    names = [f"{'x' * 58}{end}" for end in ("one", "two")]
    place.run(
        f'CREATE TABLE wide ("{names[0]}" bigint, "{names[1]}" bigint, city text, name text);'
        "INSERT INTO wide SELECT i, 2 * i, 'Ulm', 'word ' || i FROM generate_series(1, 40000) i"
    )
    assert load(store(place, schema, relation="wide")).rows == 40_000
    narrow = place.owner.execute(
        "SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attname = 'c0' "
        f"AND attrelid = '{schema}.\"{NAME}\"'::regclass"
    )
    assert narrow.fetchone() == ("integer",)


def test_a_server_that_is_gone_is_said_without_its_password():
    gone = EditionSchema("postgresql://x:pw7SECRETz@127.0.0.1:1/x", "people")
    with pytest.raises(MachineryError) as lost, gone.writing():
        pass
    assert "pw7SECRETz" not in str(vars(lost.value))
