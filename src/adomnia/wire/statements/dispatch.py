"""Statements: which words begin what. Understanding one is free; running it comes later."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import count
from typing import Any

from adomnia.server.postgres.explain import explain
from adomnia.server.postgres.questions import ask_command
from adomnia.wire.errors import WireError, of_parameter, placed
from adomnia.wire.statements.connection_state import Visit
from adomnia.wire.statements.copy_out import copied, parse_style
from adomnia.wire.statements.cursors import close, declare, fetch
from adomnia.wire.statements.lexer import Token, Words
from adomnia.wire.statements.portals import Prepared
from adomnia.wire.statements.results import Command, Outcome
from adomnia.wire.statements.set_show import reset_command, set_command, show_command
from adomnia.wire.statements.transactions import begin, commit, release, rollback, savepoint
from adomnia.wire.values import types
from adomnia.wire.values.parse_text import spelled

__all__ = ["understand"]

Maker = Callable[[Visit, Words, Sequence[int]], Awaitable[Command]]

_ASKS = ("SELECT", "WITH", "VALUES", "TABLE", "(")
_CHANGES = (
    "ALTER", "ANALYZE", "CALL", "CHECKPOINT", "CLUSTER", "COMMENT", "CREATE", "DELETE", "DO",
    "DROP", "GRANT", "IMPORT", "INSERT", "LOAD", "LOCK", "MERGE", "REASSIGN", "REFRESH",
    "REINDEX", "REVOKE", "SECURITY", "TRUNCATE", "UPDATE", "VACUUM",
)  # fmt: skip


async def understand(visit: Visit, sql: str, declared: Sequence[int] = ()) -> Command:
    """The command that one statement is; refused, at no cost, where it makes no sense."""
    words = await visit.read(Words, sql)
    first = words.next
    visit.check(first in ("COMMIT", "END", "ROLLBACK", "ABORT"))
    if first in _ASKS:
        return await ask_command(visit, sql, declared)
    if first in _CHANGES:
        raise WireError("nothing can be changed from here", "only a SELECT can be asked", "42501")
    maker = _MAKERS.get(first)
    if maker is None:
        words.fail()
    words.at += 1
    return await maker(visit, words, declared)


async def _copy(visit: Visit, words: Words, declared: Sequence[int]) -> Command:
    """`COPY (SELECT …) TO STDOUT …`."""
    if words.next != "(":
        hint = "COPY (SELECT …) TO STDOUT copies an answer"
        raise WireError("rows of a table cannot be copied, in or out", hint, "42501")
    start, end = words.bracketed()
    words.expect("TO")
    words.expect("STDOUT")
    style = parse_style(words)
    with placed(start):
        inner = await ask_command(visit, words.sql[start:end], declared)

    async def run(values: Sequence[Any]) -> Outcome:
        return copied((await inner.run(values)).cut(inner.columns()), style)

    return Command(run, parameters=inner.parameters)


async def _declare(visit: Visit, words: Words, declared: Sequence[int]) -> Command:
    return await declare(visit, words, declared, ask_command)


# Prepared statements in SQL


async def _prepare(visit: Visit, words: Words, declared: Sequence[int]) -> Command:
    """`PREPARE name (types) AS SELECT …`."""
    name = words.name()
    oids: list[int] = []
    if words.next == "(":
        start, end = words.bracketed()
        oids = [types.named(" ".join(part.split())) for part in words.sql[start:end].split(",")]
    words.expect("AS")
    if words.next not in _ASKS:
        words.fail()
    begin_at, sql = words.rest()
    with placed(begin_at):
        inner = await ask_command(visit, sql, oids)

    async def run(_: Sequence[Any]) -> Outcome:
        visit.keep(name, Prepared(sql, inner))
        return Outcome("PREPARE")

    return Command(run)


async def _execute(visit: Visit, words: Words, declared: Sequence[int]) -> Command:
    """`EXECUTE name (values)`."""
    inner = visit.prepared.find(words.name()).command
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
    place, text = given
    try:
        with of_parameter(number):
            return None if text is None else spelled(text, oid)
    except WireError as error:
        error.position = place
        raise


def _constants(words: Words) -> list[tuple[int, str | None]]:
    """The values in brackets and where they are: numbers, strings, TRUE, FALSE and NULL."""
    if not words.accept("("):
        return []
    found: list[tuple[int, str | None]] = []
    while True:
        sign = words.accept("-")
        token: Token = words.token("number", "string", "escaped", "word")
        if token.kind == "word" and token.upper not in ("NULL", "TRUE", "FALSE"):
            words.at -= 1
            words.fail()
        found.append((token.start, None if token.upper == "NULL" else sign + token.value))
        if words.accept("::"):
            words.name()
        if words.expect(",", ")") == ")":
            return found


async def _deallocate(visit: Visit, words: Words, declared: Sequence[int]) -> Command:
    """`DEALLOCATE name` or `DEALLOCATE ALL`."""
    words.accept("PREPARE")
    name = "" if words.accept("ALL") else words.name()
    words.end()

    async def run(_: Sequence[Any]) -> Outcome:
        if not name:
            visit.prepared.clear()
            return Outcome("DEALLOCATE ALL")
        visit.prepared.find(name)
        del visit.prepared[name]
        return Outcome("DEALLOCATE")

    return Command(run)


async def _discard(visit: Visit, words: Words, declared: Sequence[int]) -> Command:
    """`DISCARD ALL` forgets all of the visit but what was paid; its parts forget theirs."""
    what = words.expect("ALL", "PLANS", "SEQUENCES", "TEMP", "TEMPORARY")
    words.end()

    async def run(_: Sequence[Any]) -> Outcome:
        if what == "ALL":
            visit.reset()
            visit.prepared.clear()
            visit.portals.clear()
        return Outcome(f"DISCARD {what}")

    return Command(run)


async def _nothing(visit: Visit, words: Words, declared: Sequence[int]) -> Command:
    """LISTEN, UNLISTEN and NOTIFY: nobody ever calls here."""
    tag = words.tokens[0].upper

    async def run(_: Sequence[Any]) -> Outcome:
        return Outcome(tag)

    return Command(run)


_MAKERS: Mapping[str, Maker] = {
    "ABORT": rollback,
    "BEGIN": begin,
    "CLOSE": close,
    "COMMIT": commit,
    "COPY": _copy,
    "DEALLOCATE": _deallocate,
    "DECLARE": _declare,
    "DISCARD": _discard,
    "END": commit,
    "EXECUTE": _execute,
    "EXPLAIN": explain,
    "FETCH": fetch,
    "LISTEN": _nothing,
    "MOVE": fetch,
    "NOTIFY": _nothing,
    "PREPARE": _prepare,
    "RELEASE": release,
    "RESET": reset_command,
    "ROLLBACK": rollback,
    "SAVEPOINT": savepoint,
    "SET": set_command,
    "SHOW": show_command,
    "START": begin,
    "UNLISTEN": _nothing,
}
