"""Sets of nodes as bits of machine words: a graph of 64 nodes has one word for each node.

Larger graphs have rows of several words. Draws do not depend on the number of words, so a graph
grows the same with more of them than it needs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.networks.growth.compiled import compiled
from adomnia.audit.networks.growth.randomness import State, below

__all__ = ["Row", "add", "bits", "discard", "has", "lowest", "place", "single", "take"]

Row = NDArray[np.uint64]

ONE = np.uint64(1)
SIX, LAST = 6, 63
PAIRS, FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
BYTES, SUM = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@compiled
def bits(word: np.uint64) -> int:
    """How many bits are set, all counted side by side."""
    word = word - ((word >> ONE) & PAIRS)
    word = (word & FOURS) + ((word >> np.uint64(2)) & FOURS)
    word = (word + (word >> np.uint64(4))) & BYTES
    return np.int64((word * SUM) >> np.uint64(56))  # type: ignore[return-value]


@compiled
def single(node: int) -> np.uint64:
    """The word that holds one node only."""
    return ONE << np.uint64(node & LAST)


@compiled
def place(bit: np.uint64) -> int:
    """The node of a word that holds one node only."""
    return bits(bit - ONE)


@compiled
def lowest(word: np.uint64, skipped: int) -> np.uint64:
    """The lowest set bit after so many have been skipped; there is one.

    Halving, without a branch: a processor that guesses how many are skipped guesses wrong.
    """
    at, width = 0, 32
    while width > 0:
        low = bits((word >> np.uint64(at)) & (single(width) - ONE))
        above = int(skipped >= low)
        skipped -= low * above
        at += width * above
        width >>= 1
    return single(at)


@compiled
def add(row: Row, node: int) -> None:
    """Put the node in."""
    row[node >> SIX] |= single(node)


@compiled
def discard(row: Row, node: int) -> None:
    """Take the node out, if it is in."""
    row[node >> SIX] &= ~single(node)


@compiled
def has(row: Row, node: int) -> bool:
    """Whether the node is in."""
    return bool(row[node >> SIX] & single(node))


@compiled
def take(row: Row, many: int, chance: State) -> int:
    """A node at random out of a row that holds `many`: it is removed and returned."""
    skipped = below(chance, many)
    word, inside = 0, bits(row[0])
    while skipped >= inside:
        skipped -= inside
        word += 1
        inside = bits(row[word])
    bit = lowest(row[word], skipped)
    row[word] ^= bit
    return (word << SIX) + place(bit)
