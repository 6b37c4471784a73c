"""The first integer for which something holds, found by doubling and halving."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["first"]


def first(holds: Callable[[int], bool], least: int, guess: int) -> int:
    """The smallest integer >= least where `holds` turns true (it stays true from there on)."""
    low, high, step = least - 1, max(least, guess), 1
    while not holds(high):
        low, high, step = high, high + step, 2 * step
    step = 1
    while high - low > 1:
        middle = max((low + high) // 2, high - step)
        if holds(middle):
            high, step = middle, 2 * step
        else:
            low = middle
    return high
