"""Totals over joined rows, each unit cut off at a bound that a scan finds: mechanisms for rows of
one unit and of two (`clamped_totals.md`)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from adomnia.errors import QuestionError
from adomnia.limits import MAX_REMOVED_UNITS, MAX_UNIT_AMOUNT
from adomnia.mechanisms.choices.threshold_scan import FIRST, ScanPlan, geometric_grid, scan
from adomnia.mechanisms.joins.pair_sources import pair_source
from adomnia.mechanisms.joins.removal_distance import FALL, PARTS, RISE, RemovalScores
from adomnia.mechanisms.joins.unit_scaling import unit_vectors
from adomnia.mechanisms.joins.water_filling import water_filling
from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.noisy_values import Noisy
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.sealed_noise import add_gaussian, add_laplace
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy import events
from adomnia.privacy.events import Event
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.premises import Premise
from adomnia.privacy.unit_reads import PairSums, UnitSums
from adomnia.schema.sealed import Sealed

__all__ = ["ClampedPairs", "ClampedTotals", "FoundTotals"]

SHARE = Fraction(1, 4)
"""The part of the loss that the bound is found with."""
FIRST_OF_PAIRS = Fraction(7, 10)
"""The part of the scan's rate that is drawn once, where scores are removal distances."""
SURE = 18
"""Times 1/rate above the threshold a scan stops by accident once in e^18 bounds."""
ROOTS = 10**12


@dataclass(frozen=True, eq=False)
class FoundTotals:
    """The bound that was found, and the noisy totals of units that were cut off at it."""

    bound: int
    noisy: Noisy

    def to_json(self) -> dict[str, Any]:
        """It as plain JSON values."""
        return {"bound": self.bound, **self.noisy.to_json()}


@dataclass(frozen=True)
class _Clamped(ABC):
    """A total at a found bound, for one epsilon or one rho, priced for so many `units` at once,
    that come or go, or are `replaced` by others; a unit adds up to `most`, or is cut off there."""

    reads: Any
    most: int
    epsilon: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    units: int = 1
    replaced: bool = False
    premises: tuple[Premise, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.most <= MAX_UNIT_AMOUNT:
            raise QuestionError(
                f"a unit was declared to add up to {self.most} steps",
                f"between 1 and {MAX_UNIT_AMOUNT}: declare less, or a coarser step",
            )
        if (self.epsilon > 0) == (self.rho > 0):
            raise QuestionError("a total is asked for with an epsilon or with a rho")

    @property
    def name(self) -> str:
        """The mechanism in a few words."""
        return "threshold scan and gaussian" if self.rho else "threshold scan and laplace"

    @property
    def event(self) -> Event:
        """What bound and noise cost together."""
        return events.InTurn(self.epsilon, self.rho, Fraction(self.units))

    @property
    def scanned(self) -> Fraction:
        """The epsilon of the scan: a quarter of what is paid, of a rho by its half square."""
        if self.epsilon:
            return SHARE * self.epsilon
        half = math.floor(2 * SHARE * self.rho * ROOTS**2)
        return Fraction(math.isqrt(half), ROOTS)

    @property
    def plan(self) -> ScanPlan:
        """How the scan goes."""
        rise, fall = self.moves(self.replaced)
        grid = geometric_grid(1, self.most, wide=True)
        return ScanPlan(self.scanned / self.units, grid, self.first, rise, fall)

    def noise(self, bound: int) -> Noise:
        """The noise on each number, where this bound was found."""
        l1, l2_squared = self.apart(self.replaced)
        if self.epsilon:
            rest = self.epsilon - self.scanned
            return Noise("laplace", self.units * l1 * bound / rest)
        rest = self.rho - self.scanned**2 / 2
        return Noise("gaussian", (self.units * bound) ** 2 * l2_squared / (2 * rest))

    def covers(self, neighbors: Neighbors) -> bool:
        """Whether scan and noise cost no more than the event among these neighbours."""
        if neighbors.most is not None or neighbors.relation not in ("unbounded", "bounded"):
            return False
        far, (l1, l2_squared) = neighbors.group, self.apart(neighbors.replaces)
        found, paid = far * self.plan.loss(*self.moves(neighbors.replaces)), events.loss(self.event)
        parameter = self.noise(1).parameter  # for other bounds it grows as what it hides
        if self.epsilon:
            return found + far * l1 / parameter <= paid.epsilon
        return found**2 / 2 + far**2 * l2_squared / (2 * parameter) <= paid.rho

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> FoundTotals:
        """The bound, and the noisy totals."""
        assert sealed is not None
        bound, totals = self._cut(unseal(sealed), bits)
        noise = self.noise(bound)
        add = add_laplace if noise.kind == "laplace" else add_gaussian
        values = add(Sealed(totals.reshape(-1, 1)), noise.parameter, bits)
        return FoundTotals(bound, Noisy(values, noise, np.ones(len(values), np.int64)))

    def recalled(self, body: Mapping[str, Any]) -> FoundTotals:
        """What was released before, from the ledger."""
        return FoundTotals(int(body["bound"]), Noisy.from_json(body))

    def record(self) -> dict[str, Any]:
        """Of which rows, up to which bound, and what it costs."""
        shape = {"most": self.most, "replaced": self.replaced, **self.shape}
        return {
            "totals": self.reads.of.to_json(),
            "mechanism": {"name": self.name, **shape},
            "event": events.to_json(self.event),
        }

    def most_above(self, bound: int, doubt: float) -> Fraction | None:
        """So many units at most are cut off, but for this doubt; None at the last bound.

        Where rows have two units, so many at most would have to go until nobody else is.
        """
        score = self.plan.most_above(bound, doubt)
        return None if score is None else Fraction(score, self.parts)

    @property
    @abstractmethod
    def first(self) -> Fraction:
        """The part of the scan's rate that is drawn once."""

    @property
    @abstractmethod
    def parts(self) -> int:
        """In how many parts a unit is told by the scores."""

    @property
    @abstractmethod
    def shape(self) -> dict[str, Any]:
        """What else determines it, as plain JSON values."""

    @abstractmethod
    def moves(self, replaced: bool) -> tuple[int, int]:
        """By how much scores of a neighbour are higher at most, and lower."""

    @abstractmethod
    def apart(self, replaced: bool) -> tuple[int, int]:
        """How far totals at a bound of 1 are apart: in the L1 norm, and squared in the L2 norm."""

    @abstractmethod
    def _cut(self, exact: Any, bits: Bits) -> tuple[int, Any]:
        """The bound that the scan finds, and the totals at it."""


@dataclass(frozen=True)
class ClampedTotals(_Clamped):
    """Rows of one unit each: totals of cells, each unit's vector scaled to the bound. Amounts are
    negative only where they are `signed`."""

    reads: UnitSums
    signed: bool = False

    first = FIRST
    parts = 1

    @property
    def shape(self) -> dict[str, Any]:
        """How many cells, and whether amounts may be negative."""
        return {"cells": self.reads.cells, "signed": self.signed}

    def moves(self, replaced: bool) -> tuple[int, int]:
        """A unit is above the bounds up to its total (`threshold_scan.md`, claim 1)."""
        return 1, 0

    def apart(self, replaced: bool) -> tuple[int, int]:
        """A vector comes or goes, or another takes its place."""
        if not replaced or (self.reads.cells == 1 and not self.signed):
            return 1, 1
        return 2, 4 if self.signed else 2

    def _cut(self, exact: Any, bits: Bits) -> tuple[int, Any]:
        cells, least = self.reads.cells, -self.most if self.signed else 0
        vectors, plan = unit_vectors(exact, cells, least, self.most), self.plan
        bound = plan.grid[scan(vectors.above(plan.grid), plan, bits)]
        return bound, vectors.cut(bound, cells)


@dataclass(frozen=True)
class ClampedPairs(_Clamped):
    """Rows of two units each: one total of amounts that are not negative."""

    reads: PairSums

    first = FIRST_OF_PAIRS
    parts = PARTS
    shape = {"units": 2}  # noqa: RUF012

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cap > PARTS * MAX_REMOVED_UNITS:
            raise QuestionError(
                "this loss is too small to find a bound for rows of two units",
                f"{MAX_REMOVED_UNITS} units are told apart, and this would need more: spend more, "
                "or declare the bound",
            )

    @property
    def cap(self) -> int:
        """Scores are no higher: where they are this high, no scan stops."""
        return self.plan.threshold + math.ceil(SURE / self.plan.each)

    def moves(self, replaced: bool) -> tuple[int, int]:
        """Scores are removal distances to hundredths (`removal_distance.md`, claim 3)."""
        return RISE, RISE if replaced else FALL

    def apart(self, replaced: bool) -> tuple[int, int]:
        """What a unit takes of the total is between 0 and the bound (`water_filling.md`)."""
        return 1, 1

    def _cut(self, exact: Any, bits: Bits) -> tuple[int, Any]:
        pairs, plan = pair_source(exact, self.most), self.plan
        scores = RemovalScores(pairs, plan.grid, self.cap)
        bound = plan.grid[scan(scores, plan, bits)]
        return bound, np.array([water_filling(pairs, bound)], object)
