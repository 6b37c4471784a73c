"""The address of a PostgreSQL server: what is for the driver, what is ours, what may be shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import unquote

__all__ = ["SCHEMES", "PostgresAddress", "shown_address"]

SCHEMES = ("postgresql://", "postgres://")
HIDDEN = "postgresql://…"
HOST = re.compile(r"(\[[0-9A-Fa-f:.%]*\]|[\w.%-]*)(:\d*)?")
PLAIN = re.compile(r"[\w.-]*")


@dataclass(frozen=True)
class PostgresAddress:
    """Where a server is: `str` of it is for messages and has no role, password or option.

    `own` are the options that are ours; the driver is not told of them.
    """

    conninfo: str = field(repr=False)
    shown: str
    own: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, url: str, own: Collection[str] = ()) -> Self:
        """The address in a url, with the options named in `own` taken out.

        A ValueError says why it is none, and repeats nothing: what is taken for a host in an
        address that is badly written may be a piece of a password.

        >>> str(PostgresAddress.of("postgresql://me:secret@db.example:5433/books?sslmode=require"))
        'postgresql://db.example:5433/books'
        >>> str(PostgresAddress.of("postgresql://me:se/cr@et@db.example/books"))
        Traceback (most recent call last):
        ValueError: in an address, write / ? @ : of a name or a password as %2F %3F %40 %3A
        """
        base, _, query = url.partition("?")
        scheme, _, rest = base.partition("://")
        place, _, database = rest.partition("/")
        hosts = place.rpartition("@")[2]
        if "@" in database + query or not all(map(HOST.fullmatch, hosts.split(","))):
            raise ValueError(
                "in an address, write / ? @ : of a name or a password as %2F %3F %40 %3A"
            )
        pairs = [pair for pair in query.split("&") if pair]
        named = {key: unquote(value) for key, _, value in (pair.partition("=") for pair in pairs)}
        kept = "&".join(pair for pair in pairs if pair.partition("=")[0] not in own)
        return cls(
            conninfo=f"{base}?{kept}" if kept else base,
            shown=f"{scheme}://{hosts}/{_shown(database)}",
            own={key: value for key, value in named.items() if key in own},
        )

    def __str__(self) -> str:
        return self.shown


def _shown(database: str) -> str:
    """The database's name, unless a sign in it may have led a password there."""
    return database if PLAIN.fullmatch(database) else "…"


def shown_address(url: str) -> str:
    """An address as it may be shown, whatever stands in it; nothing of one that is badly written.

    >>> shown_address("postgresql://me:se/cr@et@db.example/books")
    'postgresql://…'
    """
    try:
        return str(PostgresAddress.of(url))
    except ValueError:
        return HIDDEN
