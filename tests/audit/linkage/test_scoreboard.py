"""Sparse ratings: the score by hand, who is named with how little, and where nobody may be."""

from __future__ import annotations

import json
import math
import time

import numpy as np
import pytest
from scipy import sparse

from adomnia.audit.linkage.scoreboard import (
    Hunt,
    KnownItems,
    Ratings,
    Scoring,
    scoreboard,
    scoreboard_curve,
    scores,
)
from adomnia.errors import QuestionError


def made(people, items, mean, seed, spread=100.0):
    """Heavy-tailed: items by a power law, activity lognormal, days after joining exponential."""
    chance = np.random.default_rng(seed)
    popular = np.cumsum(1 / np.arange(1, items + 1) ** 0.9)
    active = np.clip(chance.lognormal(np.log(mean) - 0.5, 1, people), 10, items // 4).astype(int)
    person = np.repeat(np.arange(people), active)
    item = np.searchsorted(popular, popular[-1] * chance.random(person.size))
    liked = chance.normal(3.5, 0.5, items)[item] + chance.normal(0, 1, person.size)
    day = chance.integers(0, 2000, people)[person] + chance.exponential(spread, person.size) // 1
    return Ratings.of(person, item, np.clip(np.rint(liked), 1, 5), day, (people, items))


@pytest.fixture(scope="module")
def small():
    return made(1000, 1700, 100, 1)


def rates(found):
    return {key: part["value"] for key, part in found.details.items() if isinstance(part, dict)}


def test_the_score_by_hand():
    """Two facts; item 0 was rated by three people, item 1 by one."""
    ratings = Ratings.of([0, 1, 2, 0], [0, 0, 0, 1], [5, 3, 5, 4], [10, 40, 70, 0])
    facts = KnownItems(np.array([0, 1]), np.array([5.0, 2.0]), np.array([10.0, 30.0]))
    weight, rare = 1 / math.log(3), 1 / math.log(2)
    expected = [
        weight * 2 + rare * (math.exp(-2 / 1.5) + math.exp(-1)),
        weight * (math.exp(-2 / 1.5) + math.exp(-1)),
        weight * (1 + math.exp(-2)),
    ]
    assert scores(ratings, facts) == pytest.approx(expected)
    undated = KnownItems(facts.item, facts.value)
    assert scores(ratings, undated)[2] == pytest.approx(weight)


def test_what_the_paper_says_of_eight_facts_and_of_two(small):
    """8 with 2 wrong and days within 3 name nearly all; 2 with days leave a line-up of 8."""
    eight = rates(scoreboard(small))
    assert eight["claimed_rightly"] > 0.95
    assert eight["claimed_wrongly"] < 0.02
    two = rates(scoreboard(small, Hunt(facts=2, wrong=0)))
    assert two["in_lineup"] > 0.89
    assert scoreboard(small).baseline == 1 / 1000


def test_more_facts_and_dates_say_more(small):
    found = scoreboard_curve(small)
    curve = {(row["facts"], row["dated"]): row for row in found.details["curve"]}
    assert len(curve) == 6
    for facts in (2, 4, 8):
        dated, plain = (curve[facts, with_days] for with_days in (True, False))
        assert dated["claimed_rightly"]["value"] > plain["claimed_rightly"]["value"]
    assert curve[4, False]["best_is_right"]["value"] > 0.9
    assert curve[2, False]["claimed_rightly"]["value"] < 0.5
    accepted = curve[4, False]["claimed_rightly"]["value"]
    assert accepted <= curve[4, False]["best_is_right"]["value"]  # a claim needs more
    assert found.success.value == max(row["claimed_rightly"]["value"] for row in curve.values())
    json.dumps(found.to_json())


def test_days_help_less_where_all_is_rated_on_one_day():
    one_day = made(1000, 1700, 100, 1, spread=0.5)
    hunt = Hunt(facts=2, wrong=0)
    apart = rates(scoreboard(made(1000, 1700, 100, 1), hunt))["claimed_rightly"]
    assert rates(scoreboard(one_day, hunt))["claimed_rightly"] < apart


def test_people_who_are_not_in_the_file_are_claimed_less_the_more_must_stand_out(small):
    loose = rates(scoreboard(small, scoring=Scoring(eccentricity=0.0)))
    usual = rates(scoreboard(small))
    strict = rates(scoreboard(small, scoring=Scoring(eccentricity=6.0)))
    assert loose["false_positive"] > 0.95
    assert 0.05 < usual["false_positive"] < 0.5  # the paper's 1.5 leaves many
    assert strict["false_positive"] < 0.02


def test_records_drawn_from_the_items_alone_name_nobody(small):
    """Each person's items are drawn anew by popularity, values and days by item: no links left."""
    chance = np.random.default_rng(5)
    entry = chance.integers(0, small.item.size, small.item.size)
    published = Ratings.of(
        small.person, small.item[entry], small.value[entry], small.day[entry], (1000, 1700)
    )
    for hunt in (Hunt(), Hunt(facts=4, wrong=0), Hunt(facts=8, wrong=0, dated=False)):
        found = rates(scoreboard(published, hunt, truth=small))
        assert found["claimed_rightly"] < 0.02
        assert found["best_is_right"] < 0.03


def test_changed_values_and_days_do_not_protect(small):
    """Stars off by one and days by a fortnight: the items themselves give people away."""
    chance = np.random.default_rng(6)
    value = np.clip(small.value + chance.integers(-1, 2, small.value.size), 1, 5)
    day = small.day + chance.integers(-14, 15, small.day.size)
    published = Ratings.of(small.person, small.item, value, day, (1000, 1700))
    assert rates(scoreboard(published, truth=small))["claimed_rightly"] > 0.8


def test_a_hundred_thousand_people_in_seconds():
    large = made(100_000, 10_000, 30, 2)
    begun = time.process_time()
    found = scoreboard(large, Hunt(targets=300))
    assert time.process_time() - begun < 200
    assert found.complete
    assert found.success.low > 0.9


def test_matrices_and_doubles(small):
    values = sparse.csr_array(np.array([[5.0, 0.0], [3.0, 4.0]]))
    days = sparse.csr_array((np.array([0.0, 7.0, 8.0]), values.indices, values.indptr), (2, 2))
    ratings = Ratings.from_sparse(values, days)
    assert ratings.support().tolist() == [2, 1]
    assert ratings.day.tolist() == [0, 7, 8]
    assert ratings.item[ratings.own].tolist() == [0, 0, 1]
    with pytest.raises(QuestionError, match="a day"):
        Ratings.from_sparse(values, sparse.csr_array(np.eye(2)))
    twice = Ratings.of([0, 0, 1], [0, 0, 0], [5, 1, 2])
    assert twice.value.tolist() == [5, 2]


def test_one_person_and_nobody():
    one = Ratings.of([0, 0], [0, 1], [5, 4])
    found = scoreboard(one, Hunt(facts=2, wrong=0, dated=False))
    assert found.success.value == 1
    assert found.baseline == 1
    assert found.details["false_positive"]["value"] == 0
    with pytest.raises(QuestionError, match="that many"):
        scoreboard(Ratings.of([], [], []), Hunt(dated=False))


def test_rows_are_named_only_on_request(small):
    assert "claims" not in scoreboard(small, Hunt(targets=5)).details
    claims = scoreboard(small, Hunt(targets=5, names=True)).details["claims"]
    assert all(person == row for person, row in claims)


def test_refusals_and_the_clock(small):
    undated = Ratings.of(small.person, small.item, small.value, None, (1000, 1700))
    with pytest.raises(QuestionError, match="no dates"):
        scoreboard(undated)
    assert len(scoreboard_curve(undated).details["curve"]) == 3
    with pytest.raises(QuestionError, match="other people"):
        scoreboard(small, truth=Ratings.of([0], [0], [1], [1]))
    with pytest.raises(QuestionError, match="true fact"):
        Hunt(facts=2, wrong=2)
    with pytest.raises(QuestionError, match="one length"):
        Ratings.of([0], [0, 1], [1])
    with pytest.raises(QuestionError, match="outside the shape"):
        Ratings.of([5], [0], [1], shape=(2, 2))
    found = scoreboard(small, time_limit=-1)
    assert (found.complete, found.details["looked_for"]) == (False, 0)
