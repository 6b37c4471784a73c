"""Noise inside a lattice, weighed beforehand: how often a draw is kept, and how far it strays.

Both come from the basis alone, which is public (`conditioned.md`). They steer the choice of a
strategy and the time of a draw; no promise rests on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["KernelNoise", "spread"]

NODES = 2048
DRAWS = 1 << 15
SEED = 20110612
LARGEST = 120
LEAST = 1e-3
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KernelNoise:
    """Noise of scale 1 in the lattice of a basis, in the limit of wide noise.

    `acceptance` is the share of draws kept where it is smallest; `covariance` is that of the
    factors of the basis rows, sparse: parts of the lattice are independent.
    """

    acceptance: float
    covariance: Any = field(repr=False)

    def error(self, basis: Any, outputs: Any, scale: float) -> float:
        """The expected total squared error of `outputs` times the noise."""
        seen = sparse.csc_array(outputs @ basis.T).astype(np.float64)
        return float((seen.T @ seen).multiply(self.covariance).sum()) * scale * scale


def spread(basis: Any) -> KernelNoise | None:
    """The noise of a basis of which every row has a column of its own; None where it is no use.

    It is none where a part of the lattice is too large, or too few draws would be kept.
    """
    seen: dict[bytes, tuple[float, Floats] | None] = {}
    acceptance = 1.0
    blocks: list[tuple[Floats, NDArray[np.intp], NDArray[np.intp]]] = []
    for places, block in _parts(basis):
        if block is None:
            return None
        key = block.tobytes() + bytes(str(block.shape), "ascii")
        if key not in seen:
            seen[key] = _part(block)
        found = seen[key]
        if found is None:
            return None
        acceptance = min(acceptance, found[0])
        size = places.size
        blocks.append((found[1].ravel(), np.repeat(places, size), np.tile(places, size)))
    if not blocks:
        return None
    values, rows, columns = (np.concatenate(part) for part in zip(*blocks, strict=True))
    shape = basis.shape[0], basis.shape[0]
    return KernelNoise(acceptance, sparse.csr_array((values, (rows, columns)), shape=shape))


def _parts(basis: Any) -> Iterator[tuple[NDArray[np.intp], Floats | None]]:
    """The parts of the basis that share no column: their rows, and their entries if not large."""
    entries = sparse.coo_array(basis)
    if not entries.nnz:
        return
    rows, columns = entries.coords
    ends = rows, columns + basis.shape[0]
    joined = sparse.csr_array((np.ones(rows.size), ends), shape=2 * (sum(basis.shape),))
    _, label = sparse.csgraph.connected_components(joined, directed=False)
    order = np.argsort(label[rows], kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(label[rows[order]])) + 1):
        mine, row = np.unique(rows[part], return_inverse=True)
        theirs, column = np.unique(columns[part], return_inverse=True)
        if mine.size > LARGEST or theirs.size > 2 * LARGEST:
            yield mine, None
            continue
        block = np.zeros((mine.size, theirs.size))
        block[row, column] = entries.data[part]
        yield mine, block


def _part(block: Floats) -> tuple[float, Floats] | None:
    """Share of draws kept and covariance of the factors, for one part of the lattice."""
    own = (block != 0).sum(axis=0) == 1
    weights = np.abs(block[:, own]).sum(axis=1)
    if not weights.all():
        return None
    dependent = block[:, ~own] / weights[:, None]
    if not dependent.size:
        kept, covariance = 1.0, 2 * np.eye(len(block))
    elif np.linalg.matrix_rank(dependent) == 1:
        kept, covariance = _one_relation(dependent)
    else:
        simulated = _simulated(dependent)
        if simulated is None:
            return None
        kept, covariance = simulated
    return kept, covariance / np.outer(weights, weights)


def _one_relation(dependent: Floats) -> tuple[float, Floats]:
    """Laplace numbers L given that one combination of them is nought, by Fourier's integral.

    With phi(u) = 1/(1 + u^2) their characteristic function, E[L exp(iuL)] = -i phi'(u) and
    E[L^2 exp(iuL)] = -phi''(u).
    """
    relation = np.append(np.abs(dependent).sum(axis=1) * np.sign(dependent[:, 0]), -1)
    width = float(np.sqrt((relation**2).sum()))
    # with u = tan(angle) the integrand is periodic and smooth: the midpoint rule is as good as any
    angle = (np.arange(NODES) + 0.5) * np.pi / (2 * NODES)
    u = np.outer(relation, np.tan(angle) / width)
    below = np.log1p(u * u).sum(axis=0)
    measure = np.pi / (2 * NODES * width) / np.cos(angle) ** 2 * np.exp(-below)
    total = measure.sum()
    odd = 2 * u / (1 + u * u)
    covariance = -(odd * measure) @ odd.T / total
    np.fill_diagonal(covariance, ((2 - 6 * u * u) / (1 + u * u) ** 2) @ measure / total)
    return float(2 / np.pi * total), covariance[:-1, :-1]


@dataclass(frozen=True, eq=False)
class _Block:
    """Factors drawn together (draws by rows), and the share of draws kept so far."""

    rows: list[int]
    draws: Floats
    weights: Floats
    kept: float


def _simulated(dependent: Floats) -> tuple[float, Floats] | None:
    """The same from draws made as the mechanism makes them, columns of few rows first.

    Kept draws are drawn again where blocks are joined; the last join keeps weights instead.
    """
    generator = np.random.default_rng(SEED)
    size, ones = len(dependent), np.ones(DRAWS)
    blocks = [_Block([row], generator.laplace(size=(DRAWS, 1)), ones, 1.0) for row in range(size)]
    least = 1.0
    for columns in _stages(dependent):
        mine = set(np.flatnonzero(dependent[:, columns[0]]).tolist())
        hit = [block for block in blocks if not mine.isdisjoint(block.rows)]
        rows = [row for block in hit for row in block.rows]
        draws = np.hstack([_again(block, generator) for block in hit])
        rest = np.abs(draws @ dependent[np.ix_(rows, columns)]).sum(axis=1)
        joined = _Block(rows, draws, np.exp(-rest), float(np.exp(-rest).mean()))
        least = min(least, joined.kept)
        if least < LEAST:
            return None
        blocks = [block for block in blocks if mine.isdisjoint(block.rows)] + [joined]
    last = blocks[0]
    covariance = np.empty((size, size))
    found = (last.draws * last.weights[:, None]).T @ last.draws / last.weights.sum()
    covariance[np.ix_(last.rows, last.rows)] = found
    return least, covariance


def _stages(dependent: Floats) -> Iterator[list[int]]:
    """Columns that are judged at once: those within the rows that the first of them joins."""
    touched = dependent != 0
    groups: list[set[int]] = [{row} for row in range(len(dependent))]
    order = sorted(range(dependent.shape[1]), key=lambda column: (touched[:, column].sum(), column))
    while order:
        mine = set(np.flatnonzero(touched[:, order[0]]).tolist())
        joined = set().union(*(group for group in groups if group & mine))
        groups = [group for group in groups if not group & mine] + [joined]
        inside = [column for column in order if _within(touched[:, column], joined)]
        order = [column for column in order if column not in inside]
        yield inside


def _within(touched: NDArray[np.bool_], rows: set[int]) -> bool:
    return set(np.flatnonzero(touched).tolist()) <= rows


def _again(block: _Block, generator: np.random.Generator) -> Floats:
    """As many draws as before, by their weights."""
    if block.kept == 1.0:
        return block.draws
    chosen = generator.choice(DRAWS, DRAWS, p=block.weights / block.weights.sum())
    found: Floats = block.draws[chosen]
    return found
