"""Who is signed in: sessions kept by the server; the browser holds a random name and no more."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adomnia.server.accounts import Person

__all__ = ["BrowserSessions"]

IDLE = 30 * 60.0
"""Seconds without a request after which somebody must sign in again."""
LONGEST = 12 * 3600.0
"""Seconds after which everybody must."""
MOST = 10_000


@dataclass
class _SignedIn:
    person: Person
    began: float
    seen: float


class BrowserSessions:
    """Who is signed in, by name; who is idle or old is out. Safe to use from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, _SignedIn] = {}
        self._key = secrets.token_bytes(32)
        self._lock = Lock()

    def begin(self, person: Person) -> str:
        """A new session with a name that nobody had before: whatever name was sent is not kept."""
        name, now = secrets.token_urlsafe(32), self._clock()
        with self._lock:
            self._sweep(now)
            self._open[name] = _SignedIn(person, now, now)
        return name

    def person(self, name: str) -> Person | None:
        """Whose session this is, and a sign that they are still there."""
        now = self._clock()
        with self._lock:
            session = self._open.get(name)
            if session is None or self._over(session, now):
                self._open.pop(name, None)
                return None
            session.seen = now
            return session.person

    def end(self, name: str) -> None:
        """Sign out."""
        with self._lock:
            self._open.pop(name, None)

    def token(self, name: str) -> str:
        """What a form must carry to be from a page that this browser was given."""
        return hmac.new(self._key, name.encode(), hashlib.sha256).hexdigest()

    def accepts(self, name: str, token: str) -> bool:
        """Whether a form carries the token of this browser."""
        return bool(name) and hmac.compare_digest(self.token(name).encode(), token.encode())

    def _over(self, session: _SignedIn, now: float) -> bool:
        return now - session.seen > IDLE or now - session.began > LONGEST

    def _sweep(self, now: float) -> None:
        for name in [n for n, session in self._open.items() if self._over(session, now)]:
            del self._open[name]
        while len(self._open) >= MOST:
            del self._open[min(self._open, key=lambda n: self._open[n].seen)]
