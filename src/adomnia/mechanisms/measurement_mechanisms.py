"""Mechanisms that answer one measurement of a question: noise on its cells, or a choice in each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from adomnia.mechanisms.choices.choosing import choose_modes
from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.noise.admissible import SmoothLaplace, SmoothWaring
from adomnia.mechanisms.noisy_values import Noisy
from adomnia.mechanisms.quantiles.quantile import Rank, Share, Target, rank_margin
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.sealed_noise import (
    add_gaussian,
    add_laplace,
    choose_quantiles,
    noisy_quantiles,
)
from adomnia.privacy import events
from adomnia.privacy.contribution import ROWS, Contribution, Listed, Ranked
from adomnia.privacy.contribution_record import contribution_json
from adomnia.privacy.events import Event
from adomnia.privacy.premises import Premise
from adomnia.privacy.reads import CellTotals, CellValues, Reads
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.queries.canonical import measurement_json
from adomnia.queries.expression import Expr
from adomnia.queries.grouping import cell_count
from adomnia.queries.measurement import Measurement, width_of
from adomnia.queries.ranges import count_cells
from adomnia.schema.sealed import Sealed

__all__ = [
    "NOTHING",
    "AddedNoise",
    "Apart",
    "ExponentialQuantile",
    "Measuring",
    "PermutedMode",
    "Place",
    "SmoothQuantile",
    "variance",
]

NOTHING = Noise("laplace", Fraction(0))
"""The noise of what no neighbour has otherwise."""
WIDEST = Fraction(10**300)
"""Variances past this are not told apart."""
Smooth = SmoothWaring | SmoothLaplace


@dataclass(frozen=True)
class Place:
    """Where a measurement is taken: of which rows, in which cells; of `most` rows at most."""

    where: Expr | None = None
    keys: tuple[Expr, ...] = ()
    most: int | None = None

    @property
    def cells(self) -> int:
        """How many cells there are, where the keys' values are public."""
        return cell_count(self.keys)


@dataclass(frozen=True)
class Apart:
    """How far neighbours are apart: in the L1 norm, squared in the L2 norm, and in single rows."""

    l1: Fraction
    l2_squared: Fraction
    rows: int

    @classmethod
    def far(cls) -> Apart:
        """Further than any noise covers."""
        return cls(WIDEST**2, WIDEST**4, 10**18)


@dataclass(frozen=True)
class Measuring(ABC):
    """A mechanism for one measurement: what a row may add, which the statement enforces; how far
    neighbours are apart by that; and what it costs."""

    measurement: Measurement
    contribution: Contribution
    sensitivity: Sensitivity
    event: Event
    place: Place = field(default_factory=Place)
    premises: tuple[Premise, ...] = ()

    @property
    def noise(self) -> Noise | None:
        """The noise on each component, where the same is added to all."""
        return None

    @property
    def eta(self) -> Fraction:
        """What a choice costs for each row."""
        return Fraction(0)

    @property
    def law(self) -> str:
        """Which noise follows the data; empty where none does."""
        return ""

    @property
    @abstractmethod
    def name(self) -> str:
        """The mechanism in a word, as people are told."""

    @property
    @abstractmethod
    def reads(self) -> Reads | None:
        """The exact values it needs."""

    @abstractmethod
    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Noisy:
        """Noisy values of every cell."""

    @abstractmethod
    def covers(self, apart: Apart) -> bool:
        """Whether its noise costs no more than its event among neighbours that are so far apart."""

    @abstractmethod
    def at_least_as_sharp(self, known: Noisy) -> bool:
        """Whether values that are known are at least as sharp as those it would release."""

    @property
    def cells(self) -> int | None:
        """How many cells leave, where that is fewer than the keys span."""
        return None

    @property
    def width(self) -> float:
        """How wide its error is, up to a factor that is the mechanism's own."""
        return float(1 / self.eta)

    @property
    def parameters(self) -> dict[str, Any]:
        """What determines its noise, as plain JSON values."""
        return {"eta": str(self.eta), **({"law": self.law} if self.law else {})}

    @property
    def blank(self) -> Noisy:
        """A release of nothing in one cell, with the noise that it would have."""
        values = np.zeros((1, width_of(self.measurement)), dtype=object)
        return Noisy(values, self.noise, np.ones(1, np.int64), self.eta, law=self.law)

    def recalled(self, body: Mapping[str, Any]) -> Noisy:
        """What was released before, from the ledger."""
        return Noisy.from_json(body)

    def record(self) -> dict[str, Any]:
        """What is measured, by what, and what it costs."""
        return {
            "measurement": measurement_json(self.measurement),
            "contribution": contribution_json(self.contribution),
            "mechanism": {"name": self.name, **self.parameters},
            "event": events.to_json(self.event),
        }


@dataclass(frozen=True)
class AddedNoise(Measuring):
    """Integer noise on every component of every cell; only cells that are `shown` leave."""

    noise: Noise = NOTHING
    shown: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """Which noise; none where no neighbour has other values."""
        return "none" if isinstance(self.event, events.Free) else self.noise.kind

    @property
    def cells(self) -> int | None:
        """How many cells leave, where that is fewer than the keys span."""
        return None if self.shown is None else len(self.shown)

    def covers(self, apart: Apart) -> bool:
        """Whether the distance is no more than the noise hides at the event's loss."""
        paid = events.loss(self.event)
        if isinstance(self.event, events.Free):
            return apart.l1 == 0
        if self.noise.kind == "gaussian":
            return apart.l2_squared <= 2 * paid.rho * self.noise.parameter
        return apart.l1 <= paid.epsilon * self.noise.parameter

    @property
    def reads(self) -> Reads | None:
        """The components in every cell."""
        place = self.place
        return CellTotals(self.contribution, place.where, place.keys, most=place.most)

    @property
    def width(self) -> float:
        """The scale, or the deviation, of the noise."""
        parameter = float(min(self.noise.parameter, WIDEST))
        return parameter if self.noise.kind == "laplace" else parameter**0.5

    @property
    def parameters(self) -> dict[str, Any]:
        """The scale of a Laplace, the variance of a Gaussian."""
        return {"parameter": str(self.noise.parameter)}

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Noisy:
        """The components with noise; cells that are not shown are 0, whatever is in them."""
        assert sealed is not None
        add = add_laplace if self.noise.kind == "laplace" else add_gaussian
        values = add(sealed, self.noise.parameter, bits)
        if self.shown is not None:
            kept = np.zeros_like(values)
            kept[list(self.shown)] = values[list(self.shown)]
            values = kept
        return Noisy(values, self.noise, np.ones(len(values), np.int64))

    def at_least_as_sharp(self, known: Noisy) -> bool:
        """Whether the widest known cell varies no more than this noise."""
        if known.noise is None:
            return False
        draws = int(known.terms.max(initial=0))
        return draws * variance(known.noise) <= variance(self.noise) * (1 + 1e-12)


def variance(noise: Noise) -> float:
    """The spread of a noise, for comparison; both kinds on one scale."""
    exact = 2 * noise.parameter**2 if noise.kind == "laplace" else noise.parameter
    return float(min(exact, WIDEST))


class _Choosing(Measuring):
    """A mechanism that chooses one value in each cell."""

    def at_least_as_sharp(self, known: Noisy) -> bool:
        """Whether the known choice was made by the same law, at a rate no lower."""
        return known.noise is None and known.law == self.law and known.eta >= self.eta

    def _chosen(self, values: Any) -> Noisy:
        ones = np.ones(self.place.cells, np.int64)
        return Noisy(values.reshape(-1, 1), None, ones, self.eta, law=self.law)


@dataclass(frozen=True)
class ExponentialQuantile(_Choosing):
    """A quantile of each cell by the exponential mechanism (`quantile.md`)."""

    target: Target | None = None
    eta: Fraction = Fraction(0)

    @property
    def name(self) -> str:
        """The mechanism in a word."""
        return "exponential"

    @property
    def reads(self) -> Reads:
        """The sorted values of every cell."""
        return _values_of(self)

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Noisy:
        """A value for each cell."""
        assert sealed is not None
        assert self.target is not None
        (low, high), cells = _ends(self), self.place.cells
        return self._chosen(choose_quantiles(sealed, cells, low, high, self.target, self.eta, bits))

    def covers(self, apart: Apart) -> bool:
        """Whether twice the rate, at this distance of penalties, is paid, and the penalties are
        those of the ranks that the distance is of."""
        return self.is_of_ranks and 2 * self.eta * apart.l1 <= events.loss(self.event).epsilon

    @property
    def is_of_ranks(self) -> bool:
        """Whether its penalties are those of what the contribution says."""
        ranked, target = self.contribution, self.target
        assert isinstance(ranked, Ranked)
        return isinstance(target, Rank) or (ranked.edge is None and target == Share(ranked.share))

    def rank_margin(self, eta: Fraction, confidence: float) -> float:
        """How far the rank of a choice made at this rate may be from the asked one, on any data."""
        assert self.target is not None
        low, high = _ends(self)
        return rank_margin(high - low + 1, eta, self.target, confidence)


@dataclass(frozen=True)
class SmoothQuantile(_Choosing):
    """A quantile of each cell with noise that follows its smooth sensitivity (`smooth.md`)."""

    target: Target | None = None
    smooth: Smooth | None = None

    @property
    def name(self) -> str:
        """The mechanism in a word."""
        return "smooth"

    @property
    def eta(self) -> Fraction:
        """What the noise costs for one row."""
        assert self.smooth is not None
        return self.smooth.epsilon

    def covers(self, apart: Apart) -> bool:
        """Whether as many single rows are paid; delta is for one alone."""
        assert self.smooth is not None
        paid, delta = events.loss(self.event), getattr(self.smooth, "delta", Fraction(0))
        alone = delta == 0 or (apart.rows == 1 and delta <= paid.delta)
        return alone and apart.rows * self.smooth.epsilon <= paid.epsilon

    @property
    def law(self) -> str:
        """Which noise follows the data."""
        light = isinstance(self.smooth, SmoothLaplace)
        return f"laplace {self.smooth.delta}" if light else "waring"  # type: ignore[union-attr]

    @property
    def reads(self) -> Reads:
        """The sorted values of every cell."""
        return _values_of(self)

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Noisy:
        """A value for each cell."""
        assert sealed is not None
        assert self.target is not None
        assert self.smooth is not None
        grid = _ends(self)
        return self._chosen(
            noisy_quantiles(sealed, self.place.cells, grid, self.target, self.smooth, bits)
        )


@dataclass(frozen=True)
class PermutedMode(_Choosing):
    """The place of a frequent value among all, in each cell, by permute-and-flip."""

    eta: Fraction = Fraction(0)

    @property
    def name(self) -> str:
        """The mechanism in a word."""
        return "permute-and-flip"

    @property
    def reads(self) -> Reads:
        """A count of every value in every cell."""
        assert isinstance(self.contribution, Listed)
        place = self.place
        keys = (*place.keys, self.contribution.argument)
        return CellTotals(ROWS, place.where, keys, len(place.keys), place.most)

    def covers(self, apart: Apart) -> bool:
        """Whether the rate, at this distance of counts, is paid."""
        return self.eta * apart.l1 <= events.loss(self.event).epsilon

    @property
    def values(self) -> int:
        """How many values there are to choose from."""
        assert isinstance(self.contribution, Listed)
        return count_cells(self.contribution.argument.range) or 0

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Noisy:
        """The place of a value for each cell."""
        assert sealed is not None
        return self._chosen(choose_modes(sealed, self.place.cells, self.values, self.eta, bits))


def _values_of(mechanism: Measuring) -> CellValues:
    assert isinstance(mechanism.contribution, Ranked)
    place = mechanism.place
    return CellValues(mechanism.contribution, place.where, place.keys, place.most)


def _ends(mechanism: Measuring) -> tuple[int, int]:
    assert isinstance(mechanism.contribution, Ranked)
    return mechanism.contribution.low, mechanism.contribution.high
