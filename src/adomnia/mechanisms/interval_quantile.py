"""The mechanism of a quantile with an interval of values around it (`value_margin.md`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adomnia.mechanisms.measurement_mechanisms import Apart, ExponentialQuantile
from adomnia.mechanisms.noisy_values import Noisy
from adomnia.mechanisms.quantiles.value_margin import Around, Beyond
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.sealed_noise import choose_intervals
from adomnia.privacy import events
from adomnia.privacy.contribution import Ranked
from adomnia.schema.sealed import Sealed

__all__ = ["INTERVAL", "IntervalQuantile"]

INTERVAL = "interval"
"""How the law of a quantile with an interval begins."""


@dataclass(frozen=True)
class IntervalQuantile(ExponentialQuantile):
    """A quantile of each cell, and two ends between which the exact one lies, with a confidence
    that is part of the law: at another one the ends are looked for at other ranks."""

    around: Around | Beyond | None = None
    confidence: float = 0.95

    @property
    def law(self) -> str:
        """That there are ends, and how sure they are."""
        return f"{INTERVAL} {self.confidence}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The rate of each choice, and how far from the quantile the ends are looked for."""
        assert self.around is not None
        ranks = self.around.rows if isinstance(self.around, Around) else self.around.rank.r
        return {**super().parameters, "rates": [*map(str, self._rates)], "ranks": ranks}

    @property
    def _rates(self) -> tuple[Any, ...]:
        assert self.around is not None
        return self.around.rates

    @property
    def blank(self) -> Noisy:
        """A release of nothing in one cell."""
        values = np.zeros((1, 3), dtype=object)
        return Noisy(values, None, np.ones(1, np.int64), self.eta, law=self.law)

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Noisy:
        """For each cell a value, and the ends around it."""
        assert sealed is not None
        assert self.around is not None
        assert isinstance(self.contribution, Ranked)
        grid, cells = (self.contribution.low, self.contribution.high), self.place.cells
        values = choose_intervals(sealed, cells, grid, self.around, bits)
        return Noisy(values, None, np.ones(cells, np.int64), self.eta, law=self.law)

    def covers(self, apart: Apart) -> bool:
        """Whether each choice is paid, of ranks that are as far apart as those of the quantile."""
        parts = self.event.parts if isinstance(self.event, events.Composed) else (self.event,)
        rates, around = self._rates, self.around
        own = around.share if isinstance(around, Around) else getattr(around, "rank", None)
        paid = len(parts) == len(rates) and all(
            2 * rate * apart.l1 <= events.loss(part).epsilon
            for rate, part in zip(rates, parts, strict=True)
        )
        return paid and own == self.target and self.is_of_ranks
