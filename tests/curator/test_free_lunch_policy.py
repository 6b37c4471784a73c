"""Free-lunch privacy through the front door: it works, is nearly useless, and says so."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest
from click.testing import CliRunner
from town import Town, policy_text, write_people

from adomnia.cli.main import cli
from adomnia.errors import PolicyError, QuestionError
from adomnia.policy.policy import read_policy

LUNCH = 'epsilon = 100000\nneighbors = "free-lunch"\nmost = {}'


def lunch(town: Town, most: int = 1000, more: str = ""):
    return town.open(LUNCH.format(most), more).session()


CASES = [
    ("SELECT COUNT(*) AS n FROM people", 1000),
    ("SELECT COUNT(*) AS n FROM people WHERE sex = 'F'", 1000),
    ("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", 2000),
    ("SELECT SUM(age) AS n FROM people", 120_000),
    ("SELECT COUNT(DISTINCT region) AS n FROM people", 4),
    ("SELECT MEDIAN(age) AS n FROM people", 2000),
    ("SELECT MAX(age) AS n FROM people", 1000),
    ("SELECT MODE(region) AS n FROM people", 2000),
]


@pytest.mark.parametrize(("sql", "size"), CASES)
def test_the_noise_hides_any_table_of_so_many_rows(town: Town, sql: str, size: int) -> None:
    analyst = lunch(town)
    plan = analyst.plan(sql, 1)
    (step,) = plan.steps
    assert step.sensitivity.l1 == size
    assert "1000 rows" in step.sensitivity.argument
    assert analyst.ask(sql, 1).rows
    event = next(
        e.body["event"] for e in analyst._backend.journal.entries() if e.kind == "reserved"
    )
    assert event["sensitivity"] == str(size)


def test_with_all_the_budget_in_the_world_answers_are_right(town: Town, exact) -> None:
    analyst = lunch(town)
    for sql, _ in CASES[:5]:
        answer = analyst.ask(sql, 15_000)
        off = answer.margins["n"][0]
        assert abs(answer.rows[0][-1] - exact(sql)[0][-1]) <= 20 * (off + 1)
    average = analyst.ask("SELECT AVG(age) AS n FROM people", 15_000).rows[0][0]
    assert average == pytest.approx(exact("SELECT AVG(age) FROM people")[0][0], abs=2)


def test_a_larger_table_than_declared_is_answered_as_an_empty_one(town: Town) -> None:
    analyst = lunch(town, 999)
    for sql in ("SELECT COUNT(*) FROM people", "SELECT SUM(age) FROM people"):
        assert abs(analyst.ask(sql, 10_000).rows[0][0]) < 500
    by_sex = analyst.ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", 10_000)
    assert all(abs(n) < 50 for _, n in by_sex.rows)
    few = analyst.ask("SELECT COUNT(*) FROM people WHERE sex = 'F'", 10_000)
    assert few.rows[0][0] > 400  # what is read is not more than was declared
    medians = {
        analyst.ask(f"SELECT MEDIAN(age + {i}) FROM people", 3_000).rows[0][0] - i for i in range(9)
    }
    assert max(medians) - min(medians) > 10  # any value is as likely as any other
    with_rows = lunch(town, 1000).ask("SELECT COUNT(*) FROM people", 10_000)
    assert abs(with_rows.rows[0][0] - 1000) < 50


def test_the_plan_says_how_useless_it_is(town: Town) -> None:
    analyst = lunch(town)
    told = analyst.plan("SELECT COUNT(*) AS n FROM people", 1).to_json()
    worth = told["worth"]["n"]
    assert worth["range"] == 1000
    assert worth["outcomes"] == 1001
    assert worth["discriminant"] == pytest.approx(math.e / (1000 + math.e))
    assert worth["times"] == told["margins"]["n"] / 1000
    assert 2.9 < worth["times"] < 3.1
    assert worth["says"] == (
        "the margin is 3.0 times the whole range; a guess without data is as good"
    )
    assert worth["blind"] == worth["least"] == 500
    assert json.loads(json.dumps(told)) == told
    better = analyst.plan("SELECT COUNT(*) AS n FROM people", 100).to_json()["worth"]["n"]
    assert better["says"] == "the margin is 3% of the whole range"


def test_every_kind_of_column_has_its_worth(town: Town) -> None:
    analyst = lunch(town)
    sql = (
        "SELECT SUM(age) AS s, AVG(age) AS a, VAR_SAMP(age) AS v, MEDIAN(age) AS m, "
        "MODE(sex) AS o, COUNT(DISTINCT region) AS d, SUM(age) / 2 AS h FROM people"
    )
    worth = analyst.plan(sql, 1).to_json()["worth"]
    assert {name: part["range"] for name, part in worth.items()} == {
        "s": 120_000,
        "a": 120,
        "v": 7200,
        "m": 1000,
        "o": 1000,
        "d": 4,
    }
    assert worth["a"]["times"] is None
    assert "comes with the answer" in worth["a"]["says"]
    assert worth["o"]["outcomes"] == 2
    assert worth["o"]["discriminant"] == pytest.approx(math.e / (1 + math.e))
    other = town.open("epsilon = 1").session().plan("SELECT COUNT(*) FROM people", 1).to_json()
    assert "worth" not in other


def test_gaussian_noise_works_too(town: Town) -> None:
    analyst = town.open('rho = 10\nneighbors = "free-lunch"\nmost = 1000').session()
    plan = analyst.plan("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", rho="1/2")
    assert plan.steps[0].noise.parameter >= Fraction(2 * 1000**2)
    assert "discriminant" not in plan.to_json()["worth"]["n"]
    assert analyst.ask("SELECT COUNT(*) FROM people", rho=1).rows


def test_the_command_says_it_in_words(town: Town) -> None:
    town.write(LUNCH.format(1000))
    policy = ["--policy", str(town.folder / "adomnia.toml")]
    sql = "SELECT COUNT(*) AS n FROM people"
    ran = CliRunner().invoke(cli, ["plan", sql, "--epsilon", "1", *policy])
    assert ran.exit_code == 0, ran.output
    assert "3.0 times the whole range; a guess without data is as good" in ran.output
    assert "1,001 outcomes" in ran.output


REFUSED = [
    ('neighbors = "free-lunch"', "needs most"),
    ('neighbors = "free-lunch"\nmost = 0', "whole number"),
    ('neighbors = "free-lunch"\nmost = "many"', "whole number"),
    ('neighbors = "free-lunch"\nmost = 5\ngroup = 2', "group does not go"),
    ('neighbors = "free-lunch"\nmost = 5\nunit = "person_id"\nmax_rows = 2', "unit does not go"),
    ('neighbors = "free-lunch"\nmost = 5\nuniverse = ["sex"]', "universe does not go"),
    ('neighbors = "free-lunch"\nmost = 5\nmax_group = 2', "max_group does not go"),
    ("most = 5", "most is for free-lunch"),
    ('neighbors = "bounded"\nmost = 5', "most is for free-lunch"),
    ('neighbors = "free lunch"', "must be one of"),
]


@pytest.mark.parametrize(("privacy", "said"), REFUSED)
def test_a_policy_that_makes_no_sense_is_refused_with_its_line(
    town: Town, privacy: str, said: str
) -> None:
    town.write(f"epsilon = 1\n{privacy}")
    with pytest.raises(PolicyError, match=said) as caught:
        read_policy(town.folder / "adomnia.toml")
    assert caught.value.line is not None


@pytest.mark.parametrize(
    "more",
    [
        '[[prior]]\nsql = "SELECT COUNT(*) FROM people"\n',
        '[graph]\nedges = "e.csv"\nids = [0, 9]\n',
    ],
)
def test_neither_exact_releases_nor_graphs_go_with_it(town: Town, more: str) -> None:
    town.write(LUNCH.format(10), more)
    with pytest.raises(PolicyError, match="does not go with free-lunch"):
        read_policy(town.folder / "adomnia.toml")


def test_nothing_but_questions_is_answered(town: Town) -> None:
    from adomnia.curator.releases.release_plan import ReleaseSpec, plan_release
    from adomnia.federation.joint_plan import joint_plan
    from adomnia.privacy.loss import Loss

    database = town.open(LUNCH.format(1000))
    desk = database.session()._backend
    with pytest.raises(PolicyError, match="tables are not released with free-lunch"):
        plan_release(desk, ReleaseSpec(Loss.pure(Fraction(1)), ways=1))
    with pytest.raises(PolicyError, match="exact releases do not go with free-lunch"):
        database.add_prior("SELECT COUNT(*) FROM people")
    with pytest.raises(PolicyError, match="holders do not answer together with free-lunch"):
        joint_plan(desk.bind("SELECT COUNT(*) FROM people"), desk.policy, Fraction(1), 2)
    assert database.session().remaining()["epsilon"] == 100_000


def test_groups_that_are_not_declared_are_refused(town: Town) -> None:
    analyst = town.open('epsilon = 9\ndelta = 0.1\nneighbors = "free-lunch"\nmost = 9').session()
    with pytest.raises(QuestionError, match="cannot select groups"):
        analyst.ask("SELECT city, COUNT(*) FROM people GROUP BY city", 1)


def test_an_empty_table(town: Town) -> None:
    write_people(town.folder, rows=0)
    analyst = lunch(town, 10)
    assert abs(analyst.ask("SELECT COUNT(*) FROM people", 1000).rows[0][0]) < 5
    assert analyst.ask("SELECT MODE(sex) FROM people", 1).rows[0][0] in {"F", "M"}
    assert 0 <= analyst.ask("SELECT MEDIAN(age) FROM people", 1).rows[0][0] <= 120


def test_the_rows_a_policy_tells_are_kept(town: Town) -> None:
    path = town.folder / "adomnia.toml"
    path.write_text(policy_text().replace("[privacy]", "rows = 1000\n[privacy]", 1))
    assert read_policy(path).rows == 1000
    path.write_text(policy_text().replace("[privacy]", "rows = 0\n[privacy]", 1))
    with pytest.raises(PolicyError, match="rows must be a whole number"):
        read_policy(path)
