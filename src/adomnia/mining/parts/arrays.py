"""The arrays that models reckon with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Codes", "Floats"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Groups, leaves and clusters by their number."""
