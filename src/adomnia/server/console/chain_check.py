"""Whether the ledger's chain holds: read anew now and then, since that takes longer and longer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adomnia.server.service import Service

__all__ = ["ChainCheck", "ChainState"]

KEPT = 60.0
"""Seconds for which a verification is shown again."""


@dataclass(frozen=True)
class ChainState:
    """How many entries there are, and what is wrong with them."""

    count: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


class ChainCheck:
    """The last verification of the chain, made by one thread at a time."""

    def __init__(self, service: Service, clock: Callable[[], float] = time.monotonic) -> None:
        self._service, self._clock, self._lock = service, clock, Lock()
        self._last: tuple[float, ChainState] | None = None

    def state(self) -> ChainState:
        """What was found at most a minute ago."""
        with self._lock:
            if self._last is None or self._clock() - self._last[0] > KEPT:
                found = self._service.database.verify()
                self._last = (self._clock(), ChainState(found.count, found.problems))
            return self._last[1]
