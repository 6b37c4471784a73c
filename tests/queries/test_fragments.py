"""Parts of statements that stand by themselves: nothing that is written is passed over."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.errors import QuestionError
from adomnia.queries.expression import Column
from adomnia.queries.key_list import split_keys
from adomnia.queries.ranges import Number
from adomnia.queries.sql.fragments import bind_condition, bind_key
from adomnia.schema.domain import Categories, Grid

DOMAINS = {"age": Grid(Fraction(0), Fraction(99), Fraction(1)), "sex": Categories(("F", "M"))}
COLUMNS = ("age", "sex", "note")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("sex", ["sex"]),
        (" sex ,age / 10", ["sex", "age / 10"]),
        ("GREATEST(age, 3), sex", ["GREATEST(age, 3)", "sex"]),
        ("CASE WHEN sex IN ('F', 'M') THEN 'a, b' END AS s, age", None),
        ("CASE WHEN sex = 'it''s, so' THEN 1 ELSE 2 END, age", None),
        ('"a, b", age', ['"a, b"', "age"]),
        ("sex,", ["sex", ""]),
    ],
)
def test_a_list_is_split_at_its_own_commas(text, parts):
    found = split_keys(text)
    assert found == parts if parts else found[1:] == ["age"]
    assert len(found) <= 2


def test_a_key_has_its_alias_and_its_values():
    alias, key = bind_key("age / 10 AS decade", COLUMNS, DOMAINS)
    assert alias == "decade"
    assert isinstance(key.range, Number)
    assert (key.range.low, key.range.high) == (0, 9)
    assert bind_key("AGE", COLUMNS, DOMAINS) == (None, Column("age", Number(0, 99, ragged=True)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "*",
        "age, sex",
        "COUNT(*)",
        "age FROM people",
        "age WHERE sex = 'F'",
        "age -- \n FROM people",
        "DISTINCT age",
        "(SELECT MAX(age) FROM people)",
        "random()",
        "ROW_NUMBER() OVER ()",
        "age; DROP TABLE people",
        "weight",
        "CASE WHEN sex = 'f' THEN 1 ELSE 2 END",
        "$1",
    ],
)
def test_what_is_no_key_is_refused(text):
    with pytest.raises(QuestionError):
        bind_key(text, COLUMNS, DOMAINS)


@pytest.mark.parametrize(
    "text", ["age", "age < 3, sex = 'F'", "TRUE", "age < 3 LIMIT 1", "age = NULL"]
)
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(QuestionError):
        bind_condition(text, DOMAINS)
