"""Singling out: predicates by hand, copies, strangers, and odd files."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.audit import Population, singling_out
from adomnia.audit.synthetic.singling_out import Predicate
from adomnia.errors import QuestionError


def drawn(seed: int, rows: int = 600) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(seed)
    return {
        "age": chance.integers(0, 90, rows),
        "town": np.array([f"t{one}" for one in chance.integers(0, 40, rows)]),
        "work": np.array([f"w{one}" for one in chance.integers(0, 9, rows)]),
    }


def test_a_predicate_counts_the_rows_that_fulfil_all_of_it():
    table = np.array([[1, 5], [2, 5], [3, 6], [3, 7]])
    assert Predicate((0,), (0,), (3,)).count(table) == 2
    assert Predicate((0, 1), (1, -1), (2, 6)).count(table) == 2
    assert Predicate((0, 1), (0, 1), (3, 7)).count(table) == 1
    assert Predicate((0,), (-1,), (0,)).count(table) == 0


def test_copies_are_found_out_with_certainty():
    people = drawn(1)
    found = singling_out(people, Population(people, drawn(2)))
    several = found.details["kinds"]["several conditions"]
    assert several["people"]["value"] == 1.0
    assert several["people"]["tries"] == 250
    assert found.success.low > 0.4
    assert several["control"]["value"] < 0.5


@pytest.mark.parametrize("seed", range(5))
def test_records_of_nobody_add_nothing_although_they_isolate(seed):
    found = singling_out(drawn(100 + seed), Population(drawn(1), drawn(2)), seed=seed)
    assert found.success.low == 0.0
    assert found.details["kinds"]["several conditions"]["people"]["hits"] > 20


def test_a_column_that_not_all_have_is_left_out():
    people = drawn(1)
    other = {name: column for name, column in drawn(2).items() if name != "town"}
    found = singling_out(people, Population(people, other), attacks=50)
    assert found.details["columns"] == ["age", "work"]


def test_two_lucky_ends_of_a_line_are_not_the_finding():
    """Two predicates of one condition are right about people of the data, and both by luck."""
    people, made = drawn(1), drawn(100)
    people["age"][:2], made["age"][:2] = [-5, 95], [-5, 95]
    found = singling_out(made, Population(people, drawn(2)))
    assert found.details["kinds"]["one condition"]["people"]["value"] > 0.5
    assert "by several conditions" in found.claim


def test_a_small_control_group_shows_a_part_and_says_so():
    people = drawn(1)
    found = singling_out(people, Population(people, drawn(2, 150)))
    assert found.details["looked_at"] == 150
    assert "seen in part" in found.claim
    assert found.details["kinds"]["several conditions"]["people"]["value"] < 0.5
    whole = singling_out(people, Population(people, drawn(2, 900)))
    assert whole.details["looked_at"] == 600
    assert "seen in part" not in whole.claim


def test_one_column_and_no_control():
    """Everybody's own number: each condition isolates, and blind ones do so, too."""
    numbers = {"person": np.arange(100)}
    found = singling_out(numbers, Population(numbers))
    assert list(found.details["kinds"]) == ["one condition"]
    assert found.details["control"] is False
    assert found.success.low == 0.0


def test_where_nothing_stands_alone_nobody_is_described():
    pairs = {"sex": ["F", "M"] * 20}
    found = singling_out(pairs, Population(pairs, pairs))
    assert (found.success.high, found.details["kinds"]) == (0.0, {})


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"height": np.arange(40)}, "share no column"),
        ({"age": np.arange(3)}, "has 3 rows"),
    ],
)
def test_what_cannot_be_compared_is_refused(other, message):
    with pytest.raises(QuestionError, match=message):
        singling_out(drawn(1), Population(other))
