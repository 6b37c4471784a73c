"""Frequent item sets and rules: against exact counts, with margins that hold, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from small_table import listed, number, opened

import adomnia
import adomnia.mining.item_sets as room
from adomnia.mining.item_sets import CUT, FrequentItemSets
from adomnia.mining.parts.association_rules import NoisyCount, rules_of, sum_margin

BASKET = ["bread", "butter", "beer", "tea"]
DOMAINS = {
    **{name: listed(0, 1) for name in BASKET},
    "age": number(0, 99),
    "shop": listed("north", "south", "west"),
    "word": 'kind = "text"',
}


def baskets(count=6000, seed=1):
    """Who has bread mostly has butter; beer is for few; tea is for half of all."""
    draw = np.random.default_rng(seed)
    bread = draw.random(count) < 0.5
    butter = np.where(bread, draw.random(count) < 0.8, draw.random(count) < 0.2)
    found = {"bread": bread, "butter": butter, "beer": draw.random(count) < 0.03}
    found["tea"] = draw.random(count) < 0.5
    return {
        **{name: column.astype(int) for name, column in found.items()},
        "age": draw.integers(0, 100, count),
        "shop": np.array(["north", "south", "west"])[draw.integers(0, 3, count)],
        "word": ["x"] * count,
    }


@pytest.fixture
def session(tmp_path):
    with opened(tmp_path, baskets(), DOMAINS, "epsilon = 1000") as database:
        yield database.session()


def exact(items, rows):
    """How many rows have all of these items, written `name = 1`."""
    held = [np.asarray(rows[item.split(" = ")[0]]) == 1 for item in items]
    return int(np.logical_and.reduce(held).sum())


def test_the_frequent_sets_are_found_with_one_small_table(session):
    found = FrequentItemSets(min_support=0.3, max_length=2).fit(session, BASKET, epsilon=2)
    assert found.split_ == {"joint": 2}
    assert found.spent_ == 2
    names = {frozenset(each.items) for each in found.sets_}
    singles = {frozenset([f"{name} = 1"]) for name in ("bread", "butter", "tea")}
    assert names == {*singles, frozenset(["bread = 1", "butter = 1"])}
    assert all(each.sure for each in found.sets_)


def test_margins_hold_for_counts_supports_and_rules(session):
    rows = baskets()
    found = FrequentItemSets(0.05, 3, confidence=1 - 1e-9).fit(session, BASKET, epsilon="0.5")
    for each in found.sets_:
        truth = exact(each.items, rows)
        assert abs(each.count.value - truth) <= each.count.margin
        assert abs(each.support - truth / 6000) <= each.margin
    rule = next(r for r in found.rules(0.6) if r.given == ("bread = 1",) and len(r.then) == 1)
    both, bread = exact(["bread = 1", "butter = 1"], rows), exact(["bread = 1"], rows)
    lift = both / bread / (exact(["butter = 1"], rows) / 6000)
    assert rule.then == ("butter = 1",)
    assert abs(rule.confidence - both / bread) <= rule.margins["confidence"] < 0.2
    assert abs(rule.lift - lift) <= rule.margins["lift"]


def test_lengths_are_paid_one_after_another_when_the_joint_table_is_large(session):
    columns = [*BASKET, "shop", "age"]
    found = FrequentItemSets(0.3, 2, bins=10).fit(session, columns, epsilon=3)
    assert found.split_ == {"length 1": 1, "length 2": 2}
    assert found.spent_ == 3
    assert {"bread = 1", "butter = 1"} in [set(each.items) for each in found.sets_]
    assert not any("beer" in item for each in found.sets_ for item in each.items)


def test_too_many_candidates_are_cut_to_the_likeliest(session, monkeypatch):
    monkeypatch.setattr(room, "MOST_TABLES", 2)
    found = FrequentItemSets(0.01, 2, split={"length 1": 1, "length 2": 1}).fit(
        session, BASKET, epsilon=10
    )
    assert CUT in found.notes_
    assert len({len(each.items) for each in found.sets_}) <= 2


def test_no_candidates_cost_nothing(session):
    found = FrequentItemSets(1.0, 2, split={"length 1": 1, "length 2": 1}).fit(
        session, BASKET, epsilon=4
    )
    assert found.sets_ == ()
    assert found.rules() == []
    assert found.spent_ == 2


def test_an_empty_table_has_no_frequent_sets(tmp_path):
    none = {name: column[:0] for name, column in baskets(4).items()}
    with opened(tmp_path, none, DOMAINS, "epsilon = 10") as database:
        found = FrequentItemSets(0.2, 2, confidence=1 - 1e-9).fit(
            database.session(), BASKET, epsilon=1
        )
    assert found.sets_ == ()
    assert "wider than the number of rows" in found.notes_[0]


@pytest.mark.parametrize(
    ("features", "params", "said"),
    [
        (BASKET, {"max_length": 5}, "there are 4 columns"),
        (BASKET, {"max_length": 0}, "max_length"),
        (BASKET, {"min_support": 0}, "min_support"),
        (BASKET, {"min_support": float("nan")}, "min_support"),
        (BASKET, {"confidence": 1}, "confidence"),
        (BASKET, {"split": {"length 3": 1}}, "split"),
        (["bread", "nothing"], {}, "not a declared attribute"),
        (["bread", "word"], {}, "not a public list"),
        ([], {"max_length": 1}, "list of columns"),
    ],
)
def test_bad_input_is_refused_before_anything_is_spent(session, features, params, said):
    with pytest.raises(adomnia.QuestionError, match=said):
        FrequentItemSets(**params).fit(session, features, epsilon=1)
    assert session.remaining()["epsilon"] == 1000


def test_a_refused_length_leaves_it_unfitted(tmp_path):
    with opened(tmp_path, baskets(), DOMAINS, "epsilon = 1") as database:
        found = FrequentItemSets(0.1, 2, split={"length 1": 1, "length 2": 1})
        with pytest.raises(adomnia.BudgetError, match="spent by this fit before: epsilon = 9/10"):
            found.fit(database.session(), BASKET, epsilon="1.8")
        assert not found.__sklearn_is_fitted__()


def test_the_margin_of_a_sum_holds_and_is_not_wasteful():
    draw = np.random.default_rng(4)
    for terms in (1, 2, 16, 200):
        sums = np.abs(draw.laplace(0, 3.0, (20000, terms)).sum(axis=1))
        margin = sum_margin(3.0, terms, 0.95)
        assert np.mean(sums <= margin) >= 0.95
        assert margin <= 2 * np.quantile(sums, 0.95) + 1
    assert sum_margin(0.0, 3, 0.95) == 0.0


def test_a_rule_without_noise_has_no_margin():
    known = {
        frozenset("a"): NoisyCount(50, 0),
        frozenset("b"): NoisyCount(40, 0),
        frozenset("ab"): NoisyCount(30, 0),
    }
    first, second = rules_of(known, NoisyCount(100, 0), 0.0)
    assert (first.given, first.then, first.confidence) == (("b",), ("a",), 0.75)
    assert second.confidence == 0.6
    assert first.lift == second.lift == 1.5
    assert set(first.margins.values()) == {0.0}
