"""Mechanisms that choose among counts: the largest, those above a bar, a price (`choosing.md`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from adomnia.mechanisms.choices.choosing import choose_largest, choose_price, tell_above
from adomnia.mechanisms.choices.sparse_vector import SparseVector
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.privacy import events
from adomnia.privacy.contribution import Tally
from adomnia.privacy.events import Event
from adomnia.privacy.premises import Premise
from adomnia.privacy.reads import CellTotals, Reads
from adomnia.queries.canonical import measurement_json
from adomnia.queries.measurement import Counts
from adomnia.schema.sealed import Sealed

__all__ = ["AboveBar", "AuctionPrice", "Choice", "LargestCount"]


@dataclass(frozen=True)
class Choice:
    """What was chosen: a place, a price, or a verdict for each count."""

    value: Any

    def to_json(self) -> dict[str, Any]:
        """The choice as plain JSON values."""
        return {"chosen": self.value}


@dataclass(frozen=True)
class _AmongCounts(ABC):
    """A choice among counts, priced for `rows` single rows that come, go or change."""

    counts: Counts
    epsilon: Fraction
    rows: int
    most: int | None = None
    premises: tuple[Premise, ...] = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The mechanism in a word."""

    @property
    @abstractmethod
    def event(self) -> Event:
        """What it costs."""

    @abstractmethod
    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Choice:
        """The choice alone."""

    @property
    def eta(self) -> Fraction:
        """What it costs for each row."""
        return self.epsilon / self.rows

    @property
    def reads(self) -> Reads:
        """How many rows meet each condition."""
        return CellTotals(Tally(self.counts.conditions), most=self.most)

    @property
    def parameters(self) -> dict[str, Any]:
        """What determines the choice beside the counts."""
        return {}

    def recalled(self, body: Mapping[str, Any]) -> Choice:
        """What was chosen before, from the ledger."""
        return Choice(body["chosen"])

    def record(self) -> dict[str, Any]:
        """What is chosen from, and how."""
        return {
            "choice": measurement_json(self.counts),
            "mechanism": {"name": self.name, **self.parameters},
            "event": events.to_json(self.event),
        }


@dataclass(frozen=True)
class LargestCount(_AmongCounts):
    """The place of the count that is largest after noise."""

    @property
    def name(self) -> str:
        """The mechanism in a word."""
        return "noisy maximum"

    @property
    def event(self) -> Event:
        """What it costs."""
        return events.NoisyMax(self.epsilon, Fraction(self.rows))

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Choice:
        """The place alone."""
        assert sealed is not None
        return Choice(choose_largest(sealed, self.eta, bits))


@dataclass(frozen=True)
class AboveBar(_AmongCounts):
    """For each count in turn whether it is above a bar, until `cutoff` of them are."""

    bar: int = 0
    cutoff: int = 1

    @property
    def name(self) -> str:
        """The mechanism in a word."""
        return "above threshold"

    @property
    def event(self) -> Event:
        """What it costs."""
        return events.AboveThreshold(self.epsilon, Fraction(self.rows), Fraction(self.cutoff))

    @property
    def plan(self) -> SparseVector:
        """How epsilon is split between the bar and the counts."""
        return SparseVector(self.epsilon, self.rows, self.cutoff, monotone=True)

    @property
    def parameters(self) -> dict[str, Any]:
        """The bar, and how many may pass it."""
        return {"bar": self.bar, "cutoff": self.cutoff}

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Choice:
        """A verdict for each count that was looked at."""
        assert sealed is not None
        return Choice(tell_above(sealed, self.bar, self.plan, bits))


@dataclass(frozen=True)
class AuctionPrice(_AmongCounts):
    """A price that (nearly) brings the most; the counts say who bids that much or more."""

    prices: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The mechanism in a word."""
        return "auction"

    @property
    def event(self) -> Event:
        """What it costs."""
        return events.Auction(self.epsilon, Fraction(self.rows))

    @property
    def parameters(self) -> dict[str, Any]:
        """The prices, in steps of their column."""
        return {"prices": list(self.prices)}

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Choice:
        """The price alone."""
        assert sealed is not None
        return Choice(choose_price(sealed, self.prices, self.eta, bits))
