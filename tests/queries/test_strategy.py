"""Strategy: the fewest measurements that answer all that is asked."""

from __future__ import annotations

from fractions import Fraction

import pytest
from people import ask

from adomnia.errors import QuestionError
from adomnia.queries.measurement import Counts, Distinct, Moments, Quantile, Sum
from adomnia.queries.strategy import condition_of, plan_measurements


def plan(what, rest="FROM people"):
    """The measurements, and for each statistic the number of the one that answers it."""
    question = ask(f"SELECT {what} {rest}")
    strategy = plan_measurements(question)
    assert set(strategy.source) == set(question.statistics)
    return strategy.measurements, [strategy.source[s] for s in question.statistics]


def kinds(measurements):
    return [type(measurement) for measurement in measurements]


def test_moments_serve_the_count_of_values_the_sum_and_the_average():
    measurements, source = plan("COUNT(age), SUM(age), AVG(age)")
    assert kinds(measurements) == [Moments]
    assert (measurements[0].degree, measurements[0].rest) == (1, False)
    assert source == [0, 0, 0]


def test_a_variance_makes_moments_of_degree_two_and_serves_all_the_others():
    measurements, source = plan("COUNT(*), SUM(age), AVG(age), VAR_SAMP(age), STDDEV_POP(age)")
    assert kinds(measurements) == [Moments]
    assert (measurements[0].degree, measurements[0].rest) == (2, True)
    assert source == [0] * 5


def test_a_sum_alone_is_a_sum():
    measurements, _ = plan("SUM(age), SUM(debt)")
    assert kinds(measurements) == [Sum, Sum]


def test_a_sum_with_the_count_of_all_rows_is_one_measurement_of_moments():
    measurements, source = plan("COUNT(*), SUM(age), SUM(debt)")
    assert kinds(measurements) == [Moments, Sum]
    assert measurements[0].rest
    assert source == [0, 0, 1]


def test_all_rows_are_counted_where_moments_are_needed_anyhow():
    measurements, source = plan("SUM(age), COUNT(*), AVG(debt)")
    assert kinds(measurements) == [Sum, Moments]
    assert measurements[1].rest
    assert source == [0, 1, 1]


def test_conditional_counts_are_one_block():
    measurements, source = plan(
        "COUNT(*), COUNT(*) FILTER (WHERE sex = 'F'), COUNT(age), COUNT_IF(smoker), SUM(smoker)"
    )
    assert kinds(measurements) == [Counts]
    assert len(measurements[0].conditions) == 5
    assert measurements[0].conditions[0] is None
    assert source == [0] * 5


def test_a_sum_of_zeros_and_ones_is_a_count():
    question = ask("SELECT SUM(CASE WHEN age > 65 THEN 1 ELSE 0 END) FROM people")
    strategy = plan_measurements(question)
    assert kinds(strategy.measurements) == [Counts]
    assert condition_of(question.statistics[0]) in strategy.measurements[0].conditions


def test_quantiles_and_distinct_values_stand_alone():
    measurements, source = plan("MEDIAN(age), MIN(age), MAX(age), COUNT(DISTINCT person_id)")
    assert kinds(measurements) == [Quantile, Quantile, Quantile, Distinct]
    assert [m.edge for m in measurements[:3]] == [None, "min", "max"]
    assert source == [0, 1, 2, 3]
    (quartile,), _ = plan("QUANTILE(age, 0.25)")
    assert quartile.share == Fraction(1, 4)
    (lowest,), _ = plan("QUANTILE(age, 0)")
    assert lowest.share == 0


def test_groups_that_are_not_public_are_always_counted():
    measurements, source = plan("name, SUM(age)", "FROM people GROUP BY name")
    assert kinds(measurements) == [Sum, Counts]
    assert measurements[1].conditions == (None,)
    assert source == [0]
    measurements, source = plan("name, COUNT(*), AVG(age)", "FROM people GROUP BY name")
    assert kinds(measurements) == [Moments, Counts]
    assert not measurements[0].rest
    assert source == [1, 0]
    measurements, _ = plan("name", "FROM people GROUP BY name")
    assert kinds(measurements) == [Counts]


def test_what_is_asked_twice_is_measured_once():
    measurements, source = plan("AVG(age), AVG(age) + 1, ROUND(AVG(age))")
    assert kinds(measurements) == [Moments]
    assert source == [0]


def test_nothing_asked_is_nothing_measured():
    assert plan("sex", "FROM people GROUP BY sex") == ((), [])


def test_bounds_too_wide_for_a_variance_are_refused_when_the_question_is_asked():
    with pytest.raises(QuestionError, match="too wide for a variance"):
        ask("SELECT VAR_SAMP(income * income) FROM people")
    assert ask("SELECT AVG(income * income) FROM people")
