"""Limits: how often a log-in may fail, by name and by address, in a sliding window."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address, ip_network
from threading import Lock

from adomnia.errors import NotAllowedError

__all__ = ["Limits", "TooManyError"]

MOST_KNOWN = 10_000
"""So many names and addresses are watched at most: a flood of them must not fill the memory."""


@dataclass(eq=False)
class TooManyError(NotAllowedError):
    """Too many log-ins have failed; after so many seconds another may be tried."""

    seconds: float = 1.0

    http_status = 429
    sqlstate = "28000"


class Limits:
    """At most `by_name` failures of one name, and `by_address` from one address, in `seconds`.

    The addresses of one IPv6 network (/64) count as one.
    """

    def __init__(
        self,
        by_name: int = 5,
        by_address: int = 60,
        seconds: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = {"name": by_name, "address": by_address}
        self._seconds, self._clock, self._lock = seconds, clock, Lock()
        self._failures: dict[tuple[str, str], deque[float]] = {}

    def allowed(self, name: str, address: str) -> float:
        """0.0 where a log-in may be tried, otherwise the seconds to wait."""
        with self._lock:
            return max(self._wait(place) for place in _places(name, address))

    def failed(self, name: str, address: str) -> None:
        """Count a log-in that failed."""
        with self._lock:
            if len(self._failures) >= MOST_KNOWN:
                self._forget()
            for place in _places(name, address):
                kept: deque[float] = deque(maxlen=self._most[place[0]])
                self._failures.setdefault(place, kept).append(self._clock())

    def passed(self, name: str, address: str) -> None:
        """Forget the failures of a name that logged in.

        Those of the address stay: somebody with an account must not use it to try others for ever.
        """
        with self._lock:
            self._failures.pop(("name", name), None)

    def _wait(self, place: tuple[str, str]) -> float:
        times = self._failures.get(place)
        if times is None or len(times) < self._most[place[0]]:
            return 0.0
        return max(0.0, times[0] + self._seconds - self._clock())

    def _forget(self) -> None:
        """Drop what is past the window; under a flood, the older half of the rest."""
        since = self._clock() - self._seconds
        recent = {place: times for place, times in self._failures.items() if times[-1] > since}
        by_age = sorted(recent, key=lambda place: recent[place][-1])
        for place in by_age[: max(0, len(recent) - MOST_KNOWN // 2)]:
            del recent[place]
        self._failures = recent


def _places(name: str, address: str) -> tuple[tuple[str, str], ...]:
    """What a log-in is counted under; a wrong API key has no name."""
    places = ("name", name[:200]), ("address", _network(address))
    return places if name else places[1:]


def _network(address: str) -> str:
    """Whose address it is: of IPv6 the first half, since one visitor has all of the second."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ip_network((found, 64), strict=False))
