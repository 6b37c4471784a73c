"""Prices are held against what the statement allows, apart from planning, before they are paid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from town import Town

from adomnia.curator import selections
from adomnia.curator import session as asking
from adomnia.curator.planning import mechanism_choice
from adomnia.curator.planning import plan as planning
from adomnia.errors import MachineryError
from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.measurement_mechanisms import AddedNoise, Measuring, Place
from adomnia.mechanisms.quantiles.quantile import Share
from adomnia.privacy.contribution import ROWS, Tally

UNIT = 'unit = "person_id"\nmax_rows = 4'
RELATIONS = ["", 'neighbors = "bounded"', 'neighbors = "attribute"', "group = 3", UNIT]
STATEMENTS = [
    "SELECT COUNT(*) FROM people WHERE age > 30",
    "SELECT sex, COUNT(*), SUM(age) FROM people GROUP BY sex",
    "SELECT AVG(income), VAR_SAMP(age) FROM people",
    "SELECT MEDIAN(age), MAX(income) FROM people",
    "SELECT region, MODE(sex) FROM people GROUP BY region",
    "SELECT sex, COUNT(DISTINCT region) FROM people GROUP BY sex",
    "SELECT COUNT(*) FILTER (WHERE age < 9), SUM(1000000) FILTER (WHERE age < 9) FROM people",
]


@pytest.mark.parametrize("relation", RELATIONS)
def test_what_is_planned_is_covered(town: Town, relation: str) -> None:
    session = town.open(f"epsilon = 1000\ndelta = 1e-6\n{relation}").session()
    for sql in STATEMENTS:
        assert session.ask(sql, 1).spent["epsilon"] == 1
    assert session.ask(STATEMENTS[1], rho=1).spent["rho"] == 1


def sharper(step: Measuring) -> Measuring:
    """The step with less noise at the same price."""
    if isinstance(step, AddedNoise):
        less = Noise(step.noise.kind, step.noise.parameter * Fraction(99, 100))
        return replace(step, noise=less)
    return replace(step, eta=step.eta * Fraction(101, 100))  # type: ignore[call-arg]


def of_one_row(step: Measuring) -> Measuring:
    """The step priced for a row that adds one, whatever is added."""
    if isinstance(step, AddedNoise):
        return replace(step, noise=Noise(step.noise.kind, Fraction(1, 2)))
    return replace(step, eta=Fraction(1))  # type: ignore[call-arg]


@pytest.mark.parametrize("fault", [sharper, of_one_row], ids=lambda fault: fault.__name__)
@pytest.mark.parametrize("sql", STATEMENTS)
def test_too_little_noise_is_refused_unpaid(
    town: Town, monkeypatch: pytest.MonkeyPatch, sql: str, fault: Callable[[Any], Any]
) -> None:
    database = town.open("epsilon = 1000")
    made = planning.mechanism_of
    monkeypatch.setattr(planning, "mechanism_of", lambda *said: fault(made(*said)))
    with pytest.raises(MachineryError, match="priced below"):
        database.session().ask(sql, "1/10")
    assert database.budget()["data"]["spent"] == "0"
    assert [entry.kind for entry in database.ledger()] == ["opened", "edition"]


def test_gaussian_noise_by_the_wrong_norm_is_refused(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = town.open(f"rho = 1000\n{UNIT}").session()
    made = planning.mechanism_of

    def by_rows(measurement: Any, contribution: Any, bound: Any, *more: Any) -> Any:
        return made(measurement, contribution, replace(bound, l2_squared=bound.l1), *more)

    monkeypatch.setattr(planning, "mechanism_of", by_rows)
    with pytest.raises(MachineryError, match="priced below"):
        session.ask("SELECT SUM(age) FROM people", rho=1)


def test_a_wrong_distance_between_neighbours_is_refused(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planning takes another relation, or forgets the unit; the price is checked by the policy."""
    session = town.open(f"epsilon = 1000\n{UNIT}").session()
    plain = planning.plain

    def of_rows(contribution: Any, setting: Any, neighbors: Any) -> Any:
        return plain(contribution, setting, neighbors.of_rows())

    monkeypatch.setattr(planning, "plain", of_rows)
    with pytest.raises(MachineryError, match="priced below"):
        session.ask("SELECT SUM(age) FROM people", 1)


def test_a_threshold_too_low_is_refused(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    session = town.open("epsilon = 1000\ndelta = 1e-6").session()
    monkeypatch.setattr(planning, "threshold", lambda *said: 3)
    with pytest.raises(MachineryError, match="priced below"):
        session.ask("SELECT city, COUNT(*) FROM people GROUP BY city", 1)


def test_a_choice_priced_for_fewer_rows_is_refused(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = town.open(f"epsilon = 1000\n{UNIT}").session()
    made = selections.LargestCount
    monkeypatch.setattr(
        selections, "LargestCount", lambda counts, paid, rows, most: made(counts, paid, 1, most)
    )
    with pytest.raises(MachineryError, match="priced below"):
        session.noisy_max(["age < 30", "age >= 30"], 1)


def test_no_noise_is_for_the_number_of_rows_alone(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = town.open('epsilon = 1000\nneighbors = "bounded"').session()
    assert session.ask("SELECT COUNT(*) FROM people", 1).spent == {"epsilon": 0}
    plain = planning.plain

    def nothing(*said: Any) -> Any:
        return replace(plain(*said), l1=Fraction(0), l2_squared=Fraction(0))

    monkeypatch.setattr(planning, "plain", nothing)
    with pytest.raises(MachineryError, match="priced below"):
        session.ask("SELECT COUNT(*) FROM people WHERE age > 30", 1)


OPEN = "SELECT city, COUNT(*), SUM(age) FROM people WHERE age > 3 GROUP BY city"


def elsewhere(step: Any) -> Any:
    return replace(step, place=Place())


def of_one_cell(step: Any) -> Any:
    return replace(step, shown=(0,))


def wider(step: Any) -> Any:
    return replace(step, contribution=Tally((None, None))) if step.contribution == ROWS else step


@pytest.mark.parametrize("fault", [elsewhere, of_one_cell, wider], ids=lambda one: one.__name__)
def test_open_keys_are_priced_as_they_are_read(
    town: Town, monkeypatch: pytest.MonkeyPatch, fault: Callable[[Any], Any]
) -> None:
    """All parts are read together: of the same rows, in every group, one column beside another."""
    session = town.open(f"epsilon = 1000\ndelta = 1e-6\n{UNIT}").session()
    assert session.ask(OPEN, 1).spent["epsilon"] == 1
    made = planning.make_plan

    def changed(*said: Any) -> Any:
        plan = made(*said)
        steps = (
            (plan.steps[0], fault(plan.steps[1])) if fault is elsewhere else map(fault, plan.steps)
        )
        return replace(plan, steps=tuple(steps))

    monkeypatch.setattr(asking, "make_plan", changed)
    with pytest.raises(MachineryError, match="priced below"):
        session.ask(OPEN, 2)


def _selected_by(made: Any, counted: Any, parts: Any, bar: int, _: Any) -> Any:
    return made(parts, bar, counted)


def test_keys_are_selected_by_a_count(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    session = town.open("epsilon = 1000\ndelta = 1e-6").session()
    made = planning.SelectedKeys
    for counted in [(0, 0), (0, 1), (1, 1), (1, -1)]:  # the sum comes first, then the count
        wrong = partial(_selected_by, made, counted)
        monkeypatch.setattr(planning, "SelectedKeys", wrong)
        with pytest.raises(MachineryError, match="priced below"):
            session.ask(OPEN, 1)


def test_a_quantile_aims_at_what_is_priced(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    session = town.open("epsilon = 1000").session()
    monkeypatch.setattr(mechanism_choice, "aimed_at", lambda *said: Share(Fraction(37, 100)))
    for sql in ("SELECT MEDIAN(age) FROM people", "SELECT MAX(age) FROM people"):
        with pytest.raises(MachineryError, match="priced below"):
            session.ask(sql, 1)
