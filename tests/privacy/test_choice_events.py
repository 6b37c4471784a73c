"""Events of choices and of noise that follows the data: written, read again, and priced."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.errors import LedgerError
from adomnia.privacy.events import (
    AboveThreshold,
    Auction,
    Composed,
    NoisyMax,
    Outside,
    PermuteAndFlip,
    SmoothNoise,
    ThresholdScan,
    from_json,
    loss,
    to_json,
)
from adomnia.privacy.loss import Loss

HALF, TWO, SMALL = Fraction(1, 2), Fraction(2), Fraction(1, 10**6)
PURE = {
    "permute-and-flip": PermuteAndFlip(HALF, TWO),
    "noisy-max": NoisyMax(HALF, TWO),
    "above-threshold": AboveThreshold(HALF, TWO, Fraction(3)),
    "auction": Auction(HALF, TWO),
    "smooth-noise": SmoothNoise(HALF, Fraction(0), TWO),
    "outside": Outside(HALF, TWO),
    "threshold-scan": ThresholdScan(HALF, TWO),
}


@pytest.mark.parametrize("name", PURE)
def test_what_is_written_is_read_again(name):
    event = PURE[name]
    record = to_json(event)
    assert record["event"] == name
    assert from_json(record) == event
    assert loss(event) == Loss.pure(HALF)
    with pytest.raises(LedgerError):
        from_json({**record, "more": "1"})


def test_delta_is_paid_where_the_noise_needs_it():
    event = SmoothNoise(HALF, SMALL, Fraction(1))
    assert loss(event) == Loss.approximate(HALF, SMALL)
    both = Composed((event, PURE["noisy-max"]))
    assert from_json(to_json(both)) == both
    assert loss(both).epsilon == 1
    assert loss(both).delta == SMALL
