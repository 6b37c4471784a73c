"""Who answers: all that a library of the protocol cannot know itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, Protocol, TypeVar

from adomnia.wire.statements.connection_state import ConnectionState
from adomnia.wire.statements.lexer import ClientStatement, TokenStream
from adomnia.wire.statements.results import Command

__all__ = ["QueryHandler"]

P = ParamSpec("P")
T = TypeVar("T")


class QueryHandler(Protocol):
    """What answers the queries of one connection; its errors are WireErrors."""

    @property
    def state(self) -> ConnectionState:
        """What the connection has set, prepared, opened and begun."""

    async def query(self, statement: ClientStatement, declared: Sequence[int]) -> Command:
        """A query that is understood and not run yet; its parameters may be declared by oid."""

    async def explain(self, words: TokenStream, declared: Sequence[int]) -> Command:
        """`EXPLAIN …`, its first word read already."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a function gives that would keep others waiting."""
