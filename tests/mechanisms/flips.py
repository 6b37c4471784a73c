"""The exact law of permute-and-flip, for tests."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Polynomial


def law(scores, eta):
    """The probabilities of all candidates: p_r times the integral of prod (1 - x p_s)."""
    odds = np.exp(-float(eta) * (max(scores) - np.array(scores, float)))
    found = []
    for place, p in enumerate(odds):
        others = Polynomial([1.0])
        for q in np.delete(odds, place):
            others *= Polynomial([1.0, -q])
        found.append(p * others.integ()(1.0))
    return np.array(found)
