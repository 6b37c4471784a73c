"""SCRAM-SHA-256 and SCRAM-SHA-256-PLUS at the server's end (RFC 5802, 7677, 5929).

The client proves that it knows the secret and the server that it has the verifier; neither
sends anything that would let a listener do so. With PLUS both also name the certificate that
they see, so that nobody can sit in between.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass

from adomnia.wire.errors import WireError

__all__ = [
    "ITERATIONS",
    "PLAIN",
    "PLUS",
    "Exchange",
    "FirstMessage",
    "ScramVerifier",
    "fake_verifier",
    "make_verifier",
    "mechanisms",
    "parse_first",
]

# SCRAM-SHA-256 verifiers (RFC 5802, RFC 7677): what psql's log-in is checked against.
#
# A verifier cannot log in by itself, but whoever steals it can try secrets against it.

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


PLAIN, PLUS = "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"
BINDING = "tls-server-end-point"


def mechanisms(end_point: bytes | None) -> tuple[str, ...]:
    """What is offered: channel binding where there is a channel to bind to."""
    return (PLAIN,) if end_point is None else (PLUS, PLAIN)


@dataclass(frozen=True)
class FirstMessage:
    """What the client opens with: how it binds the channel, and its nonce."""

    header: str
    bare: str
    nonce: str


def parse_first(mechanism: str, data: bytes, end_point: bytes | None) -> FirstMessage:
    """The client's first message, whose channel binding must agree with what was offered."""
    text = _ascii(data)
    parts = text.split(",")
    if len(parts) < 4 or not parts[3].startswith("r=") or len(parts[3]) < 10:
        raise _malformed()
    flag, identity = parts[0], parts[1]
    if identity and not identity.startswith("a="):
        raise _malformed()
    if flag == "y" and end_point is not None:
        # It believes that we cannot bind channels; we offered to: somebody took the offer out.
        raise WireError("the offer of channel binding did not arrive", "", "28000", fatal=True)
    wanted = f"p={BINDING}" if mechanism == PLUS else flag if flag in ("n", "y") else ""
    if flag != wanted or (mechanism == PLUS and end_point is None):
        raise _malformed()
    header = f"{flag},{identity},"
    return FirstMessage(header, text.removeprefix(header), parts[3].removeprefix("r="))


class Exchange:
    """One log-in, from the client's first message on."""

    def __init__(
        self, first: FirstMessage, verifier: ScramVerifier, end_point: bytes | None, nonce: str = ""
    ) -> None:
        self._first, self._verifier, self._end_point = first, verifier, end_point
        self._nonce = first.nonce + (nonce or secrets.token_urlsafe(18))
        salt = base64.b64encode(verifier.salt).decode()
        self.challenge = f"r={self._nonce},s={salt},i={verifier.iterations}".encode()

    def finish(self, data: bytes) -> bytes | None:
        """The server's own proof if the client's holds, otherwise nothing."""
        without_proof, mark, proof_text = _ascii(data).rpartition(",p=")
        parts = without_proof.split(",")
        if not mark or len(parts) < 2:
            raise _malformed()
        bound = parts[0] == "c=" + base64.b64encode(self._binding()).decode()
        repeated = parts[1] == "r=" + self._nonce
        try:
            proof = base64.b64decode(proof_text, validate=True)
        except binascii.Error:
            raise _malformed() from None
        message = b",".join((self._first.bare.encode(), self.challenge, without_proof.encode()))
        if not self._proven(proof, message) or not bound or not repeated:
            return None
        signature = hmac.digest(self._verifier.server_key, message, "sha256")
        return b"v=" + base64.b64encode(signature)

    def _binding(self) -> bytes:
        header = self._first.header
        bound = self._end_point or b"" if header.startswith("p") else b""
        return header.encode() + bound

    def _proven(self, proof: bytes, message: bytes) -> bool:
        signature = hmac.digest(self._verifier.stored_key, message, "sha256")
        if len(proof) != len(signature):
            return False
        key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
        return hmac.compare_digest(hashlib.sha256(key).digest(), self._verifier.stored_key)


def _ascii(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise _malformed() from None


def _malformed() -> WireError:
    return WireError("the SCRAM message is malformed", "", "08P01", fatal=True)
