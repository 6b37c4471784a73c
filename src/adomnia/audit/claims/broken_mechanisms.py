"""Broken mechanisms, for audits and documentation only: NEVER answer anybody with one of these.

Each claims an epsilon that it does not keep, in a way that has been published or deployed. They
use numpy's generators, as their originals do; nothing in adomnia answers from here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.claims.audit_target import AuditTarget
from adomnia.errors import QuestionError

__all__ = ["BROKEN_MECHANISMS", "broken_mechanism"]

Outputs = NDArray[Any]
QUERIES = 8


def broken_mechanism(name: str, epsilon: float = 1.0, seed: int = 0) -> AuditTarget:
    """One of `BROKEN_MECHANISMS`, with two neighbouring inputs and the claim it breaks.

    `half_noise`: Laplace noise of half the scale. `floating_point`: Laplace noise by inversion in
    floats, whose low bits tell the count. `reseeded`: every run starts the generator at one seed.
    `few_seeds`: the seed is one of 4096. `shared_noise`: two days' counts with the same noise.
    `sparse_vector_bare`: the sparse vector technique with noise on the threshold only.
    `sparse_vector_endless`: the same with noise on both, but no end after the first "above".
    `parallel`: eight counts of overlapping groups, charged as if they were disjoint.

    Raises a QuestionError where there is no such mechanism.

    >>> broken_mechanism("half_noise", epsilon=2.0).epsilon
    2.0
    """
    if name not in BROKEN_MECHANISMS:
        known = ", ".join(BROKEN_MECHANISMS)
        raise QuestionError(f"there is no broken mechanism {name[:40]!r}", f"there are: {known}")
    return BROKEN_MECHANISMS[name](epsilon, np.random.default_rng(seed))


def _half_noise(epsilon: float, chance: np.random.Generator) -> AuditTarget:
    def sample(count: int, size: int) -> Outputs:
        return count + np.rint(chance.laplace(0, 0.5 / epsilon, size))

    return AuditTarget("Laplace with half the noise", sample, 0, 1, epsilon)


def _floating_point(epsilon: float, chance: np.random.Generator) -> AuditTarget:
    """Mironov, On significance of the least significant bits, CCS 2012."""

    def sample(count: float, size: int) -> Outputs:
        sign = np.where(chance.random(size) < 0.5, -1.0, 1.0)
        noisy: Outputs = count - sign * np.log(1 - chance.random(size)) / epsilon
        return noisy

    return AuditTarget("floating point Laplace", sample, 0.0, 1.0, epsilon)


def _reseeded(epsilon: float, chance: np.random.Generator) -> AuditTarget:
    seed = int(chance.integers(1 << 32))  # nobody knows it, and it does not help

    def mechanism(count: int) -> float:
        return count + np.random.default_rng(seed).laplace(0, 1 / epsilon)

    one = AuditTarget.of(mechanism, 0, 1, epsilon)
    return AuditTarget("a generator with a fixed seed", one.sample, 0, 1, epsilon)


def _few_seeds(epsilon: float, chance: np.random.Generator) -> AuditTarget:
    noise = [np.random.default_rng(seed).laplace(0, 1 / epsilon) for seed in range(4096)]

    def sample(count: int, size: int) -> Outputs:
        return count + chance.choice(noise, size)

    # Large counts, where rounding hides the low bits: what is left are 4096 values for each.
    return AuditTarget("a generator with few seeds", sample, 1 << 20, (1 << 20) + 1, epsilon)


def _shared_noise(epsilon: float, chance: np.random.Generator) -> AuditTarget:
    """One person more on the second day: the difference of both days is exact."""

    def sample(days: tuple[int, int], size: int) -> Outputs:
        noise = np.rint(chance.laplace(0, 1 / epsilon, size))
        return np.array(days) + noise[:, None]

    return AuditTarget("two runs with the same noise", sample, (5, 5), (5, 6), epsilon)


def _sparse_vector_bare(epsilon: float, chance: np.random.Generator) -> AuditTarget:
    """Stoddard, Chen and Machanavajjhala 2014, as analysed by Lyu, Su and Li, VLDB 2017."""
    return _sparse_vector("sparse vector without noise on the answers", epsilon, 0.0, chance)


def _sparse_vector_endless(epsilon: float, chance: np.random.Generator) -> AuditTarget:
    """Lee and Clifton 2014 without a cutoff, as analysed by Lyu, Su and Li, VLDB 2017."""
    return _sparse_vector("sparse vector without an end", epsilon, 4 / epsilon, chance)


def _sparse_vector(
    name: str, epsilon: float, scale: float, chance: np.random.Generator
) -> AuditTarget:
    """Which counts are above a noisy threshold of one half; one row moves each by one."""

    def sample(counts: Outputs, size: int) -> Outputs:
        level = 0.5 + chance.laplace(0, 2 / epsilon, (size, 1))
        noise = chance.laplace(0, scale, (size, counts.size)) if scale else 0.0
        above: Outputs = counts + noise >= level
        return above

    counts = np.repeat([0, 1], QUERIES)
    return AuditTarget(name, sample, counts, 1 - counts, epsilon)


def _parallel(epsilon: float, chance: np.random.Generator) -> AuditTarget:
    def sample(counts: Outputs, size: int) -> Outputs:
        return counts + np.rint(chance.laplace(0, 1 / epsilon, (size, counts.size)))

    before = np.full(QUERIES, 20)
    return AuditTarget("overlapping counts as if disjoint", sample, before, before + 1, epsilon)


BROKEN_MECHANISMS: dict[str, Callable[[float, np.random.Generator], AuditTarget]] = {
    "half_noise": _half_noise,
    "floating_point": _floating_point,
    "reseeded": _reseeded,
    "few_seeds": _few_seeds,
    "shared_noise": _shared_noise,
    "sparse_vector_bare": _sparse_vector_bare,
    "sparse_vector_endless": _sparse_vector_endless,
    "parallel": _parallel,
}
"""The broken mechanisms that are here by name."""
