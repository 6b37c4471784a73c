"""The laws of stores of editions: an edition is the source as it was, whole, or it is not there."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sources import DOMAINS
from statements import KEYS, Writer
from stores import FEWER, STORES
from test_engine import EXPRESSIONS, NASTY
from test_engines_alike import TEXTS, drawn, sealed_bytes

from adomnia.engines.edition_store import EditionFacts, EditionName, Means
from adomnia.errors import MachineryError, PolicyError
from adomnia.schema.table import Attribute, Table

ROWS = [row | {"id": place // 4 or None} for place, row in enumerate([*NASTY, *drawn(3, 35)])]
ATTRIBUTES = {name: Attribute(name, domain) for name, domain in DOMAINS.items()}
PLAIN = Table("people", ATTRIBUTES)
UNITS = Table("people", ATTRIBUTES, "id", 3, {}, 2, 1)
PUBLIC = replace(
    UNITS, attributes=ATTRIBUTES | {"age": Attribute("age", DOMAINS["age"], sensitive=False)}
)
LEDGER, OTHER = "0123456789abcdef", "fedcba9876543210"

every_store = pytest.mark.parametrize("make", STORES.values(), ids=STORES)


def load(store, number=1, table=PLAIN, ledger=LEDGER, keep=None):
    """Write an edition and put it in its place; erase all but the last if `keep` says how many."""
    with store.writing() as writer:
        facts = writer.write(table, Means())
        writer.publish(EditionName(ledger, number))
        if keep is not None:
            writer.erase(ledger, range(1, number + 1), keep)
    return facts


def opened(store, number=1, table=PLAIN, ledger=LEDGER):
    """The engine of an edition that is there."""
    engine = store.open(EditionName(ledger, number), table)
    assert engine is not None
    return closing(engine)


def count(store, number=1, ledger=LEDGER):
    """How many rows an edition has, as a question sees them."""
    with opened(store, number, ledger=ledger) as engine:
        return sealed_bytes(engine, "SELECT COUNT(*) FROM people", PLAIN)


def interrupted(store):
    """A load that ends between writing and publishing."""
    with store.writing() as writer:
        writer.write(PLAIN, Means())
        raise KeyboardInterrupt


@every_store
@pytest.mark.parametrize("table", [PLAIN, UNITS, PUBLIC], ids=["rows", "units", "public"])
def test_an_edition_answers_as_its_source_would(make, table):
    writer = Writer(7)
    statements = [f"SELECT SUM({e}), COUNT({e}), MEDIAN({e}) FROM people"
                  for e in [*EXPRESSIONS.values()][::3]]  # fmt: skip
    statements += [f"SELECT COUNT(*), AVG(far) FROM people GROUP BY {key}" for key in KEYS[::2]]
    statements += [*TEXTS[::3], *(writer.statement() for _ in range(8))]
    if table.unit is not None:
        statements.append("SELECT city, COUNT(DISTINCT id) FROM people GROUP BY city")
    statements = statements[:: FEWER.get(make, 1)]
    with make() as place:
        place.fill(ROWS)
        store = place.store()
        load(store, table=table)
        with opened(store, table=table) as edition, closing(place.engine(DOMAINS)) as source:
            found = [sealed_bytes(edition, sql, table) for sql in statements]
            assert found == [sealed_bytes(source, sql, table) for sql in statements]
            assert edition.columns() == source.columns()
            assert edition.row_count_is_stable
            assert edition.version() == "edition 1"
    assert sum(part is not None for part in found) > len(found) / 2


@every_store
def test_a_change_of_the_source_is_seen_by_the_next_edition_alone(make):
    with make() as place:
        place.fill(ROWS[:5])
        store = place.store()
        first, before = load(store), count(store)
        place.fill(ROWS)
        assert count(store) == before
        second = load(store, 2)
        assert count(store, 2) != before
        assert count(store) == before
        assert (first.rows, second.rows) == (5, 40)
        assert first.digest != second.digest


@every_store
def test_the_same_rows_have_the_same_digest_in_any_order(make):
    with make() as place:
        place.fill(ROWS)
        first = load(place.store(), table=UNITS)
        place.fill(ROWS[::-1])
        assert load(place.store(), 2, table=UNITS) == first


@every_store
def test_an_empty_source_has_an_edition(make):
    with make() as place:
        place.fill([])
        assert load(place.store(), table=UNITS).rows == 0
        with opened(place.store(), table=UNITS) as edition:
            assert sealed_bytes(edition, "SELECT COUNT(*) FROM people", UNITS)


@every_store
def test_what_was_not_published_is_gone(make):
    with make() as place:
        place.fill(ROWS)
        store = place.store()
        with store.writing() as writer:
            writer.write(PLAIN, Means())
        assert store.open(EditionName(LEDGER, 1), PLAIN) is None
        assert place.kept() == []
        load(store)
        before = place.kept()
        with pytest.raises(KeyboardInterrupt):
            interrupted(store)
        assert place.kept() == before
        assert count(store)


@every_store
def test_columns_are_checked_before_a_row_is_read(make):
    def refuse(types):
        assert {*types} == {*ROWS[0]}
        raise PolicyError("not these", "")

    with make() as place:
        place.fill(ROWS)
        with pytest.raises(PolicyError, match="not these"), place.store().writing() as writer:
            writer.write(PLAIN, Means(check=refuse))
        assert place.kept() == []


@every_store
def test_old_editions_are_erased_and_those_of_others_stay(make):
    with make() as place:
        place.fill(ROWS[:3])
        store = place.store()
        load(store, ledger=OTHER)
        load(store, 9)  # of a ledger that went back: it knows no such number
        for number in (1, 2, 3):
            load(store, number, keep=2)
        assert place.kept() == [f"000001_{OTHER}", f"000002_{LEDGER}", f"000003_{LEDGER}"]
        assert store.open(EditionName(LEDGER, 1), PLAIN) is None
        assert count(store, 3) == count(store, ledger=OTHER)


@every_store
def test_a_name_that_is_taken_is_taken_over(make):
    with make() as place:
        place.fill(ROWS[:3])
        store = place.store()
        load(store)
        place.fill(ROWS)
        facts = load(store)
        with opened(store) as edition:
            assert edition.facts == facts == EditionFacts.from_json(facts.to_json())
            assert facts.rows == 40


@every_store
def test_an_edition_is_not_read_by_another_policy(make):
    with make() as place:
        place.fill(ROWS[:3])
        load(place.store())
        refused = pytest.raises(MachineryError, match="another policy")
        with opened(place.store(), table=PLAIN) as edition, refused:
            sealed_bytes(edition, "SELECT COUNT(*) FROM people", UNITS)
