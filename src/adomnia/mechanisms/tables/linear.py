"""Linear measurements: declared integer matrices along the axes of sealed tables, plus noise.

What goes out are integers: coefficients of the tables with exact integer noise on each, its
parameter chosen per coefficient (`linear.md`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.noise import gaussian, laplace
from adomnia.mechanisms.noise.exponential import under
from adomnia.mechanisms.randomness import SYSTEM, Bits, narrow
from adomnia.mechanisms.unseal import unseal
from adomnia.schema.sealed import Sealed

__all__ = ["Axis", "Comparisons", "Linear", "measure"]

MANY = 65536
FEW = 1024
TABLES = 24
SLACK = 2.0**-44
SMALLEST = Fraction(1, 128)
SHORT = 1 << 30
Integers = NDArray[np.int64]


class Comparisons(NamedTuple):
    """A row for each: `up` for values from `low` to `middle`, -`down` from there to `high`."""

    low: Integers
    middle: Integers
    high: Integers
    up: Integers
    down: Integers

    def of(self, values: NDArray[Any]) -> NDArray[Any]:
        """The comparisons along the last axis, from sums up to each value."""
        sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1), values.dtype)
        np.cumsum(values, axis=-1, out=sums[..., 1:])
        up, down = self.up.astype(values.dtype), self.down.astype(values.dtype)
        first = sums[..., self.middle] - sums[..., self.low]
        second = sums[..., self.high] - sums[..., self.middle]
        found: NDArray[Any] = up * first - down * second
        return found


@dataclass(frozen=True, eq=False)
class Axis:
    """What is done along one axis: `matrix` (rows by values), and one integer scale per row.

    A matrix may be given as comparisons; None takes the values as they are.
    """

    matrix: Integers | Comparisons | None
    scales: Integers

    @classmethod
    def identity(cls, size: int) -> Axis:
        """The values as they are."""
        return cls(None, np.ones(size, np.int64))

    @property
    def size(self) -> int:
        """How many values there are."""
        if isinstance(self.matrix, Comparisons):
            return int(self.matrix.high.max())
        return len(self.scales) if self.matrix is None else self.matrix.shape[1]

    @property
    def largest(self) -> int:
        """A bound of the entries of the matrix."""
        if isinstance(self.matrix, Comparisons):
            return int(max(self.matrix.up.max(), self.matrix.down.max()))
        return 1 if self.matrix is None else int(np.abs(self.matrix).max(initial=1))


@dataclass(frozen=True, eq=False)
class Linear:
    """Tables of one shape, what is done along each axis, and the noise.

    The noise of a coefficient has the parameter (`laplace`: its scale, `gaussian`: its variance)
    times the product of its rows' scales. Parameter 0 is for what no neighbour changes.
    """

    tables: Sequence[Sealed[NDArray[Any]]]
    axes: tuple[Axis, ...]
    kind: Literal["laplace", "gaussian"]
    parameter: Fraction

    @property
    def scales(self) -> Integers:
        """The product of the scales for each coefficient of one table, flat."""
        product = np.ones(1, np.int64)
        for axis in self.axes:
            product = np.multiply.outer(product, axis.scales).reshape(-1)
        return product


def measure(jobs: Sequence[Linear], bits: Bits = SYSTEM) -> list[NDArray[Any]]:
    """For each job its noisy coefficients, one row per table, the axes in their order.

    Whole numbers: int32 where that holds them all, else int64, else Python integers.
    """
    noise = _noise(jobs, bits)
    return [_add(_coefficients(job), drawn) for job, drawn in zip(jobs, noise, strict=True)]


# Exact coefficients


def _coefficients(job: Linear) -> NDArray[Any]:
    """The exact coefficients, computed in whole numbers or in floats that hold them exactly."""
    tables = [np.asarray(unseal(table)) for table in job.tables]
    if np.result_type(*{table.dtype for table in tables}).kind not in "iu":
        raise TypeError("tables are counts: integers")
    shape = tuple(axis.size for axis in job.axes)
    if any(table.shape != shape for table in tables):
        raise ValueError("a table has another shape than its axes")
    if all(axis.matrix is None for axis in job.axes):
        return np.stack(tables).astype(np.int64)
    growth = math.prod(axis.largest for axis in job.axes)
    values: NDArray[Any] = np.stack(tables, dtype=np.float32, casting="unsafe")
    largest = _largest_sum(values) * growth
    if largest >= 1 << 24:
        exact = np.stack(tables)
        largest = _largest_sum(exact) * growth
        values = exact.astype(_holding(largest))
    for place, axis in enumerate(job.axes, start=1):
        if isinstance(axis.matrix, Comparisons):
            turned = axis.matrix.of(np.moveaxis(values, place, -1))
            values = np.moveaxis(turned, -1, place)
        elif axis.matrix is not None:
            values = _along(values, axis.matrix, place)
    if largest >= 1 << 62:
        return values
    return values.astype(np.int32 if largest < SHORT else np.int64)


def _largest_sum(exact: NDArray[Any]) -> int:
    """A bound of the largest sum of absolute values of a table; short floats show it to 2^24."""
    sizes = exact if exact.min(initial=0) >= 0 else np.abs(exact)
    dtype = np.float32 if exact.dtype == np.float32 else np.float64
    sums = sizes.reshape(len(exact), -1).sum(axis=1, dtype=dtype)
    return math.ceil(float(sums.max(initial=0)) * (1 + 1e-9))


def _holding(largest: int) -> Any:
    """The fastest type in which whole numbers of this size are added without rounding."""
    if largest < 1 << 24:
        return np.float32
    if largest < 1 << 53:
        return np.float64
    return np.int64 if largest < 1 << 62 else object


def _along(values: NDArray[Any], matrix: Integers, place: int) -> NDArray[Any]:
    """The matrix applied along one axis, table by table: small products stay in one thread."""
    shape = values.shape
    before, after = math.prod(shape[:place]), math.prod(shape[place + 1 :])
    matrix = matrix.astype(values.dtype)
    if after == 1:
        turned = values.reshape(shape[0], -1, shape[place]) @ np.ascontiguousarray(matrix.T)
    else:
        turned = matrix @ values.reshape(before, shape[place], after)
    return turned.reshape(*shape[:place], len(matrix), *shape[place + 1 :])


def _add(exact: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
    """The sum, in a type that holds it; int32 comes with numbers below 2^30 only."""
    noise = noise.reshape(exact.shape)
    if exact.dtype == noise.dtype == np.int32:
        noise += exact
        return noise
    fits = object not in (exact.dtype, noise.dtype)
    if not fits or max(_peak(exact), _peak(noise)) >= 1 << 62:
        exact, noise = exact.astype(object), noise.astype(object)
    total: NDArray[Any] = exact + noise
    return total


def _peak(values: NDArray[Any]) -> int:
    return max(int(values.max(initial=0)), -int(values.min(initial=0)))


# Noise


def _noise(jobs: Sequence[Linear], bits: Bits) -> list[NDArray[Any]]:
    """Independent noise for every coefficient of every job; small classes are drawn together."""
    drawn: list[NDArray[Any]] = []
    few: list[tuple[Fraction, int, Integers]] = []
    least = _worth_a_table(jobs)
    for number, job in enumerate(jobs):
        scales = job.scales
        many = len(job.tables)
        values = np.zeros((many, scales.size), np.int32)
        for scale in np.unique(scales):
            where = np.flatnonzero(scales == scale)
            parameter = job.parameter * int(scale)
            if job.kind == "gaussian" and 0 < where.size * many < least:
                few.append((parameter, number, where))
                continue
            sample = laplace.sample if job.kind == "laplace" else gaussian.compact
            values = _place(values, where, sample(parameter, where.size * many, bits))
        drawn.append(values)
    for number, where, sampled in _together(few, jobs, bits):
        drawn[number] = _place(drawn[number], where, sampled)
    return drawn


def _worth_a_table(jobs: Sequence[Linear]) -> int:
    """How many draws of one variance pay for a table of its own; fewer if tables stay at hand."""
    different = {job.parameter * int(scale) for job in jobs for scale in np.unique(job.scales)}
    return FEW if len(different) <= TABLES else MANY


def _place(values: NDArray[Any], where: Integers, sampled: NDArray[Any]) -> NDArray[Any]:
    values = values.astype(np.result_type(values, sampled), copy=False)
    values[:, where] = sampled.reshape(len(values), where.size)
    return values


def _together(
    few: list[tuple[Fraction, int, Integers]], jobs: Sequence[Linear], bits: Bits
) -> Iterable[tuple[int, Integers, NDArray[Any]]]:
    """Gaussian noise of many variances: from a wider one of a short list, thinned out exactly."""
    by_width: dict[Fraction, list[int]] = {}
    for place, (variance, _, _) in enumerate(few):
        by_width.setdefault(_wider(variance), []).append(place)
    for width, places in sorted(by_width.items()):
        counts = [few[place][2].size * len(jobs[few[place][1]].tables) for place in places]
        sampled = _thinned(width, [few[place][0] for place in places], counts, bits)
        ends = np.cumsum(counts)[:-1]
        for place, part in zip(places, np.split(sampled, ends), strict=True):
            yield few[place][1], few[place][2], part


def _wider(variance: Fraction) -> Fraction:
    """The least of 2^j and 3*2^j, from 1/128 on, that is not below the variance; 0 stays 0."""
    if variance == 0 or variance > gaussian.LARGEST:
        return variance
    power = SMALLEST * (1 << max(math.floor(variance / SMALLEST).bit_length() - 1, 0))
    if variance <= power:
        return power
    return power * 3 / 2 if variance <= power * 3 / 2 else power * 2


def _thinned(
    width: Fraction, variances: list[Fraction], counts: list[int], bits: Bits
) -> NDArray[Any]:
    """`counts[i]` draws of variance `variances[i]`, none of them above `width`, in this order."""
    if width == 0 or width > gaussian.LARGEST:
        drawn = [
            gaussian.sample(v, count, bits) for v, count in zip(variances, counts, strict=True)
        ]
        return np.concatenate(drawn)
    rates = [1 / (2 * variance) - 1 / (2 * width) for variance in variances]
    floats = np.array([float(rate) for rate in rates])
    which = np.repeat(np.arange(len(counts)), counts)
    found = np.zeros(which.size, np.int64)
    missing = np.arange(which.size)
    while missing.size:
        candidates = gaussian.sample(width, missing.size, bits)
        mine = which[missing]
        kept, doubt, uniform = _filtered(candidates, floats[mine], bits)
        for place in doubt.tolist():
            exponent = rates[int(mine[place])] * int(candidates[place]) ** 2
            kept[place] = under(int(uniform[place]), 32, exponent, bits)
        found[missing[kept]] = candidates[kept]
        missing = missing[~kept]
    return found


def _filtered(
    drawn: NDArray[Any], rate: NDArray[np.float64], bits: Bits
) -> tuple[NDArray[np.bool_], Integers, NDArray[np.unsignedinteger]]:
    """Which draws stay with probability exp(-rate x^2), as far as floats prove it; the doubtful
    ones, and the first bits of the uniform numbers they were compared with."""
    uniform = narrow(bits, drawn.size, np.uint32)
    point = uniform * 2.0**-32
    exponent = drawn.astype(np.float64) ** 2 * rate
    below = 1 - exponent * (1 - exponent * (0.5 - exponent * (1 / 6)))
    above = below + (exponent * exponent) * (exponent * exponent) * (1 / 24)
    kept: NDArray[np.bool_] = (exponent <= 1) & (point <= below - (SLACK + 2.0**-32))
    doubt = ~kept & ((exponent > 1) | (point < above + SLACK))
    return kept, np.flatnonzero(doubt), uniform
