"""Threshold scans as mechanisms: a bound that few units pass, and what lies below it
(`threshold_scan.md`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from adomnia.mechanisms.choices.threshold_scan import ScanPlan, geometric_grid, scan_sealed
from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.privacy import events
from adomnia.privacy.events import Event
from adomnia.privacy.premises import Premise
from adomnia.privacy.reads import Reads, UnitPeaks, UnitRows
from adomnia.schema.sealed import Sealed

__all__ = ["BoundScan", "ExcessRows", "FoundBound"]


@dataclass(frozen=True)
class FoundBound:
    """The bound that a scan found, and the noisy total that goes with it, where one does."""

    bound: int
    total: int | None = None

    def to_json(self) -> dict[str, Any]:
        """It as plain JSON values."""
        return {"bound": self.bound, **({} if self.total is None else {"total": self.total})}


@dataclass(frozen=True)
class BoundScan:
    """A bound that few units are above, priced for so many `units` at once."""

    reads: UnitRows | UnitPeaks
    epsilon: Fraction
    units: int = 1
    premises: tuple[Premise, ...] = ()

    @property
    def name(self) -> str:
        """The mechanism in two words."""
        return "threshold scan"

    @property
    def event(self) -> Event:
        """What it costs."""
        return events.ThresholdScan(self.epsilon, Fraction(self.units))

    @property
    def plan(self) -> ScanPlan:
        """How the scan goes."""
        return ScanPlan(self.epsilon / self.units, self.reads.grid)

    def covers(self, units: int) -> bool:
        """Whether its noise costs no more than its event where so many units differ."""
        return units * self.plan.epsilon <= events.loss(self.event).epsilon

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> FoundBound:
        """The bound alone."""
        assert sealed is not None
        return FoundBound(scan_sealed(sealed, self.plan, bits=bits)[0])

    def recalled(self, body: Mapping[str, Any]) -> FoundBound:
        """What was found before, from the ledger."""
        return FoundBound(int(body["bound"]))

    def record(self) -> dict[str, Any]:
        """Of what a bound was sought, and among which."""
        return {
            "scan": _sought(self.reads),
            "mechanism": {"name": self.name, **_ends(self.reads)},
            "event": events.to_json(self.event),
        }


@dataclass(frozen=True)
class ExcessRows:
    """How many rows `max_rows` leaves out, counting up to a bound for each unit that is found by a
    scan: half of epsilon for the bound, half for the noise on the number of rows."""

    beyond: int
    last: int
    epsilon: Fraction
    units: int = 1
    premises: tuple[Premise, ...] = ()

    @property
    def name(self) -> str:
        """The mechanism in a few words."""
        return "threshold scan and laplace"

    @property
    def event(self) -> Event:
        """What both cost together."""
        return events.InTurn(self.epsilon, Fraction(0), Fraction(self.units))

    @property
    def reads(self) -> Reads:
        """How many units have more rows than each bound, and how many rows lie up to it."""
        return UnitRows(geometric_grid(self.beyond, max(self.beyond, self.last)), self.beyond)

    @property
    def plan(self) -> ScanPlan:
        """How the scan goes."""
        grid = geometric_grid(self.beyond, max(self.beyond, self.last))
        return ScanPlan(self.epsilon / (2 * self.units), grid)

    @property
    def _scale(self) -> Fraction:
        """The scale of the noise for each row by which units are bounded."""
        return 2 * self.units / self.epsilon

    def noise(self, bound: int) -> Noise:
        """The noise on the number of rows, where this bound was found."""
        return Noise("laplace", self._scale * (bound - self.beyond))

    def covers(self, units: int) -> bool:
        """Whether its noise costs no more than its event where so many units differ."""
        return units * (self.plan.epsilon + 1 / self._scale) <= events.loss(self.event).epsilon

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> FoundBound:
        """The bound, and the noisy number of rows that lie beyond `max_rows` and up to it."""
        assert sealed is not None
        return FoundBound(*scan_sealed(sealed, self.plan, self._scale, bits))

    def recalled(self, body: Mapping[str, Any]) -> FoundBound:
        """What was found before, from the ledger."""
        return FoundBound(int(body["bound"]), int(body["total"]))

    def record(self) -> dict[str, Any]:
        """Which rows were counted."""
        ends = {"beyond": self.beyond, "last": self.last}
        return {
            "scan": {"of": "rows", "beyond": self.beyond},
            "mechanism": {"name": self.name, **ends},
            "event": events.to_json(self.event),
        }


def _sought(reads: UnitRows | UnitPeaks) -> dict[str, Any]:
    if isinstance(reads, UnitRows):
        return {"of": "rows", "beyond": reads.beyond}
    return {"of": "values", "column": reads.column.name, "lowest": reads.lowest}


def _ends(reads: UnitRows | UnitPeaks) -> dict[str, Any]:
    return {"bounds": len(reads.grid), "first": reads.grid[0], "last": reads.grid[-1]}
