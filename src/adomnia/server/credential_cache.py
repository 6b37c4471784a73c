"""What was found out a moment ago about a secret, without keeping the secret.

scrypt is slow on purpose, and a client sends its secret with every request.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["CredentialCache"]

T = TypeVar("T")

MAX_VALUES = 1024


class CredentialCache(Generic[T]):
    """Values under secret texts for some seconds; the texts are kept as codes.

    The codes are made with a key that only this process has, so that its memory is of no use
    elsewhere. Only the latest values are kept.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds, self._key, self._lock = seconds, secrets.token_bytes(32), Lock()
        self._values: OrderedDict[bytes, tuple[float, T]] = OrderedDict()

    def get(self, *texts: str) -> T | None:
        """What was put under these texts, unless it was too long ago."""
        with self._lock:
            until, value = self._values.get(self._code(texts), (0.0, None))
        return value if until > time.monotonic() else None

    def put(self, value: T, *texts: str) -> None:
        """Keep a value under these texts for so many seconds."""
        with self._lock:
            self._values[self._code(texts)] = (time.monotonic() + self._seconds, value)
            while len(self._values) > MAX_VALUES:
                self._values.popitem(last=False)

    def _code(self, texts: tuple[str, ...]) -> bytes:
        joined = "".join(f"{len(text)}:{text}" for text in texts)
        return hmac.digest(self._key, joined.encode("utf-8", "surrogatepass"), "sha256")
