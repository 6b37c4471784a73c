"""Events: what a use of the data was, apart from what it costs.

An event class is never removed and never changes its meaning; a journal that holds an unknown
one is refused. Costs are derived from events by `loss`, so a better accountant can re-read an
old journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from adomnia.errors import LedgerError
from adomnia.privacy.loss import Loss

__all__ = [
    "AboveThreshold",
    "Auction",
    "Composed",
    "Event",
    "Exponential",
    "Free",
    "Gaussian",
    "InTurn",
    "Laplace",
    "NoisyMax",
    "Outside",
    "PartitionSelection",
    "PermuteAndFlip",
    "SmoothNoise",
    "ThresholdScan",
    "composed",
    "cost_of",
    "from_json",
    "loss",
    "to_json",
]


@dataclass(frozen=True)
class Laplace:
    """Integer Laplace noise of scale sensitivity/epsilon on a vector (pure epsilon)."""

    epsilon: Fraction
    sensitivity: Fraction


@dataclass(frozen=True)
class Gaussian:
    """Integer Gaussian noise of variance sensitivity^2/(2 rho) on a vector (rho-zCDP)."""

    rho: Fraction
    sensitivity: Fraction


@dataclass(frozen=True)
class Exponential:
    """One choice per cell by the exponential mechanism (pure epsilon in all cells together)."""

    epsilon: Fraction
    sensitivity: Fraction


@dataclass(frozen=True)
class PartitionSelection:
    """Keys shown where a noisy count passes a threshold ((epsilon, delta))."""

    epsilon: Fraction
    delta: Fraction
    sensitivity: Fraction


@dataclass(frozen=True)
class PermuteAndFlip:
    """One choice per cell by permute-and-flip (pure epsilon in all cells together)."""

    epsilon: Fraction
    sensitivity: Fraction


@dataclass(frozen=True)
class SmoothNoise:
    """A quantile per cell with noise that follows its smooth sensitivity; delta 0 is pure.

    `sensitivity` is the number of single rows whose moves make up a neighbour.
    """

    epsilon: Fraction
    delta: Fraction
    sensitivity: Fraction


@dataclass(frozen=True)
class NoisyMax:
    """The place of the largest of several counts after noise (pure epsilon)."""

    epsilon: Fraction
    sensitivity: Fraction


@dataclass(frozen=True)
class AboveThreshold:
    """Which counts are above a threshold, until `cutoff` of them are (pure epsilon)."""

    epsilon: Fraction
    sensitivity: Fraction
    cutoff: Fraction


@dataclass(frozen=True)
class Auction:
    """One price of a public list, by its revenue (pure epsilon)."""

    epsilon: Fraction
    sensitivity: Fraction


@dataclass(frozen=True)
class Outside:
    """A mechanism of another package, which says what it costs: (epsilon, delta), and rho-zCDP.

    `sensitivity` is how far neighbours are apart in what it read (`outside.md`).
    """

    epsilon: Fraction
    sensitivity: Fraction
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)


@dataclass(frozen=True)
class InTurn:
    """Noise and choices in turn, each decided by those before, that cost no more in all than one
    epsilon or one rho (`composition.md`)."""

    epsilon: Fraction
    rho: Fraction
    sensitivity: Fraction


@dataclass(frozen=True)
class ThresholdScan:
    """A bound that few units are above, for `sensitivity` of them at once (pure epsilon)."""

    epsilon: Fraction
    sensitivity: Fraction


@dataclass(frozen=True)
class Free:
    """Nothing read: the answer came from what had been released before."""


@dataclass(frozen=True)
class Composed:
    """Several uses, one after the other."""

    parts: tuple[Event, ...]


Event = (
    Laplace
    | Gaussian
    | Exponential
    | PartitionSelection
    | PermuteAndFlip
    | SmoothNoise
    | NoisyMax
    | AboveThreshold
    | Auction
    | Outside
    | InTurn
    | ThresholdScan
    | Free
    | Composed
)

_KINDS: Mapping[str, type[Any]] = {
    "laplace": Laplace,
    "gaussian": Gaussian,
    "exponential": Exponential,
    "partition-selection": PartitionSelection,
    "permute-and-flip": PermuteAndFlip,
    "smooth-noise": SmoothNoise,
    "noisy-max": NoisyMax,
    "above-threshold": AboveThreshold,
    "auction": Auction,
    "outside": Outside,
    "in-turn": InTurn,
    "threshold-scan": ThresholdScan,
    "free": Free,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_LOSSES: Mapping[type[Any], Callable[[Any], Loss]] = {
    Laplace: lambda event: Loss.pure(event.epsilon),
    Gaussian: lambda event: Loss.concentrated(event.rho),
    Exponential: lambda event: Loss.pure(event.epsilon),
    PartitionSelection: lambda event: Loss.approximate(event.epsilon, event.delta),
    PermuteAndFlip: lambda event: Loss.pure(event.epsilon),
    SmoothNoise: lambda event: Loss.approximate(event.epsilon, event.delta),
    NoisyMax: lambda event: Loss.pure(event.epsilon),
    AboveThreshold: lambda event: Loss.pure(event.epsilon),
    Auction: lambda event: Loss.pure(event.epsilon),
    Outside: lambda event: (
        Loss.approximate(event.epsilon, event.delta) + Loss.concentrated(event.rho)
    ),
    InTurn: lambda event: Loss.pure(event.epsilon) + Loss.concentrated(event.rho),
    ThresholdScan: lambda event: Loss.pure(event.epsilon),
    Free: lambda event: Loss(),
    Composed: lambda event: sum((loss(part) for part in event.parts), Loss()),
}


def composed(events: Iterable[Event]) -> Event:
    """Several uses as one event; those that cost nothing leave no trace in it."""
    parts = tuple(event for event in events if not isinstance(event, Free))
    if not parts:
        return Free()
    return parts[0] if len(parts) == 1 else Composed(parts)


def loss(event: Event) -> Loss:
    """What the event costs (`composition.md`)."""
    return _LOSSES[type(event)](event)


def cost_of(event: Event) -> dict[str, Fraction]:
    """What a use costs by currency; its epsilon is said even where it is nothing."""
    total = loss(event)
    return {"epsilon": total.epsilon, **total.amounts}


def to_json(event: Event) -> dict[str, Any]:
    """The event as plain JSON values, numbers as exact fractions."""
    if isinstance(event, Composed):
        return {"event": "composed", "parts": [to_json(part) for part in event.parts]}
    fields = {name: str(value) for name, value in vars(event).items()}
    return {"event": _NAMES[type(event)], **fields}


def from_json(record: Mapping[str, Any]) -> Event:
    """The event of a journal line; an unknown class or field is refused."""
    name = record.get("event")
    if name == "composed":
        return Composed(tuple(from_json(part) for part in record["parts"]))
    kind = _KINDS.get(str(name))
    fields = {key: value for key, value in record.items() if key != "event"}
    if kind is None or set(fields) != set(kind.__dataclass_fields__):
        raise LedgerError(
            "the journal holds an event that this version does not know",
            hint="use the version that wrote it, or a newer one",
        )
    event: Event = kind(**{key: Fraction(value) for key, value in fields.items()})
    return event
