"""Where in a statement something is wrong, as a page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from adomnia.errors import AdomniaError, QuestionError

__all__ = ["Pointer", "pointer"]

AROUND = 60


@dataclass(frozen=True)
class Pointer:
    """A piece of a line: what stands before the character, the character, and what follows."""

    line: int
    column: int
    position: int
    before: str
    at: str
    after: str


def pointer(error: AdomniaError | None) -> Pointer | None:
    """The character that an error is about; None where it is about none."""
    if not isinstance(error, QuestionError) or error.position is None or not error.sql:
        return None
    sql, position = error.sql, max(0, min(error.position, len(error.sql)))
    start = sql.rfind("\n", 0, position) + 1
    end = sql.find("\n", position)
    line = sql[start : end if end >= 0 else len(sql)]
    place = position - start
    return Pointer(
        sql.count("\n", 0, position) + 1,
        place + 1,
        position,
        ("…" if place > AROUND else "") + line[max(0, place - AROUND) : place],
        line[place : place + 1] or " ",
        line[place + 1 : place + 1 + AROUND],
    )
