"""A mechanism under audit: how it is sampled, two neighbouring inputs, and what it claims."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError

__all__ = ["AuditTarget", "Mechanism", "Samples", "draw"]

Mechanism = Callable[[Any], Any]
Samples = tuple[Sequence[Any] | NDArray[Any], Sequence[Any] | NDArray[Any]]

FIRST = 16
TICK = 1e-6


@dataclass(frozen=True, eq=False)
class AuditTarget:
    """A mechanism, two neighbouring inputs and the claim that it is (epsilon, delta)-private.

    `sample(data, size)` runs it so many times, each time anew. With `AuditTarget.of` a plain
    function of the data is enough; what it returns is a number, a vector of numbers, or any symbol.

    >>> AuditTarget.of(lambda count: count, data=10, neighbour=11, epsilon=1.0).epsilon
    1.0
    """

    name: str
    sample: Callable[[Any, int], Sequence[Any] | NDArray[Any]]
    data: Any
    neighbour: Any
    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon < np.inf or not 0 <= self.delta < 1:
            raise QuestionError("a claim has a finite epsilon and a delta below one")

    @classmethod
    def of(
        cls, mechanism: Mechanism, data: Any, neighbour: Any, epsilon: float, delta: float = 0.0
    ) -> AuditTarget:
        """A target from a function of the data alone."""
        name = getattr(mechanism, "__name__", "the mechanism")

        def sample(given: Any, size: int) -> list[Any]:
            return [mechanism(given) for _ in range(size)]

        return cls(name, sample, data, neighbour, epsilon, delta)


def draw(target: AuditTarget, samples: int, end: float) -> Samples:
    """So many outputs of either input, in turns; fewer, and as many of each, if time ends."""
    parts: tuple[list[Any], list[Any]] = ([], [])
    begin, done, size = time.monotonic(), 0, FIRST
    while done < samples:
        size = min(size, samples - done)
        for part, data in zip(parts, (target.data, target.neighbour), strict=True):
            part.append(target.sample(data, size))
        done += size
        left, used = end - time.monotonic(), time.monotonic() - begin
        if left <= 0:
            break
        size = max(1, min(2 * size, int(done * left / (2 * used + TICK))))  # half of what is left
    return _join(parts[0]), _join(parts[1])


def _join(parts: Sequence[Any]) -> Sequence[Any] | NDArray[Any]:
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    return [output for part in parts for output in part]
