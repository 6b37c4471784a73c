"""The digital-goods auction of McSherry and Talwar: a price that nearly maximises revenue
(`auction.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.mechanisms.choices.select import score_margin, select
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.privacy.loss import Amount

__all__ = ["revenue", "revenue_margin", "sell"]

SAFE = 1 << 61


def sell(bids: NDArray[Any], prices: Sequence[int], epsilon: Amount, bits: Bits = SYSTEM) -> int:
    """One of the declared prices, epsilon-privately; every bidder who bids as much buys at it.

    A bidder changes any price's probability by a factor of at most e^epsilon, whether by coming,
    by leaving or by another bid: so nobody gains more than that factor by a lie (`auction.md`).
    """
    grid = _declared(prices)
    return select(grid, revenue(bids, grid), grid[-1], epsilon, bits, monotone=True)


def revenue(bids: NDArray[Any], prices: Sequence[int]) -> NDArray[Any]:
    """What each price would bring: the price times the number of bids that reach it. Private."""
    grid, offers = _declared(prices), np.asarray(bids).reshape(-1)
    if offers.dtype.kind not in "iu":
        raise QuestionError("bids are whole numbers", hint="count in the smallest coin")
    kind: type = np.int64 if grid[-1] * max(1, offers.size) < SAFE else object
    ladder: NDArray[Any] = np.array(grid, kind)
    offers = np.clip(offers, 0, min(grid[-1], np.iinfo(offers.dtype).max)).astype(kind)
    reached = np.bincount(np.searchsorted(ladder, offers, "right"), minlength=len(grid) + 1)
    brought: NDArray[Any] = ladder * (offers.size - np.cumsum(reached)[:-1]).astype(kind)
    return brought


def revenue_margin(prices: Sequence[int], epsilon: Amount, confidence: float) -> Fraction:
    """How far the revenue may stay below the best price's, with this confidence, on any bids."""
    grid = _declared(prices)
    return score_margin(len(grid), grid[-1], epsilon, confidence, monotone=True)


def _declared(prices: Sequence[int]) -> tuple[int, ...]:
    """The prices, if they are a public list that rises from above zero."""
    grid = tuple(int(price) for price in prices)
    if not grid:
        raise QuestionError("an auction needs at least one price")
    if grid != tuple(prices) or grid[0] <= 0 or any(a >= b for a, b in pairwise(grid)):
        raise QuestionError("prices are whole numbers above zero, each larger than the one before")
    return grid
