"""The protocol of a mechanism: one way to release something of the data, and all that rests on it.

What it costs, what it reads, what must be true of the edition, how noise is added, how it is
recorded: one value says it all, and `curator.spend` is the only one that lets it read. The laws
every mechanism keeps are in `testing/mechanisms.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.privacy.events import Event
from adomnia.privacy.premises import Premise
from adomnia.privacy.reads import Reads
from adomnia.schema.sealed import Sealed

__all__ = ["Mechanism", "Record", "Released", "Releasing"]

Record = Mapping[str, Any]
"""Canonical JSON: what is measured, by what, with which parameters."""

Released_co = TypeVar("Released_co", bound="Released", covariant=True)


class Released(Protocol):
    """What a mechanism lets out; it is public, and the ledger keeps it."""

    def to_json(self) -> dict[str, Any]:
        """It as plain JSON values."""
        ...


class Mechanism(Protocol[Released_co]):
    """One use of sealed values. It rests on public facts alone until `release` is called."""

    @property
    def name(self) -> str:
        """The mechanism in a word, as people are told."""
        ...

    @property
    def event(self) -> Event:
        """What it costs."""
        ...

    @property
    def premises(self) -> tuple[Premise, ...]:
        """What must be true of the edition beyond what the statement enforces."""
        ...

    @property
    def reads(self) -> Reads | None:
        """The exact values it needs; None where what is public is enough."""
        ...

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Released_co:
        """What leaves. The event must be in the ledger by now; no value can make this fail."""
        ...

    def recalled(self, body: Mapping[str, Any]) -> Released_co:
        """What was released before, from the ledger."""
        ...

    def record(self) -> Record:
        """What the ledger keeps, so that it can be priced anew without this code."""
        ...


class Releasing:
    """Marks mechanisms that release tables: their prices are worked out with their strategies."""
