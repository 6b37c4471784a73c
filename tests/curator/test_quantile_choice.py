"""Two ways to a quantile: both are shown, and public numbers decide which one answers."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from click.testing import CliRunner
from town import Town, policy_text

import adomnia
from adomnia.cli.main import cli
from adomnia.curator.planning.plan import LossRequest, make_plan
from adomnia.errors import BudgetError, QuestionError
from adomnia.mechanisms.noise.admissible import SmoothLaplace, SmoothWaring

MEDIAN = "SELECT MEDIAN(age) AS m FROM people"
LEAST = "SELECT MIN(income) AS m FROM people"


def told(analyst, sql, epsilon, **more):
    return analyst.plan(sql, epsilon, **more).to_json()["quantiles"]["m"]


def test_the_plan_shows_both_numbers(town: Town) -> None:
    analyst = town.open("epsilon = 100").session()
    found = told(analyst, MEDIAN, 1)
    assert 0 < found["exponential"] < found["smooth"]
    assert found["smooth_delta"] is None
    assert (found["used"], found["error"], found["rows"]) == ("exponential", "rank", 10_000)
    assert "bounds it on any data" in found["why"]
    for sql in (
        "SELECT MAX(age) AS m FROM people",
        "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age) AS m FROM people",
        "SELECT sex, QUANTILE(age, 0.1) AS m FROM people GROUP BY sex",
    ):
        assert told(analyst, sql, 1)["smooth"] > 0
    assert "quantiles" not in analyst.plan("SELECT COUNT(*) FROM people", 1).to_json()


def test_delta_is_in_the_comparison_where_it_is_paid(town: Town) -> None:
    analyst = town.open("epsilon = 100\ndelta = 0.01").session()
    found = told(analyst, MEDIAN, 1, delta="1e-6")
    assert found["smooth_delta"] > 0
    pair = analyst.plan("SELECT MEDIAN(age) AS m, MAX(age) FROM people", 2, delta="2e-6")
    assert pair.to_json()["quantiles"]["m"] == found


def test_the_value_decides_where_it_is_asked_for(town: Town) -> None:
    analyst = town.open("epsilon = 100").session()
    median, least = (told(analyst, sql, 1, error="value") for sql in (MEDIAN, LEAST))
    assert median["used"] == "exponential"
    assert least["used"] == "waring"
    assert least["smooth"] < least["exponential"]
    answer = analyst.ask(LEAST, 1, error="value")
    assert answer.margins == {"m": [None]}
    assert any("there is no margin" in note for note in answer.notes)
    assert not any("few rows inside" in note for note in answer.notes)
    assert 0 <= answer.rows[0][0] <= 2000
    event = next(
        e.body["event"] for e in analyst._backend.journal.entries() if e.kind == "reserved"
    )
    assert event == {"event": "smooth-noise", "epsilon": "1", "delta": "0", "sensitivity": "1"}
    assert answer.spent == {"epsilon": 1}
    assert analyst.ask(LEAST, 1).margins["m"][0] is not None  # in ranks it is the other one


def test_the_noise_with_delta_is_used_where_it_wins(town: Town) -> None:
    analyst = town.open("epsilon = 100\ndelta = 0.01").session()
    (step,) = analyst.plan(LEAST, 2, delta="1e-4", error="value").steps
    assert step.smooth == SmoothLaplace(Fraction(2), Fraction(1, 10_000))
    answer = analyst.ask(LEAST, 2, delta="1e-4", error="value")
    assert answer.spent == {"epsilon": 2, "delta": Fraction(1, 10_000)}
    poor = town.open("epsilon = 100").session()
    with pytest.raises((BudgetError, QuestionError)):
        poor.ask(LEAST, 2, delta="1e-4", error="value")


def test_the_answer_is_near_where_epsilon_is_large(town: Town, exact) -> None:
    (true,) = exact("SELECT MIN(income), MAX(income) FROM people")
    sql = "SELECT MIN(income) AS lo, MAX(income) AS hi FROM people"
    path = town.folder / "adomnia.toml"
    path.write_text(policy_text().replace("[privacy]", "rows = 1000\n[privacy]", 1))
    with adomnia.open(path) as database:
        analyst = database.session()
        assert analyst.plan(sql, 12, error="value").mechanism == "smooth"
        low, high = analyst.ask(sql, 12, error="value").rows[0]
    assert abs(low - true[0]) <= 200
    assert abs(high - true[1]) <= 200


def test_what_was_told_is_not_paid_again_and_not_mixed_up(town: Town) -> None:
    analyst = town.open("epsilon = 100").session()
    smooth = analyst.ask(LEAST, 2, error="value")
    assert analyst.ask(LEAST, 1, error="value").rows == smooth.rows
    assert analyst.ask(LEAST, 1, error="value").spent == {"epsilon": 0}
    ranked = analyst.ask(LEAST, 1)
    assert ranked.spent == {"epsilon": 1}
    assert analyst.ask(LEAST, 1).rows == ranked.rows
    assert analyst.ask(LEAST, 2, error="value").spent == {"epsilon": 0}
    first = analyst.ask(MEDIAN, 1, key="k")
    assert analyst.ask(MEDIAN, 1, key="k").rows == first.rows
    with pytest.raises(QuestionError):
        analyst.ask(MEDIAN, 1, key="k", error="value")


def test_a_request_says_what_was_asked_beside_the_statement(town: Town) -> None:
    analyst = town.open("epsilon = 100").session()
    analyst.ask(MEDIAN, "1/2", key="old")
    body = next(e.body for e in analyst._backend.journal.entries() if e.kind == "reserved")
    assert json.loads(body["request"]) == ["1/2", "None", "None", 0.95]


RELATIONS = [
    ("", "", 1),
    ("", " GROUP BY sex", 1),
    ('neighbors = "bounded"', "", 1),
    ('neighbors = "bounded"', " GROUP BY sex", 2),
    ("group = 2", "", 2),
    ('unit = "person_id"\nmax_rows = 3', "", 3),
    ('neighbors = "bounded"\nunit = "person_id"\nmax_rows = 3', " GROUP BY sex", 6),
]


@pytest.mark.parametrize(("privacy", "keys", "steps"), RELATIONS)
def test_noise_that_follows_the_data_is_split_over_the_rows_that_move(
    town: Town, privacy: str, keys: str, steps: int
) -> None:
    analyst = town.open(f"epsilon = 1000\ndelta = 0.1\n{privacy}").session()
    asked = LossRequest(Fraction(6), None, Fraction(1, 10**6), "value")
    (candidates,) = make_plan(analyst.bind(LEAST + keys), analyst._backend.policy, asked).candidates
    assert candidates is not None
    assert candidates.epsilon == Fraction(6, steps)
    assert (candidates.delta is None) == (steps > 1)
    assert candidates.noise("waring") == SmoothWaring(Fraction(6, steps))


def test_with_exact_releases_only_the_exponential_mechanism_is_left(town: Town) -> None:
    more = '[[prior]]\nsql = "SELECT COUNT(*) FROM people"\n'
    analyst = town.open("epsilon = 100", more).session()
    found = told(analyst, LEAST, 1, error="value")
    assert found["smooth"] is None
    assert found["used"] == "exponential"


def test_an_earlier_answer_costs_more_after_an_exact_release(town: Town) -> None:
    database = town.open("epsilon = 100\ndelta = 0.5")
    analyst = database.session()
    analyst.ask(LEAST, 1, error="value")
    assert database.add_prior("SELECT COUNT(*) FROM people").after.epsilon >= 2


def test_an_epsilon_too_small_for_it(town: Town) -> None:
    analyst = town.open("epsilon = 100").session()
    found = told(analyst, LEAST, "1e-9", error="value")
    assert found["smooth"] is None
    assert analyst.ask(LEAST, "1e-9", error="value").rows
    with pytest.raises(QuestionError, match="one of rank, value, interval"):
        analyst.ask(LEAST, 1, error="size")


def test_the_rows_that_the_policy_tells_are_those_compared(town: Town) -> None:
    path = town.folder / "adomnia.toml"
    path.write_text(policy_text().replace("[privacy]", "rows = 50\n[privacy]", 1))
    with adomnia.open(path) as database:
        analyst = database.session()
        assert told(analyst, MEDIAN, 1)["rows"] == 50
        assert told(analyst, MEDIAN + " GROUP BY sex", 1)["rows"] == 12  # F, M, NULL, not listed
        assert analyst.plan(MEDIAN, margin=5).margins["m"] <= 5
        with pytest.raises(QuestionError, match="not public"):
            analyst.plan(LEAST, margin=5, error="value")


def test_the_command_says_which_and_why(town: Town) -> None:
    town.write("epsilon = 9")
    policy = ["--policy", str(town.folder / "adomnia.toml")]
    ran = CliRunner().invoke(cli, ["plan", LEAST, "--epsilon", "1", "--error", "value", *policy])
    assert ran.exit_code == 0, ran.output
    assert "smooth sensitivity" in ran.output
    assert "used: waring" in ran.output
    ran = CliRunner().invoke(cli, ["ask", LEAST, "--epsilon", "1", "--error", "value", *policy])
    assert ran.exit_code == 0, ran.output
    assert "there is no margin" in ran.output
