"""The mechanism of the test of independence: the root of chi-squared with noise (`root.md`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from adomnia.mechanisms.choices.choice_mechanisms import Choice
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.tables.root import Margins, release_root
from adomnia.privacy import events
from adomnia.privacy.events import Event
from adomnia.privacy.premises import Premise
from adomnia.privacy.reads import CellTotals
from adomnia.schema.sealed import Sealed

__all__ = ["ChiSquaredRoot"]


@dataclass(frozen=True)
class ChiSquaredRoot:
    """The root of chi-squared, damped by kappa, in steps of 2^-places, with Laplace noise."""

    columns: tuple[str, str]
    reads: CellTotals
    margins: Margins
    kappa: Fraction
    places: int
    scale: Fraction
    epsilon: Fraction
    sensitivity: Fraction
    premises: tuple[Premise, ...] = ()

    @property
    def name(self) -> str:
        """The mechanism in a word."""
        return "laplace"

    @property
    def event(self) -> Event:
        """What it costs."""
        return events.Laplace(self.epsilon, self.sensitivity)

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> Choice:
        """The noisy root, in steps."""
        assert sealed is not None
        return Choice(release_root(sealed, self.margins, self.kappa, self.places, self.scale, bits))

    def recalled(self, body: Mapping[str, Any]) -> Choice:
        """What was released before, from the ledger."""
        return Choice(body["chosen"])

    def record(self) -> dict[str, Any]:
        """The attributes, and the lattice of the root."""
        lattice = {"kappa": str(self.kappa), "places": self.places}
        return {
            "root": list(self.columns),
            "mechanism": {"name": "laplace", "parameter": str(self.scale), **lattice},
            "event": events.to_json(self.event),
        }
