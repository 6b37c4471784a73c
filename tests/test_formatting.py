"""Amounts, numbers, margins and times are written in one way."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from adomnia.formatting import (
    amount,
    amounts,
    confidence,
    label,
    margin,
    moment,
    one_line,
    second,
    share,
    significant,
    symbol_amounts,
    value,
)


def test_amounts_and_values_are_written_as_people_do():
    assert [amount(given) for given in ("1/10", "1/3", "2")] == ["0.1", "1/3", "2"]
    assert amount(Fraction(10**400)) == "more than 10^308"
    assert symbol_amounts({"epsilon": "0", "rho": "1/4"}) == "ρ 0.25"
    assert amounts({"epsilon": "1/10", "delta": "0"}) == "epsilon 0.1"
    assert amounts({}) == "nothing"
    assert [value(None), value(True), value(1234)] == ["NULL", "True", "1,234"]
    assert value(0.53279, 0.012) == "0.533"
    assert value(float("inf"), 1.0) == "∞"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1e4, "10,000"),
        (123456.7, "123,457"),
        (0.05, "0.05"),
        (-2.5, "-2.5"),
        (1 / 3, "0.3333"),
        (1e-7, "10⁻⁷"),
        (2.5e9, "2.5 × 10⁹"),
        (math.inf, "inf"),
    ],
)
def test_numbers_are_written_as_by_hand(value, text):
    assert significant(value) == text


def test_what_names_a_group_is_left_as_it_is():
    assert [label(given) for given in (None, 1990, 0.5, "a")] == ["NULL", "1990", "0.5", "a"]


def test_margins_have_two_digits_that_say_something_and_their_unit():
    assert margin(12.345) == "± 12"
    assert margin(0.012345) == "± 0.012"
    assert margin(0.995) == "± 1.0"
    assert margin(1234) == "± 1,234"
    assert margin(7, "rows") == "± 7 rows"
    assert margin(math.inf) == "± ∞"


def test_shares_confidences_and_times():
    assert [share(given) for given in (0.578, 10.0, 0.0001)] == ["57.8%", "1,000%", "0.01%"]
    assert confidence(0.95) == "95 %"
    assert moment("2026-11-14T09:30:00+00:00") == "14 Nov 2026, 09:30"
    assert second("2026-11-14T09:30:05.123+00:00") == "2026-11-14 09:30:05"


def test_a_text_stays_on_one_line():
    assert one_line("a\n  b\x1b[31m") == "a   b [31m"
    assert one_line("a\n  b", 10) == "a b"
    assert one_line("x" * 30, 10) == "x" * 9 + "…"


def test_a_large_number_without_a_margin_has_no_power_of_ten():
    assert value(13430123.4) == "13,430,123"
    assert value(1234.5678) == "1,234.57"
    assert value(2e20) == "2 × 10²⁰"
