"""Entries: the lines of the journal, each bound to the one before by its digest (`ledger.md`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from json.encoder import encode_basestring_ascii as quoted
from typing import Any, Literal, get_args
from uuid import uuid4

from adomnia.errors import LedgerError
from adomnia.privacy.composition import Budget
from adomnia.privacy.loss import Loss

__all__ = [
    "FORMAT",
    "KINDS",
    "ROOT",
    "Amounts",
    "Entry",
    "EntryKind",
    "Record",
    "Row",
    "canonical",
    "chained",
    "heads",
    "opened",
    "parsed",
    "read_body",
    "read_loss",
    "receipt",
    "short",
    "write_budget",
    "write_loss",
]

EntryKind = Literal[
    "opened", "reserved", "answered", "repeated", "prior", "budget", "edition", "blocks"
]
KINDS: frozenset[EntryKind] = frozenset(get_args(EntryKind))
"""What an entry may be. A kind is never removed and never changes its meaning."""

FORMAT = 2
ROOT = bytes(32)
"""What the first entry has in the place of a previous digest."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

Row = tuple[Any, ...]
"""A stored row: number, at, kind, head, body digest, digest; and, where it was asked for, body."""


@dataclass(frozen=True)
class Record:
    """What is to be written: an entry that has no place in the chain yet.

    The head is small and is all that an account adds up and finds things by; the body is read
    only where somebody asks for it.
    """

    kind: EntryKind
    head: Mapping[str, Any]
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Entry:
    """One line of the journal; the digest covers all before it, the body by its own digest.

    `text` is the body as it is stored, and None where there is none or it was not asked for.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     answer = database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
    ...     entry = database.reservation(answer.receipt)
    >>> entry.number, entry.kind, entry.head["analyst"]
    (3, 'reserved', 'curator')
    """

    number: int
    moment: int
    kind: EntryKind
    head: Mapping[str, Any]
    body_digest: bytes | None
    previous: bytes
    digest: bytes
    text: str | None = None

    @property
    def at(self) -> str:
        """When it was written, by the clock of whoever wrote it (UTC)."""
        return (EPOCH + self.moment * MICROSECOND).isoformat(timespec="microseconds")

    @property
    def body(self) -> Mapping[str, Any]:
        """What is kept beside the head; an empty object where nothing is.

        Raises a LedgerError where it was not read with the entry, or is no JSON.
        """
        if self.text is None:
            if self.body_digest is not None:
                raise LedgerError(f"the body of entry {self.number} was not read")
            return {}
        return _object(f"entry {self.number}: its body", self.text)


def receipt(entry: Entry) -> str:
    """What is shown of a reservation: 32 characters of its digest."""
    return short(entry.digest)


def short(digest: bytes) -> str:
    """The receipt of the reservation with this digest."""
    return digest[:16].hex()


def opened(more: Mapping[str, Any] | None = None) -> Record:
    """The first record of a new journal; its salt makes receipts of two journals differ."""
    return Record("opened", {"format": FORMAT, "salt": uuid4().hex, **(more or {})})


def chained(record: Record, number: int, previous: bytes) -> Entry:
    """The record as entry `number`, following the entry whose digest is `previous`."""
    if record.kind not in KINDS:
        raise LedgerError(f"an entry of the unknown kind {record.kind!r} was to be written")
    moment = (datetime.now(UTC) - EPOCH) // MICROSECOND
    head = canonical(record.head)
    text = None if record.body is None else canonical(record.body)
    inner = None if text is None else _sha(text)
    digest = _digest(number, moment, record.kind, head, inner, previous)
    read = _object("the new entry: its head", head)
    return Entry(number, moment, record.kind, read, inner, previous, digest, text)


def canonical(value: Any) -> str:
    """The one JSON text of a value: sorted names, no spaces, ASCII, no NaN."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise LedgerError("only plain JSON can be written to the journal") from error


def parsed(row: Row, previous: bytes) -> Entry:
    """The entry of a stored row that follows the entry with the digest `previous`.

    A row that was altered, or is of an unknown kind, is refused with its number; a body that was
    read with it is checked as well.
    """
    number, moment, kind, head, inner, digest = row[:6]
    _check(row, previous)
    text = read_body(number, inner, row[6]) if len(row) > 6 else None
    read = _object(f"entry {number}: its head", head)
    return Entry(number, moment, kind, read, inner, previous, digest, text)


def read_body(number: int, digest: bytes | None, text: Any) -> str | None:
    """The text of a body, if it is what the entry says."""
    if text is None and digest is not None:
        raise LedgerError(f"entry {number}: its body is missing")
    if text is not None and (not isinstance(text, str) or _sha(text) != digest):
        raise LedgerError(f"entry {number}: its body does not match its digest")
    return text


def heads(rows: Iterable[Row], number: int, previous: bytes) -> list[tuple[Row, Any]]:
    """Rows and their heads, each checked to follow the one before; the first follows `number`.

    All heads are parsed as one text, which takes a third of the time; what is no JSON by itself
    is looked for only where that fails.
    """
    kept = list(rows)
    for row in kept:
        number += 1
        if row[0] != number:
            raise LedgerError(f"entry {number} is missing")
        _check(row, previous)
        previous = row[5]
    try:
        read = json.loads(f"[{','.join(row[3] for row in kept)}]")
    except ValueError:
        read = []
    if len(read) != len(kept):
        read = [_object(f"entry {row[0]}: its head", row[3]) for row in kept]
    return list(zip(kept, read, strict=True))


def _check(row: Row, previous: bytes) -> None:
    number, moment, kind, head, inner, digest = row[:6]
    try:
        same = _digest(number, moment, kind, head, inner, previous) == digest
    except (AttributeError, TypeError, ValueError):  # a field that is not of its type
        same = False
    if not same or type(moment) is not int:
        raise LedgerError(
            f"entry {number}: its digest does not match its content and the entry before"
        )
    if kind not in KINDS:
        raise LedgerError(
            f"entry {number}: this version does not know the kind {kind!r}",
            hint="use the version that wrote it, or a newer one",
        )


def _object(named: str, text: str) -> Mapping[str, Any]:
    try:
        read = json.loads(text)
    except ValueError as error:
        raise LedgerError(f"{named} is not JSON") from error
    if not isinstance(read, dict):
        raise LedgerError(f"{named} is not a JSON object")
    return read


def _digest(
    number: int, moment: int, kind: str, head: str, inner: bytes | None, previous: bytes
) -> bytes:
    """SHA-256 of the canonical JSON of the six; the head goes in as the text that is stored, so
    that no other spelling of the same value has the same digest."""
    body = "null" if inner is None else f'"{inner.hex()}"'
    line = f'[{number},{moment},{quoted(kind)},{head},{body},"{previous.hex()}"]'
    return sha256(line.encode("utf-8", "surrogatepass")).digest()


def _sha(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


# Losses and budgets as the ledger writes them: names and exact fractions.

Amounts = Mapping[str, str]
"""Names of amounts and the amounts, for example {"epsilon": "1/10"}."""


def write_loss(loss: Loss) -> dict[str, str]:
    """A loss by its fields that are not zero."""
    return {name: str(amount) for name, amount in vars(loss).items() if amount}


def read_loss(written: Amounts) -> Loss:
    """The loss in a record; equal ones are one object, because most uses cost what others did."""
    return _read(tuple(written.items()))


def write_budget(budget: Budget) -> dict[str, str]:
    """A budget by its amounts."""
    return {name: str(amount) for name, amount in vars(budget).items() if amount is not None}


@lru_cache(maxsize=65536)
def _read(written: tuple[tuple[str, str], ...]) -> Loss:
    amounts = {name: Fraction(amount) for name, amount in written}
    if min(amounts.values(), default=Fraction(0)) < 0:
        raise ValueError("a loss is never below zero")
    return Loss(**amounts)
