"""SCRAM-SHA-256 verifiers (RFC 5802, RFC 7677): what psql's log-in is checked against.

A verifier cannot log in by itself, but whoever steals it can try secrets against it.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

__all__ = ["ITERATIONS", "ScramVerifier", "fake_verifier", "make_verifier"]

ITERATIONS = 32_768


@dataclass(frozen=True)
class ScramVerifier:
    """What a server keeps of a secret."""

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes

    def to_text(self) -> str:
        """The verifier in PostgreSQL's own spelling, with hexadecimal digits."""
        parts = (self.salt, self.stored_key, self.server_key)
        salt, stored, server = (part.hex() for part in parts)
        return f"SCRAM-SHA-256${self.iterations}:{salt}${stored}:{server}"

    @classmethod
    def from_text(cls, text: str) -> ScramVerifier:
        """The verifier that `to_text` has written."""
        _, first, second = text.split("$")
        iterations, salt = first.split(":")
        stored, server = second.split(":")
        return cls(
            bytes.fromhex(salt), int(iterations), bytes.fromhex(stored), bytes.fromhex(server)
        )


def make_verifier(secret: str, salt: bytes, iterations: int = ITERATIONS) -> ScramVerifier:
    """The verifier of a secret of printable ASCII, which SASLprep leaves as it is."""
    salted = hashlib.pbkdf2_hmac("sha256", secret.encode(), salt, iterations)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    return ScramVerifier(salt, iterations, hashlib.sha256(client_key).digest(), server_key)


def fake_verifier(name: str, key: bytes) -> ScramVerifier:
    """A verifier that no secret fits, always the same for a name: an unknown name shows nothing."""
    salt, stored, server = (
        hmac.digest(key, f"{part}:{name}".encode("utf-8", "surrogatepass"), "sha256")
        for part in ("salt", "stored", "server")
    )
    return ScramVerifier(salt[:16], ITERATIONS, stored, server)
