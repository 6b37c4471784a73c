"""PREPARE, EXECUTE, DEALLOCATE and DISCARD: prepared statements as SQL knows them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from adomnia.wire.errors import WireError, of_parameter, placed
from adomnia.wire.statements.connection_state import ConnectionState
from adomnia.wire.statements.lexer import TokenStream
from adomnia.wire.statements.portals import PreparedStatement
from adomnia.wire.statements.query_handler import QueryHandler
from adomnia.wire.statements.results import Command, Outcome
from adomnia.wire.values import types
from adomnia.wire.values.parse_text import parse_text

__all__ = ["QUERIES", "deallocate", "discard", "execute", "prepare"]

QUERIES = ("SELECT", "WITH", "VALUES", "TABLE", "(")
"""Words that a query begins with."""


async def prepare(handler: QueryHandler, words: TokenStream, declared: Sequence[int]) -> Command:
    """`PREPARE name (types) AS SELECT …`."""
    name = words.name()
    oids: list[int] = []
    if words.next == "(":
        listed = words.bracketed().sql.split(",")
        oids = [types.named(" ".join(part.split())) for part in listed]
    words.expect("AS")
    if words.next not in QUERIES:
        words.fail()
    query = words.rest()
    with placed(query.offset):
        inner = await handler.query(query, oids)

    async def run(_: Sequence[Any]) -> Outcome:
        handler.state.keep(name, PreparedStatement(query.sql, inner))
        return Outcome("PREPARE")

    return Command(run)


def execute(state: ConnectionState, words: TokenStream, declared: Sequence[int]) -> Command:
    """`EXECUTE name (values)`."""
    inner = state.prepared.find(words.name()).command
    given = _constants(words)
    words.end()
    if len(given) != len(inner.parameters):
        wanted = len(inner.parameters)
        raise WireError(f"it takes {wanted} values, and {len(given)} are given", "", "42601")
    values = [_value(*each) for each in zip(given, inner.parameters, count(1))]

    async def run(_: Sequence[Any]) -> Outcome:
        with placed(None):
            return await inner.run(values)

    return Command(run, inner.columns)


def _value(given: tuple[int, str | None], oid: int, number: int) -> Any:
    """The value of a parameter; an error points at where it is written."""
    position, text = given
    try:
        with of_parameter(number):
            return None if text is None else parse_text(text, oid)
    except WireError as error:
        error.position = position
        raise


def _constants(words: TokenStream) -> list[tuple[int, str | None]]:
    """The values in brackets and where they are: numbers, strings, TRUE, FALSE and NULL."""
    if not words.accept("("):
        return []
    values: list[tuple[int, str | None]] = []
    while True:
        sign = words.accept("-")
        token = words.token("number", "string", "escaped", "word")
        if token.kind == "word" and token.upper not in ("NULL", "TRUE", "FALSE"):
            words.at -= 1
            words.fail()
        values.append((token.start, None if token.upper == "NULL" else sign + token.value))
        if words.accept("::"):
            words.name()
        if words.expect(",", ")") == ")":
            return values


def deallocate(state: ConnectionState, words: TokenStream, declared: Sequence[int]) -> Command:
    """`DEALLOCATE name` or `DEALLOCATE ALL`."""
    words.accept("PREPARE")
    name = "" if words.accept("ALL") else words.name()
    words.end()

    async def run(_: Sequence[Any]) -> Outcome:
        if not name:
            state.prepared.clear()
            return Outcome("DEALLOCATE ALL")
        state.prepared.find(name)
        del state.prepared[name]
        return Outcome("DEALLOCATE")

    return Command(run)


def discard(state: ConnectionState, words: TokenStream, declared: Sequence[int]) -> Command:
    """`DISCARD ALL` forgets all of the connection but what was done; its parts forget theirs."""
    what = words.expect("ALL", "PLANS", "SEQUENCES", "TEMP", "TEMPORARY")
    words.end()

    async def run(_: Sequence[Any]) -> Outcome:
        if what == "ALL":
            state.reset()
            state.prepared.clear()
            state.portals.clear()
        return Outcome(f"DISCARD {what}")

    return Command(run)
