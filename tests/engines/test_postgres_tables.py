"""Several tables on a server: all of one moment, in a schema of the role's own."""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "laws"))

from table_stores import in_postgres
from test_owners import CHAIN, LEDGER, columns_of, drawn, load, scanned

from adomnia.engines.edition_store import EditionName, Means
from adomnia.errors import MachineryError, PolicyError
from tests import postgres_server

NAME = EditionName(LEDGER, 1)


def owner(statement):
    """Run something as who owns the database."""
    with psycopg.connect(postgres_server.shared().url(), autocommit=True) as connection:
        connection.execute(statement)


def relation(store, name):
    """A table as its owner calls it."""
    schema, table = store._relations[name][1].split(".")
    return f'{schema}."{table}"'


def test_a_change_between_two_tables_is_not_seen():
    rows = drawn(CHAIN, 1)
    with in_postgres(columns_of(CHAIN)) as place:
        place.fill(rows)
        store = place.store()
        expected = load(store, CHAIN)

        @contextmanager
        def changing(name):
            if name == "visits":  # people were read before
                owner(f"DELETE FROM {relation(store, 'visits')}")
            yield

        with store.writing() as writer:
            facts = writer.write(CHAIN, Means(about=changing))
            writer.publish(EditionName(LEDGER, 2))
        assert facts == expected
        assert len(scanned(store, CHAIN, 2)["visits"]) == expected.tables["visits"].rows > 0
        assert load(store, CHAIN, 3).tables["visits"].rows == 0


def test_nothing_is_left_but_rows_words_and_facts():
    with in_postgres(columns_of(CHAIN)) as place:
        place.fill(drawn(CHAIN, 2))
        store = place.store()
        facts = load(store, CHAIN)
        with psycopg.connect(postgres_server.shared().url()) as connection:
            found = connection.execute(
                "SELECT relname, relacl::text FROM pg_class WHERE relkind = 'r' AND relnamespace = "
                f"'{store.place}'::regnamespace"
            ).fetchall()
    expected = {f"{NAME}_facts"}
    for at, part in enumerate(facts.tables.values()):
        expected |= {f"{NAME}_t{at}", *(f"{NAME}_t{at}_w{w}" for w in range(len(part.words)))}
    assert {name for name, _ in found} == expected


def test_a_table_of_somebody_else_is_not_read():
    with in_postgres(columns_of(CHAIN)) as place:
        place.fill(drawn(CHAIN, 3))
        store = place.store()
        load(store, CHAIN)
        with closing(store.open(NAME, CHAIN)) as engine:
            engine.ready()
            owner(f'ALTER TABLE {store.place}."{NAME}_t1" OWNER TO CURRENT_USER')
            with pytest.raises(MachineryError, match="gone, or not the role's own"):
                engine.ready()
        with pytest.raises(MachineryError, match="gone, or not the role's own"):
            store.open(NAME, CHAIN)


def test_a_table_that_is_not_there_is_named():
    with in_postgres(columns_of(CHAIN)) as place:
        store = place.store()
        owner(f"DROP TABLE {relation(store, 'doses')}")
        with pytest.raises(PolicyError, match=r"there is no table 'law_.*doses'"):
            load(store, CHAIN)
        assert place.kept() == []
