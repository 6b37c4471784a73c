"""The law of free-lunch privacy: no two tables at all differ by more than is said.

All tables over tiny domains are listed, those with more rows than declared too, and every pair of
them is compared after the limit on rows.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from test_sensitivity import (
    LONG,
    PAIR,
    SAME,
    WIDE,
    World,
    cell_of,
    check,
    kinds,
    largest,
    settings,
    tables,
    vectors,
)

from adomnia.errors import QuestionError
from adomnia.mechanisms.counts.row_limit import limit_histogram, limit_rows
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.free_lunch import FreeLunch, free_lunch_sensitivity
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.proposal import contribution_of
from adomnia.privacy.sensitivity import Setting
from adomnia.queries.measurement import Counts, Distinct, Quantile
from adomnia.schema.sealed import Sealed
from tests.enforced import claim

WORLDS = {
    "long": (World(LONG.columns, 4), 3),
    "pair": (World(PAIR.columns, 2), 1),
    "wide": (World(WIDE.columns, 2), 2),
    "same": (World(SAME.columns, 3), 2),
}


def limited(world, measurement, setting, most):
    """The measurement of every table, after the limit on rows that a mechanism puts on it."""
    held = tables(world)
    exact = vectors(world, measurement, setting, held)
    _, places, count = cell_of(world, setting)
    adds = np.zeros((held.shape[1], count), np.int64)
    for row, place in enumerate(places):
        if place >= 0:
            adds[row, place] = 1
    rows = held @ adds
    found = [
        unseal(limit_rows(Sealed(one), Sealed(many), most))
        for one, many in zip(exact, rows, strict=True)
    ]
    return np.array(found)


@pytest.mark.parametrize("name", WORLDS)
def test_no_two_tables_differ_by_more_than_is_said(name):
    world, most = WORLDS[name]
    every = np.triu_indices(len(tables(world)), 1)
    neighbors, checked, exact = Neighbors("free-lunch", most=most), 0, 0
    for (kind, measurement), (where, setting) in itertools.product(
        kinds(world).items(), settings(world).items()
    ):
        if isinstance(measurement, Quantile):
            continue  # of no rows all points are as good: below
        said = claim(measurement, setting, neighbors)
        found = largest(measurement, limited(world, measurement, setting, most), *every)
        check(said, found, f"{kind}, {where}, any two tables of {most} rows")
        checked += 1
        exact += said.exact
    assert checked >= 100
    assert exact >= checked // 7


@pytest.mark.parametrize("name", ["long", "wide"])
def test_nor_do_penalties(name):
    world, most = WORLDS[name]
    small = World(world.columns, most)  # a larger table has the penalties of the empty one
    every = np.triu_indices(len(tables(small)), 1)
    for (kind, measurement), (where, setting) in itertools.product(
        kinds(small).items(), settings(small).items()
    ):
        if isinstance(measurement, Quantile):
            said = claim(measurement, setting, Neighbors("free-lunch", most=most))
            found = largest(
                measurement, vectors(small, measurement, setting, tables(small)), *every
            )
            check(said, found, f"{kind}, {where}")


def test_a_histogram_of_too_many_rows_is_empty():
    one = (np.array([3, 5]), np.array([1, 2]))
    cells = {0: one, 2: (np.array([4]), np.array([1]))}
    assert unseal(limit_histogram(Sealed(cells), 4)) == cells
    assert unseal(limit_histogram(Sealed(cells), 3)) == {}
    assert unseal(limit_histogram(Sealed({}), 1)) == {}


def test_the_relation_and_the_note_agree():
    for measurement in (Counts((None,)), Distinct(LONG["a"]), Quantile(LONG["a"])):
        for setting in (Setting(), Setting(keys=(LONG["g"],))):
            part = contribution_of(measurement, setting, Neighbors("bounded"))
            said = free_lunch_sensitivity(part, setting, FreeLunch(7))
            near = Neighbors("free-lunch", most=7)
            found = claim(measurement, setting, near)
            assert (said.l1, said.l2_squared, said.exact) == (
                found.l1,
                found.l2_squared,
                found.exact,
            )


def test_the_relation_takes_a_most_and_nothing_else():
    for wrong in (
        {"relation": "free-lunch"},
        {"relation": "free-lunch", "most": 0},
        {"relation": "free-lunch", "most": 5, "group": 2},
        {"relation": "free-lunch", "most": 5, "rows": 2},
        {"relation": "bounded", "most": 5},
    ):
        with pytest.raises((ValueError, QuestionError), match="free-lunch"):
            Neighbors(**wrong)
    assert not Neighbors("free-lunch", most=5).replaces
    assert Neighbors("free-lunch", most=5).moves == 10
