"""A statistical database for sensitive data: SQL in, private answers out, paid from a ledger."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from adomnia.curator.answers.answer import Answer
    from adomnia.curator.networks.network import open_graph
    from adomnia.curator.query_plan import QueryPlan
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
        ReusedKeyError,
    )
    from adomnia.federation.joint_session import JointSession, open_holders
    from adomnia.federation.masks import Party, Peer
    from adomnia.review.database import Database

__all__ = [
    "AdomniaError",
    "Answer",
    "BudgetError",
    "CancelledError",
    "Database",
    "LedgerError",
    "MachineryError",
    "NotAllowedError",
    "PolicyError",
    "QueryPlan",
    "QuestionError",
    "ReusedKeyError",
    "Session",
    "open",
    "open_graph",
    "open_holders",
]
__version__ = "0.1.0"

_HOMES = {
    "Answer": ("adomnia.curator.answers.answer", "Answer"),
    "Database": ("adomnia.review.database", "Database"),
    "QueryPlan": ("adomnia.curator.query_plan", "QueryPlan"),
    "Session": ("adomnia.curator.session", "Session"),
    "open_graph": ("adomnia.curator.networks.network", "open_graph"),
    "open_holders": ("adomnia.federation.joint_session", "open_holders"),
}


@overload
def open(policy: str | Path = ..., *, accept: bool = ..., source: Any = ...) -> Database: ...
@overload
def open(
    policy: Iterable[Peer],
    *,
    me: Party,
    domains: str | Path = ...,
    least: int = ...,
    seconds: float = ...,
) -> JointSession: ...
def open(policy: Any = "adomnia.toml", **said: Any) -> Any:
    """The database that a policy file describes; given several holders, all of them as one.

    A `source` is read in the place of the policy's: a path, an address, or what PySpark has open.
    Of holders, `me` is who asks and `domains` the policy file that declares what they hold.
    """
    if isinstance(policy, (list, tuple)):
        join = import_module("adomnia.federation.joint_session").open_holders
        return join(policy, said.pop("me"), said.pop("domains", "adomnia.toml"), **said)
    return import_module("adomnia.review.database").open_database(policy, **said)


def __getattr__(name: str) -> Any:
    """Public names are loaded when they are first used, so that `adomnia --help` is quick."""
    if name not in __all__:
        raise AttributeError(f"module 'adomnia' has no attribute {name!r}")
    room, real = _HOMES.get(name, ("adomnia.errors", name))
    return getattr(import_module(room), real)
