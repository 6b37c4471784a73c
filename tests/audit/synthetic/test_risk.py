"""The added risk: its ends, and how often its interval holds, over all outcomes."""

from __future__ import annotations

from math import comb

import pytest

from adomnia.audit.synthetic.risk import added_risk


def chances(tries: int, p: float) -> list[float]:
    return [comb(tries, hits) * p**hits * (1 - p) ** (tries - hits) for hits in range(tries + 1)]


@pytest.mark.parametrize(("s", "c"), [(0.5, 0.5), (0.9, 0.3), (0.05, 0.02), (1.0, 0.4), (0.2, 0.6)])
def test_the_interval_holds_as_often_as_it_says(s, c):
    """Twelve people of the data and nine others: every outcome with its probability."""
    risk = max(0.0, (s - c) / (1 - c))
    held = false_alarm = 0.0
    for hits, one in enumerate(chances(12, s)):
        for others, two in enumerate(chances(9, c)):
            found = added_risk((hits, 12), (others, 9))
            assert 0 <= found.low <= found.value <= found.high <= 1
            held += one * two * (found.low - 1e-12 <= risk <= found.high + 1e-12)
            false_alarm += one * two * (found.low > 0)
    assert held >= 0.95
    if s <= c:
        assert false_alarm <= 0.025


def test_nothing_is_added_where_everybody_is_hit_anyway():
    found = added_risk((30, 30), (30, 30))
    assert (found.value, found.low) == (0.0, 0.0)


def test_certainty_against_none_is_near_one():
    found = added_risk((200, 200), (0, 200))
    assert found.value == 1.0
    assert found.low > 0.95
