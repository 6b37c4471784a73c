"""Prepared statements and portals: a portal is run once, and then read from its stored result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from adomnia.wire.errors import WireError
from adomnia.wire.statements.results import Command, Outcome
from adomnia.wire.values.columns import ResultColumn

__all__ = ["NamedRegistry", "Portal", "PortalRows", "PreparedStatement"]

T = TypeVar("T")


@dataclass
class PreparedStatement:
    """A statement that a client keeps; `described` are the columns it was described with."""

    sql: str
    command: Command
    described: Sequence[ResultColumn] | None = None

    def describe(self) -> Sequence[ResultColumn] | None:
        """The columns as they are told to the client, who may rely on them from now on."""
        self.described = self.command.columns()
        return self.described

    def check(self) -> None:
        """Refuses to run a statement whose columns the client knows otherwise."""
        if self.described is not None and self.described != self.command.columns():
            hint = "a setting that adds columns was changed since; prepare it again"
            raise WireError("cached plan must not change result type", hint, "0A000")


class Portal:
    """A statement with its parameters, run at most once; a cursor is one with a name."""

    def __init__(
        self,
        command: Command,
        values: Sequence[Any] = (),
        formats: Sequence[int] = (),
        holds: bool = False,
    ) -> None:
        self.command, self.values, self.holds = command, values, holds
        self.columns = command.columns()
        self.formats = _spread(formats, len(self.columns or ()))
        self.at = 0
        self._outcome: Outcome | None = None
        self._begun = False

    async def run(self) -> tuple[Outcome, bool]:
        """The result, and whether it was made just now: only then was anything paid."""
        if self._outcome is not None:
            return self._outcome, False
        if self._begun:
            raise WireError("this portal has failed and cannot run again", "", "55000")
        self._begun = True
        self._outcome = (await self.command.run(self.values)).cut(self.columns)
        return self._outcome, True

    async def take(self, most: int) -> PortalRows:
        """The next rows: at most so many, or all that are left for 0."""
        outcome, is_new = await self.run()
        end = len(outcome.rows) if most <= 0 else min(self.at + most, len(outcome.rows))
        rows = outcome.rows[self.at : end]
        self.at = end
        return PortalRows(outcome, rows, is_new, 0 < most == len(rows))


@dataclass(frozen=True)
class PortalRows:
    """Some rows of an outcome; the first part brings what is said beside it."""

    outcome: Outcome
    rows: Sequence[Sequence[Any]]
    is_first: bool
    is_suspended: bool


def _spread(formats: Sequence[int], count: int) -> list[int]:
    """One format for each column: none given is text, one given is for all."""
    if any(form not in (0, 1) for form in formats):
        raise WireError("a format is 0 or 1", "", "22023")
    if len(formats) <= 1:
        return [*(formats or (0,))] * count
    if len(formats) != count:
        raise WireError("there is not one format for each column", "", "08P01")
    return list(formats)


class NamedRegistry(dict[str, T]):
    """What a client keeps by name; it ends somewhere."""

    def __init__(self, kind: str, most: int, missing: str) -> None:
        super().__init__()
        self._kind, self._most, self._missing = kind, most, missing

    def put(self, name: str, item: T, taken: str) -> None:
        """Keep something under a name that is free; the empty name can be used again."""
        if name and name in self:
            raise WireError(f"there is a {self._kind} {name[:63]!r} already", "", taken)
        if len(self) >= self._most:
            hint = "close those that are not needed"
            raise WireError(f"too many of one kind: {self._kind}", hint, "53000")
        self[name] = item

    def find(self, name: str) -> T:
        """What is kept under the name."""
        if name not in self:
            raise WireError(f"there is no {self._kind} {name[:63]!r}", "", self._missing)
        return self[name]
