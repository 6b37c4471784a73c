"""The address of a ledger in PostgreSQL: what is ours in it, and what may be shown of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from urllib.parse import unquote

__all__ = ["SCHEMES", "Address"]

SCHEMES = ("postgresql://", "postgres://")
NAME = "adomnia"
SCHEMA = "public"
OURS = ("ledger", "schema", "anchor", "adomnia_unsafe")
HOST = re.compile(r"(\[[0-9A-Fa-f:.%]*\]|[\w.%-]*)(:\d*)?")
PLAIN = re.compile(r"[\w.-]*")


@dataclass(frozen=True)
class Address:
    """Where a ledger is: `str` of it is for messages and has no user and no password.

    `ledger` tells several ledgers of one database apart, and `schema` is where they all are,
    whatever the search path of whoever asks. `anchor` is a file on this machine
    that notices when the database was set back (`ledger.md`). `unsafe` accepts a server that
    may lose what it acknowledged, for tests.
    """

    conninfo: str = field(repr=False)
    shown: str
    ledger: str = NAME
    schema: str = SCHEMA
    anchor: Path | None = None
    unsafe: bool = False

    @classmethod
    def of(cls, url: str, folder: Path = Path()) -> Self:
        """The address in a url; files in it are found from `folder`. A ValueError says why not.

        >>> print(Address.of("postgresql://me:secret@db.example/books?ledger=people&sslmode=require"))
        postgresql://db.example/books?ledger=people
        """
        base, _, query = url.partition("?")
        scheme, _, rest = base.partition("://")
        place, _, database = rest.partition("/")
        hosts = place.rpartition("@")[2]
        if "@" in database + query or not all(map(HOST.fullmatch, hosts.split(","))):
            # What is taken for a host here may be a piece of a password: it is not repeated.
            raise ValueError("in the address of the ledger, write / ? @ : as %2F %3F %40 %3A")
        pairs = [pair for pair in query.split("&") if pair]
        own = {key: unquote(value) for key, _, value in (pair.partition("=") for pair in pairs)}
        name = own.get("ledger", NAME)
        if not re.fullmatch(r"[A-Za-z0-9_.-]{1,60}", name):
            raise ValueError("the name of a ledger is made of letters, digits, and . _ -")
        schema = own.get("schema", SCHEMA)
        if not re.fullmatch(r"(?!pg_)[A-Za-z0-9_]{1,60}", schema):
            raise ValueError("the schema of a ledger is made of letters, digits, and _")
        kept = "&".join(pair for pair in pairs if pair.partition("=")[0] not in OURS)
        elsewhere = "" if schema == SCHEMA else f"&schema={schema}"
        return cls(
            conninfo=f"{base}?{kept}" if kept else base,
            shown=f"{scheme}://{hosts}/{_shown(database)}?ledger={name}{elsewhere}",
            ledger=name,
            schema=schema,
            anchor=folder / own["anchor"] if own.get("anchor") else None,
            unsafe=own.get("adomnia_unsafe") == "1",
        )

    def __str__(self) -> str:
        return self.shown


def _shown(database: str) -> str:
    """The database's name, unless a sign in it may have led a password there."""
    return database if PLAIN.fullmatch(database) else "…"
