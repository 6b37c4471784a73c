"""Growth: what an earlier use costs where neighbours are further apart than it was priced for.

The noise is what it was (`prior_knowledge.md`, claim 5; `promise.md`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from adomnia.privacy import events
from adomnia.privacy.events import Event

__all__ = ["UNBOUNDED", "Growth", "repriced"]


@dataclass(frozen=True)
class Growth:
    """How many times further apart neighbours are than when it was paid; squared for squares."""

    times: Fraction
    square: Fraction

    @classmethod
    def of(cls, times: Fraction) -> Growth:
        """The same in both norms."""
        return cls(times, times**2)

    def or_more(self, other: Growth) -> Growth:
        """The larger of two, in each norm."""
        return Growth(max(self.times, other.times), max(self.square, other.square))

    @property
    def factor(self) -> Fraction:
        """How many times more it costs; never less than it did."""
        return max(Fraction(1), self.times)


UNBOUNDED = Growth.of(Fraction(10**9))
"""Of a use that cannot be read any more: past every budget."""


def repriced(event: Event, growth: Growth) -> Event:
    """The event of the same noise among neighbours that are so much further apart."""
    return _REPRICED.get(type(event), _pure)(event, growth)


def _pure(event: Any, growth: Growth) -> Event:
    epsilon = _at_least(event.epsilon, growth) * growth.factor
    made: Event = replace(event, epsilon=epsilon, sensitivity=event.sensitivity * growth.factor)
    return made


def _gaussian(event: events.Gaussian, growth: Growth) -> Event:
    square = max(Fraction(1), growth.square)
    apart = event.sensitivity * Fraction(math.isqrt(math.ceil(square * 10**24)) + 1, 10**12)
    return events.Gaussian(_at_least(event.rho, growth) * square, apart)


def _approximate(event: events.PartitionSelection | events.SmoothNoise, growth: Growth) -> Event:
    epsilon = _at_least(event.epsilon, growth) * growth.factor
    delta = _group_delta(event, growth.factor)
    return type(event)(epsilon, delta, event.sensitivity * growth.factor)


def _outside(event: events.Outside, growth: Growth) -> Event:
    """By group privacy alone, of each part of its loss (`promise.md`, claim 2)."""
    return events.Outside(
        _at_least(event.epsilon, growth) * growth.factor,
        event.sensitivity * growth.factor,
        _group_delta(event, growth.factor),
        event.rho * max(Fraction(1), growth.square),
    )


def _in_turn(event: events.InTurn, growth: Growth) -> Event:
    """By group privacy of the whole, as for its parts."""
    return events.InTurn(
        _at_least(event.epsilon, growth) * growth.factor,
        event.rho * max(Fraction(1), growth.square),
        event.sensitivity * growth.factor,
    )


def _at_least(amount: Fraction, growth: Growth) -> Fraction:
    """What cannot be priced is past every budget also where it cost next to nothing."""
    return max(amount, Fraction(1)) if growth is UNBOUNDED else amount


def _group_delta(
    event: events.PartitionSelection | events.SmoothNoise | events.Outside, factor: Fraction
) -> Fraction:
    """Of so many steps at once: no more than m e^((m-1) epsilon) delta."""
    steps = math.ceil(factor)
    if steps == 1:
        return event.delta
    power = float(min((steps - 1) * event.epsilon, Fraction(601)))
    if power > 600:
        return Fraction(1)
    return min(Fraction(1), steps * event.delta * Fraction(math.exp(power) * (1 + 1e-9)))


_REPRICED: Mapping[type[Any], Callable[[Any, Growth], Event]] = {
    events.Gaussian: _gaussian,
    events.PartitionSelection: _approximate,
    events.SmoothNoise: _approximate,
    events.Outside: _outside,
    events.InTurn: _in_turn,
    events.Free: lambda event, growth: event,
    events.Composed: lambda event, growth: events.Composed(
        tuple(repriced(part, growth) for part in event.parts)
    ),
}
