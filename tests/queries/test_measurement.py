"""Measurements: components from the engine's sums, against what each row adds by definition."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from adomnia.engines.sql.components import components
from adomnia.privacy.contribution import Setting
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.proposal import contribution_of
from adomnia.queries.expression import Column
from adomnia.queries.measurement import (
    Counts,
    Distinct,
    Moments,
    Quantile,
    Sum,
    number,
    unit_of,
    width_of,
)
from adomnia.queries.ranges import Number, Text


def moments(low, high, degree, rest=False):
    return Moments(Column("x", Number(low, high)), degree, rest)


def engine(measurement, cells):
    """The sums of j = x - low as an engine returns them, of cells that are lists of values or
    None."""
    low = number(measurement.argument).low
    known = [[x - low for x in cell if x is not None] for cell in cells]
    found = [[sum(j**power for j in cell) for cell in known] for power in range(3)]
    found = found[: measurement.degree + 1] + [[len(cell) for cell in cells]] * measurement.rest
    small = all(abs(x) < 2**62 for column in found for x in column)
    return [np.array(column, np.int64 if small else object) for column in found]


def combine(measurement, parts):
    return components(contribution_of(measurement, Setting(), Neighbors()), parts)


def by_rows(measurement, cells):
    """Bernstein's polynomials, summed row by row."""
    spread, degree, unit = number(measurement.argument), measurement.degree, unit_of(measurement)
    width, out = max(1, spread.width), []
    for cell in cells:
        js = [x - spread.low for x in cell if x is not None]
        sums = [
            sum(comb(degree, k) * j**k * (width - j) ** (degree - k) for j in js)
            for k in range(degree + 1)
        ]
        out.append(sums + [unit * (len(cell) - len(js))] * measurement.rest)
    return out


@some.composite
def cases(draw):
    big = draw(some.sampled_from([5, 1000, 10**9, 10**15]))
    low = draw(some.integers(-big, big))
    degree = draw(some.sampled_from([1, 2]))
    high = low + draw(some.integers(0, big if degree == 1 else min(big, 10**9)))
    value = some.one_of(some.none(), some.integers(low, high), some.sampled_from([low, high]))
    cells = draw(some.lists(some.lists(value, max_size=6), min_size=1, max_size=4))
    return moments(low, high, degree, draw(some.booleans())), cells


@settings(max_examples=400, deadline=None)
@given(cases())
def test_components_are_the_sums_over_rows(case):
    measurement, cells = case
    found = combine(measurement, engine(measurement, cells))
    assert found.shape == (len(cells), width_of(measurement))
    assert [[int(x) for x in row] for row in found] == by_rows(measurement, cells)


@settings(max_examples=200, deadline=None)
@given(cases())
def test_one_row_adds_one_unit_in_all_and_never_less_than_nothing(case):
    measurement, cells = case
    for value in {x for cell in cells for x in cell}:
        (row,) = combine(measurement, engine(measurement, [[value]])).tolist()
        assert min(row) >= 0
        assert sum(row) == (unit_of(measurement) if value is not None or measurement.rest else 0)


def test_numbers_beyond_64_bits_stay_exact():
    low, high = 10**17, 10**17 + 10**9
    measurement = moments(low, high, 2, rest=True)
    cells = [[low, high, high - 1] * 100 + [None]]
    found = combine(measurement, engine(measurement, cells))
    assert max(max(row) for row in by_rows(measurement, cells)) > 2**62
    assert [[int(x) for x in row] for row in found] == by_rows(measurement, cells)


def test_small_numbers_come_as_machine_integers():
    assert combine(moments(-5, 5, 2), engine(moments(-5, 5, 2), [[1, 2]])).dtype == np.int64
    assert combine(Counts((None,)), [np.array([3, 0])]).tolist() == [[3], [0]]


@pytest.mark.parametrize("degree", [1, 2])
def test_count_sum_and_squares_come_back_out_of_the_components(degree):
    measurement = moments(-3, 7, degree)
    values = [-3, 7, 0, 2, 2, -1]
    unit, width = unit_of(measurement), 10
    (row,) = combine(measurement, engine(measurement, [values])).tolist()
    assert Fraction(sum(row), unit) == len(values)
    position = sum(Fraction(k, degree) * part for k, part in enumerate(row)) / unit
    assert position * width - 3 * len(values) == sum(values)
    if degree == 2:
        js = [x + 3 for x in values]
        assert Fraction(row[2], unit) * width**2 == sum(j * j for j in js)


def test_a_range_of_one_value_still_counts():
    measurement = moments(4, 4, 1, rest=True)
    assert combine(measurement, engine(measurement, [[4, 4, None]])).tolist() == [[2, 0, 1]]


def test_widths_and_units():
    x = Column("x", Number(0, 10))
    assert width_of(Counts((None, None))) == 2
    assert [width_of(m) for m in (Sum(x), Distinct(x), Quantile(x))] == [1, 1, 1]
    assert unit_of(Sum(x)) == 1
    assert unit_of(Moments(x, 2)) == 100
    with pytest.raises(ValueError, match="too wide"):
        unit_of(moments(0, 10**10, 2))
    with pytest.raises(TypeError):
        number(Column("t", Text(None)))


def test_one_measurement_of_an_average_halves_the_variance_of_a_sum_and_a_count():
    # `measurement.md`, Claim 3: N rows with mean position mu, total epsilon for both ways.
    rows, epsilon, draws = 2000, 1.0, 40_000
    chance = np.random.default_rng(7)
    for mu in (0.5, 0.8, 0.1):
        high = rows * mu + chance.laplace(0, 1 / epsilon, draws)
        low = rows * (1 - mu) + chance.laplace(0, 1 / epsilon, draws)
        together = np.var(high / (high + low))
        centred = rows * (mu - 0.5) + chance.laplace(0, 0.5 / (epsilon / 2), draws)
        count = rows + chance.laplace(0, 1 / (epsilon / 2), draws)
        split = np.var(centred / count + 0.5)
        scale = 2 / epsilon**2 / rows**2
        assert together == pytest.approx(scale * ((1 - mu) ** 2 + mu**2), rel=0.06)
        assert split == pytest.approx(scale * (1 + (2 * mu - 1) ** 2), rel=0.06)
        assert together / split == pytest.approx(0.5, rel=0.08)
