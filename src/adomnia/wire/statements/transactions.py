"""BEGIN, COMMIT, ROLLBACK and savepoints: there is nothing to undo, and nothing is refunded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adomnia.wire.errors import WireError
from adomnia.wire.statements.connection_state import FAILED, IDLE, ConnectionState
from adomnia.wire.statements.lexer import TokenStream
from adomnia.wire.statements.results import Command, Notice, Outcome

__all__ = ["begin", "commit", "release", "rollback", "savepoint"]

_BEGUN = Notice("a transaction has begun already", "", "", "WARNING", "25001")
_NONE = Notice("no transaction has begun", "", "", "WARNING", "25P01")


def begin(state: ConnectionState, words: TokenStream, declared: Sequence[int]) -> Command:
    """`BEGIN …` and `START TRANSACTION …`; what they say of isolation changes nothing here."""
    tag = "START TRANSACTION" if words.tokens[0].upper == "START" else "BEGIN"

    async def run(_: Sequence[object]) -> Outcome:
        if state.status != IDLE:
            return Outcome(tag, notices=(_BEGUN,))
        state.begin()
        return Outcome(tag)

    return Command(run)


def commit(state: ConnectionState, words: TokenStream, declared: Sequence[int]) -> Command:
    """`COMMIT` and `END`; of a failed transaction it is a ROLLBACK."""
    chained = _ending(words)

    async def run(_: Sequence[object]) -> Outcome:
        keep = state.status != FAILED
        return _ended(state, keep, chained, "COMMIT" if keep else "ROLLBACK")

    return Command(run, ends_failure=True)


def rollback(state: ConnectionState, words: TokenStream, declared: Sequence[int]) -> Command:
    """`ROLLBACK`, `ABORT` and `ROLLBACK TO savepoint`."""
    words.accept("WORK", "TRANSACTION")
    if words.accept("TO"):
        return _named(state, words, state.go_back, "ROLLBACK", ends_failure=True)
    chained = _ending(words)

    async def run(_: Sequence[object]) -> Outcome:
        return _ended(state, False, chained, "ROLLBACK")

    return Command(run, ends_failure=True)


def savepoint(state: ConnectionState, words: TokenStream, declared: Sequence[int]) -> Command:
    """`SAVEPOINT name`."""
    return _named(state, words, state.save, "SAVEPOINT")


def release(state: ConnectionState, words: TokenStream, declared: Sequence[int]) -> Command:
    """`RELEASE [SAVEPOINT] name`."""
    return _named(state, words, state.release, "RELEASE")


def _named(
    state: ConnectionState,
    words: TokenStream,
    act: Callable[[str], None],
    tag: str,
    ends_failure: bool = False,
) -> Command:
    if words.tokens[0].upper != "SAVEPOINT":
        words.accept("SAVEPOINT")
    name = words.name()
    words.end()

    async def run(_: Sequence[object]) -> Outcome:
        if state.status == IDLE:
            raise WireError("savepoints are for transactions", "BEGIN one", "25P01")
        act(name)
        return Outcome(tag)

    return Command(run, ends_failure=ends_failure)


def _ending(words: TokenStream) -> bool:
    """Whether another transaction shall begin at once."""
    words.accept("WORK", "TRANSACTION")
    if not words.accept("AND"):
        words.end()
        return False
    negated = bool(words.accept("NO"))
    words.expect("CHAIN")
    words.end()
    return not negated


def _ended(state: ConnectionState, keep: bool, chained: bool, tag: str) -> Outcome:
    if state.status == IDLE:
        return Outcome(tag, notices=(_NONE,))
    notices = state.end(keep)
    if chained:
        state.begin()
    return Outcome(tag, notices=notices)
