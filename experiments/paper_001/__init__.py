"""Differential privacy: the definition, its noise, and why nothing stronger can be had."""

from __future__ import annotations

from experiments.paper_001.adaptive import ADAPTIVE
from experiments.paper_001.impossible import IMPOSSIBLE
from experiments.paper_001.noise import NOISE

__all__ = ["CLAIMS"]

CLAIMS = (*IMPOSSIBLE, *NOISE, *ADAPTIVE)
