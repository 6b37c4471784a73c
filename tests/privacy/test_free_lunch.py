"""Free-lunch privacy: sensitivities over all small tables, and how useless it is."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from adomnia.errors import QuestionError
from adomnia.privacy.free_lunch import (
    FreeLunch,
    discriminant_bound,
    free_lunch_sensitivity,
    least_margin,
    worth,
)
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.proposal import contribution_of
from adomnia.privacy.sensitivity import Setting
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Counts, Distinct, Sum
from adomnia.queries.operations import call, constant
from adomnia.queries.ranges import Number, Text

X = Column("x", Number(-2, 3))
SEX = Column("sex", Text(("F", "M")))
ALL = Counts((None,))
BY_SEX = Setting(keys=(SEX,))
ROWS = list(itertools.product([None, -2, 0, 3], [None, "F", "M"]))


def tables(sizes):
    for n in range(sizes.fewest, sizes.most + 1):
        yield from itertools.combinations_with_replacement(ROWS, n)


def spread(measure, sizes):
    """The largest distance of any two tables, L1 and L2 squared, by looking at all of them."""
    points = {measure(rows) for rows in tables(sizes)}
    pairs = list(itertools.combinations(points, 2)) or [((0,), (0,))]
    moves = [[abs(a - b) for a, b in zip(*pair, strict=True)] for pair in pairs]
    return max(map(sum, moves)), max(sum(m * m for m in move) for move in moves)


def positive(rows):
    return (sum(x is not None and x > 0 for x, _ in rows),)


QUESTIONS = [
    (ALL, Setting(), lambda rows: (len(rows),)),
    (Counts((call("gt", X, constant(0)),)), Setting(), positive),
    (Sum(X), Setting(), lambda rows: (sum(x or 0 for x, _ in rows),)),
    (ALL, BY_SEX, lambda rows: tuple(sum(s == sex for _, s in rows) for sex in ("F", "M", None))),
    (Distinct(X), Setting(), lambda rows: (len({x for x, _ in rows if x is not None}),)),
]


def said(measurement, setting, sizes):
    part = contribution_of(measurement, setting, Neighbors("bounded"))
    return free_lunch_sensitivity(part, setting, sizes)


@pytest.mark.parametrize("place", range(len(QUESTIONS)))
@pytest.mark.parametrize("sizes", [FreeLunch(3), FreeLunch(3, 3), FreeLunch(3, 1)])
def test_sensitivities_hold_for_all_tables_and_are_reached_where_they_say_so(place, sizes):
    measurement, setting, measure = QUESTIONS[place]
    claim = said(measurement, setting, sizes)
    l1, l2 = spread(measure, sizes)
    assert l1 <= claim.l1
    assert l2 <= claim.l2_squared
    if claim.exact:
        assert (l1, l2) == (claim.l1, claim.l2_squared)
    assert f"{sizes.fewest} to 3 rows" in claim.argument


def test_the_figures_a_person_expects():
    million = FreeLunch(10**6)
    assert said(ALL, Setting(), million).l1 == 10**6
    assert said(ALL, Setting(), FreeLunch(10**6, 10**6)).l1 == 0
    assert said(ALL, BY_SEX, million).l1 == 2 * 10**6
    assert said(Sum(X), Setting(), million).l1 == 5 * 10**6
    assert said(ALL, Setting(), million).exact


def test_the_papers_bound_on_the_discriminant():
    assert discriminant_bound(2, 1) == pytest.approx(math.e / (1 + math.e))
    assert discriminant_bound(10**6, 1) == pytest.approx(math.e / 10**6, rel=1e-5)
    assert discriminant_bound(1, 1) == 1
    assert discriminant_bound(10**6, 10**4) == pytest.approx(1)


@given(some.integers(0, 300), some.floats(0.1, 12), some.sampled_from([0.5, 0.9, 0.95]))
def test_the_least_margin_is_where_the_balls_are_few_enough(width, epsilon, confidence):
    m = least_margin(width, epsilon, confidence)

    def allowed(m):
        """Whether the truths 2m + 1 apart are few enough to be told apart at this confidence."""
        apart = width // (2 * m + 1)
        return confidence <= math.exp(epsilon) / (apart + math.exp(epsilon)) * (1 + 1e-7)

    assert allowed(m)
    assert (
        m == 0
        or not allowed(m - 1)
        or width // (2 * m - 1)
        == pytest.approx(math.exp(epsilon) * (1 - confidence) / confidence, rel=1e-6)
    )


def test_it_is_nearly_useless():
    small = worth(10**6, "0.1")
    assert small.useless
    assert (small.blind, small.least) == (500_000, 500_000)
    assert small.laplace == pytest.approx(10**7 * math.log(20), rel=1e-9)
    assert small.guess == pytest.approx(math.exp(0.1) / 10**6, rel=1e-3)
    assert worth(10**6, 2).useless
    large = worth(10**6, 3)
    assert not large.useless
    assert large.least == 250_000
    assert large.laplace > large.blind
    assert worth(0, 1).useless


def test_impossible_input_is_refused():
    for most, fewest in [(0, 0), (3, 4), (3, -1)]:
        with pytest.raises(QuestionError, match="rows"):
            FreeLunch(most, fewest)
    with pytest.raises(QuestionError, match="outcome"):
        discriminant_bound(0, 1)
    for width, confidence in [(-1, 0.5), (5, 1.0)]:
        with pytest.raises(QuestionError, match="margin"):
            least_margin(width, 1, confidence)
    with pytest.raises(QuestionError, match="above zero"):
        worth(5, 0)
