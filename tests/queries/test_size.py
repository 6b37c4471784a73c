"""Statements that would double at every level are bound at once, or refused at once."""

from __future__ import annotations

import pytest
from people import ask

from adomnia.errors import QuestionError


def nested(form: str, inner: str, depth: int) -> str:
    for _ in range(depth):
        inner = form.format(inner)
    return inner


@pytest.mark.parametrize(
    "form", ["COALESCE({}, 1)", "NULLIF({}, 1)", "(({}) BETWEEN 1 AND 2)::int", "({} IS TRUE)::int"]
)
def test_choices_that_repeat_their_parts_are_refused_when_deep(form: str) -> None:
    with pytest.raises(QuestionError):
        ask(f"SELECT SUM({nested(form, 'age', 30)}) FROM people")


@pytest.mark.parametrize("form", ["(1 - {})", "ABS({})", "GREATEST({}, 1)"])
def test_plain_nesting_is_bound_once(form: str) -> None:
    question = ask(f"SELECT SUM({nested(form, 'age', 50)}) FROM people")
    assert len(question.statistics) == 1


def test_a_chain_of_common_tables_that_doubles_is_refused() -> None:
    steps = ", ".join(f"c{i} AS (SELECT (a + a) % 7 AS a FROM c{i - 1})" for i in range(1, 40))
    with pytest.raises(QuestionError, match="too large"):
        ask(f"WITH c0 AS (SELECT age % 7 AS a FROM people), {steps} SELECT SUM(a) FROM c39")


def test_a_multiple_of_a_coarse_key_stays_coarse() -> None:
    question = ask("SELECT age / 10 * 10 AS decade, COUNT(*) FROM people GROUP BY 1")
    spread = question.keys[0].range
    assert spread.step == 10
    assert spread.high * spread.step <= 120
