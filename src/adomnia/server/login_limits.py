"""How often a log-in may fail before it is refused, or made to wait.

A name alone shuts nobody out: whoever knows it could lock its owner out from anywhere. Refused is
what comes from where the failures came from; guesses at one name from many places are slowed down.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address, ip_network
from threading import Lock

from adomnia.errors import NotAllowedError

__all__ = ["LoginLimits", "TooManyError"]

MOST_KNOWN = 10_000
"""So many of each kind are watched at most: a flood of names must not fill the memory."""

SLOWEST = 10.0
"""Seconds that a log-in waits at most, however many others fail under its name."""

DAY = 86_400.0
"""Seconds in which somebody is not slowed down where they have come in before."""


@dataclass(eq=False)
class TooManyError(NotAllowedError):
    """Too many log-ins have failed; after so many seconds another may be tried."""

    seconds: float = 1.0

    http_status = 429
    sqlstate = "28000"


class LoginLimits:
    """How often log-ins may fail in `seconds`.

    After `by_both` failures of one name from one address, or `by_address` of any names, the next
    ones from there are refused. After `by_name` of one name from anywhere they wait, and are never
    refused. The addresses of one IPv6 network (/64) count as one.
    """

    def __init__(
        self,
        by_both: int = 5,
        by_address: int = 60,
        by_name: int = 30,
        seconds: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock, self._lock = clock, Lock()
        self._both = _Window(by_both, seconds)
        self._addresses = _Window(by_address, seconds)
        self._names = _Window(by_name, seconds)
        self._welcome = _Window(1, DAY)

    def allowed(self, name: str, address: str) -> float:
        """0.0 where a log-in may be tried, otherwise the seconds until one may."""
        both, now = _both(name, address), self._clock()
        with self._lock:
            return max(self._both.full(both, now), self._addresses.full(both[1], now))

    def delay(self, name: str, address: str) -> float:
        """The seconds that a log-in must wait: the more, the faster others fail under its name."""
        both, now = _both(name, address), self._clock()
        with self._lock:
            if self._welcome.full(both, now):
                return 0.0
            left = self._names.full(both[0], now)
        taken = self._names.seconds - left  # by the latest `by_name` failures
        return min(SLOWEST, self._names.seconds / max(taken, 1e-9)) if left else 0.0

    def failed(self, name: str, address: str) -> None:
        """Count a log-in that failed; a wrong API key has no name."""
        both, now = _both(name, address), self._clock()
        with self._lock:
            self._addresses.add(both[1], now)
            if name:
                self._both.add(both, now)
                self._names.add(both[0], now)

    def passed(self, name: str, address: str) -> None:
        """Forget how often a name that logged in has failed here, and welcome it from now on.

        The failures of the address stay: somebody with an account must not use it to try others
        for ever. Those of the name stay too: its owner at work is no reason to guess it faster.
        """
        if name:
            both = _both(name, address)
            with self._lock:
                self._both.drop(both)
                self._welcome.add(both, self._clock())


class _Window:
    """When things happened last, by key: at most `most` times each, which is all that counts."""

    def __init__(self, most: int, seconds: float) -> None:
        self.most, self.seconds = most, seconds
        self._times: dict[object, deque[float]] = {}

    def __len__(self) -> int:
        return len(self._times)

    def full(self, key: object, now: float) -> float:
        """The seconds until it has happened fewer than `most` times in the window, or 0.0."""
        times = self._times.get(key)
        if times is None or len(times) < self.most:
            return 0.0
        return max(0.0, times[0] + self.seconds - now)

    def add(self, key: object, now: float) -> None:
        """It has happened once more."""
        if len(self._times) >= MOST_KNOWN:
            self._forget(now)
        self._times.setdefault(key, deque(maxlen=self.most)).append(now)

    def drop(self, key: object) -> None:
        """It has never happened."""
        self._times.pop(key, None)

    def _forget(self, now: float) -> None:
        """Drop what is past the window; under a flood, the older half of the rest."""
        recent = {
            key: times for key, times in self._times.items() if times[-1] > now - self.seconds
        }
        by_age = sorted(recent, key=lambda key: recent[key][-1])
        for key in by_age[: max(0, len(recent) - MOST_KNOWN // 2)]:
            del recent[key]
        self._times = recent


def _both(name: str, address: str) -> tuple[str, str]:
    """What a log-in is counted under; no account has so long a name."""
    return name[:200], _network(address)


def _network(address: str) -> str:
    """Whose address it is: of IPv6 the first half, since one visitor has all of the second."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ip_network((found, 64), strict=False))
