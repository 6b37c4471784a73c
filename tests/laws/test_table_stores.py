"""The laws of stores for editions of several tables: all tables of one moment, or nothing."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from table_stores import TABLE_STORES
from test_owners import CHAIN, LEDGER, PAIRS, columns_of, drawn, load, scanned, without_numbers

from adomnia.engines.edition_store import EditionName, Means, TablesFacts
from adomnia.errors import PolicyError

NAME = EditionName(LEDGER, 1)
OTHER = "fedcba9876543210"
every_store = pytest.mark.parametrize("make", TABLE_STORES.values(), ids=TABLE_STORES)


@every_store
def test_a_change_is_seen_by_the_next_edition_alone(make):
    with make(columns_of(PAIRS)) as place:
        place.fill(drawn(PAIRS, 1))
        store = place.store()
        first = load(store, PAIRS)
        before = without_numbers(PAIRS, scanned(store, PAIRS))
        place.fill(drawn(PAIRS, 2))
        second = load(store, PAIRS, 2)
        assert without_numbers(PAIRS, scanned(store, PAIRS)) == before
        assert without_numbers(PAIRS, scanned(store, PAIRS, 2)) != before
        assert first.digest != second.digest
        assert place.kept() == [f"000001_{LEDGER}", f"000002_{LEDGER}"]


@every_store
def test_what_is_known_beside_the_rows_comes_back(make):
    rows = drawn(CHAIN, 3)
    with make(columns_of(CHAIN)) as place:
        place.fill(rows)
        store = place.store()
        facts = load(store, CHAIN)
        with closing(store.open(NAME, CHAIN)) as engine:
            assert engine.facts == facts == TablesFacts.from_json(facts.to_json())
            assert [*facts.tables] == [*CHAIN.tables]
            assert {name: [*engine.columns_of(name)] for name in CHAIN.tables} == {
                name: [*types] for name, types in columns_of(CHAIN).items()
            }
            assert engine.version() == "edition 1"
            assert engine.row_count_is_stable
            engine.ready()
    for name, part in rows.items():
        assert facts.tables[name].rows + facts.nobody[name] == len(part)


@every_store
def test_empty_tables_have_an_edition(make):
    with make(columns_of(PAIRS)) as place:
        place.fill({name: [] for name in PAIRS.tables})
        facts = load(place.store(), PAIRS)
        assert (facts.rows, {*facts.nobody.values()}) == (0, {0})
        assert scanned(place.store(), PAIRS) == {name: [] for name in PAIRS.tables}


@every_store
def test_what_was_not_published_is_gone(make):
    with make(columns_of(CHAIN)) as place:
        place.fill(drawn(CHAIN, 4))
        store = place.store()
        with store.writing() as writer:
            writer.write(CHAIN, Means())
        assert store.open(NAME, CHAIN) is None
        assert place.kept() == []


@every_store
def test_columns_are_checked_and_named_before_their_rows_are_read(make):
    def refuse(name, types):
        if name == "visits":
            raise PolicyError(f"not these: {', '.join(types)}", "")

    with make(columns_of(CHAIN)) as place:
        place.fill(drawn(CHAIN, 5))
        told = "not these: id, person, x, word"
        with pytest.raises(PolicyError, match=told), place.store().writing() as writer:
            writer.write(CHAIN, Means(check_table=refuse))
        assert place.kept() == []


@every_store
def test_old_editions_are_erased_and_those_of_others_stay(make):
    with make(columns_of(PAIRS)) as place:
        place.fill(drawn(PAIRS, 6))
        store = place.store()
        with store.writing() as writer:
            writer.write(PAIRS, Means())
            writer.publish(EditionName(OTHER, 1))
        for number in (1, 2):
            with store.writing() as writer:
                writer.write(PAIRS, Means())
                writer.publish(EditionName(LEDGER, number))
                writer.erase(LEDGER, range(1, number + 1), 1)
        assert place.kept() == [f"000001_{OTHER}", f"000002_{LEDGER}"]
        assert store.open(NAME, PAIRS) is None


@every_store
def test_a_scan_has_what_is_needed_and_the_marks(make):
    with make(columns_of(CHAIN)) as place:
        place.fill(drawn(CHAIN, 7))
        store = place.store()
        load(store, CHAIN)
        whole = scanned(store, CHAIN)["visits"]
        with closing(store.open(NAME, CHAIN)) as engine:
            for needed in ([], ["word"], ["x", "adomnia lost x"]):
                found = engine._rows(f"SELECT * FROM {engine.scan('visits', needed)}")
                marks = [name for name in whole[0] if name.startswith("adomnia ")]
                marks.remove("adomnia lost x")
                expected = [tuple(row[name] for name in [*needed, *marks]) for row in whole]
                assert sorted(map(repr, found)) == sorted(map(repr, expected))
