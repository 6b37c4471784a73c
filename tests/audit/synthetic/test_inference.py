"""Attribute inference: the nearest records by brute force, copies, strangers, roles."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from adomnia.audit import Population, attribute_inference
from adomnia.audit.synthetic.coded_files import CodedFiles
from adomnia.audit.synthetic.inference import nearest_guess
from adomnia.errors import QuestionError


def drawn(seed: int, rows: int = 500) -> dict[str, np.ndarray]:
    """The illness follows the decade in part: that is no secret of anybody."""
    chance = np.random.default_rng(seed)
    age = chance.integers(0, 80, rows)
    ill = np.where(chance.random(rows) < 0.5, age // 10, chance.integers(0, 8, rows))
    return {
        "age": age,
        "town": np.array([f"t{one}" for one in chance.integers(0, 40, rows)]),
        "ill": np.array([f"i{one}" for one in ill]),
    }


def test_the_guess_is_the_commonest_secret_among_the_nearest():
    chance, sizes = np.random.default_rng(3), (6, 4, 5, 3)
    released, people = (
        np.column_stack([chance.integers(0, size, rows) for size in sizes]) for rows in (60, 40)
    )
    ordered = (True, False, True, False)
    coded = CodedFiles(("a", "b", "c", "s"), ordered, sizes, (released, people))
    guesses = nearest_guess(released, people, SimpleNamespace(secret=3, known=(0, 1, 2)), coded)
    for person, guess in zip(people, guesses, strict=True):
        away = [
            sum(
                abs(int(one[c]) - int(person[c])) / (sizes[c] - 1)
                if ordered[c]
                else float(one[c] != person[c])
                for c in range(3)
            )
            for one in released
        ]
        near = [one[3] for one, far in zip(released, away, strict=True) if far < min(away) + 1e-9]
        counts = Counter(near)
        assert guess == min(counts, key=lambda value: (-counts[value], value))


def test_copies_are_found_out_and_the_control_group_is_not():
    people = drawn(1)
    found = attribute_inference(people, Population(people, drawn(2)), ["ill"])
    assert found.details["secrets"]["ill"]["people"]["value"] > 0.9
    assert found.success.low > 0.6


@pytest.mark.parametrize("seed", range(5))
def test_what_is_true_of_everybody_is_no_risk(seed):
    """The guesses are far better than blind ones, and as good about people outside."""
    found = attribute_inference(drawn(50 + seed), Population(drawn(1), drawn(2)), ["ill"], ["age"])
    told = found.details["secrets"]["ill"]
    assert told["people"]["value"] > told["blind"]["value"] + 0.1
    assert found.success.low == 0.0


def test_without_a_control_group_it_counts_and_is_said():
    found = attribute_inference(drawn(50), Population(drawn(1)), ["ill"], ["age"])
    assert found.success.low > 0
    assert found.details["control"] is False
    assert "commonest value" in found.claim


def test_every_column_is_a_secret_where_none_is_named():
    people = drawn(1)
    found = attribute_inference(people, Population(people, drawn(2)), attacks=100)
    assert set(found.details["secrets"]) == {"age", "town", "ill"}
    known = attribute_inference(people, Population(people, drawn(2)), (), ["age"], attacks=100)
    assert set(known.details["secrets"]) == {"town", "ill"}


def test_what_cannot_be_guessed_is_refused():
    people = drawn(1)
    with pytest.raises(QuestionError, match="shoe"):
        attribute_inference(people, Population(people), ["shoe"])
    with pytest.raises(QuestionError, match="nothing is known"):
        attribute_inference({"age": people["age"]}, Population({"age": people["age"]}))
