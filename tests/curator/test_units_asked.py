"""Units bounded by their groups: what is planned, asked again, released and refused."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from click.testing import CliRunner
from town import Town

from adomnia.cli.plan import plan as plan_verb
from adomnia.errors import PolicyError
from adomnia.federation.joint_plan import digest_of, plan_for
from adomnia.policy.policy import read_policy

UNIT = 'epsilon = 1e6\nunit = "person_id"\nmax_rows = 5\n'
GROUPS = f"{UNIT}max_groups = 2\nmax_rows_per_group = 1\n"
BY_REGION = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
SURE = 10**4


def total(answer) -> int:
    return sum(row[-1] for row in answer.rows)


def test_a_unit_counts_in_so_many_groups(town: Town) -> None:
    analyst = town.open(GROUPS).session()
    answer = analyst.ask(BY_REGION, epsilon=SURE)
    units = analyst.ask(
        "SELECT region, COUNT(DISTINCT person_id) AS n FROM people GROUP BY region", epsilon=SURE
    )
    assert answer.rows == units.rows  # one row in a group: as many rows as units
    assert 200 < total(answer) <= 400  # of 200 people, most have two regions
    assert total(analyst.ask("SELECT COUNT(*) AS n FROM people", epsilon=SURE)) == 1000


@pytest.mark.parametrize(
    ("bounds", "sql", "l1", "ratio"),
    [
        ("", BY_REGION, "5", 5),
        ("max_groups = 2\n", BY_REGION, "5", 5),
        ("max_groups = 2\nmax_rows_per_group = 1\n", BY_REGION, "2", 2),
        ("max_groups = 2\nmax_rows_per_group = 2\n", BY_REGION, "4", 4),
        ("max_rows_per_group = 2\n", BY_REGION, "5", 5),
        ("max_groups = 2\n", BY_REGION.replace("*", "DISTINCT person_id"), "2", 2),
        ("max_groups = 2\nmax_rows_per_group = 1\n", "SELECT COUNT(*) AS n FROM people", "5", 5),
        ("max_groups = 2\nmax_rows_per_group = 1\n", BY_REGION.replace("COUNT(*)", "MEDIAN(age)"),
         "2", 2),
        ("max_groups = 2\nmax_rows_per_group = 1\n", BY_REGION.replace("COUNT(*)", "MODE(age)"),
         "2", 2),
    ],
)  # fmt: skip
def test_the_plan_says_what_units_cost(town: Town, bounds, sql, l1, ratio) -> None:
    found = town.open(UNIT + bounds).session().plan(sql, epsilon=1).to_json()
    assert found["sensitivity"]["value"] == l1
    rows = town.open("epsilon = 1e6").session().plan(sql, epsilon=1).to_json()
    told = found["row_level"]
    assert told["ratio"] == ratio
    assert told["unit"] == "person_id"
    if "DISTINCT" not in sql:
        assert told["margins"] == rows["margins"]
    assert "row_level" not in rows


def test_gaussian_noise_follows_the_l2_norm(town: Town) -> None:
    session = town.open(f"rho = 9\n{GROUPS.split(chr(10), 1)[1]}").session()
    found = session.plan(BY_REGION, rho=1).to_json()
    assert float(Fraction(found["sensitivity"]["value"])) == pytest.approx(2**0.5)
    assert found["row_level"]["ratio"] == pytest.approx(2**0.5)


def test_the_verb_says_it_in_words(town: Town) -> None:
    town.open(GROUPS)
    policy = ["--policy", str(town.folder / "adomnia.toml"), "--epsilon", "1"]
    said = CliRunner().invoke(plan_verb, [BY_REGION, *policy]).output
    line = "all rows of one person_id: margins are 2 times those of protecting single rows"
    assert line in " ".join(said.split())
    body = json.loads(
        CliRunner().invoke(plan_verb, [BY_REGION, *policy, "--format", "json"]).output
    )
    assert body["row_level"]["ratio"] == 2


def test_the_same_is_free_and_a_coarser_table_is_paid(town: Town) -> None:
    finer = "SELECT region, sex, COUNT(*) AS n FROM people GROUP BY region, sex"
    others = [
        BY_REGION,
        "SELECT COUNT(*) AS n FROM people",
        "SELECT COUNT(*) AS n FROM people WHERE sex = 'F' AND region = 1",
        "SELECT sex, COUNT(*) AS n FROM people WHERE region = 1 GROUP BY sex",
    ]
    for bounds, free in ((UNIT, True), (GROUPS, False)):
        analyst = town.open(bounds).session()
        first = analyst.ask(finer, epsilon=SURE)
        again = analyst.ask(finer, epsilon=SURE)
        assert again.rows == first.rows
        assert not any(again.spent.values())
        for sql in others:
            assert any(analyst.ask(sql, epsilon=1).spent.values()) != free, sql


def test_bounds_that_bind_nothing_change_nothing(town: Town) -> None:
    analyst = town.open(f"{UNIT}max_groups = 5\nmax_rows_per_group = 7\n").session()
    analyst.ask("SELECT region, sex, COUNT(*) AS n FROM people GROUP BY region, sex", epsilon=SURE)
    found = analyst.ask(BY_REGION, epsilon=1)
    assert not any(found.spent.values())
    assert total(found) == 1000


def test_a_release_uses_all_kept_rows(town: Town) -> None:
    """Its noise is for all of `max_rows`, so no group of a unit is left out."""
    sums, losses = [], []
    for bounds in (UNIT, GROUPS):
        database = town.open(bounds)
        planned = database.plan_release(marginals=["region"], epsilon=SURE)
        losses.append(planned.deviations)
        (table,) = database.release(planned).tables.values()
        sums.append(round(float(table.sum())))
    assert sums == [1000, 1000]
    assert losses[0] == losses[1]
    told = database.session().ask(BY_REGION, epsilon=1)  # it answers the same question, too
    assert total(told) == 1000
    assert not any(told.spent.values())


def test_selected_groups_rest_on_the_same_bounds(town: Town) -> None:
    by_city = "SELECT city, COUNT(*) AS n FROM people GROUP BY city"
    wide = town.open(f"{UNIT}delta = 1e-5\n").session().ask(by_city, epsilon=1)
    tight = town.open(f"{GROUPS}delta = 1e-5\n").session().ask(by_city, epsilon=1)
    assert _threshold(tight) < _threshold(wide)


def _threshold(answer) -> int:
    (note,) = (note for note in answer.notes if "reached" in note)
    return int(note.rsplit(" ", 1)[1])


def test_holders_with_other_bounds_do_not_measure_the_same(town: Town) -> None:
    digests = set()
    for bounds in (UNIT, f"{UNIT}max_rows_per_group = 2\n", f"{UNIT}max_groups = 5\n"):
        session = town.open(bounds).session()
        digests.add(
            digest_of(plan_for(session, BY_REGION, Fraction(1), 2), session._backend.policy)
        )
    assert len(digests) == 3


@pytest.mark.parametrize("bound", ["max_groups", "max_rows_per_group"])
def test_mistakes_are_told_with_their_line(town: Town, bound: str) -> None:
    for lines in (f"{bound} = 2", f'unit = "person_id"\nmax_rows = 2\n{bound} = 0',
                  f'neighbors = "free-lunch"\nmost = 9\n{bound} = 2'):  # fmt: skip
        town.write(f"epsilon = 1\n{lines}")
        with pytest.raises(PolicyError) as caught:
            read_policy(town.folder / "adomnia.toml")
        assert bound in str(caught.value)
        assert caught.value.line == 6 + len(lines.splitlines())
