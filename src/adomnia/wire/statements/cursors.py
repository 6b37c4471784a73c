"""DECLARE, FETCH, MOVE and CLOSE: a cursor is a portal, paid for when it is first read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adomnia.wire.errors import WireError, placed
from adomnia.wire.statements.connection_state import ConnectionState
from adomnia.wire.statements.lexer import TokenStream
from adomnia.wire.statements.portals import Portal
from adomnia.wire.statements.query_handler import QueryHandler
from adomnia.wire.statements.results import Command, Outcome

__all__ = ["FetchStep", "close", "declare", "fetch", "parse_step", "window"]

ALL = 1 << 62


async def declare(handler: QueryHandler, words: TokenStream, declared: Sequence[int]) -> Command:
    """`DECLARE name [SCROLL] CURSOR [WITH HOLD] FOR SELECT …`."""
    name = words.name()
    while words.next in ("BINARY", "INSENSITIVE", "ASENSITIVE", "SCROLL", "NO"):
        if words.accept("BINARY"):
            hint = "ask for binary rows when you fetch them"
            raise WireError("binary cursors are not known here", hint, "0A000")
        words.at += 1
    words.expect("CURSOR")
    holds = words.accept("WITH", "WITHOUT") == "WITH"
    words.accept("HOLD")
    words.expect("FOR")
    query, state = words.rest(), handler.state
    with placed(query.offset):
        inner = await handler.query(query, declared)

    async def run(values: Sequence[Any]) -> Outcome:
        if not holds and not state.in_block:
            hint = "BEGIN one, or declare it WITH HOLD"
            raise WireError("a cursor lasts for a transaction, and none has begun", hint, "25P01")
        state.portals.put(name, Portal(inner, values, holds=holds), "42P03")
        return Outcome("DECLARE CURSOR")

    return Command(run, parameters=inner.parameters)


def fetch(state: ConnectionState, words: TokenStream, declared: Sequence[int]) -> Command:
    """`FETCH …` gives rows of a cursor, `MOVE …` only passes them."""
    verb = words.tokens[0].upper
    step = parse_step(words)
    name = words.name()
    words.end()
    portal = state.portals.find(name)

    async def run(_: Sequence[Any]) -> Outcome:
        cursor = state.portals.find(name)
        with placed(None):
            outcome, is_new = await cursor.run()
        rows, cursor.at = window(step, cursor.at, len(outcome.rows))
        notices = outcome.notices if is_new else ()
        if verb == "MOVE":
            return Outcome(f"MOVE {len(rows)}", notices=notices)
        return Outcome("FETCH {}", cursor.columns, [outcome.rows[i] for i in rows], notices)

    return Command(run, lambda: portal.columns if verb == "FETCH" else None)


def close(state: ConnectionState, words: TokenStream, declared: Sequence[int]) -> Command:
    """`CLOSE name` or `CLOSE ALL`."""
    name = "" if words.accept("ALL") else words.name()
    words.end()

    async def run(_: Sequence[Any]) -> Outcome:
        if not name:
            state.portals.clear()
            return Outcome("CLOSE CURSOR ALL")
        state.portals.find(name)
        del state.portals[name]
        return Outcome("CLOSE CURSOR")

    return Command(run)


@dataclass(frozen=True)
class FetchStep:
    """A movement: so many rows onward (or back), or to one row."""

    count: int
    to_row: str = ""


def parse_step(words: TokenStream) -> FetchStep:
    """What stands between FETCH and the cursor's name."""
    step = _direction(words)
    words.accept("FROM", "IN")
    return step


def _direction(words: TokenStream) -> FetchStep:
    word = words.accept("NEXT", "PRIOR", "FIRST", "LAST", "ALL", "ABSOLUTE", "RELATIVE",
                        "FORWARD", "BACKWARD")  # fmt: skip
    if word in _PLAIN:
        return _PLAIN[word]
    if word in ("ABSOLUTE", "RELATIVE"):
        return FetchStep(words.number(), word)
    is_number = words.at < len(words.tokens) and (
        words.tokens[words.at].kind == "number" or words.next in ("-", "+")
    )
    count = ALL if words.accept("ALL") else words.number() if is_number else 1
    return FetchStep(-count if word == "BACKWARD" else count)


_PLAIN = {
    "NEXT": FetchStep(1),
    "PRIOR": FetchStep(-1),
    "FIRST": FetchStep(1, "ABSOLUTE"),
    "LAST": FetchStep(-1, "ABSOLUTE"),
    "ALL": FetchStep(ALL),
}


def window(step: FetchStep, at: int, total: int) -> tuple[Sequence[int], int]:
    """The rows that a step passes, by index, and where it ends.

    `at` counts from 1; 0 is before the first row and total + 1 after the last.
    """
    if step.to_row or step.count == 0:
        row = step.count if step.to_row == "ABSOLUTE" else at + step.count
        if step.to_row == "ABSOLUTE" and step.count < 0:
            row = total + 1 + step.count
        row = max(0, min(row, total + 1))
        return (range(row - 1, row) if 1 <= row <= total else range(0)), row
    if step.count > 0:
        end = min(at + step.count, total + 1)
        return range(at, min(end, total)), end
    end = max(at + step.count, 0)
    return range(at - 2, max(end, 1) - 2, -1), end
