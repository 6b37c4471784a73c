"""Who answers a connection's queries: the catalogue, or the curator for what is private."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

from adomnia.server.postgres.connection_context import ConnectionContext
from adomnia.server.postgres.errors import wire_errors
from adomnia.server.postgres.explain import explain_command
from adomnia.server.postgres.questions import query_command
from adomnia.wire.statements.connection_state import ConnectionState
from adomnia.wire.statements.lexer import ClientStatement, TokenStream
from adomnia.wire.statements.results import Command, Outcome

__all__ = ["QuestionHandler"]

P = ParamSpec("P")
T = TypeVar("T")


class QuestionHandler:
    """The `QueryHandler` of one connection; what is refused beneath it becomes a WireError."""

    def __init__(self, context: ConnectionContext) -> None:
        self.context = context

    @property
    def state(self) -> ConnectionState:
        """What the connection has set, prepared, opened and begun."""
        return self.context.state

    async def query(self, statement: ClientStatement, declared: Sequence[int]) -> Command:
        """A SELECT that is understood: of the catalogue, or of the private table."""
        with wire_errors():
            return _guarded(await query_command(self.context, statement, declared))

    async def explain(self, words: TokenStream, declared: Sequence[int]) -> Command:
        """What an answer would cost and how far off it would be."""
        with wire_errors():
            return _guarded(await explain_command(self.context, words, declared))

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function gives, in a thread."""
        with wire_errors():
            return await self.context.look(function, *args, **kwargs)


def _guarded(command: Command) -> Command:
    """The command with its errors as the protocol knows them, also when it runs."""

    async def run(values: Sequence[Any]) -> Outcome:
        with wire_errors():
            return await command.run(values)

    return replace(command, run=run)
