"""The noise that an answer says of its columns: what was added, in which unit, in which rows."""

from __future__ import annotations

from fractions import Fraction

import pytest
from town import Town

from adomnia.curator.answers.estimate import ColumnNoise


def test_counts_sums_and_moments_say_their_noise(town: Town) -> None:
    session = town.open().session()
    counts = session.ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "1/2").noise
    assert counts == {"n": ColumnNoise("laplace", Fraction(2), (1, 1), "rows")}
    (total,) = session.ask("SELECT SUM(income) AS s FROM people", 1).noise.values()
    assert total == ColumnNoise("laplace", Fraction(2000), (1,), "value")
    mean = session.ask("SELECT AVG(income) AS a, COUNT(income) AS n FROM people", 1).noise
    assert {noise.unit for noise in mean.values()} == {"rows"}
    assert mean["a"].scale == mean["n"].scale == pytest.approx(1)


def test_a_gaussian_has_a_variance(town: Town) -> None:
    noise = (
        town.open("epsilon = 1000\ndelta = 1e-6")
        .session()
        .ask("SELECT COUNT(*) AS n FROM people", rho="1/8")
        .noise["n"]
    )
    assert noise.kind == "gaussian"
    assert (noise.parameter, noise.scale) == (4, 2.0)


def test_what_is_reckoned_or_chosen_has_no_noise_of_its_own(town: Town) -> None:
    session = town.open().session()
    sql = "SELECT COUNT(*) AS n, COUNT(*) / 2 AS half, MEDIAN(age) AS m FROM people"
    assert set(session.ask(sql, 3).noise) == {"n"}
    assert session.ask("SELECT 1 AS one FROM people WHERE FALSE", 1).noise == {}


def test_sums_of_an_earlier_table_have_as_many_draws(town: Town) -> None:
    session = town.open().session()
    session.ask("SELECT sex, region, COUNT(*) AS n FROM people GROUP BY sex, region", 8)
    answer = session.ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", 1)
    assert answer.spent["epsilon"] == 0
    noise = answer.noise["n"]
    assert (noise.parameter, noise.draws) == (
        Fraction(1, 8),
        (7, 7),
    )  # four regions, none, beyond them
    assert noise.widest == pytest.approx(7**0.5 / 8)


def test_it_follows_the_rows_that_are_shown(town: Town) -> None:
    session = town.open().session()
    sql = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
    answer = session.ask(f"{sql} HAVING COUNT(*) > 0 ORDER BY n DESC LIMIT 2", 50)
    assert len(answer.rows) == len(answer.noise["n"].draws) == 2
    assert session.ask(f"{sql} HAVING COUNT(*) > 100000", 50).noise["n"].draws == ()


def test_a_plan_says_it_beforehand(town: Town) -> None:
    session = town.open().session()
    sql = "SELECT sex, COUNT(*) AS n, SUM(age) AS s FROM people GROUP BY sex"
    planned, answered = session.plan(sql, 2).noise, session.ask(sql, 2).noise
    assert {n: (one.kind, one.parameter, one.unit) for n, one in planned.items()} == {
        n: (one.kind, one.parameter, one.unit) for n, one in answered.items()
    }
    assert {one.draws for one in planned.values()} == {(1,)}
