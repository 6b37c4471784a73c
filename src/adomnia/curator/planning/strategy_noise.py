"""The mechanism beside exact releases: a part is measured, the rest follows (`strategy.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.planning.strategy import Derived
from adomnia.errors import MachineryError
from adomnia.mechanisms.measurement_mechanisms import WIDEST, AddedNoise, Apart
from adomnia.mechanisms.noise.conditioned import add_conditioned
from adomnia.mechanisms.noisy_values import Noisy
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.sealed_noise import add_gaussian, add_laplace
from adomnia.privacy.contribution import Tally
from adomnia.privacy.reads import CellTotals, Reads
from adomnia.queries.measurement import width_of
from adomnia.schema.sealed import Sealed

__all__ = ["StrategyNoise"]


@dataclass(frozen=True)
class StrategyNoise(AddedNoise):
    """Noise on the counts that are not public, inside the kernel of what is where that is less."""

    derived: Derived | None = None

    @property
    def way(self) -> Derived:
        """What is measured, and how the asked counts follow from it."""
        assert self.derived is not None
        return self.derived

    @property
    def reads(self) -> Reads | None:
        """The counts that are measured; what is public needs no data at all."""
        way, place = self.way, self.place
        if way.places is None and way.counts is not None:
            return CellTotals(Tally(way.counts.conditions))
        return CellTotals(self.contribution, place.where, place.keys) if way.places else None

    @property
    def parameters(self) -> dict[str, Any]:
        """The noise, and which counts it was added to: those that were measured."""
        found: dict[str, Any] = {"parameter": str(self.noise.parameter), "outputs": self._outputs}
        groups = self._groups
        return {**found, "groups": groups} if groups else found

    @property
    def blank(self) -> Noisy:
        """A release of nothing in one cell, with the widest noise that a cell would have."""
        values = np.zeros((1, width_of(self.measurement)), dtype=object)
        most, widths = int(self.way.terms.max(initial=0)), self._widths
        widest = None if widths is None else widths.max(axis=1, keepdims=True)
        return Noisy(values, self.noise, np.array([most], np.int64), widths=widest)

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Noisy:
        """The asked counts, from those that are measured and from what is public."""
        way = self.way
        noisy: NDArray[Any] = np.zeros(0, np.int64)
        if sealed is not None:
            noisy = self._with_noise(sealed, bits)
        values, fitted = way.fill(noisy)
        return Noisy(values, self.noise, way.terms, Fraction(0), way.is_tied, fitted, self._widths)

    def covers(self, apart: Apart) -> bool:
        """Never by what a row can do alone: rows move together beside exact releases."""
        return False

    def _with_noise(self, sealed: Sealed[Any], bits: Bits) -> NDArray[Any]:
        way, scale = self.way, self.noise.parameter
        if scale == 0:
            raise MachineryError("without noise nothing is opened")
        places: Sequence[int] = way.places or ()
        if way.places is None and way.counts is not None:
            places = range(len(way.counts.conditions))
        if way.measured.basis is not None:
            share = scale / way.bound  # of one unit of sensitivity
            groups = [(group, part * share) for group, part in way.groups]
            basis = way.measured.basis
            return add_conditioned(sealed, basis, scale, bits, groups=groups, places=places)
        add = add_laplace if self.noise.kind == "laplace" else add_gaussian
        return add(sealed, scale, bits, places=places)

    @property
    def _widths(self) -> NDArray[np.float64] | None:
        widths = self.way.widths
        return None if widths is None else widths * float(min(self.noise.parameter, WIDEST))

    @property
    def _outputs(self) -> list[int] | str:
        """The counts that are measured; `cells` where others are measured in their place."""
        return "cells" if self.way.places is None else list(self.way.places)

    @property
    def _groups(self) -> list[list[Any]]:
        """Of noise inside the kernel: the counts that are bounded together, and their bound."""
        way = self.way
        if way.places is None:
            return [["cells", str(bound)] for _, bound in way.groups]
        places = way.places
        return [[[places[i] for i in group], str(bound)] for group, bound in way.groups]
