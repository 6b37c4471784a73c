"""The law of sensitivity: no pair of neighbours differs by more, and some by as much as is said.

Tables over tiny domains are listed in full, with all pairs of them that are neighbours, and every
kind of measurement is evaluated on each. Differences are taken in the L1 and L2 norms, for
quantiles as the largest change of a penalty in each cell, for modes of the count of every value.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.sensitivity import Setting
from adomnia.queries.expression import Column
from adomnia.queries.measurement import (
    Counts,
    Distinct,
    Mode,
    Moments,
    Quantile,
    Sum,
    number,
    width_of,
)
from adomnia.queries.operations import call, constant, evaluate, inside, nearest
from adomnia.queries.ranges import Text, cells, clamp, from_domain, outside
from adomnia.schema.domain import Categories, Grid
from tests.enforced import adds, claim

# Worlds: all tables of a few rows over a tiny domain


@dataclass(frozen=True)
class World:
    """Columns with their ranges, how many rows a table has at most, and the units, if any."""

    columns: tuple[Column, ...]
    most: int
    units: tuple[str, ...] = ()

    def __getitem__(self, name):
        return next(column for column in self.columns if column.name == name)

    @property
    def names(self):
        return [column.name for column in self.columns]

    @property
    def rows(self):
        values = [(*cells(column.range), *outside(column.range), None) for column in self.columns]
        if self.units:
            values[0] = self.units
        return list(itertools.product(*values))


def column(name, domain):
    return Column(name, from_domain(domain))


def grid(low, high, step=1):
    return Grid(Fraction(low) * Fraction(step), Fraction(high) * Fraction(step), Fraction(step))


SEX = column("g", Categories(("x", "y")))
ONE = column("g", Categories(("x",)))
# Where `other` is declared nothing lies outside: not every column can have it, or worlds grow.
EITHER = column("g", Categories(("x", "y"), other="y"))
KNOWN = column("g", Categories(("x",), other="x"))
BIT = column("a", Categories((0, 1), other=1))
PAIR = World((column("a", grid(-1, 2, "1/2")), EITHER), 3)
LONG = World((column("a", grid(0, 2)), KNOWN), 4)
THREE = World((BIT, column("b", Categories((7, 3, 5))), EITHER), 2)
WIDE = World((column("a", grid(-3, 3)), ONE), 2)
BELOW = World((column("a", grid(-3, -1)), ONE), 2)
SAME = World((column("a", grid(2, 2)), SEX), 3)
WORLDS = {"pair": PAIR, "long": LONG, "three": THREE, "wide": WIDE, "below": BELOW, "same": SAME}


def multisets(size, most):
    """All choices of at most `most` of `size` rows, as numbers of copies of each."""
    chosen = [
        pick
        for many in range(most + 1)
        for pick in itertools.combinations_with_replacement(range(size), many)
    ]
    return np.array([[pick.count(row) for row in range(size)] for pick in chosen], np.int64)


@cache
def tables(world):
    """Every table as a number of copies of each possible row (tables × rows)."""
    return multisets(len(world.rows), world.most)


def bits(column, first, second):
    """Whether two values differ in one bit of their place in the domain; NULL and what lies
    outside have no bits."""
    places = cells(column.range)
    if first not in places or second not in places:
        return False
    return (places.index(first) ^ places.index(second)).bit_count() == 1


def is_step(world, relation, first, second):
    """Whether one row may change into the other."""
    differ = [c for c, x, y in zip(world.columns, first, second, strict=True) if x != y]
    if relation == "bounded" or len(differ) != 1:
        return relation == "bounded" and bool(differ)
    place = world.columns.index(differ[0])
    return relation == "attribute" or bits(differ[0], first[place], second[place])


@cache
def pairs(world, relation, group):
    """Indices of all neighbouring tables: chains of at most `group` single steps."""
    held = tables(world)
    index = {row.tobytes(): place for place, row in enumerate(held)}
    moves = [(-1, b) for b in range(held.shape[1])]
    if relation != "unbounded":
        rows = world.rows
        every = itertools.permutations(range(len(rows)), 2)
        moves = [(a, b) for a, b in every if is_step(world, relation, rows[a], rows[b])]
    near = np.zeros((len(held), len(held)), bool)
    for place, table in enumerate(held):
        for a, b in moves:
            if a >= 0 and not table[a]:
                continue
            other = table.copy()
            other[b] += 1
            if a >= 0:
                other[a] -= 1
            found = index.get(other.tobytes())
            if found is not None:
                near[place, found] = near[found, place] = True
    reach = near
    for _ in range(group - 1):
        reach = reach | ((reach.astype(np.float32) @ near.astype(np.float32)) > 0)
    return np.nonzero(np.triu(reach, 1))


# The reference evaluation of a measurement


def cell_of(world, setting):
    """The cell of each possible row, -1 for those outside of WHERE, and how many cells."""
    rows = [dict(zip(world.names, row, strict=True)) for row in world.rows]
    keys = [tuple(evaluate(key, row) for key in setting.keys) for row in rows]
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    kept = [setting.where is None or evaluate(setting.where, row) is True for row in rows]
    return rows, [places[key] if k else -1 for key, k in zip(keys, kept, strict=True)], len(places)


def vectors(world, measurement, setting, held):
    """The exact measurement of every table: tables × cells × components."""
    rows, places, count = cell_of(world, setting)
    if isinstance(measurement, Distinct | Quantile | Mode):
        return by_values(measurement, held, rows, places, count)
    added = np.zeros((len(rows), count, width_of(measurement)), np.int64)
    for index, (row, place) in enumerate(zip(rows, places, strict=True)):
        if place >= 0:
            added[index, place] = adds(measurement, row)
    return np.tensordot(held, added, axes=1)


def by_values(measurement, held, rows, places, count):
    """Distinct counts, or penalties of all points, from how often each value is in each cell."""
    seen = [evaluate(measurement.argument, row) for row in rows]
    if isinstance(measurement, Distinct | Mode):
        domain = sorted({value for value in seen if value is not None})
    else:
        spread = number(measurement.argument)
        seen = [None if value is None else clamp(spread, value) for value in seen]
        domain = list(range(spread.low, spread.high + 1))
    often = np.zeros((len(held), count, len(domain)), np.int64)
    for index, (value, place) in enumerate(zip(seen, places, strict=True)):
        if value is not None and place >= 0:
            often[:, place, domain.index(value)] += held[:, index]
    if isinstance(measurement, Distinct):
        return (often > 0).sum(axis=2, keepdims=True)
    if isinstance(measurement, Mode):
        return often
    return penalty(measurement, often)


def penalty(measurement, often):
    """How far each point is from the target in each cell, as `quantile.md` defines it."""
    upto, n = often.cumsum(axis=2), often.sum(axis=2, keepdims=True)
    below = upto - often
    if measurement.edge:
        rank = (below, upto) if measurement.edge == "min" else (n - upto, n - below)
        return np.maximum(np.maximum(1 - rank[1], rank[0]), 0)
    a, b = measurement.share.numerator, measurement.share.denominator
    return np.maximum(np.maximum(a * n - b * upto, b * below - a * n), 0)


def largest(measurement, exact, first, second):
    """The largest difference in L1 and in L2 squared over pairs of tables."""
    if not len(first):
        return 0, 0
    shape = exact.shape[1:]
    values, kind = np.unique(exact.reshape(len(exact), -1), axis=0, return_inverse=True)
    met = np.zeros((len(values), len(values)), bool)  # many tables have the same values
    met[kind.ravel()[first], kind.ravel()[second]] = True
    found = [0, 0]
    for one in np.flatnonzero(met.any(axis=1)):
        apart = np.abs(values[met[one]] - values[one])
        if isinstance(measurement, Quantile):
            apart = apart.reshape(-1, *shape).max(axis=2)
        sizes = apart.sum(axis=1).max(), (apart * apart).sum(axis=1).max()
        found = [max(pair) for pair in zip(found, map(int, sizes), strict=True)]
    return tuple(found)


# What is measured


def at_least(column, value):
    return call("ge", column, constant(value, column.range.step))


def kinds(world):
    """Every kind of measurement over the columns of a world, as a question is bound to it."""
    a, g = world["a"], world["g"]
    low, high, near = a.range.low, a.range.high, nearest(inside(a))
    x = call("eq", g, constant("x"))
    above = at_least(a, high)
    found = {
        "count": Counts((None,)),
        "count values": Counts((call("not", call("is_null", a)),)),
        "disjoint": Counts((x, call("not", x))),
        "overlapping": Counts((None, x, above)),
        "nested": Counts((at_least(a, low), above)),
        "never": Counts((call("and", x, call("is_null", g)),)),
        "sum": Sum(a),
        "sum of squares": Sum(call("mul", near, near)),
        "sum where x": Sum(call("case", x, near, constant(0, a.range.step))),
        "average": Moments(a, 1),
        "average and rows": Moments(a, 1, rest=True),
        "variance": Moments(a, 2),
        "variance and rows": Moments(a, 2, rest=True),
        "average of squares": Moments(call("mul", near, near), 1, rest=True),
        "distinct numbers": Distinct(inside(a)),
        "distinct texts": Distinct(inside(g)),
        "mode of numbers": Mode(inside(a)),
        "mode of texts": Mode(call("case", above, inside(g), constant(None))),
    }
    for share in (Fraction(1, 2), Fraction(1, 3), Fraction(0), Fraction(1)):
        found[f"quantile {share}"] = Quantile(a, share)
    found["min"] = Quantile(a, edge="min")
    found["max"] = Quantile(a, edge="max")
    if len(world.columns) == 3:
        b = world["b"]
        found = {name: found[name] for name in ("count", "sum", "average and rows", "overlapping")}
        found["distinct codes"] = Distinct(inside(b))
        found["sum of codes"] = Sum(b)
        found["of two columns"] = Counts((above, call("eq", b, constant(3)), x))
        found["two that read one"] = Counts((*(call("eq", b, constant(k)) for k in (3, 5)), x))
        found["quantile of codes"] = Quantile(b)
        found["mode of codes"] = Mode(inside(b))
    return found


def settings(world):
    """Ungrouped and grouped, with and without WHERE."""
    a, g = world["a"], world["g"]
    x, high = call("eq", g, constant("x")), at_least(a, a.range.high)
    return {
        "all rows": Setting(),
        "where x": Setting(where=x),
        "where a": Setting(where=high),
        "never": Setting(where=call("and", x, call("is_null", g))),
        "by g": Setting(keys=(g,)),
        "by a": Setting(keys=(a,)),
        "by g where a": Setting(keys=(g,), where=high),
        "by g and a": Setting(keys=(g, a)),
        "by a thing that is one": Setting(
            keys=(call("case", call("is_null", g), constant(1), constant(1)),)
        ),
    }


RELATIONS = [(r, c) for r in ("unbounded", "bounded", "attribute", "bit") for c in (1, 2)]


def check(claim, found, label, long_enough=True):
    l1, l2 = found
    assert l1 <= claim.l1, f"{label}: {l1} passes {claim.l1}"
    assert l2 <= claim.l2_squared, f"{label}: {l2} passes {claim.l2_squared}"
    if claim.exact and long_enough:
        assert (l1, l2) == (claim.l1, claim.l2_squared), f"{label}: {found}, said {claim}"


@pytest.mark.parametrize("name", WORLDS)
def test_no_two_neighbours_differ_by_more_than_is_said(name):
    world, exact, checked = WORLDS[name], 0, 0
    for (kind, measurement), (where, setting) in itertools.product(
        kinds(world).items(), settings(world).items()
    ):
        values = vectors(world, measurement, setting, tables(world))
        for relation, group in RELATIONS:
            said = claim(measurement, setting, Neighbors(relation, group=group))
            found = largest(measurement, values, *pairs(world, relation, group))
            # Only tables of four rows let two of them move a penalty as far as two can.
            long_enough = not isinstance(measurement, Quantile) or world is LONG
            check(said, found, f"{kind}, {where}, {relation} × {group}", long_enough)
            exact += said.exact
            checked += 1
    assert checked >= 500
    assert exact >= checked // 6


# Units: tables of two persons with at most so many rows each

UNIT = Column("u", Text(None))
HOUSE = World((UNIT, column("a", Categories((-1, 2))), KNOWN), 0, ("p", "q"))


@cache
def unit_tables(rows, others):
    """Tables of two units with up to `rows` and `others` rows, and which choice each unit made."""
    size = len(HOUSE.rows) // 2
    first, second = multisets(size, rows), multisets(size, others)
    chosen = list(itertools.product(range(len(first)), range(len(second))))
    held = np.array([np.concatenate((first[i], second[j])) for i, j in chosen])
    return held, np.array(chosen)


@cache
def unit_pairs(rows, others, relation, group):
    _, chosen = unit_tables(rows, others)
    same = chosen[:, None, :] == chosen[None, :, :]
    near = same.any(axis=2) & ~same.all(axis=2)
    if relation == "unbounded":  # the unit that differs has no rows on one side: choice 0
        empty = (chosen[:, None, :] == 0) | (chosen[None, :, :] == 0)
        near &= (same | empty).all(axis=2)
    reach = near
    for _ in range(group - 1):
        reach = reach | ((reach.astype(np.float32) @ near.astype(np.float32)) > 0)
    return np.nonzero(np.triu(reach, 1))


def unit_kinds():
    a, g = HOUSE["a"], HOUSE["g"]
    x = call("eq", g, constant("x"))
    return {
        "count": Counts((None,)),
        "overlapping": Counts((None, x, at_least(a, 2))),
        "sum": Sum(a),
        "average and rows": Moments(a, 1, rest=True),
        "variance": Moments(a, 2),
        "distinct numbers": Distinct(inside(a)),
        "units": Distinct(UNIT),
        "units with x": Distinct(call("case", x, UNIT, constant(None))),
        "median": Quantile(a),
        "lower quartile": Quantile(a, Fraction(1, 4)),
        "max": Quantile(a, edge="max"),
        "mode": Mode(inside(a)),
    }


def unit_settings():
    g, high = HOUSE["g"], at_least(HOUSE["a"], 2)
    return {
        "all rows": Setting(unit="u"),
        "where a": Setting(where=high, unit="u"),
        "by g": Setting(keys=(g,), unit="u"),
        "by g where a": Setting(keys=(g,), where=high, unit="u"),
    }


@pytest.mark.parametrize("relation", ["unbounded", "bounded"])
@pytest.mark.parametrize(
    ("rows", "others", "group"), [(1, 1, 1), (1, 1, 2), (2, 2, 1), (2, 2, 2), (3, 1, 1)]
)
def test_all_rows_of_a_unit_move_a_measurement_by_no_more_than_is_said(
    rows, others, group, relation
):
    held, _ = unit_tables(rows, others)
    exact = 0
    for (kind, measurement), (where, setting) in itertools.product(
        unit_kinds().items(), unit_settings().items()
    ):
        said = claim(measurement, setting, Neighbors(relation, rows=rows, group=group))
        values = vectors(HOUSE, measurement, setting, held)
        found = largest(measurement, values, *unit_pairs(rows, others, relation, group))
        long_enough = not isinstance(measurement, Quantile) or (group == 1 and rows <= others)
        check(said, found, f"{kind}, {where}, {rows} rows, {relation} × {group}", long_enough)
        exact += said.exact
    assert exact >= 12
