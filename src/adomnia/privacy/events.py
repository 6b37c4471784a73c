"""Events: what a use of the data was, apart from what it costs.

An event class is never removed and never changes its meaning; a journal that holds an unknown
one is refused. Costs are derived from events by `loss`, so a better accountant can re-read an
old journal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from adomnia.errors import LedgerError
from adomnia.privacy.loss import Loss

__all__ = [
    "Composed",
    "Event",
    "Exponential",
    "Free",
    "Gaussian",
    "Laplace",
    "PartitionSelection",
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
class Free:
    """Nothing read: the answer came from what had been released before."""


@dataclass(frozen=True)
class Composed:
    """Several uses, one after the other."""

    parts: tuple[Event, ...]


Event = Laplace | Gaussian | Exponential | PartitionSelection | Free | Composed

_KINDS: Mapping[str, type[Any]] = {
    "laplace": Laplace,
    "gaussian": Gaussian,
    "exponential": Exponential,
    "partition-selection": PartitionSelection,
    "free": Free,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_LOSSES: Mapping[type[Any], Callable[[Any], Loss]] = {
    Laplace: lambda event: Loss.pure(event.epsilon),
    Gaussian: lambda event: Loss.concentrated(event.rho),
    Exponential: lambda event: Loss.pure(event.epsilon),
    PartitionSelection: lambda event: Loss.approximate(event.epsilon, event.delta),
    Free: lambda event: Loss(),
    Composed: lambda event: sum((loss(part) for part in event.parts), Loss()),
}


def loss(event: Event) -> Loss:
    """What the event costs (`composition.md`)."""
    return _LOSSES[type(event)](event)


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
