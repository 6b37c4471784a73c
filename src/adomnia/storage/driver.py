"""The driver of PostgreSQL, an extra, and connections that notice a server that is gone.

Nothing is set for a whole connection and nothing is prepared: a pool in between may hand every
transaction another one, or reset it between two (`DISCARD ALL`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.errors import AdomniaError

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["connect", "driver"]

DEADLINES = {
    "application_name": "adomnia",
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""How soon a dead server is noticed, where the address does not say it."""


def driver(what: str, failure: type[AdomniaError]) -> Any:
    """The module psycopg; without it, the `failure` says what needs it."""
    try:
        import psycopg  # noqa: PLC0415 (only those who have PostgreSQL need it)
    except ImportError:
        hint = "install it with: pip install 'adomnia[postgres]'"
        raise failure(f"{what} needs the package psycopg", hint) from None
    return psycopg


def connect(conninfo: str, **settings: Any) -> Connection[Any]:
    """A connection whose transactions are begun and ended by whoever uses it."""
    import psycopg  # noqa: PLC0415 (an extra)

    known = psycopg.conninfo.conninfo_to_dict(conninfo)
    deadlines = {name: value for name, value in DEADLINES.items() if name not in known}
    said: dict[str, Any] = {"client_encoding": "UTF8", "prepare_threshold": None, **deadlines}
    return psycopg.connect(conninfo, autocommit=True, **said, **settings)
