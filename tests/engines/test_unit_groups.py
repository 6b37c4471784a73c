"""Units in groups: in which groups of a question a unit's rows are used, in every engine."""

from __future__ import annotations

import random
import sys
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "laws"))

from sources import ENGINES, from_database

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.engine import Request
from adomnia.engines.sql import statement
from adomnia.engines.sql.units import ChosenGroups
from adomnia.mechanisms.unseal import unseal
from adomnia.queries.expression import Column
from adomnia.queries.grouping import axes
from adomnia.queries.measurement import Counts, Distinct, Quantile, Sum
from adomnia.queries.operations import call, constant, inside
from adomnia.queries.ranges import from_domain
from adomnia.schema.domain import Categories, Grid, Open
from adomnia.schema.table import Attribute, Table
from tests.enforced import ranked, request_of

TYPES = {"who": "VARCHAR", "value": "BIGINT", "kind": "VARCHAR", "extra": "BOOLEAN"}
KINDS = tuple("abcdefgh")
DOMAINS = {"value": Grid(Fraction(0), Fraction(100)), "kind": Categories(KINDS), "who": Open()}
ATTRIBUTES = {name: Attribute(name, domain) for name, domain in DOMAINS.items()}
VALUE, KIND, WHO = (Column(name, from_domain(DOMAINS[name])) for name in DOMAINS)
COUNT = Counts((None,))
LARGE = call("ge", VALUE, constant(20))
BOUNDS = [(6, 2, None), (6, 1, None), (6, 2, 2), (6, None, 1), (9, 3, 2), (4, 9, 9)]

every_engine = pytest.mark.parametrize("make", [*ENGINES.values()], ids=[*ENGINES])


def table(rows, groups=None, each=None):
    return Table("people", ATTRIBUTES, "who", rows, {}, groups, each)


def owned(seed, size=240):
    """Rows of units of all sizes, twins among them, and rows that are nobody's."""
    pick = random.Random(seed)
    rows = [
        {"who": pick.choice([None, "", "ä", *(f"u{i}" for i in range(8)), *["crowd"] * 5]),
         "value": pick.choice([None, 7, pick.randint(0, 130)]),
         "kind": pick.choice([*KINDS, "none of them", None]), "extra": pick.random() < 0.5}
        for _ in range(size)
    ]  # fmt: skip
    return rows + rows[:30]


def used(engine, private, where=LARGE):
    """How many rows of each unit are used in each group of a question by kind."""
    request = request_of(private, where, (KIND, WHO), (COUNT,), grouping=1)
    keys, counts = unseal(engine.keyed(request))
    return Counter(dict(zip(keys, counts[:, 0].tolist(), strict=True)))


def by_unit(found):
    out = {}
    for (kind, who), many in found.items():
        out.setdefault(who, {})[kind] = many
    return out


@every_engine
def test_a_unit_has_so_many_groups_and_rows_in_each(make):
    with make(owned(1), TYPES, DOMAINS) as (engine, _):
        for rows, groups, each in BOUNDS if make is not ENGINES["spark"] else BOUNDS[2:4]:
            all_kept = by_unit(used(engine, table(rows)))
            for who, held in by_unit(used(engine, table(rows, groups, each))).items():
                there = all_kept[who]
                assert len(held) == min(len(there), groups or len(there))
                assert held == {kind: min(there[kind], each or rows) for kind in held}
                assert sum(held.values()) <= rows


@every_engine
def test_every_measurement_is_of_the_same_rows(make):
    private = table(6, 2, 2)
    with make(owned(2), TYPES, DOMAINS) as (engine, _):
        found = used(engine, private)
        unit = Distinct(Column("who", WHO.range))
        request = request_of(private, LARGE, (KIND,), (COUNT, unit, Sum(VALUE)))
        counts, units, sums = (unseal(part) for part in engine.measure(request))
        histogram = unseal(engine.histogram(request, ranked(Quantile(VALUE))))
    (axis,) = axes((KIND,))
    assert [n for (n,) in counts.tolist()] == [
        sum(many for (kind, _), many in found.items() if kind == cell) for cell in axis
    ]
    assert [n for (n,) in units.tolist()] == [sum(kind == c for kind, _ in found) for c in axis]
    for cell, (values, many) in histogram.items():
        assert many.sum() == counts[cell, 0]
        assert int(np.dot(values, many)) == sums[cell, 0]


@every_engine
def test_the_choice_depends_on_the_units_rows_alone(make):
    rows, private = owned(3), table(6, 2, 2)
    with make(rows, TYPES, DOMAINS) as (engine, _):
        wanted = used(engine, private)
    shuffled = random.Random(4).sample(rows, len(rows))
    with make(shuffled, TYPES, DOMAINS) as (engine, _):
        assert used(engine, private) == wanted
    less = [row for row in rows if row["who"] != "crowd"]
    with make(less, TYPES, DOMAINS) as (engine, _):
        rest = {key: many for key, many in wanted.items() if key[1] != "crowd"}
        assert used(engine, private) == rest


@every_engine
def test_without_groups_and_for_whole_tables_nothing_changes(make):
    with make(owned(5), TYPES, DOMAINS) as (engine, _):
        for where in (None, LARGE):
            plain, bounded = (
                unseal(engine.measure(request_of(private, where, (), (COUNT, Sum(VALUE))))[0])
                for private in (table(6), table(6, 1, 1))
            )
            assert plain.tolist() == bounded.tolist()
        axes = (KINDS,)
        released = [
            unseal(
                engine.contingency(Request(private, None, (KIND,), ()), axes)([(0,)])[0,]
            ).tolist()
            for private in (table(6), table(6, 1, 1))
        ]
        assert released[0] == released[1]


def test_groups_are_chosen_evenly():
    """Every group of a unit is as likely to be kept: 150 units with a row in each of 8 groups."""
    rows = [
        {"who": f"person {i}", "value": 50, "kind": kind, "extra": True}
        for i in range(150)
        for kind in KINDS
    ]
    with from_database(rows, TYPES, DOMAINS) as (engine, _):
        found = unseal(engine.measure(request_of(table(8, 2), None, (KIND,), (COUNT,)))[0])[:, 0]
    assert found.sum() == 300
    assert abs(found[:-2] - 37.5).max() < 5 * np.sqrt(150 * 0.25 * 0.75)


def test_where_nothing_can_be_too_many_nothing_is_ranked():
    few = Column("kind", from_domain(Categories(("a", "b"))))
    assert not ChosenGroups.of(table(6), (KIND,))
    assert not ChosenGroups.of(table(6, 6, 6), (KIND,))
    assert not ChosenGroups.of(table(6, 4), (few,))  # two groups, NULL and all others
    assert not ChosenGroups.of(table(6, 1, 1), ())
    assert ChosenGroups.of(table(6, 2), (few,)) == ChosenGroups(2, None)
    assert ChosenGroups.of(table(6, 2), (WHO,)) == ChosenGroups(2, None)
    assert ChosenGroups.of(table(6, None, 2), (KIND,)) == ChosenGroups(None, 2)


def test_a_long_key_is_computed_once():
    """A key whose text is long is named below the choice, and carried through it."""
    key = inside(KIND)
    for _ in range(4):
        key = call("case", call("eq", key, constant("a")), key, inside(KIND))
    request = request_of(table(6, 2, 1), LARGE, (key,), (COUNT,))
    text = statement.aggregates(request, statement.coded_in_place(TYPES, DUCKDB)).text
    assert "DENSE_RANK" in text
    with from_database(owned(6), TYPES, DOMAINS) as (engine, _):
        long = unseal(engine.measure(request)[0])
        plain = request_of(table(6, 2, 1), LARGE, (inside(KIND),), (COUNT,))
        short = unseal(engine.measure(plain)[0])
    assert long.tolist() == short.tolist()


def test_a_unit_that_is_written_in_two_ways_is_one():
    """Equal values need not look alike: a group of theirs is one group, in every engine."""
    rows = [
        {"who": Decimal(text), "value": number, "kind": kind, "extra": True}
        for number, text in enumerate(["1", "1.0", "1.00", "2.50", "2.5"] * 4)
        for kind in "abc"
    ]
    attributes = {name: ATTRIBUTES[name] for name in ("value", "kind")}
    private = Table("people", attributes, "who", 9, {}, 2, 1)
    domains = {name: DOMAINS[name] for name in attributes}
    types = TYPES | {"who": "DECIMAL"}  # PostgreSQL keeps the digits that were written
    with ENGINES["postgres"](rows, types, domains) as (engine, _):
        request = request_of(private, None, (KIND,), (COUNT,))
        found = unseal(engine.measure(request)[0])[:, 0]
    assert found.sum() == 4  # two units, two groups each, one row in a group
    assert found.max() <= 2
