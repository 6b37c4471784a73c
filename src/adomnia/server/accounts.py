"""Accounts: who may come in over the network, as curator or as analyst.

Of a secret only a scrypt hash is kept and the SCRAM verifier that psql's protocol needs; of an
API key only a hash. What was shown once cannot be shown again.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime

from adomnia.curator.access import CURATOR, Closing
from adomnia.errors import NotAllowedError, QuestionError
from adomnia.policy.policy import Policy
from adomnia.server.account_store import AccountStore, open_store
from adomnia.server.credential_cache import CredentialCache
from adomnia.wire.protocol.scram import ScramVerifier, fake_verifier, make_verifier

__all__ = [
    "ROLES",
    "Accounts",
    "Key",
    "Person",
    "ScramVerifier",
    "UnauthenticatedError",
    "open_accounts",
]

ROLES = ("analyst", "curator")
SECRET_BYTES = 24
"""A made secret has 192 bits, so that a stolen hash of it is worth nothing."""

SHORTEST, LONGEST = 8, 256
SCRYPT = (2**15, 8, 1)
"""scrypt's n, r and p for new hashes; each hash is stored with its own."""

SECONDS = 300.0
"""How long a right secret is not hashed again."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,62}")
_KEY = re.compile(r"adomnia_([0-9a-f]{12})_([0-9a-f]{48})")


class UnauthenticatedError(NotAllowedError):
    """Nobody is known by this name and secret, or by this key."""

    code = "stranger"  # by this name the API has always told it
    http_status = 401
    sqlstate = "28P01"


@dataclass(frozen=True)
class Person:
    """Somebody with an account; the role is analyst or curator.

    `mark` tells accounts of one name apart: it changes with the secret.
    """

    name: str
    role: str
    mark: str = field(default="", compare=False, repr=False)

    @property
    def is_curator(self) -> bool:
        """Whether they see the questions of everybody."""
        return self.role == "curator"


@dataclass(frozen=True)
class Key:
    """An API key without its secret part."""

    identity: str
    label: str
    made_at: str


class Accounts(Closing):
    """The people who have an account. It may be used from several threads and processes."""

    def __init__(self, store: AccountStore) -> None:
        self._store = store
        self._proven = CredentialCache[bool](SECONDS)
        store.change(
            "INSERT INTO adomnia_facts VALUES ('fake', ?) ON CONFLICT DO NOTHING",
            secrets.token_hex(32),
        )
        ((fake,),) = store.rows("SELECT value FROM adomnia_facts WHERE name = 'fake'")
        self._fake = bytes.fromhex(fake)

    def add(self, name: str, role: str, secret: str | None = None) -> str:
        """Add somebody; their secret, which is made where none is given, comes back."""
        _check(name, role)
        secret = _checked(secret) if secret is not None else secrets.token_urlsafe(SECRET_BYTES)
        verifier = make_verifier(secret, secrets.token_bytes(16)).to_text()
        added = self._store.change(
            "INSERT INTO adomnia_accounts VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            name,
            role,
            _hashed(secret),
            verifier,
        )
        if not added:
            hint = f"for another secret: adomnia account remove {name}, then add"
            raise QuestionError(f"there is an account {name!r} already", hint)
        return secret

    def remove(self, name: str) -> None:
        """Remove somebody, with their keys; what they have spent stays in the ledger."""
        if not self._store.change("DELETE FROM adomnia_accounts WHERE name = ?", name):
            raise _nobody(name)

    def people(self) -> tuple[Person, ...]:
        """Everybody, by name."""
        rows = self._store.rows("SELECT name, role, hashed FROM adomnia_accounts ORDER BY name")
        return tuple(_person(*row) for row in rows)

    def person(self, name: str) -> Person | None:
        """Somebody by name."""
        row = self._named("role, hashed", name)
        return _person(name, *row) if row else None

    def still(self, person: Person) -> bool:
        """Whether the account by which somebody came in is there, with the same secret and role."""
        found = self.person(person.name)
        return found == person and found.mark == person.mark

    def check(self, name: str, secret: str) -> Person | None:
        """Who this is, if the secret is theirs. An unknown name takes as long as a wrong secret.

        What was proven is remembered with the hash it was proven against, so that a removed
        account or a new secret ends it at once.
        """
        row = self._named("role, hashed", name)
        role, hashed = row or ("", _NOBODY)
        if self._proven.get(name, secret, hashed):
            return _person(name, role, hashed)
        if not _matches(secret, hashed) or row is None:
            return None
        self._proven.put(True, name, secret, hashed)
        return _person(name, role, hashed)

    def scram(self, name: str) -> ScramVerifier:
        """What psql's log-in is checked against; for an unknown name one that nothing fits."""
        row = self._named("verifier", name)
        return ScramVerifier.from_text(row[0]) if row else fake_verifier(name, self._fake)

    def make_key(self, name: str, label: str = "") -> str:
        """A new API key of somebody; it is shown now and never again."""
        if len(label) > 80 or not label.isprintable():
            raise QuestionError("a label is one line of at most 80 characters")
        identity, secret = secrets.token_hex(6), secrets.token_hex(24)
        made = self._store.change(
            "INSERT INTO adomnia_keys (identity, label, hashed, made_at, name)"
            " SELECT ?, ?, ?, ?, name FROM adomnia_accounts WHERE name = ?",
            identity,
            label,
            _digest(secret),
            datetime.now(UTC).isoformat(timespec="seconds"),
            name,
        )
        if not made:
            raise _nobody(name)
        return f"adomnia_{identity}_{secret}"

    def check_key(self, key: str) -> Person | None:
        """Whose API key this is."""
        found = _KEY.fullmatch(key)
        if found is None:
            return None
        rows = self._store.rows(
            "SELECT a.name, a.role, a.hashed, k.hashed FROM adomnia_keys k JOIN adomnia_accounts a"
            " ON a.name = k.name WHERE k.identity = ?",
            found[1],
        )
        for *account, hashed in rows:
            if hmac.compare_digest(hashed, _digest(found[2])):
                return _person(*account)
        return None

    def keys(self, name: str) -> tuple[Key, ...]:
        """The API keys of somebody, oldest first."""
        rows = self._store.rows(
            "SELECT identity, label, made_at FROM adomnia_keys WHERE name = ?"
            " ORDER BY made_at, identity",
            name,
        )
        return tuple(Key(*row) for row in rows)

    def revoke_key(self, name: str, identity: str) -> None:
        """Let one API key of somebody open nothing any more."""
        gone = self._store.change(
            "DELETE FROM adomnia_keys WHERE name = ? AND identity = ?", name, identity
        )
        if not gone:
            hint = "adomnia account list shows the keys of everybody"
            raise QuestionError(f"{name} has no key {identity[:40]!r}", hint)

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def _named(self, columns: str, name: str) -> tuple[str, ...] | None:
        if not _NAME.fullmatch(name):  # PostgreSQL takes no NUL, SQLite no lone surrogate
            return None
        statement = f"SELECT {columns} FROM adomnia_accounts WHERE name = ?"  # noqa: S608 (ours)
        rows = self._store.rows(statement, name)
        return rows[0] if rows else None


def open_accounts(policy: Policy) -> Accounts:
    """The accounts of a policy: `[accounts] url`, or the file `adomnia.accounts` beside it."""
    return Accounts(open_store(policy.beside(policy.accounts)))


def _person(name: str, role: str, hashed: str) -> Person:
    """Somebody as they are stored; the salt of the hash is new with every secret."""
    return Person(name, role, _digest(hashed)[:16])


def _check(name: str, role: str) -> None:
    if not _NAME.fullmatch(name):
        raise QuestionError(
            f"{name[:63]!r} cannot be a name",
            "at most 63 letters, digits and _ . @ + -, beginning with a letter, a digit or _",
        )
    if role not in ROLES:
        raise QuestionError(f"{role[:40]!r} is not a role", "analyst or curator")
    if role == "analyst" and name == CURATOR:
        raise QuestionError(
            f"no analyst can be named {CURATOR}", "the ledger names all curators so"
        )


def _checked(secret: str) -> str:
    """A secret that all listeners spell the same: psql prepares other characters in its own way."""
    if not SHORTEST <= len(secret) <= LONGEST or not (secret.isascii() and secret.isprintable()):
        raise QuestionError(
            f"a secret has {SHORTEST} to {LONGEST} printable ASCII characters",
            "or leave it out: then one is made",
        )
    return secret


def _nobody(name: str) -> QuestionError:
    return QuestionError(f"there is no account {name[:63]!r}", "adomnia account list shows them")


def _digest(secret: str) -> str:
    """A key's secret is random and long: a plain hash of it cannot be searched."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _hashed(secret: str) -> str:
    n, r, p = SCRYPT
    salt = secrets.token_bytes(16)
    return f"scrypt${n}${r}${p}${salt.hex()}${_scrypt(secret, salt, n, r, p).hex()}"


def _matches(secret: str, hashed: str) -> bool:
    _, n, r, p, salt, wanted = hashed.split("$")
    found = _scrypt(secret, bytes.fromhex(salt), int(n), int(r), int(p))
    return hmac.compare_digest(found, bytes.fromhex(wanted))


def _scrypt(secret: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    text = secret[: LONGEST + 1].encode("utf-8", "surrogatepass")
    return hashlib.scrypt(text, salt=salt, n=n, r=r, p=p, maxmem=(n * r + r * p) * 128 + 2**20)


_NOBODY = "$".join(("scrypt", *map(str, SCRYPT), "00" * 16, "00" * 64))
"""What the secret of an unknown name is held against, so that it takes as long as a wrong one."""
