"""Differentially private marginals release with mutual consistency."""

from __future__ import annotations

from experiments.paper_003.beyond import BEYOND
from experiments.paper_003.bounds import BOUNDS
from experiments.paper_003.crossing import CROSSING
from experiments.paper_003.sensitive import SENSITIVE
from experiments.paper_003.ways import WAYS

__all__ = ["CLAIMS"]

CLAIMS = (*WAYS, *CROSSING, *BOUNDS, *BEYOND, *SENSITIVE)
