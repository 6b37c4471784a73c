"""An omission: something that cleaning or a bound leaves out of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Omission"]


@dataclass(frozen=True)
class Omission:
    """Something that cleaning or a bound leaves out of an answer.

    `count` is about how many rows or values of the whole table that is, up to `margin`; None where
    nobody paid to know, or too little to find any. Rows are counted up to `bound` for each person,
    and at most `people` have more (None where that is not known). All of it holds together with
    half of the answer's doubt; `says` tells it in words.

    >>> Omission("rows", "of each person at most 5 rows are used").to_json()["count"] is None
    True
    """

    what: Literal["rows", "groups", "values"]
    says: str
    column: str | None = None
    count: int | None = None
    margin: int | None = None
    bound: int | None = None
    people: int | None = None

    @property
    def most(self) -> int | None:
        """So many at most."""
        if self.count is None or self.margin is None:
            return None
        return max(0, self.count + self.margin)

    @property
    def least(self) -> int | None:
        """So many at least."""
        if self.count is None or self.margin is None:
            return None
        return max(0, self.count - self.margin)

    def to_json(self) -> dict[str, Any]:
        """It as plain JSON values."""
        return dict(vars(self))
