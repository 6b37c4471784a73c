"""What a statement gives: columns, rows, and what is said beside them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adomnia.wire.values.columns import ResultColumn

__all__ = ["Command", "Notice", "Outcome"]


@dataclass(frozen=True)
class Notice:
    """Something that a client is told beside a result."""

    message: str
    detail: str = ""
    hint: str = ""
    severity: str = "NOTICE"
    sqlstate: str = "00000"


@dataclass(frozen=True)
class Outcome:
    """What a statement gave. Without columns it gives no rows; `{}` in the tag is their number.

    `copy` turns rows into the data of a COPY, and `copy_form` says whether that is binary.
    """

    tag: str
    columns: Sequence[ResultColumn] | None = None
    rows: Sequence[Sequence[Any]] = ()
    notices: tuple[Notice, ...] = ()
    copy: Sequence[bytes] | None = None
    copy_form: int = 0

    def cut(self, columns: Sequence[ResultColumn] | None) -> Outcome:
        """The outcome with these columns, which are its first ones."""
        if columns is None or self.columns is None or len(columns) == len(self.columns):
            return self
        rows = [row[: len(columns)] for row in self.rows]
        return replace(self, columns=columns, rows=rows)


@dataclass(frozen=True)
class Command:
    """A statement that is understood and not run yet; looking at it is free.

    `columns` tells what it would give as things stand now, None where it gives no rows.
    """

    run: Callable[[Sequence[Any]], Awaitable[Outcome]]
    columns: Callable[[], Sequence[ResultColumn] | None] = lambda: None
    parameters: tuple[int, ...] = ()
    ends_failure: bool = False
