"""Scales of drawings: where they end, and which numbers stand on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Scale"]

FEW = 9
"""So many places are marked themselves; of more, round numbers are."""
LADDERS = (
    (1,),
    (1, 3),
    (1, 2, 5),
    (1, 1.5, 2, 3, 4, 5, 6, 8),
    tuple(n / 10 for n in range(10, 100)),
)


@dataclass(frozen=True)
class Scale:
    """From `low` to `high`, with ticks in rising order that begin and end there."""

    low: float
    high: float
    logarithmic: bool
    ticks: tuple[float, ...]

    @classmethod
    def across(cls, places: Sequence[float], logarithmic: bool) -> Scale:
        """For places: few are the ticks themselves."""
        used = sorted(set(_usable(places, logarithmic)))
        if 2 <= len(used) <= FEW:
            return cls(used[0], used[-1], logarithmic, tuple(used))
        return cls._round(used[0], used[-1], logarithmic)

    @classmethod
    def up(
        cls, values: Sequence[float], logarithmic: bool, ends: tuple[float, float] | None = None,
        whole: bool = False,
    ) -> Scale:  # fmt: skip
        """For values: from zero unless it is logarithmic, or between the ends that are given.

        Of `whole` numbers no part of one is marked.
        """
        used = _usable(values, logarithmic)
        if ends is not None:
            inside = _even(*ends) if not logarithmic else _ladder(*ends)
            ticks = {*ends, *(tick for tick in inside if ends[0] < tick < ends[1])}
            return cls(*ends, logarithmic, tuple(sorted(ticks)))
        low = min(used) if logarithmic else min(0.0, *used)
        return cls._round(low, max(used), logarithmic, whole)

    @classmethod
    def _round(cls, low: float, high: float, logarithmic: bool, whole: bool = False) -> Scale:
        """Ends moved outwards to round numbers."""
        if high <= low:
            low, high = (low / 2, low * 2) if logarithmic else (low, low + 1)
        ticks = _ladder(low, high) if logarithmic else _even(low, high, whole)
        return cls(ticks[0], ticks[-1], logarithmic, ticks)

    def share(self, value: float) -> float:
        """How far along a value lies: 0 at the low end, 1 at the high one."""
        if not self.logarithmic:
            return (value - self.low) / (self.high - self.low)
        return math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)

    def spaced(self, length: float, room: Callable[[float], float]) -> list[float]:
        """The ends, and the ticks between them whose labels find room along this length."""
        first, *inner, last = self.ticks
        kept = [first]
        for tick in inner:
            before, after = (
                length * abs(self.share(tick) - self.share(other)) - (room(tick) + room(other)) / 2
                for other in (kept[-1], last)
            )
            if min(before, after) >= 0:
                kept.append(tick)
        return [*kept, last]


def _usable(values: Sequence[float], logarithmic: bool) -> list[float]:
    return [v for v in values if math.isfinite(v) and (v > 0 or not logarithmic)] or [1.0]


def _even(low: float, high: float, whole: bool = False) -> tuple[float, ...]:
    """About five multiples of a round step, around both ends."""
    rough = max((high - low) / 5, 1.0 if whole else 0.0)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * part for part in (1, 2, 5, 10) if power * part >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(float(f"{step * k:.10g}") for k in range(first, last + 1))


def _ladder(low: float, high: float) -> tuple[float, ...]:
    """At least four round numbers around both ends, of the coarsest kind that has them."""
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    for steps in LADDERS:
        rungs = [float(f"{10.0**power * step:.10g}") for power in powers for step in steps]
        below = max(rung for rung in rungs if rung <= low * (1 + 1e-9))
        above = min(rung for rung in rungs if rung >= high * (1 - 1e-9))
        ticks = tuple(rung for rung in rungs if below <= rung <= above)
        if len(ticks) >= 4:
            return ticks
    return ticks if len(ticks) > 1 else (low / 2, low * 2)
