"""Groups whose keys are not public: selected by a noisy count, and released with their sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.noise import gaussian, laplace
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.sealed_noise import select_keys
from adomnia.mechanisms.unseal import unseal
from adomnia.schema.sealed import Sealed

__all__ = ["release_keyed"]


def release_keyed(
    sealed: Sealed[tuple[list[tuple[Any, ...]], NDArray[Any]]],
    count: int,
    threshold: int,
    noises: Sequence[Noise],
    bits: Bits = SYSTEM,
) -> tuple[list[tuple[Any, ...]], NDArray[Any]]:
    """The keys whose noisy count passes the threshold, and all their components with noise.

    `count` is the column that counts rows; its noise (Laplace) also decides which keys are shown
    (`selection.md`).
    """
    keys, exact = unseal(sealed)
    counts = Sealed((keys, exact[:, count]))
    kept, places, noisy = select_keys(counts, noises[count].parameter, threshold, bits)
    out = exact[places].astype(object)
    out[:, count] = noisy
    for column, noise in enumerate(noises):
        if column != count:
            out[:, column] += _draw(noise, len(places), bits).astype(object)
    return kept, out


def _draw(noise: Noise, size: int, bits: Bits) -> NDArray[np.int64]:
    sample = laplace.sample if noise.kind == "laplace" else gaussian.sample
    return sample(noise.parameter, size, bits)
