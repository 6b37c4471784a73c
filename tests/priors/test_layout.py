"""What is asked among public numbers, against rows enumerated one by one."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from adomnia.errors import NotAllowedError, QuestionError
from adomnia.priors.layout import lay_out
from adomnia.priors.prior_knowledge import PriorKnowledge, Published
from adomnia.priors.sensitivity import refuse_hopeless, sensitivity
from adomnia.priors.solver.lattice import graver
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.sensitivity import Sensitivity, Setting
from adomnia.queries.expression import Column, Expr
from adomnia.queries.grouping import axes
from adomnia.queries.measurement import (
    Counts,
    Distinct,
    Measurement,
    Moments,
    Quantile,
    Sum,
    number,
    unit_of,
)
from adomnia.queries.operations import call, constant, evaluate
from adomnia.queries.ranges import Number, Text

AGE = Column("age", Number(0, 2))
SEX = Column("sex", Text(("F", "M")))
TOWN = Column("town", Text(("x", "y")))
COLUMNS = {"age": (0, 1, 2), "sex": ("F", "M"), "town": ("x", "y")}
OLD = call("ge", AGE, constant(1))
WOMAN = call("in", SEX, params=("F",))
TOWNS = call("in", TOWN, params=("x",))
CONDITIONS = (None, OLD, WOMAN, TOWNS, call("and", OLD, WOMAN))


def rows(nullable: frozenset[str]) -> list[dict[str, Any]]:
    """Every row that the domains allow."""
    spans = [(*v, None) if name in nullable else v for name, v in COLUMNS.items()]
    return [dict(zip(COLUMNS, row, strict=True)) for row in itertools.product(*spans)]


def holds(test: Expr | None, row: dict[str, Any]) -> bool:
    return test is None or evaluate(test, row) is True


def place(keys: tuple[Expr, ...], row: dict[str, Any]) -> int:
    cell = 0
    for key, axis in zip(keys, axes(keys), strict=True):
        cell = cell * len(axis) + axis.index(evaluate(key, row))
    return cell


def added(measurement: Measurement, row: dict[str, Any]) -> list[int]:
    """What one row adds to its cell."""
    if isinstance(measurement, Counts):
        return [int(holds(test, row)) for test in measurement.conditions]
    value = evaluate(measurement.argument, row)
    if isinstance(measurement, Sum):
        return [value or 0]
    assert isinstance(measurement, Moments)
    width = number(measurement.argument).width
    if value is None:
        unit = unit_of(measurement)
        return [0] * (measurement.degree + 1) + [unit] * measurement.rest
    t = value - number(measurement.argument).low
    found = {1: [t, width - t], 2: [t * t, 2 * t * (width - t), (width - t) ** 2]}
    return found[measurement.degree] + [0] * measurement.rest


def matrix(measurement: Measurement, where: Expr | None, keys: tuple[Expr, ...],
           listed: list[dict[str, Any]]) -> np.ndarray:  # fmt: skip
    width = len(added(measurement, listed[0]))
    cells = int(np.prod([len(axis) for axis in axes(keys)], dtype=int))
    found = np.zeros((cells * width, len(listed)), np.int64)
    for column, row in enumerate(listed):
        if holds(where, row):
            at = place(keys, row) * width
            found[at : at + width, column] = added(measurement, row)
    return found


def truth(known: PriorKnowledge, asked: np.ndarray, listed: list[dict[str, Any]], norm: int) -> int:
    """The largest change over the Graver basis of rows taken one by one."""
    parts = [matrix(p.measurements[0], p.where, p.keys, listed) for p in known.published]
    if known.total:
        parts.append(np.ones((1, len(listed)), np.int64))
    public = np.vstack([*parts, np.zeros((1, len(listed)), np.int64)])
    if known.total and known.listed and not any(p.is_marginal for p in known.published):
        # a row without a listed value is in no table: only the number of rows knows it
        outside = np.zeros((len(public), 1), np.int64)
        outside[len(public) - 2] = 1
        public, asked = np.hstack([public, outside]), np.pad(asked, ((0, 0), (0, 1)))
    moved = asked @ graver.basis(public[public.any(axis=1)]).T
    sizes = np.abs(moved).sum(axis=0) if norm == 1 else (moved**2).sum(axis=0)
    return int(sizes.max(initial=0))


def published(where: Expr | None, keys: tuple[Expr, ...], measurement: Counts | Sum) -> Published:
    return Published("SELECT", where, keys, (measurement,))


KEYS = ((), (SEX,), (TOWN,), (SEX, TOWN), (AGE,))
RELEASES = some.builds(
    published,
    some.sampled_from((None, WOMAN, OLD)),
    some.sampled_from(KEYS),
    some.sampled_from((Counts((None,)), Counts((OLD,)), Sum(AGE))),
)
KNOWN = some.builds(
    PriorKnowledge,
    some.lists(RELEASES, min_size=1, max_size=2).map(tuple),
    some.sampled_from((frozenset(), frozenset({"sex"}))),
    some.booleans(),
)
MEASURED = some.sampled_from((
    Counts((None,)), Counts((None, OLD)), Counts((WOMAN, TOWNS, OLD)), Sum(AGE), Moments(AGE, 1),
    Moments(AGE, 2), Moments(AGE, 1, rest=True),
))  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(KNOWN, MEASURED, some.sampled_from(CONDITIONS), some.sampled_from(KEYS[:4]))
def test_the_bound_is_never_below_rows_taken_one_by_one(
    known: PriorKnowledge, measurement: Measurement, where: Expr | None, keys: tuple[Expr, ...]
) -> None:
    listed = rows(known.nullable)
    asked = matrix(measurement, where, keys, listed)
    found = sensitivity(measurement, Setting(where, keys), Neighbors(), known)
    l1, l2 = truth(known, asked, listed, 1), truth(known, asked, listed, 2)
    assert found.l1 >= l1
    assert found.l2_squared >= l2
    if found.exact:
        assert (found.l1, found.l2_squared) == (l1, l2)


@settings(max_examples=30, deadline=None)
@given(KNOWN, some.sampled_from(CONDITIONS), some.sampled_from(KEYS[:2]))
def test_distinct_values_and_quantiles_are_bounded_by_rows_that_move(
    known: PriorKnowledge, where: Expr | None, keys: tuple[Expr, ...]
) -> None:
    listed = rows(known.nullable)
    apart = np.vstack([
        matrix(Counts((None,)), call("and", where, test) if where else test, keys, listed)
        for test in (call("eq", AGE, constant(age)) for age in range(3))
    ])  # fmt: skip
    moved = truth(known, apart, listed, 1)
    setting = Setting(where, keys)
    assert sensitivity(Distinct(AGE), setting, Neighbors(), known).l1 >= moved
    share = Quantile(AGE, Fraction(1, 4))
    assert sensitivity(share, setting, Neighbors(), known).l1 >= 3 * moved


def margins_known(sizes: int) -> tuple[PriorKnowledge, Column, Column]:
    a, b = Column("a", Number(1, sizes)), Column("b", Number(1, sizes))
    parts = tuple(published(None, (key,), Counts((None,))) for key in (a, b))
    return PriorKnowledge(parts), a, b


def test_row_and_column_sums() -> None:
    known, a, b = margins_known(5)
    found = sensitivity(Counts((None,)), Setting(None, (a, b)), Neighbors(), known)
    assert (found.l1, found.l2_squared, found.exact) == (10, 10, True)
    twice = sensitivity(Counts((None,)), Setting(None, (a, b)), Neighbors(group=2), known)
    assert (twice.l1, twice.l2_squared) == (20, 40)


def test_one_output_moves_less_than_all() -> None:
    known, a, b = margins_known(5)
    found = sensitivity(Counts((None,)), Setting(None, (a, b)), Neighbors(), known, (0,))
    assert found.l1 == 1


def test_what_is_public_does_not_move() -> None:
    known, a, _ = margins_known(4)
    assert sensitivity(Counts((None,)), Setting(None, (a,)), Neighbors(), known).l1 == 0


def histograms(*sizes: int) -> tuple[PriorKnowledge, list[Column]]:
    columns = [Column(f"c{i}", Number(1, size)) for i, size in enumerate(sizes)]
    return PriorKnowledge(tuple(published(None, (c,), Counts((None,))) for c in columns)), columns


def test_a_universe_leaves_other_columns_out() -> None:
    known, columns = histograms(2, 5, 4)
    narrow = PriorKnowledge(known.published, universe=("c0", "c1"))
    two = Setting(None, tuple(columns[:2]))
    assert sensitivity(Counts((None,)), two, Neighbors(), narrow).l1 == 4
    assert sensitivity(Counts((None,)), two, Neighbors(), known).l1 > 4
    with pytest.raises(QuestionError, match="c2"):
        sensitivity(Counts((None,)), Setting(None, (columns[2],)), Neighbors(), narrow)


def test_a_universe_must_be_closed() -> None:
    columns = [Column(f"c{i}", Number(1, 3)) for i in range(3)]
    tied = PriorKnowledge(
        tuple(published(None, (columns[i], columns[2]), Counts((None,))) for i in (0, 1)),
        universe=("c0", "c1"),
    )
    with pytest.raises(QuestionError, match="c2"):
        sensitivity(Counts((None,)), Setting(None, tuple(columns[:2])), Neighbors(), tied)


def test_a_total_from_outside_the_universe_stays_public() -> None:
    inside, outside = Column("c0", Number(1, 3)), Column("c1", Number(1, 3))
    known = PriorKnowledge((published(None, (outside,), Counts((None,))),), universe=("c0",))
    found = sensitivity(Counts((None,)), Setting(None, (inside,)), Neighbors(), known)
    assert found.l1 == 2  # with nothing public it is 1


def test_max_group_bounds_how_many_move() -> None:
    known, columns = histograms(2, 10, 5, 4)
    grouped = PriorKnowledge(known.published, max_group=3)
    setting = Setting(None, tuple(columns[:2]))
    found = sensitivity(Counts((None,)), setting, Neighbors(), grouped)
    assert found.l1 <= 6
    assert "max_group" in found.argument


def test_a_hopeless_bound_is_refused_with_its_number() -> None:
    alone = Sensitivity(Fraction(1), Fraction(1), True, "")
    with pytest.raises(NotAllowedError, match="5,000"):
        refuse_hopeless(Sensitivity(Fraction(5000), Fraction(5000), False, "bound"), alone)
    refuse_hopeless(Sensitivity(Fraction(5000), Fraction(5000), True, "chain"), alone)


def test_too_many_cells_are_refused() -> None:
    wide = [Column(f"w{i}", Number(1, 100)) for i in range(4)]
    known = PriorKnowledge((published(None, (wide[0],), Counts((None,))),))
    with pytest.raises(QuestionError, match="too many"):
        lay_out(known, Counts((None,)), None, tuple(wide))
