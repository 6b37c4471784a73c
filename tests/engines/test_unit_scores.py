"""Scores of bounds: units above each, by hand, from an edition and from a source in place."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.errors import MachineryError
from adomnia.mechanisms.choices.scan_mechanisms import BoundScan, ExcessRows
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.reads import UnitPeaks, UnitRows
from adomnia.queries.expression import Column
from adomnia.queries.ranges import from_domain
from adomnia.review.database import open_database
from adomnia.testing import World, number

SIZES = (1, 1, 2, 5, 6, 9, 30)
GRID = (1, 2, 5, 8, 20)
UNIT = 'epsilon = 1000\nunit = "who"\nmax_rows = 2'


def world(privacy=UNIT, more=""):
    owners = [name for name, size in enumerate(SIZES) for _ in range(size)]
    numbers = np.arange(len(owners)) % 11 - 3
    columns = {"who": [None, *owners], "x": [99, *numbers.tolist()]}
    return World(columns, {"x": number(0, 6)}, privacy, more)


def opened(place, tmp_path, privacy=UNIT):
    file = world(privacy).write(tmp_path)
    file.write_text(file.read_text().replace("[data]", f"[data]\nin_place = {place}"))
    return open_database(file)


def read(database, reads):
    backend = database._backend
    (sealed,) = backend.read([reads], backend.version())
    return unseal(sealed)


@pytest.mark.parametrize("place", ["true", "false"])
def test_units_with_more_rows_and_rows_up_to_a_bound(place, tmp_path):
    sizes = np.array(SIZES)
    with opened(place, tmp_path) as database:
        for beyond in (0, 2):
            found = read(database, UnitRows(GRID, beyond)).tolist()
            above = [int((sizes > bound).sum()) for bound in GRID]
            rows = [int((np.minimum(sizes, b) - beyond).clip(0).sum()) for b in GRID]
            assert [row[1] for row in found] == rows
            known = slice(GRID.index(max(1, beyond)), None)  # ranks up to `beyond` are not read
            assert [row[0] for row in found][known] == above[known]


@pytest.mark.parametrize("place", ["true", "false"])
def test_units_with_a_number_above_a_bound(place, tmp_path):
    with opened(place, tmp_path) as database:
        column = Column("x", from_domain(database.table.attributes["x"].domain))
        high = read(database, UnitPeaks(column, (-2, 0, 6, 7)))[:, 0].tolist()
        low = read(database, UnitPeaks(column, (-7, -6, 0, 1), True))[:, 0].tolist()
        assert high[0] == len(SIZES)
        assert high == sorted(high, reverse=True)
        assert (high[-1], low[-1]) == (0, 0)  # what lies outside is one step beside the bounds
        assert low[0] == len(SIZES)


@pytest.mark.parametrize("place", ["true", "false"])
def test_a_unit_s_largest_number_is_that_of_all_its_rows(place, tmp_path):
    owners = np.repeat(np.arange(len(SIZES)), SIZES)
    numbers = np.arange(len(owners)) % 11 - 3
    peaks = np.array([numbers[owners == who].max() for who in range(len(SIZES))]).clip(-1, 7)
    grid = (-1, 0, 3, 6)
    with opened(place, tmp_path) as database:  # of each at most 2 rows are used
        column = Column("x", from_domain(database.table.attributes["x"].domain))
        found = read(database, UnitPeaks(column, grid))[:, 0].tolist()
    assert found == [int((peaks > bound).sum()) for bound in grid]  # 99 is nobody's


def test_without_units_rows_are_counted(tmp_path):
    with opened("false", tmp_path, "epsilon = 1000") as database:
        column = Column("x", from_domain(database.table.attributes["x"].domain))
        found = read(database, UnitPeaks(column, (-1, 0, 5, 6)))[:, 0].tolist()
        numbers = np.append((np.arange(sum(SIZES)) % 11) - 3, 99)
        assert found == [int((numbers > bound).sum()) for bound in (-1, 0, 5, 6)]


def test_a_scan_is_refused_where_it_is_priced_too_low(tmp_path):
    with opened("false", tmp_path, f"{UNIT}\ngroup = 2") as database:
        backend = database._backend
        backend.check([ExcessRows(2, 100, Fraction(1), units=2)])
        for cheap in (ExcessRows(2, 100, Fraction(1)), BoundScan(UnitRows(GRID), Fraction(1))):
            with pytest.raises(MachineryError, match="priced below"):
                backend.check([cheap])
    below = pytest.raises(MachineryError, match="priced below")
    with world("epsilon = 1").open() as database, below:
        database._backend.check([ExcessRows(2, 100, Fraction(1))])
