"""LIKE on the values of a public domain: as SQL says, and no pattern takes for ever."""

from __future__ import annotations

import re

import duckdb
from hypothesis import given
from hypothesis import strategies as some

from adomnia.queries.operations import like_regex

LIKE = "SELECT ? LIKE ? ESCAPE '\\'"


def matches(value: str, pattern: str) -> bool:
    return re.fullmatch(like_regex(pattern), value, re.DOTALL) is not None


@given(some.text("ab\n", max_size=8), some.text("ab_%", max_size=8))
def test_it_means_what_the_engine_means(value, pattern):
    assert matches(value, pattern) == duckdb.execute(LIKE, [value, pattern]).fetchall()[0][0]


def test_a_backslash_takes_the_next_sign_literally():
    cases = [(r"100\%", "100%", True), (r"100\%", "1000", False), (r"a\_b", "axb", False)]
    cases += [(r"a\\b", "a\\b", True), (r"%\%%", "5 % of", True), (r"%\%%", "5 of", False)]
    for pattern, value, wanted in cases:
        assert matches(value, pattern) is wanted, pattern
        assert duckdb.execute(LIKE, [value, pattern]).fetchall()[0][0] is wanted, pattern


def test_many_wildcards_end():
    assert not matches("a" * 200, "%a" * 60 + "%b")
    assert matches("a" * 200 + "b", "%a" * 60 + "%b")
