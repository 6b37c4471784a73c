"""Sensitive disclosures under differential privacy guarantees: what noisy tables tell of groups."""

from __future__ import annotations

from experiments.paper_002.figures import FIGURES
from experiments.paper_002.lemma import LEMMA

__all__ = ["CLAIMS"]

CLAIMS = (*LEMMA, *FIGURES)
