"""What is counted of several tables: a unit that goes with all that it has moves it by no more than
is charged, table by table and in all (`quality.md`, claim 1)."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from adomnia.curator.quality.tables_quality import counted_parts
from adomnia.mechanisms.choices.scan_mechanisms import ExcessRows
from adomnia.mechanisms.unseal import unseal
from tests.adversary.table_worlds import UNIT, TablesWorld
from tests.adversary.tables import opened

PAID = Fraction(7, 3)
UNBOUNDED = "unbounded"


def read(database):
    """What is charged and read of an edition: each part with its exact values."""
    backend = database._backend
    version, parts = backend.version(), counted_parts(backend, PAID)
    return [(part, unseal(part.over.read([part.mechanism.reads], version)[0])) for part in parts]


def loss_of(part, here, there):
    """What the noise of a part costs where a unit moves these values."""
    mechanism, moved = part.mechanism, np.abs(np.asarray(here) - np.asarray(there))
    if not isinstance(mechanism, ExcessRows):
        return Fraction(int(moved.sum())) / mechanism.noise.parameter
    rise = int(moved[:, 0].max())
    assert rise <= 1
    assert (np.sign(here[:, 0] - there[:, 0]) >= 0).all()
    costs = [mechanism.plan.loss(rise, 0)]
    for bound, many in zip(mechanism.plan.grid[1:], moved[1:, 1], strict=True):
        costs.append(costs[0] + Fraction(int(many)) / mechanism.noise(bound).parameter)
    assert moved[0, 1] == 0  # where no higher bound is found nothing is added up
    return max(costs)


@pytest.mark.parametrize("seed", range(8))
def test_a_unit_with_all_it_has_moves_it_by_no_more_than_is_charged(seed):
    chance = random.Random(seed)
    world = TablesWorld.drawn(chance, UNBOUNDED)
    rows = world.database(chance, 0.4)
    units = world.units(rows)
    many = [rows, *(world.without(rows, unit) for unit in units)]
    with opened(world, many) as databases:
        first, *others = [read(database) for database in databases]
        charged = sum(part.mechanism.event.epsilon for part, _ in first)
        assert charged == PAID
        for other in others:
            assert [part.to_json() for part, _ in other] == [part.to_json() for part, _ in first]
            pairs = zip(first, other, strict=True)
            spent = [(part, loss_of(part, here, there)) for (part, here), (_, there) in pairs]
            for part, cost in spent:
                assert cost <= part.mechanism.event.epsilon / world.relation.group
            assert sum(cost for _, cost in spent) <= PAID / world.relation.group


@pytest.mark.parametrize("seed", range(4))
def test_rows_beyond_a_bound_are_those_of_units(seed):
    """Scores against plain Python: of all rows that somebody owns, whatever max_rows is."""
    chance = random.Random(100 + seed)
    world = TablesWorld.drawn(chance, UNBOUNDED, whole=True)
    rows = world.database(chance)
    reached = world.reaches(rows)
    with opened(world, [rows]) as (database,):
        for part, found in read(database):
            if not isinstance(part.mechanism, ExcessRows):
                continue
            owners = [next(iter(ends)) for ends in reached[part.table] if len(ends) == 1]
            sizes = np.array([owners.count(one) for one in {*owners}] or [0])
            most = world.shape(part.table).most
            for bound, (above, between) in zip(part.mechanism.plan.grid, found, strict=True):
                assert above == (sizes > bound).sum()
                assert between == (np.minimum(sizes, bound) - most).clip(0).sum()
        counted = {part.table for part, _ in read(database)}
        assert counted == {shape.name for shape in world.shapes}
        excess = {part.table for part, _ in read(database) if not part.columns}
        assert (UNIT in excess) == (world.shape(UNIT).most > 1)
