"""Pairs that stay in a table of DuckDB are the same pairs, and few of them leave it."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import duckdb
import numpy as np
import pytest

from adomnia.engines.duckdb.pair_table import DuckDBPairs
from adomnia.mechanisms.joins import pair_sources
from adomnia.mechanisms.joins.clamped_totals import ClampedPairs
from adomnia.mechanisms.joins.indexed_pairs import indexed
from adomnia.mechanisms.joins.pair_sources import TablePairs
from adomnia.mechanisms.joins.removal_distance import RemovalScores
from adomnia.mechanisms.joins.water_filling import water_filling
from adomnia.privacy.unit_reads import PairSums
from adomnia.schema.sealed import Sealed
from adomnia.schema.unit_amounts import PairAmounts

GRID = (1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 10**6)
NAMES = '"adomnia unit", "adomnia unit 2", "adomnia p0", "adomnia order"'


class Rows:
    """Rows by name alone."""

    def to_json(self):
        return {}


def table(rows, alike):
    """The rows in DuckDB, each with its place as what orders it."""
    connection = duckdb.connect()
    listed = ", ".join(f"({a}, {b}, {w}, {place})" for place, (a, b, w) in enumerate(rows))
    statement = f"SELECT * FROM (VALUES {listed}) AS t({NAMES})"
    return DuckDBPairs(connection, statement, alike)


def drawn(seed, alike, many=60):
    draws = np.random.default_rng(seed)
    ends = {tuple(pair) for pair in draws.integers(0, 14, (many, 2)).tolist()}
    rows = [(a - 7, b - 7, int(draws.integers(0, 9))) for a, b in sorted(ends)]
    draws.shuffle(rows)
    columns = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    here = indexed(PairAmounts(*columns, alike, np.arange(len(rows))), 5)
    return here, TablePairs(table(rows, alike), 5)


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_what_stays_in_a_table_is_the_same(seed, alike, monkeypatch):
    monkeypatch.setattr(pair_sources, "ENOUGH", 8)
    monkeypatch.setattr(pair_sources, "MORE", 2)
    here, there = drawn(seed, alike)
    assert there.highest == here.highest
    for bound in (*GRID, 4, 1, here.highest - 1):
        assert there.count(bound) == here.count(bound)
        assert there.below(bound) == here.below(bound)
        rows = [sorted(some.above(bound).amounts.tolist()) for some in (here, there)]
        assert rows[0] == rows[1]
        assert water_filling(there, bound) == water_filling(here, bound)


@pytest.mark.parametrize("alike", [False, True])
def test_comparisons_need_not_take_all_rows(alike, monkeypatch):
    monkeypatch.setattr(pair_sources, "ENOUGH", 8)
    monkeypatch.setattr(pair_sources, "MORE", 2)
    for seed in range(4):
        here, there = drawn(seed, alike)
        sure, found = RemovalScores(here, GRID, 900), RemovalScores(there, GRID, 900)
        for place in range(len(GRID)):
            for level in (-1, 40, sure.score(place) - 1, sure.score(place), 899, 900):
                assert (found[place] <= level) == (sure.score(place) <= level)


def test_no_rows_at_all():
    empty = f"SELECT * FROM (VALUES (1, 2, 3, 4)) AS t({NAMES}) WHERE false"
    there = TablePairs(DuckDBPairs(duckdb.connect(), empty, True), 5)
    assert (there.highest, there.count(1), there.below(1), water_filling(there, 1)) == (0, 0, 0, 0)


def test_memory_does_not_grow_with_all_pairs():
    """3,000 units that all meet each other are 9 million pairs, of 48 bytes each as arrays."""
    many = 3000
    statement = (
        'SELECT a.i AS "adomnia unit", b.i AS "adomnia unit 2", CAST(1 AS BIGINT) AS "adomnia p0", '
        f'hash(a.i, b.i) AS "adomnia order" FROM range({many}) a(i), range({many}) b(i)'
    )
    pairs = DuckDBPairs(duckdb.connect(), statement, True)
    mechanism = ClampedPairs(PairSums(Rows()), 10**6, epsilon=Fraction(4, 5))
    tracemalloc.start()
    try:
        found = mechanism.release(Sealed(pairs))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.bound > many / 2
    assert peak < 48 * many**2 * 3 / 4
