"""Parities of bits, the paper's Fourier coefficients in whole numbers, and their noise.

The parity of a set of bits is the number of rows in which an even number of them is set, less the
number of rows in which an odd number is: 2^(k/2) times the paper's coefficient. What noise hides
one person's part in them is proven in `parities.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.marginals.paper.bits import Encoding, parts, signs
from adomnia.marginals.paper.promise import MarginalPromise, count_sensitivity, parity_sensitivity
from adomnia.marginals.workload import Subset, downward_closure
from adomnia.mechanisms.margins.margin import Noise, margin
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.tables.linear import Axis, Linear, measure
from adomnia.privacy.loss import Loss
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.schema.sealed import Sealed

__all__ = ["NoisyParities", "Source", "measure_counts", "measure_parities"]

LARGEST = {"laplace": Fraction(1 << 45), "gaussian": Fraction(1 << 90)}

Source = Callable[[Sequence[Subset]], Mapping[Subset, Sealed[NDArray[Any]]]]
"""Exact marginal tables on request, sealed; the empty subset's table is the number of rows."""


@dataclass(frozen=True)
class NoisyParities:
    """Whole numbers with noise where `noisy` says so; the others are public as they are."""

    subsets: tuple[Subset, ...]
    values: NDArray[np.int64]
    noisy: NDArray[np.bool_]
    noise: Noise

    @property
    def many(self) -> int:
        """How many of them are noisy."""
        return int(self.noisy.sum())

    def spread(self, delta: float) -> float:
        """What none of the noises passes, with probability 1 - delta: they are independent."""
        if not self.many or not self.noise.parameter:
            return 0.0
        confidence = math.nextafter((1 - delta) ** (1 / self.many), 1.0)
        return float(margin([(1.0, self.noise)], confidence))


def measure_parities(
    encoding: Encoding,
    marginals: tuple[Subset, ...],
    source: Source,
    promise: MarginalPromise,
    bits: Bits = SYSTEM,
) -> NoisyParities:
    """The parities that the marginals need, no others, with equal noise on each (Theorem 4).

    They come by the attributes that they involve: first the empty set, then one by one.
    """
    closure = tuple(
        part for part in downward_closure(marginals) if all(encoding.widths[i] for i in part)
    )
    blocks = [_sets_of_bits(encoding, part) for part in closure]
    changing = promise.changing(encoding)
    moved = [promise.moves(part, changing) for part in closure]
    noisy = np.repeat(np.array(moved), [len(block) for block in blocks])
    subsets = tuple(subset for block in blocks for subset in block)
    found = tuple(subset for subset, moves in zip(subsets, noisy, strict=True) if moves)
    noise = _noise(promise.loss, parity_sensitivity(encoding, found, promise))
    jobs = _Jobs(closure, moved, [_parity_axis(size) for size in encoding.sizes], noise)
    return NoisyParities(subsets, jobs.run(source, bits), noisy, noise)


def measure_counts(
    encoding: Encoding,
    marginals: tuple[Subset, ...],
    source: Source,
    promise: MarginalPromise,
    bits: Bits = SYSTEM,
) -> NoisyParities:
    """The marginals themselves with equal noise on every cell; they need not agree."""
    changing = promise.changing(encoding)
    moved = [promise.moves(marginal, changing) for marginal in marginals]
    found = tuple(marginal for marginal, moves in zip(marginals, moved, strict=True) if moves)
    noise = _noise(promise.loss, count_sensitivity(found, changing, promise))
    cells = [math.prod(encoding.sizes[place] for place in marginal) for marginal in marginals]
    jobs = _Jobs(marginals, moved, [Axis.identity(size) for size in encoding.sizes], noise)
    return NoisyParities(
        marginals, jobs.run(source, bits), np.repeat(np.array(moved), cells), noise
    )


def _noise(loss: Loss, sensitivity: Sensitivity) -> Noise:
    """The least noise that keeps the loss (`parities.md`)."""
    if loss.rho:
        noise = Noise("gaussian", sensitivity.l2_squared / (2 * loss.rho))
    else:
        noise = Noise("laplace", sensitivity.l1 / loss.epsilon)
    if noise.parameter > LARGEST[noise.kind]:
        raise QuestionError("the noise would pass 2^45", hint="ask for fewer marginals or pay more")
    return noise


@dataclass(frozen=True)
class _Jobs:
    """Tables to read, which of them neighbours can move, and what is done along each attribute."""

    subsets: tuple[Subset, ...]
    moved: list[bool]
    axes: list[Axis]
    noise: Noise

    def run(self, source: Source, bits: Bits) -> NDArray[np.int64]:
        """All values, in the order of the subsets; tables of one shape are measured together."""
        groups: dict[tuple[tuple[int, ...], bool], list[int]] = {}
        for place, subset in enumerate(self.subsets):
            shape = tuple(self.axes[i].size for i in subset)
            groups.setdefault((shape, self.moved[place]), []).append(place)
        tables = source(self.subsets)
        jobs = [self._linear(places, tables) for places in groups.values()]
        found: dict[int, NDArray[Any]] = {}
        for places, values in zip(groups.values(), measure(jobs, bits), strict=True):
            found.update(zip(places, values.reshape(len(places), -1), strict=True))
        flat = [found[place] for place in range(len(self.subsets))]
        return np.concatenate(flat).astype(np.int64)

    def _linear(self, places: list[int], tables: Mapping[Subset, Sealed[NDArray[Any]]]) -> Linear:
        first = places[0]
        parameter = self.noise.parameter if self.moved[first] else Fraction(0)
        axes = tuple(self.axes[i] for i in self.subsets[first])
        chosen = [tables[self.subsets[place]] for place in places]
        return Linear(chosen, axes, self.noise.kind, parameter)


def _sets_of_bits(encoding: Encoding, subset: Subset) -> list[Subset]:
    """The sets of bits that involve each of these attributes, in the order of their parities."""
    choices = [parts(encoding.places((place,)))[1:] for place in subset]
    return [tuple(chain.from_iterable(chosen)) for chosen in product(*choices)]


@lru_cache(maxsize=64)
def _parity_axis(size: int) -> Axis:
    """The parities of an attribute's bits but the empty one."""
    masks = np.arange(1, 1 << (size - 1).bit_length(), dtype=np.int64)
    matrix = signs(masks, np.arange(size, dtype=np.int64)).astype(np.int64)
    return Axis(matrix, np.ones(masks.size, np.int64))
