"""What a row may add is bounded by plain whole numbers: what is priced is what is enforced."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.privacy.contribution import Bernstein, Clamped, DistinctValues, Ranked, Tally
from adomnia.queries.expression import Constant

X = Constant(1, None)


@pytest.mark.parametrize("odd", [1.5, 2.0, np.int8(3), Fraction(3, 2), Fraction(3), True])
def test_other_numbers_are_refused(odd):
    for make in (
        lambda: Clamped(X, 0, odd),
        lambda: Clamped(X, odd, 5),
        lambda: Clamped(X, 0, 5, bit=odd),
        lambda: Bernstein(X, 0, odd, 1),
        lambda: Bernstein(X, 0, 5, odd),
        lambda: Ranked(X, 0, odd),
        lambda: Tally((None,), most=odd),
        lambda: DistinctValues(X, odd),
    ):
        with pytest.raises(ValueError, match="whole numbers"):
            make()


def test_whole_numbers_are_taken():
    assert Bernstein(X, 0, 3, 2).unit == 9
    assert Clamped(X, -(10**15), 10**15).high == 10**15
