"""Scores of bounds and counts of cleaned values, at every engine, against plain Python."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sources import DOMAINS, ENGINES, TYPES

from adomnia.engines.engine import Request
from adomnia.engines.sql.coding import lost
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.contribution import Tally
from adomnia.privacy.reads import UnitPeaks, UnitRows
from adomnia.queries.expression import Column
from adomnia.queries.ranges import Truth, from_domain
from adomnia.schema.table import Attribute, Table

SIZES = {"Ulm": 1, "Köln": 2, "Rom": 7, "Graz": 30}
GRID = (2, 3, 5, 8, 40)
ATTRIBUTES = {name: Attribute(name, domain) for name, domain in DOMAINS.items() if name != "name"}
NOTHING = dict.fromkeys(TYPES)


def rows():
    """People with several rows; ages from -2 to 24, where 0 to 20 are declared; one is nobody's."""
    owned = [name for name, size in SIZES.items() for _ in range(size)]
    made = [
        {**NOTHING, "name": name, "age": i % 27 - 2, "price": i} for i, name in enumerate(owned)
    ]
    return [*made, {**NOTHING, "age": 5}]


every_engine = pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)


@every_engine
def test_units_above_bounds_are_those_of_the_rows(make):
    table = Table("people", ATTRIBUTES, "name", 2)  # a scan goes over all rows of a unit
    sizes = np.array([*SIZES.values()])
    with make(rows()) as (engine, _):
        found = unseal(engine.unit_scores(table, UnitRows(GRID, 2))).tolist()
        for bound, (above, between) in zip(GRID, found, strict=True):
            assert above == (sizes > bound).sum()
            assert between == (np.minimum(sizes, bound) - 2).clip(0).sum()
        column, grid = Column("age", from_domain(DOMAINS["age"])), (-1, 0, 3, 10, 20, 21)
        ages = {name: [r["age"] for r in rows() if r["name"] == name] for name in SIZES}
        peaks = np.array([min(max(own), 21) for own in ages.values()])
        depths = np.array([max(min(own), -1) for own in ages.values()])
        high = unseal(engine.unit_scores(table, UnitPeaks(column, grid)))[:, 0]
        assert high.tolist() == [(peaks > bound).sum() for bound in grid]
        down = unseal(engine.unit_scores(table, UnitPeaks(column, grid, lowest=True)))[:, 0]
        assert down.tolist() == [(-depths > bound).sum() for bound in grid]


@every_engine
def test_values_that_cleaning_changes_are_counted_in_kept_rows(make):
    table = Table("people", ATTRIBUTES, "name", 40)
    ages = np.array([row["age"] for row in rows()[:-1]])
    tests = tuple(Column(lost(name), Truth(nullable=False)) for name in ("age", "sex"))
    with make(rows()) as (engine, _):
        (counts,) = engine.measure(Request(table, None, (), (Tally(tests),)))
        assert unseal(counts).tolist() == [[((ages < 0) | (ages > 20)).sum(), 0]]
