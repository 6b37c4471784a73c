"""Statements: which words begin what. Understanding one is free; running it comes later."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from adomnia.wire.errors import WireError
from adomnia.wire.statements.connection_state import ConnectionState
from adomnia.wire.statements.copy_out import copy_command
from adomnia.wire.statements.cursors import close, declare, fetch
from adomnia.wire.statements.lexer import ClientStatement, TokenStream
from adomnia.wire.statements.prepared import QUERIES, deallocate, discard, execute, prepare
from adomnia.wire.statements.query_handler import QueryHandler
from adomnia.wire.statements.results import Command, Outcome
from adomnia.wire.statements.set_show import reset_command, set_command, show_command
from adomnia.wire.statements.transactions import begin, commit, release, rollback, savepoint

__all__ = ["understand"]

_CHANGES = (
    "ALTER", "ANALYZE", "CALL", "CHECKPOINT", "CLUSTER", "COMMENT", "CREATE", "DELETE", "DO",
    "DROP", "GRANT", "IMPORT", "INSERT", "LOAD", "LOCK", "MERGE", "REASSIGN", "REFRESH",
    "REINDEX", "REVOKE", "SECURITY", "TRUNCATE", "UPDATE", "VACUUM",
)  # fmt: skip


async def understand(
    handler: QueryHandler, statement: ClientStatement, declared: Sequence[int] = ()
) -> Command:
    """The command that one statement is; refused, at no cost, where it makes no sense."""
    first, state = statement.first, handler.state
    state.check(first in ("COMMIT", "END", "ROLLBACK", "ABORT"))
    if first in QUERIES:
        return await handler.query(statement, declared)
    if first in _CHANGES:
        raise WireError("nothing can be changed from here", "only a SELECT can be asked", "42501")
    words = TokenStream(statement)
    if first not in _COMMANDS and first not in _AROUND_QUERIES:
        words.fail()
    words.at += 1
    if first in _COMMANDS:
        return _COMMANDS[first](state, words, declared)
    return await _AROUND_QUERIES[first](handler, words, declared)


async def _explain(handler: QueryHandler, words: TokenStream, declared: Sequence[int]) -> Command:
    return await handler.explain(words, declared)


def _nothing(state: ConnectionState, words: TokenStream, declared: Sequence[int]) -> Command:
    """LISTEN, UNLISTEN and NOTIFY: nobody ever calls here."""
    tag = words.tokens[0].upper

    async def run(_: Sequence[object]) -> Outcome:
        return Outcome(tag)

    return Command(run)


_COMMANDS: Mapping[str, Callable[[ConnectionState, TokenStream, Sequence[int]], Command]] = {
    "ABORT": rollback,
    "BEGIN": begin,
    "CLOSE": close,
    "COMMIT": commit,
    "DEALLOCATE": deallocate,
    "DISCARD": discard,
    "END": commit,
    "EXECUTE": execute,
    "FETCH": fetch,
    "LISTEN": _nothing,
    "MOVE": fetch,
    "NOTIFY": _nothing,
    "RELEASE": release,
    "RESET": reset_command,
    "ROLLBACK": rollback,
    "SAVEPOINT": savepoint,
    "SET": set_command,
    "SHOW": show_command,
    "START": begin,
    "UNLISTEN": _nothing,
}
"""Commands that concern the connection alone."""

_AROUND_QUERIES: Mapping[
    str, Callable[[QueryHandler, TokenStream, Sequence[int]], Awaitable[Command]]
] = {
    "COPY": copy_command,
    "DECLARE": declare,
    "EXPLAIN": _explain,
    "PREPARE": prepare,
}
"""Commands that have a query within them."""
