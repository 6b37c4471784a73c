"""Entries: the lines of the journal, each bound to the one before by its digest (`ledger.md`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from json.encoder import encode_basestring_ascii as quoted
from typing import Any
from uuid import uuid4

from adomnia.errors import LedgerError

__all__ = ["KINDS", "Entry", "Record", "canonical", "chained", "opened", "parsed", "receipt"]

KINDS = frozenset({"opened", "reserved", "answered", "prior"})
"""What an entry may be. A kind is never removed and never changes its meaning."""

FORMAT = 1
ROOT = "0" * 64
"""What the first entry has in the place of a previous digest."""


@dataclass(frozen=True)
class Record:
    """What is to be written: an entry that has no place in the chain yet."""

    kind: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """One line of the journal; the digest covers all the other fields."""

    number: int
    at: str
    kind: str
    body: Mapping[str, Any]
    previous: str
    digest: str


def receipt(entry: Entry) -> str:
    """What is shown of a reservation: 32 characters of its digest."""
    return entry.digest[:32]


def opened() -> Record:
    """The first record of a new journal; its salt makes receipts of two journals differ."""
    return Record("opened", {"format": FORMAT, "salt": uuid4().hex})


def chained(record: Record, number: int, previous: str) -> Entry:
    """The record as entry `number`, following the entry whose digest is `previous`."""
    if record.kind not in KINDS:
        raise LedgerError(f"an entry of the unknown kind {record.kind!r} was to be written")
    at = datetime.now(UTC).isoformat(timespec="microseconds")
    text = canonical(record.body)
    digest = _digest(number, at, record.kind, text, previous)
    return Entry(number, at, record.kind, _body("the new entry", text), previous, digest)


def canonical(value: Any) -> str:
    """The one JSON text of a value: sorted names, no spaces, ASCII, no NaN."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise LedgerError("only plain JSON can be written to the journal") from error


def parsed(row: tuple[Any, ...]) -> Entry:
    """The entry of a stored row (number, at, kind, body text, previous, digest).

    A row that was altered, or is of an unknown kind, is refused with its number.
    """
    number, at, kind, text, previous, digest = row
    named = f"entry {number}"
    if type(number) is not int or not all(isinstance(field, str) for field in row[1:]):
        raise LedgerError(f"{named}: a field is missing or not text")
    if _digest(number, at, kind, text, previous) != digest:
        raise LedgerError(f"{named}: its content does not match its digest")
    if kind not in KINDS:
        raise LedgerError(
            f"{named}: this version does not know the kind {kind!r}",
            hint="use the version that wrote it, or a newer one",
        )
    return Entry(number, at, kind, _body(named, text), previous, digest)


def _body(named: str, text: str) -> Mapping[str, Any]:
    try:
        body = json.loads(text)
    except ValueError as error:
        raise LedgerError(f"{named}: its body is not JSON") from error
    if not isinstance(body, dict):
        raise LedgerError(f"{named}: its body is not a JSON object")
    return body


def _digest(number: int, at: str, kind: str, text: str, previous: str) -> str:
    """SHA-256 of the canonical JSON of the five; the body goes in as the text that is stored,
    so that no other spelling of the same value has the same digest."""
    line = f"[{number},{quoted(at)},{quoted(kind)},{text},{quoted(previous)}]"
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()
