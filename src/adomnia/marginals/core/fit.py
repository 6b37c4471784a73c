"""The table fit: the distribution of largest entropy near the noisy coefficients (`fit.md`).

For domains that fit in memory as a table. The dual has one number per coefficient of the
workload; non-negativity comes from the exponential, and only the workload's residual space is
compared with the measurements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from adomnia.marginals.core.basis import unitary
from adomnia.marginals.core.estimate import Residuals, turn
from adomnia.marginals.core.measure import NoisySubsets
from adomnia.marginals.core.shrink import posterior_means
from adomnia.marginals.workload import Subset

__all__ = ["MOST_CELLS", "entropic_table", "refined"]

Floats = NDArray[np.float64]
MOST_CELLS = 1 << 20
"""The largest domain that is fitted as a table."""

WIDEST = 64
ROUNDS = 400
LEAST = (0.0, 0.003, 0.01)
"""Slack per variance that is always given: how much entropy counts beside the measurements."""
TRUSTED = 3.0
"""By how many deviations a coefficient may differ from the measured one because of the fit."""

POOLED = 16
"""Blocks of at least this many coefficients are judged on their own, smaller ones together."""


@dataclass(frozen=True, eq=False)
class _Dual:
    """Some coefficients: where they stand in the turned table, what was measured, what is lenient.

    `slack` says how much a multiplier may cost: the fitted coefficient stays slack * multiplier
    away from the measured one.
    """

    sizes: tuple[int, ...]
    places: NDArray[np.int64]
    roots: Floats
    values: Floats
    slack: Floats
    scales: Floats
    rows: float
    base: Floats | None

    def table(self, multipliers: Floats) -> tuple[Floats, float]:
        """The fitted distribution, flat, and the logarithm of its normaliser."""
        slots = np.zeros(prod(self.sizes))
        slots[self.places] = self.roots * multipliers
        logits = _turned(slots, self.sizes, inverse=True)
        if self.base is not None:
            logits = logits + self.base
        top = float(logits.max())
        weights = np.exp(logits - top)
        total = float(weights.sum())
        return weights / total, top + float(np.log(total))

    def moments(self, law: Floats) -> Floats:
        """The coefficients of a distribution, times the number of rows."""
        return self.rows * self.roots * _turned(law, self.sizes)[self.places]

    def __call__(self, scaled: Floats) -> tuple[float, Floats]:
        """The dual's value and gradient."""
        multipliers = scaled / self.scales
        law, normaliser = self.table(multipliers)
        value = self.rows * normaliser - float(multipliers @ self.values)
        value += float(self.slack @ multipliers**2) / 2
        slope = self.moments(law) - self.values + self.slack * multipliers
        return value, slope / self.scales


def entropic_table(
    residuals: Residuals, rows: int, allowed: NDArray[np.bool_] | None = None
) -> Floats:
    """A non-negative table that sums to `rows`, of the shape of the domain.

    Order by order: what the fit of the lower orders foretells of a block is compared with what
    was measured, and the slack follows from how much of the difference is noise (`fit.md`).
    Cells that are not `allowed` are zero.
    """
    whole, orders, variances, groups = _layout(residuals, rows, allowed)
    multipliers = np.zeros(orders.size)
    law, _ = whole.table(multipliers)
    for order in range(1, int(orders.max(initial=0)) + 1):
        now, known = orders == order, orders <= order
        information = _information(whole, law)
        slack = whole.slack
        judged = _slack(whole.values - whole.moments(law), variances, information, groups)
        slack[now] = np.maximum(judged, LEAST[min(order, 2)] * variances)[now]
        scales = np.sqrt(information + slack + 1e-12)
        stage = _Dual(
            whole.sizes, whole.places[known], whole.roots[known], whole.values[known],
            slack[known], scales[known], whole.rows, whole.base,
        )  # fmt: skip
        options = {"maxiter": ROUNDS, "maxcor": 20, "gtol": 1e-7, "ftol": 1e-13}
        start = multipliers[known] * stage.scales
        found = minimize(stage, start, jac=True, method="L-BFGS-B", options=options)
        multipliers[known] = found.x / stage.scales
        law, _ = stage.table(multipliers[known])
    return rows * law.reshape(residuals.sizes)


def refined(residuals: Residuals, table: Floats) -> Residuals:
    """The table's own coefficients, and what of the measured differences to them is signal.

    Where the fit is good the differences are noise and go; where it is not they stay.
    """
    blocks = []
    for block in residuals.blocks:
        fitted = np.array([_coefficients(table, subset) for subset in block.group.subsets])
        fitted = fitted.reshape(block.values.shape)
        blocks.append(NoisySubsets(block.group, fitted + _signal(block, fitted), block.variances))
    return Residuals(residuals.sizes, tuple(blocks))


def _signal(block: NoisySubsets, fitted: Floats) -> Floats:
    """The posterior means of the differences, small blocks judged together."""
    deviations = np.sqrt(np.maximum(block.variances, 1e-300)).reshape(-1, *(1,) * (fitted.ndim - 1))
    scaled = (block.values - fitted) / deviations
    if not block.group.shape or fitted[0].size < POOLED:
        kept = posterior_means(scaled, 1.0, TRUSTED)
    else:
        kept = np.stack([posterior_means(one, 1.0, TRUSTED) for one in scaled])
    found: Floats = kept * deviations
    return found


def _coefficients(table: Floats, subset: Subset) -> Floats:
    """The residual block of a table's marginal, its rows at length one."""
    away = tuple(place for place in range(table.ndim) if place not in subset)
    marginal = table.sum(axis=away)
    inside: tuple[Any, ...] = (0, *(slice(1, None),) * len(subset))
    found: Floats = turn(marginal[None], marginal.shape)[inside]
    return found


def _slack(
    deviations: Floats, variances: Floats, information: Floats, groups: NDArray[np.int64]
) -> Floats:
    """Half of variance times information over the variance of true deviations, pooled by group."""
    many = np.bincount(groups)
    excess = np.bincount(groups, deviations**2 - variances) / many
    noise = np.bincount(groups, variances) / many
    signal = np.maximum(excess, noise / np.maximum(many, 10) ** 0.5 / 10 + 1e-12)
    return variances * information / signal[groups] / 2


def _information(dual: _Dual, law: Floats) -> Floats:
    """About how fast each coefficient grows with its own multiplier: rows times its variance."""
    even = dual.roots**2 * dual.rows / law.size
    means = dual.moments(law) / max(dual.rows, 1)
    return np.maximum(even - dual.rows * means**2, even * 1e-3)


def _layout(
    residuals: Residuals, rows: int, allowed: NDArray[np.bool_] | None
) -> tuple[_Dual, NDArray[np.int64], Floats, NDArray[np.int64]]:
    """All blocks but the total, flat; with each coefficient's order, variance and pool."""
    sizes = residuals.sizes
    strides = np.array([prod(sizes[place + 1 :]) for place in range(len(sizes))], np.int64)
    places, roots, values, variances, orders, groups = [], [], [], [], [], []
    pools = 0
    for block in residuals.blocks:
        shape = block.group.shape
        if not shape:
            continue
        many = prod(size - 1 for size in shape)
        blocks = len(block.group.places)
        places.append(_slots(strides[block.group.places], shape).reshape(-1))
        roots.append(np.full(many * blocks, (prod(sizes) / prod(shape)) ** 0.5))
        values.append(block.values.reshape(-1).astype(np.float64))
        variances.append(np.repeat(block.variances, many))
        orders.append(np.full(many * blocks, len(shape)))
        pool = np.arange(blocks) if many >= POOLED else np.zeros(blocks, np.int64)
        groups.append(np.repeat(pool + pools, many))
        pools += int(pool[-1]) + 1
    base = None if allowed is None else np.where(allowed.reshape(-1), 0.0, -1e9)
    flat = [np.concatenate(part) if part else np.zeros(0) for part in (roots, values, variances)]
    whole = [
        np.concatenate(part) if part else np.zeros(0, np.int64) for part in (places, orders, groups)
    ]
    dual = _Dual(sizes, whole[0], flat[0], flat[1], flat[2].copy(), flat[2], float(rows), base)
    return dual, whole[1], flat[2], whole[2]


def _slots(strides: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Where the coefficients of blocks stand in the flat turned table of the domain."""
    found = np.zeros((len(strides),), np.int64)
    for position, size in enumerate(shape):
        steps = np.multiply.outer(strides[:, position], np.arange(1, size))
        found = found[..., None] + steps.reshape(len(strides), *(1,) * position, size - 1)
    return found


def _turned(flat: Floats, sizes: tuple[int, ...], inverse: bool = False) -> Floats:
    """The orthonormal transform of a flat table over the domain, several axes at a time."""
    before, after = 1, flat.size
    for matrix in _matrices(sizes):
        width = len(matrix)
        after //= width
        turned = (matrix.T if inverse else matrix) @ flat.reshape(before, width, after)
        flat = turned.reshape(-1)
        before *= width
    return flat


def _matrices(sizes: tuple[int, ...]) -> Iterator[Floats]:
    """Transforms of neighbouring attributes joined while they stay small."""
    pending: list[int] = []
    for size in sizes:
        if pending and prod(pending) * size > WIDEST:
            yield _joined(pending)
            pending = []
        pending.append(size)
    if pending:
        yield _joined(pending)


def _joined(sizes: list[int]) -> Floats:
    found: Floats = np.ones((1, 1))
    for size in sizes:
        found = np.asarray(np.kron(found, unitary(size)), np.float64)
    return found
