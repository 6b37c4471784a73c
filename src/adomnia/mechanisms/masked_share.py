"""The mechanism of one holder among several: its sums, its share of the noise, and its mask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.measurement_mechanisms import AddedNoise, Apart
from adomnia.mechanisms.noise.shares import add_share
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.privacy.events import Event
from adomnia.privacy.premises import Premise
from adomnia.privacy.reads import Reads
from adomnia.schema.sealed import Sealed

__all__ = ["MaskedShare", "MaskedWords"]

Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class MaskedWords:
    """Words that say nothing without those of all other holders; the ledger does not keep them."""

    words: Words

    def to_json(self) -> dict[str, Any]:
        """Nothing: a round is answered once."""
        return {}


@dataclass(frozen=True, eq=False)
class MaskedShare:
    """A part of a joint answer: what one holder adds, with its share of the noise (`shares.md`)."""

    part: AddedNoise
    holders: int
    colluding: int
    mask: Words

    @property
    def name(self) -> str:
        """The noise of all holders together."""
        return self.part.name

    @property
    def event(self) -> Event:
        """The full loss: of the others' noise nothing is relied on but that they are honest."""
        return self.part.event

    def covers(self, apart: Apart) -> bool:
        """Whether the noise of all honest holders together covers the distance."""
        return self.part.covers(apart)

    @property
    def premises(self) -> tuple[Premise, ...]:
        """Those of the part."""
        return self.part.premises

    @property
    def reads(self) -> Reads | None:
        """The holder's own sums."""
        return self.part.reads

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> MaskedWords:
        """The masked words."""
        assert sealed is not None
        scale = self.part.noise.parameter
        words = add_share(sealed, scale, self.holders, self.mask, bits, colluding=self.colluding)
        return MaskedWords(words.reshape(-1))

    def recalled(self, body: Mapping[str, Any]) -> MaskedWords:
        """Nothing is given twice."""
        return MaskedWords(np.zeros(0, np.uint64))

    def record(self) -> dict[str, Any]:
        """The part, and among how many holders it was given."""
        record = self.part.record()
        among = {"holders": self.holders, "colluding": self.colluding}
        return {**record, "mechanism": {**record["mechanism"], **among}}
