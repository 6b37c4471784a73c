"""A measurement whose units are cut off at a bound that is found in the data (`clamped_totals.md`).

It answers a question as any other mechanism does; how wide its noise is, is known with the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from adomnia.mechanisms.joins.clamped_totals import ClampedPairs, ClampedTotals
from adomnia.mechanisms.measurement_mechanisms import Apart, Measuring
from adomnia.mechanisms.noisy_values import Noisy
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.privacy.contribution import Contribution
from adomnia.privacy.contribution_record import contribution_json
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.reads import Reads
from adomnia.queries.canonical import expression_json
from adomnia.queries.expression import Expr
from adomnia.queries.measurement import width_of
from adomnia.schema.sealed import Sealed

__all__ = ["MeasuredAtBound", "SummedRows"]


@dataclass(frozen=True)
class SummedRows:
    """The rows that units add up: what each may add, which of them, and in which cells."""

    contribution: Contribution
    where: Expr | None = None
    keys: tuple[Expr, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Which rows, as plain JSON values."""
        return {
            "contribution": contribution_json(self.contribution),
            "where": expression_json(self.where),
            "keys": [expression_json(key) for key in self.keys],
        }


@dataclass(frozen=True)
class MeasuredAtBound(Measuring):
    """Noise on every component of every cell, as wide as the bound that was found asks for."""

    found: ClampedTotals | ClampedPairs | None = None

    @property
    def way(self) -> ClampedTotals | ClampedPairs:
        """The mechanism behind it."""
        assert self.found is not None
        return self.found

    @property
    def name(self) -> str:
        """The mechanism in a few words."""
        return self.way.name

    @property
    def law(self) -> str:
        """That the noise follows a bound of its own: nothing else is summed or fused with it."""
        return "found bound"

    @property
    def eta(self) -> Fraction:
        """What it costs, in the currency that it costs."""
        return self.way.epsilon or self.way.rho

    @property
    def units(self) -> int:
        """To how many units a row belongs."""
        return 2 if isinstance(self.way, ClampedPairs) else 1

    @property
    def reads(self) -> Reads | None:
        """What each unit, or pair of units, adds."""
        return self.way.reads

    @property
    def blank(self) -> Noisy:
        """A release of nothing: its noise is that of the least bound."""
        values = np.zeros((1, width_of(self.measurement)), dtype=object)
        return Noisy(values, self.way.noise(1), np.ones(1, np.int64), self.eta, law=self.law)

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Noisy:
        """Noisy components of every cell, and the bound."""
        told = self.way.release(sealed, bits)
        values = told.noisy.values.reshape(-1, width_of(self.measurement))
        ones = np.ones(len(values), np.int64)
        return replace(
            told.noisy, values=values, terms=ones, eta=self.eta, law=self.law, bound=told.bound
        )

    def covers(self, apart: Apart) -> bool:
        """It is priced by units, not by a distance (`is_paid`)."""
        return False

    def is_paid(self, neighbors: Neighbors) -> bool:
        """Whether scan and noise cost no more than the event among these neighbours."""
        return self.event == self.way.event and self.way.covers(neighbors)

    def at_least_as_sharp(self, known: Noisy) -> bool:
        """Whether the known values were found for as much or more."""
        return known.law == self.law and known.eta >= self.eta

    def record(self) -> dict[str, Any]:
        """What is measured, by what, and what it costs."""
        return {**super().record(), "bound": self.way.record()["mechanism"]}
