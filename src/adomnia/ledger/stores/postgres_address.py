"""The address of a ledger in PostgreSQL: which ledger of the server it is, beside where that is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from adomnia.storage.address import PostgresAddress

__all__ = ["LedgerAddress"]

NAME = "adomnia"
SCHEMA = "public"
OURS = ("ledger", "schema", "anchor", "adomnia_unsafe")


@dataclass(frozen=True)
class LedgerAddress:
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

        >>> url = "postgresql://me:secret@db.example/books?ledger=people&sslmode=require"
        >>> print(LedgerAddress.of(url))
        postgresql://db.example/books?ledger=people
        """
        try:
            server = PostgresAddress.of(url, OURS)
        except ValueError as error:
            raise ValueError(f"this is no address of a ledger: {error}") from None
        own = server.own
        name = own.get("ledger", NAME)
        if not re.fullmatch(r"[A-Za-z0-9_.-]{1,60}", name):
            raise ValueError("the name of a ledger is made of letters, digits, and . _ -")
        schema = own.get("schema", SCHEMA)
        if not re.fullmatch(r"(?!pg_)[A-Za-z0-9_]{1,60}", schema):
            raise ValueError("the schema of a ledger is made of letters, digits, and _")
        elsewhere = "" if schema == SCHEMA else f"&schema={schema}"
        return cls(
            conninfo=server.conninfo,
            shown=f"{server}?ledger={name}{elsewhere}",
            ledger=name,
            schema=schema,
            anchor=folder / own["anchor"] if own.get("anchor") else None,
            unsafe=own.get("adomnia_unsafe") == "1",
        )

    def __str__(self) -> str:
        return self.shown
