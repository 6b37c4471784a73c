"""SET, RESET and SHOW."""

from __future__ import annotations

from collections.abc import Sequence

from adomnia.wire.errors import WireError
from adomnia.wire.statements.connection_state import ConnectionState
from adomnia.wire.statements.lexer import TokenStream
from adomnia.wire.statements.results import Command, Notice, Outcome
from adomnia.wire.statements.settings import REPORTED
from adomnia.wire.values import types
from adomnia.wire.values.columns import ResultColumn

__all__ = ["reset_command", "set_command", "show_command"]

_OUTSIDE = Notice(
    "SET LOCAL lasts for a transaction, and none has begun", "", "", "WARNING", "25P01"
)


def set_command(state: ConnectionState, words: TokenStream, declared: Sequence[int]) -> Command:
    """`SET [SESSION | LOCAL] name = value`, and the other things that SET can do."""
    scope = words.accept("SESSION", "LOCAL")
    if words.accept("TRANSACTION", "CHARACTERISTICS"):
        return _done("SET")  # there is nothing to isolate
    if words.accept("AUTHORIZATION", "ROLE"):
        return _same_person(state, words)
    name, value = _assignment(words)

    async def run(_: Sequence[object]) -> Outcome:
        if scope == "LOCAL" and not state.in_block:
            return Outcome("SET", notices=(_OUTSIDE,))
        state.set(name, value, scope == "LOCAL")
        return Outcome("SET")

    return Command(run)


def _assignment(words: TokenStream) -> tuple[str, str | None]:
    """The setting and its new value; None for DEFAULT."""
    if words.accept("TIME"):
        words.expect("ZONE")
        name = "timezone"
    elif words.accept("NAMES"):
        name = "client_encoding"
    else:
        name = words.name()
        words.expect("=", "TO")
    if words.next in ("DEFAULT", "LOCAL") and words.at + 1 == len(words.tokens):
        return name, None
    rest = words.rest()
    return name, rest.tokens[0].value if len(rest.tokens) == 1 else rest.sql


def _same_person(state: ConnectionState, words: TokenStream) -> Command:
    words.accept("=", "TO")
    who = words.token("word", "quoted", "string").value
    if who not in ("default", "none", state.user):
        hint = "log in as them"
        raise WireError("nobody can act as somebody else here", hint, "42501")
    return _done("SET")


def reset_command(state: ConnectionState, words: TokenStream, declared: Sequence[int]) -> Command:
    """`RESET name` or `RESET ALL`."""
    if words.accept("ROLE") or (words.accept("SESSION") and words.expect("AUTHORIZATION")):
        return _done("RESET")
    name = _named(words)

    async def run(_: Sequence[object]) -> Outcome:
        if name == "all":
            state.reset()
        else:
            state.set(name, None)
        return Outcome("RESET")

    return Command(run)


def show_command(state: ConnectionState, words: TokenStream, declared: Sequence[int]) -> Command:
    """`SHOW name` or `SHOW ALL`."""
    name = _named(words)
    names = ("name", "setting", "description") if name == "all" else (REPORTED.get(name, name),)
    columns = [ResultColumn(each, types.TEXT) for each in names]
    if name != "all":
        state.settings.get(name)

    async def run(_: Sequence[object]) -> Outcome:
        if name == "all":
            return Outcome(
                "SHOW", columns, [(*pair, "") for pair in sorted(state.settings.values.items())]
            )
        return Outcome("SHOW", columns, [(state.settings.get(name),)])

    return Command(run, lambda: columns)


def _named(words: TokenStream) -> str:
    """A setting by its name, or by the words that the standard has for some."""
    for spoken, name in (
        (("TIME", "ZONE"), "timezone"),
        (("TRANSACTION", "ISOLATION", "LEVEL"), "transaction_isolation"),
        (("SESSION", "AUTHORIZATION"), "session_authorization"),
    ):
        rest = [token.upper for token in words.tokens[words.at :]]
        if rest == list(spoken):
            return name
    name = words.name()
    words.end()
    return name


def _done(tag: str) -> Command:
    """A statement that has nothing to do here."""

    async def run(_: Sequence[object]) -> Outcome:
        return Outcome(tag)

    return Command(run)
