"""An ad omnia approach: what a curator's noise does, and what happens without it."""

from __future__ import annotations

from experiments.paper_004.attacks import ATTACKS
from experiments.paper_004.classes import CLASSES
from experiments.paper_004.extensions import EXTENSIONS
from experiments.paper_004.linked import LINKED
from experiments.paper_004.sensitivities import SENSITIVITIES

__all__ = ["CLAIMS"]

CLAIMS = (*LINKED, *CLASSES, *SENSITIVITIES, *EXTENSIONS, *ATTACKS)
