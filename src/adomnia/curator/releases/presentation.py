"""Numbers as an office prints them: rounded, and blank where they are unsure; and who prints them.

This is for readers and protects nobody: the tables were private before, and stay beside it as they
are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from adomnia.curator.releases.figures import COUNT, Figure
from adomnia.errors import QuestionError

__all__ = ["MARKS", "MODEL", "Imprint", "Presentation"]

UNSURE = "unsure"
MODEL = "model"
MARKS = {
    UNSURE: "the margin is wider than the number, which is left blank",
    MODEL: "the table was not measured: it follows from the made-up records, and has no margin",
}
"""What may stand beside a number, and what it means."""


@dataclass(frozen=True)
class Imprint:
    """Who publishes a release, under which title, and on which day.

    >>> from datetime import date
    >>> Imprint("Deaths", "Office of Statistics", date(2026, 1, 31)).to_json()["published"]
    '2026-01-31'
    """

    title: str | None = None
    publisher: str | None = None
    published: date = field(default_factory=lambda: datetime.now(UTC).date())

    def __post_init__(self) -> None:
        told = f"{self.title or ''}{self.publisher or ''}"
        if not told.isprintable() or not told.encode("utf-8", "replace").decode() == told:
            raise QuestionError(
                "title and publisher are plain text, without signs that no page can show",
                'for example --title "Deaths by age" --publisher "Office of Statistics"',
            )

    def to_json(self) -> dict[str, Any]:
        """The imprint as plain JSON values."""
        return {**vars(self), "published": self.published.isoformat()}


@dataclass(frozen=True)
class Presentation:
    """How numbers are printed: to multiples of a number, and blank with a mark where the margin is
    wider than the number.

    >>> Presentation(round_to=5, suppress_unsure=True).printed(23, 4.0)
    (25, 7, '')
    >>> Presentation(suppress_unsure=True).printed(3, 4.0)
    (None, None, 'unsure')
    """

    round_to: int = 1
    suppress_unsure: bool = False

    def __post_init__(self) -> None:
        if self.round_to < 1:
            raise QuestionError(
                "numbers are rounded to multiples of a whole number", "for example --round-to 5"
            )

    def printed(self, count: float, margin: float) -> tuple[int | None, int | None, str]:
        """A number as it is printed, its margin with what rounding adds to it, and a mark."""
        if self.suppress_unsure and margin > count:
            return None, None, UNSURE
        number = math.floor(count / self.round_to + 0.5) * self.round_to
        if not margin and number == count == 0:
            return 0, 0, ""  # nobody can be there, and no rounding moved it
        moved = self.round_to / 2 if self.round_to > 1 or number != count else 0.0
        return number, math.ceil(margin + moved), ""

    def printed_figure(self, figure: Figure) -> Iterator[tuple[Any, Any, str]]:
        """Each number of a figure with its margin and mark; averages are not rounded, and a sum
        below 0 is as sure as one above."""
        for number, off in figure.pairs():
            if number is None:
                yield None, None, ""
            elif off is None:
                shown = None if self.suppress_unsure else self.printed(abs(number), 0.0)[0]
                yield shown, None, MODEL
            elif not figure.rounds:
                unsure = self.suppress_unsure and off > abs(number)
                yield (None, None, UNSURE) if unsure else (number, off, "")
            elif number >= 0 or figure.name == COUNT:
                yield self.printed(number, off)
            else:
                shown, wide, mark = self.printed(-number, off)
                yield None if shown is None else -shown, wide, mark

    def to_json(self) -> dict[str, Any]:
        """The presentation as plain JSON values."""
        return {**vars(self), "marks": MARKS}
