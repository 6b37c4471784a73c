"""Masks: each pair of holders shares a secret, one adds what comes of it, the other takes it off.

Every word that leaves a holder is uniform to all who do not know its pairs' secrets, and the
masks of all holders sum to zero modulo 2^64 (`masks.md`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import PolicyError

__all__ = ["Party", "Peer", "Round", "Words", "checksum", "make_secret", "mask", "public_key",
           "refuse_shared_keys"]  # fmt: skip

Words = NDArray[np.uint64]
BYTES = 32


@dataclass(frozen=True)
class Peer:
    """Somebody else: a name, the public key that was agreed on beforehand, and an address.

    Raises a PolicyError where the key has not 32 bytes.

    >>> Peer("north", public_key(make_secret()), "127.0.0.1:7001").name
    'north'
    """

    name: str
    key: bytes
    address: str = ""

    def __post_init__(self) -> None:
        if len(self.key) != BYTES:
            raise PolicyError(f"the public key of {self.name!r} must have 32 bytes")


@dataclass(frozen=True)
class Party:
    """Oneself: a name and the secret key, which never leaves and is not printed.

    Raises a PolicyError where the secret has not 32 bytes.

    >>> Party("alice", make_secret())
    Party(name='alice')
    """

    name: str
    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) != BYTES:
            raise PolicyError(f"the secret key of {self.name!r} must have 32 bytes")


@dataclass(frozen=True)
class Round:
    """What all holders of a round agree on; their masks cancel only if every part is equal.

    `nonces` has a number for each participant, drawn by itself for this round alone.
    """

    name: str
    digest: str
    colluding: int
    nonces: Mapping[str, str]
    ring: str

    @property
    def transcript(self) -> bytes:
        """The same bytes wherever the same was agreed on."""
        nonces = sorted(self.nonces.items())
        return json.dumps([self.name, self.digest, self.colluding, nonces, self.ring]).encode()


def make_secret() -> bytes:
    """A new secret key.

    >>> len(make_secret())
    32
    """
    from cryptography.hazmat.primitives.asymmetric import x25519  # noqa: PLC0415 (an extra)

    return x25519.X25519PrivateKey.generate().private_bytes_raw()


def public_key(secret: bytes) -> bytes:
    """The public key that belongs to a secret one of 32 bytes; others are a ValueError.

    >>> secret = make_secret()
    >>> public_key(secret) == public_key(secret), len(public_key(secret))
    (True, 32)
    """
    from cryptography.hazmat.primitives.asymmetric import x25519  # noqa: PLC0415 (an extra)

    return x25519.X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def refuse_shared_keys(peers: Iterable[Peer], file: str = "") -> None:
    """Refuse two names with one key: they are one party, and would count as two."""
    names: dict[bytes, str] = {}
    for peer in peers:
        other = names.setdefault(peer.key, peer.name)
        if other != peer.name:
            raise PolicyError(
                f"{other!r} and {peer.name!r} have the same public key",
                "every party makes a key of its own: adomnia hold key",
                file,
            )


def pair_key(me: Party, other: Peer, purpose: str, transcript: bytes = b"") -> bytes:
    """A key that only these two know, for one purpose and one round."""
    from cryptography.hazmat.primitives import hashes  # noqa: PLC0415 (an extra)
    from cryptography.hazmat.primitives.asymmetric import x25519  # noqa: PLC0415
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415

    mine = x25519.X25519PrivateKey.from_private_bytes(me.secret)
    try:
        shared = mine.exchange(x25519.X25519PublicKey.from_public_bytes(other.key))
    except ValueError:  # a point of small order: the secret would be known to everybody
        raise PolicyError(f"the public key of {other.name!r} is not a usable one") from None
    ends = sorted([mine.public_key().public_bytes_raw(), other.key])
    info = b"adomnia holders 1 " + purpose.encode() + b"".join(ends)
    return HKDF(hashes.SHA256(), BYTES, hashlib.sha256(transcript).digest(), info).derive(shared)


def mask(me: Party, others: Sequence[Peer], agreed: Round, size: int) -> Words:
    """The words that this holder adds in a round; over all participants they sum to zero."""
    total = np.zeros(size, np.uint64)
    for other in others:
        words = _stream(pair_key(me, other, "mask", agreed.transcript), size)
        total += words if me.name < other.name else ~words + np.uint64(1)
    return total


def ring_of(me: Party, others: Iterable[Peer]) -> str:
    """A digest of everybody's public key, as this holder knows them."""
    keys = [(me.name, public_key(me.secret).hex()), *((o.name, o.key.hex()) for o in others)]
    return hashlib.sha256(json.dumps(sorted(keys)).encode()).hexdigest()


def checksum(words: Words, agreed: Round) -> np.uint64:
    """A weighted sum modulo 2^64, the weights odd and from the round: linear in the words.

    So the checksum of a sum is the sum of the checksums, if and only if masks have cancelled.
    """
    weights = _stream(hashlib.sha256(b"check" + agreed.transcript).digest(), words.size)
    return np.uint64(np.sum((weights | np.uint64(1)) * words, dtype=np.uint64))


def _stream(key: bytes, size: int) -> Words:
    """`size` words of ChaCha20's stream; a key is used for one stream only."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms  # noqa: PLC0415

    cipher = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor()
    return np.frombuffer(cipher.update(bytes(8 * size)), "<u8").astype(np.uint64)
