"""Bounds that are found privately: where few people are beyond them, paid, and fit for a policy."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import adomnia
from adomnia.curator.quality.column_bounds import round_numbers
from adomnia.errors import BudgetError, NotAllowedError, QuestionError
from adomnia.testing import World, dates, number

ROWS = 6000


def world(privacy="epsilon = 1000", attributes=None, **more):
    chance = np.random.default_rng(2)
    columns = {
        "who": np.arange(ROWS) // 3,
        "pay": np.round(chance.lognormal(10, 1, ROWS)).astype(np.int64),
        "loss": np.round(chance.normal(-50, 10, ROWS), 1),
        "word": ["x"] * ROWS,
        **more,
    }
    return World(columns, attributes or {}, privacy)


UNIT = 'epsilon = 1000\nunit = "who"\nmax_rows = 2'


@pytest.mark.parametrize("privacy", ["epsilon = 1000", UNIT, "epsilon = 1000\ngroup = 2"])
def test_few_are_beyond_the_bounds_that_are_found(privacy):
    with world(privacy).open() as database:
        proposed = database.bounds("pay", epsilon=200)
        assert proposed.found
        pay = np.array(world().columns["pay"])
        assert (pay < proposed.low).sum() <= proposed.below * 3
        assert (pay > proposed.high).sum() <= proposed.above * 3
        assert proposed.low > 0
        assert 20_000 < proposed.high <= 10**6
        assert proposed.who == ("people" if "unit" in privacy else "rows")
        assert database.budget()["data"]["spent"] == "200"
        assert database.verify().ok


def test_the_lines_go_into_a_policy(tmp_path):
    with world().open(tmp_path) as database:
        proposed = database.bounds("loss", "200", step="0.1")
        assert (proposed.step, proposed.high < 0) == (Fraction(1, 10), True)
        assert proposed.lines().endswith(f'\norigin = "{proposed.receipt}"\n')
        assert proposed.to_json()["policy"] == proposed.lines()
    file = tmp_path / "adomnia.toml"
    file.write_text(file.read_text() + proposed.lines())
    with adomnia.open(file) as database:
        assert database.table.attributes["loss"].domain.low == proposed.low
        assert database.policy.origins["loss"] == proposed.receipt
        assert database.check().origin("loss").startswith("paid")
        answer = database.session().ask("SELECT AVG(loss) AS m FROM people", epsilon=10)
        assert answer.rows[0][0] == pytest.approx(-50, abs=2)


def test_one_person_with_an_enormous_value_moves_no_bound():
    pay = np.full(ROWS, 100)
    pay[:3] = 10**12
    with world(UNIT, pay=pay).open() as database:
        proposed = database.bounds("pay", epsilon=60)
        assert 50 <= proposed.low <= 100 <= proposed.high < 1000
        assert proposed.above > 1


def test_declared_bounds_do_not_hide_what_lies_beyond():
    with world(attributes={"pay": number(0, 10)}).open() as database:
        assert database.bounds("pay", epsilon=5).high > 20_000


def test_the_promise_stays_what_it_is():
    declared = {"pay": f"{number(0, 10)}\nnullable = true\nsensitive = false"}
    with world(attributes=declared).open() as database:
        before = database.account().promises
        database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
        database.bounds("pay", epsilon=1)
        database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=2)
        assert len(database.account().promises) == 1 >= len(before)
        kinds = [entry.kind for entry in database.ledger()]
        assert "prior" not in kinds


def test_free_lunch_is_refused():
    privacy = 'epsilon = 1\nneighbors = "free-lunch"\nmost = 10000'
    with world(privacy).open() as database, pytest.raises(NotAllowedError, match="free-lunch"):
        database.bounds("pay", epsilon="1/2")


def test_too_little_for_a_bound_is_said():
    with world(UNIT).open() as database:
        proposed = database.bounds("pay", epsilon="1/1000")
        assert not proposed.found
        assert proposed.to_json()["policy"] is None
        assert not database.bounds("word", epsilon=1, step=1).found


def test_what_cannot_be_sought_is_refused():
    with world("epsilon = 1", {"day": dates("2020-01-01", "2020-12-31")}, day=["2020-02-02"] * ROWS
               ).open() as database:  # fmt: skip
        for wrong in ({"epsilon": 0}, {"epsilon": 1, "step": -1}, {"epsilon": 1, "confidence": 2}):
            with pytest.raises(QuestionError):
                database.bounds("pay", **wrong)
        with pytest.raises(QuestionError, match="days"):
            database.bounds("day", epsilon=1)
        with pytest.raises(QuestionError, match="no column"):
            database.bounds("nowhere", epsilon=1)
        with pytest.raises(BudgetError):
            database.bounds("pay", epsilon=2)
        assert database.budget()["data"]["spent"] == "0"
        database.add_prior("SELECT COUNT(*) AS n FROM people")
        with pytest.raises(NotAllowedError, match="released exactly"):
            database.bounds("pay", epsilon="1/2")


def test_the_grid_is_public_round_and_even_on_both_sides():
    grid = round_numbers()
    assert all(a < b for a, b in itertools.pairwise(grid))
    assert [-number for number in reversed(grid)] == list(grid)
    assert grid[len(grid) // 2 :][:8] == (0, 1, 2, 3, 5, 7, 10, 20)
    assert grid[-1] == 10**15
