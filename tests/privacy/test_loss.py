"""Amounts are read as they are plainly written, and exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from adomnia.errors import QuestionError
from adomnia.privacy.loss import exact


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("0.1", Fraction(1, 10)),
        (" 1/3 ", Fraction(1, 3)),
        ("1e-3", Fraction(1, 1000)),
        (".5", Fraction(1, 2)),
        ("2.", 2),
        ("+2E+1", 20),
        (0.1, Fraction(1, 10)),
        (1e-07, Fraction(1, 10**7)),
        (Decimal("1E+2"), 100),
        (Fraction(2, 7), Fraction(2, 7)),
        (3, 3),
    ],
)
def test_an_amount_is_exact(written, number):
    assert exact(written) == number


@pytest.mark.parametrize(
    "written",
    [
        "1_000",
        "\u0663",
        "\u00bd",
        "1/ 3",
        "0x1",
        "inf",
        "nan",
        "-1",
        "0",
        "1/0",
        "",
        "1e999999",
        "1,5",
    ],
)
def test_other_ways_to_write_it_are_refused(written):
    with pytest.raises(QuestionError, match="finite number above zero"):
        exact(written)
