"""Sensitivity, by name: the figures a person expects. All pairs of neighbours are in `laws`."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest

from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.sensitivity import Setting
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Counts, Distinct, Moments, Quantile, Sum
from adomnia.queries.operations import call, constant
from adomnia.queries.ranges import Day, Number, Text
from tests.enforced import claim

AGE = Column("age", Number(0, 120))
DEBT = Column("debt", Number(-500, 300))
INCOME = Column("income", Number(0, 200_000))
SEX = Column("sex", Text(("F", "M")))
NAME = Column("name", Text(None))
PERSON = Column("person", Text(None))
ALL = Counts((None,))


def found(measurement, setting=Setting(), relation="unbounded", **more):  # noqa: B008
    said = claim(measurement, setting, Neighbors(relation, **more))
    assert isinstance(said.l1, Fraction)
    assert isinstance(said.l2_squared, Fraction)
    assert said.argument
    return int(said.l1), int(said.l2_squared), said.exact


def test_a_histogram_is_one_query_of_sensitivity_one_or_two():
    by_sex = Setting(keys=(SEX,))
    assert found(ALL, by_sex) == (1, 1, True)
    assert found(ALL, by_sex, "bounded") == (2, 2, True)
    assert found(ALL, by_sex, "attribute") == (2, 2, True)
    assert found(ALL, by_sex, group=3) == (3, 9, True)


def test_where_everybody_is_counted_a_change_shows_nothing():
    for relation in ("bounded", "attribute", "bit"):
        assert found(ALL, relation=relation) == (0, 0, True)


def test_disjoint_conditions_cost_once():
    women = call("eq", SEX, constant("F"))
    men = call("eq", SEX, constant("M"))
    assert found(Counts((women, men))) == (1, 1, True)
    assert found(Counts((women, men)), relation="bounded") == (2, 2, True)
    assert found(Counts((women, call("eq", AGE, constant(3))))) == (2, 2, True)
    poor = call("lt", INCOME, constant(10_000))
    rich = call("ge", INCOME, constant(50_000))
    assert found(Counts((poor, rich))) == (1, 1, True)


def test_conditions_that_cannot_be_compared_are_taken_to_overlap():
    first = call("like", NAME, params=("a%", False))
    second = call("like", NAME, params=("b%", False))
    assert found(Counts((first, second))) == (2, 2, False)


def test_sums():
    assert found(Sum(AGE)) == (120, 120**2, True)
    assert found(Sum(DEBT)) == (500, 500**2, True)
    assert found(Sum(DEBT), relation="bounded") == (800, 800**2, True)
    assert found(Sum(DEBT), Setting(keys=(SEX,)), "bounded") == (1000, 800**2, True)
    assert found(Sum(AGE), relation="bit") == (64, 64**2, True)
    assert found(Sum(DEBT), relation="bit") == (512, 512**2, True)
    assert found(Sum(call("mul", AGE, AGE))) == (14_400, 14_400**2, False)


def test_a_filter_on_what_is_summed_makes_the_bound_a_bound_only():
    young = call("lt", AGE, constant(10))
    assert found(Sum(AGE), Setting(where=young)) == (120, 120**2, False)
    assert found(Sum(DEBT), Setting(where=young)) == (500, 500**2, True)


def test_moments_cost_one_unit_whatever_their_degree():
    assert found(Moments(AGE, 1)) == (120, 120**2, True)
    assert found(Moments(AGE, 2, rest=True)) == (120**2, 120**4, True)
    assert found(Moments(AGE, 1), relation="bounded") == (240, 2 * 120**2, True)


def test_units():
    assert found(ALL, rows=5) == (5, 25, True)
    assert found(ALL, relation="bounded", rows=5) == (5, 25, True)
    assert found(Sum(DEBT), relation="bounded", rows=2) == (1600, 1600**2, True)
    by_sex = Setting(keys=(SEX,), unit="person")
    assert found(ALL, by_sex, "bounded", rows=5) == (10, 50, True)


def test_persons_are_counted_once_in_each_cell():
    anywhere, by_sex = Setting(unit="person"), Setting(keys=(SEX,), unit="person")
    by_name = Setting(keys=(NAME,), unit="person")
    for relation in ("unbounded", "bounded"):
        assert found(Distinct(PERSON), anywhere, relation, rows=5) == (1, 1, True)
        assert found(Distinct(PERSON), by_sex, relation, rows=5) == (3, 3, True)
    assert found(Distinct(PERSON), by_name, rows=5) == (5, 5, True)
    assert found(Distinct(PERSON), by_name, "bounded", rows=5) == (10, 10, True)
    known = call("case", call("eq", SEX, constant("F")), PERSON, constant(None))
    assert found(Distinct(known), anywhere, rows=5) == (1, 1, False)


def test_distinct_values_are_never_more_than_there_are():
    assert found(Distinct(SEX), rows=5) == (2, 4, False)
    assert found(Distinct(NAME), rows=5) == (5, 25, True)
    assert found(Distinct(AGE), Setting(keys=(SEX,)), "bounded") == (2, 2, True)


def test_quantiles_move_by_the_shares_of_their_target():
    third = Quantile(AGE, Fraction(1, 3))
    assert found(third) == (2, 4, True)
    assert found(third, relation="bounded") == (3, 9, True)
    assert found(third, Setting(keys=(SEX,)), "bounded") == (4, 9, True)
    assert found(third, relation="bounded", rows=4) == (12, 144, True)
    assert found(Quantile(AGE, edge="max"), relation="bounded") == (1, 1, True)


def test_days_and_texts_in_conditions_are_compared_around_their_constants():
    day = Column("day", Day(date(1900, 1, 1), date(2100, 1, 1)))
    before = call("lt", day, constant(date(2000, 1, 1)))
    after = call("ge", day, constant(date(2000, 1, 1)))
    assert found(Counts((before, after))) == (1, 1, True)
    ann, bob = (call("eq", NAME, constant(name)) for name in ("Ann", "Bob"))
    assert found(Counts((ann, bob))) == (1, 1, True)
    assert found(Counts((call("not", ann), call("not", bob)))) == (2, 2, True)


def test_many_conditions_are_bounded_without_trying_all_pairs():
    bits = tuple(call("ge", Column(f"b{k}", Number(0, 1)), constant(1)) for k in range(7))
    assert found(Counts(bits), relation="bounded") == (7, 7, True)
    nine = (*bits, call("is_null", SEX), call("eq", SEX, constant("F")))
    assert found(Counts(nine), relation="bounded")[0] == 9
    assert found(Counts(nine), relation="attribute")[:2] == (2, 2)


def test_a_relation_must_be_known():
    with pytest.raises(ValueError, match="neighbors is one of"):
        Neighbors("friends")
    with pytest.raises(ValueError, match="unit"):
        Neighbors("bit", rows=3)
    with pytest.raises(ValueError, match="at least 1"):
        Neighbors(group=0)
