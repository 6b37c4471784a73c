"""A statistical database for sensitive data: SQL in, private answers out, paid from a ledger."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adomnia.curator.answer import Answer
    from adomnia.curator.database import Database
    from adomnia.curator.database import open_database as open
    from adomnia.curator.forecast import Forecast
    from adomnia.curator.network import open_graph
    from adomnia.curator.session import Session
    from adomnia.errors import (
        AdomniaError,
        BudgetError,
        CancelledError,
        LedgerError,
        MachineryError,
        NotAllowedError,
        PolicyError,
        QuestionError,
    )
    from adomnia.server.holders.together import open_holders

__all__ = [
    "AdomniaError",
    "Answer",
    "BudgetError",
    "CancelledError",
    "Database",
    "Forecast",
    "LedgerError",
    "MachineryError",
    "NotAllowedError",
    "PolicyError",
    "QuestionError",
    "Session",
    "open",
    "open_graph",
    "open_holders",
]
__version__ = "0.1.0"

_HOMES = {
    "Answer": ("adomnia.curator.answer", "Answer"),
    "Database": ("adomnia.curator.database", "Database"),
    "Forecast": ("adomnia.curator.forecast", "Forecast"),
    "Session": ("adomnia.curator.session", "Session"),
    "open": ("adomnia.curator.database", "open_database"),
    "open_graph": ("adomnia.curator.network", "open_graph"),
    "open_holders": ("adomnia.server.holders.together", "open_holders"),
}


def __getattr__(name: str) -> Any:
    """Public names are loaded when they are first used, so that `adomnia --help` is quick."""
    if name not in __all__:
        raise AttributeError(f"module 'adomnia' has no attribute {name!r}")
    room, real = _HOMES.get(name, ("adomnia.errors", name))
    return getattr(import_module(room), real)
