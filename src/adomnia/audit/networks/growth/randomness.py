"""Chance for simulations: Philox 4x32-10, a numbered stream for each run and role (`growth.md`).

Not for noise that protects anybody: who knows the seed knows every draw.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.networks.growth.compiled import compiled

__all__ = ["SIZE", "State", "below", "coin", "draw", "open_stream", "unit"]

State = NDArray[np.uint64]
SIZE = 11  # four words of counter, two of key, how many of the block are used, the block

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ONE = np.uint64(1)
FIRST, SECOND = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL_1, WEYL_2 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
TO_UNIT = 2.0**-32


@compiled
def open_stream(state: State, seed: np.uint64, run: int, role: int) -> None:
    """Point the state at the beginning of the stream of this seed, run and role."""
    state[0] = np.uint64(0)
    state[1] = np.uint64(role)
    state[2] = np.uint64(run) & LOW
    state[3] = np.uint64(run) >> HALF
    state[4] = seed & LOW
    state[5] = seed >> HALF
    state[6] = np.uint64(4)


@compiled
def _refill(state: State) -> None:
    """The next block of four draws: ten rounds over the counter, then the counter goes on."""
    a, b, c, d = state[0], state[1], state[2], state[3]
    key, other = state[4], state[5]
    for _ in range(10):
        left, right = FIRST * a, SECOND * c
        a, b, c, d = (right >> HALF) ^ b ^ key, right & LOW, (left >> HALF) ^ d ^ other, left & LOW
        key, other = (key + WEYL_1) & LOW, (other + WEYL_2) & LOW
    state[7], state[8], state[9], state[10] = a, b, c, d
    state[0] = (state[0] + ONE) & LOW
    state[6] = np.uint64(0)


@compiled
def draw(state: State) -> np.uint64:
    """32 uniform bits."""
    if state[6] == np.uint64(4):
        _refill(state)
    used = np.int64(state[6])
    state[6] += ONE
    return np.uint64(state[7 + used])


@compiled
def coin(state: State, probability: float) -> bool:
    """True with this probability, rounded up to a multiple of 2^-32."""
    return bool(np.float64(draw(state)) * TO_UNIT < probability)


@compiled
def unit(state: State) -> float:
    """A number strictly between 0 and 1."""
    return (np.float64(draw(state)) + 0.5) * TO_UNIT


@compiled
def below(state: State, many: int) -> int:
    """A whole number from 0 to `many` - 1, exactly uniform (Lemire's multiplication)."""
    bound = np.uint64(many)
    wide = draw(state) * bound
    if wide & LOW < bound:
        unfair = ((LOW + ONE) - bound) % bound
        while wide & LOW < unfair:
            wide = draw(state) * bound
    return np.int64(wide >> HALF)  # type: ignore[return-value]
