"""The mechanism of open keys: groups selected by a noisy count, released with their noisy sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from adomnia.mechanisms.counts.keyed import release_keyed
from adomnia.mechanisms.counts.selection import threshold
from adomnia.mechanisms.measurement_mechanisms import AddedNoise
from adomnia.mechanisms.noisy_values import Measured, Noisy, measured_from
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.privacy import events
from adomnia.privacy.contribution import Tally, width
from adomnia.privacy.events import Event
from adomnia.privacy.premises import Premise
from adomnia.privacy.reads import KeyTotals, Reads
from adomnia.queries.measurement import width_of
from adomnia.schema.sealed import Sealed

__all__ = ["SelectedKeys"]


@dataclass(frozen=True)
class SelectedKeys:
    """Noise on all measurements of the keys whose noisy count reaches the threshold.

    `counted` says which measurement counts all rows, and in which of its columns.
    """

    parts: tuple[AddedNoise, ...]
    threshold: int
    counted: tuple[int, int]
    premises: tuple[Premise, ...] = ()

    @property
    def name(self) -> str:
        """The noise of the parts."""
        return " + ".join(dict.fromkeys(part.name for part in self.parts))

    @property
    def event(self) -> Event:
        """The parts, one after the other."""
        return events.composed(part.event for part in self.parts)

    @property
    def reads(self) -> Reads:
        """Everything that is measured, of every key that occurs."""
        place = self.parts[0].place
        wanted = tuple(part.contribution for part in self.parts)
        return KeyTotals(wanted, place.where, place.keys)

    def hides(self, rows: int, groups: int) -> bool:
        """Whether the threshold hides the keys of so many rows in so many groups, at its delta."""
        counts = self.parts[self.counted[0]]
        if not self._is_laid_out or not isinstance(counts.contribution, Tally):
            return False
        paid = events.loss(counts.event)
        whole = (
            isinstance(counts.event, events.PartitionSelection) and counts.noise.kind == "laplace"
        )
        scale = counts.noise.parameter
        return whole and self.threshold >= threshold(scale, paid.delta, rows, groups)

    @property
    def _is_laid_out(self) -> bool:
        """Whether all parts are of the same rows and keys, each as wide as what it measures, and
        the column that counts is one of its part's."""
        first, (at, column) = self.parts[0].place, self.counted
        alike = (
            part.place == first
            and part.shown is None
            and width(part.contribution) == width_of(part.measurement)
            for part in self.parts
        )
        return all(alike) and 0 <= column < width(self.parts[at].contribution)

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Measured:
        """The keys that may be shown, and their noisy values."""
        assert sealed is not None
        widths = [width_of(part.measurement) for part in self.parts]
        starts = np.cumsum([0, *widths])
        noises = [part.noise for part, wide in zip(self.parts, widths, strict=True)
                  for _ in range(wide)]  # fmt: skip
        column = int(starts[self.counted[0]]) + self.counted[1]
        keys, values = release_keyed(sealed, column, self.threshold, noises, bits)
        terms = np.ones(len(keys), np.int64)
        parts = [
            Noisy(values[:, a:b], part.noise, terms)
            for part, a, b in zip(self.parts, starts, starts[1:], strict=False)
        ]
        return Measured(tuple(parts), tuple(keys))

    def recalled(self, body: Mapping[str, Any]) -> Measured:
        """What was released before, from the ledger."""
        return measured_from(body)

    def record(self) -> dict[str, Any]:
        """The parts, and the threshold."""
        return {
            "parts": [part.record() for part in self.parts],
            "mechanism": {"name": "selected keys", "threshold": self.threshold},
            "event": events.to_json(self.event),
        }
