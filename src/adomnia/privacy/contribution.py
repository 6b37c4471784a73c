"""Contributions: what one row may add to its cell, as the statement that runs enforces it.

The number that scales the noise and the number that bounds a row are one value: `sensitivity.py`
reads it, and `engines/sql/components.py` writes it into the aggregate. Where the bounds come from
is of no matter to the promise: a row beyond them is clamped, and a row that does not qualify
(WHERE, FILTER, NULL, another cell) adds nothing (`sensitivity.md`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from adomnia.queries.expression import Expr
from adomnia.queries.operations import LIMIT

__all__ = [
    "ROWS",
    "Bernstein",
    "Clamped",
    "Contribution",
    "DistinctUnits",
    "DistinctValues",
    "Listed",
    "Pattern",
    "Ranked",
    "Setting",
    "Tally",
    "arguments",
    "width",
]

Pattern = tuple[bool, ...]
"""Which of several conditions a row meets."""


@dataclass(frozen=True)
class Setting:
    """Where a measurement is taken: of which rows, in which cells, and what names a unit.

    `cells` says how many cells are released, where that is fewer than the keys span. Where rows
    do not `stay`, one that is changed may be read as none: a line of a text file.
    """

    where: Expr | None = None
    keys: tuple[Expr, ...] = ()
    unit: str | None = None
    cells: int | None = None
    stay: bool = True

    @property
    def may_leave(self) -> bool:
        """Whether a changed row may add nothing, whatever is asked of it."""
        return self.where is not None or not self.stay


@dataclass(frozen=True)
class Tally:
    """A row adds 1 for each condition that it meets; None is met by every row.

    With `patterns`, each row has one of them: a row that meets the conditions in another way
    counts as if in the first. With `most`, a row that meets more of them adds nothing.
    """

    conditions: tuple[Expr | None, ...]
    patterns: tuple[Pattern, ...] | None = None
    most: int | None = None

    def __post_init__(self) -> None:
        _check_whole(self.most)


@dataclass(frozen=True)
class Clamped:
    """A row adds a number from low to high, and nothing where it is NULL.

    `always`: low in the place of nothing. `bit`: a change of one bit of the column that is summed
    moves it by no more than this.
    """

    argument: Expr
    low: int
    high: int
    always: bool = False
    bit: int | None = None

    def __post_init__(self) -> None:
        _check_whole(self.bit)
        _check(self.low, self.high)


@dataclass(frozen=True)
class Bernstein:
    """A row adds Bernstein's polynomials of one number from 0 to `width`, which is what it has
    above low; with `rest`, where it has none it adds their sum to a last component."""

    argument: Expr
    low: int
    high: int
    degree: int
    rest: bool = False

    def __post_init__(self) -> None:
        _check_whole(self.degree)
        _check(self.low, self.high)
        if self.unit > LIMIT:
            raise ValueError("the bounds are too wide for a variance")

    @property
    def width(self) -> int:
        """The highest number, and at least 1."""
        return max(1, self.high - self.low)

    @property
    def unit(self) -> int:
        """What one row adds in all (`measurement.md`)."""
        return int(self.width**self.degree)


@dataclass(frozen=True)
class DistinctValues:
    """Different values in a cell, of which no more than `most` are counted."""

    argument: Expr
    most: int | None = None

    def __post_init__(self) -> None:
        _check_whole(self.most)


@dataclass(frozen=True)
class DistinctUnits:
    """Different units in a cell, of the rows that meet a condition."""

    present: Expr


@dataclass(frozen=True)
class Ranked:
    """A row has one rank, by a number from low to high, and none where it is NULL."""

    argument: Expr
    low: int
    high: int
    share: Fraction = Fraction(1, 2)
    edge: str | None = None

    def __post_init__(self) -> None:
        _check(self.low, self.high)


@dataclass(frozen=True)
class Listed:
    """A row adds 1 for the one value that it has, if that is one of the list's."""

    argument: Expr


Contribution = Tally | Clamped | Bernstein | DistinctValues | DistinctUnits | Ranked | Listed


def _check_whole(*given: int | None) -> None:
    """Refuse other numbers than plain whole ones: what is priced is what a statement enforces, and
    a statement would round them, or a machine's integer overflow."""
    if any(number is not None and type(number) is not int for number in given):
        raise ValueError("what a row may add is bounded by whole numbers")


def _check(low: int, high: int) -> None:
    """Refuse bounds between which nothing lies: a clamp to them would enforce neither."""
    _check_whole(low, high)
    if low > high:
        raise ValueError("a number lies between a low and a high bound")


ROWS = Tally((None,))
"""Every row adds 1."""


def width(contribution: Contribution) -> int:
    """How many numbers a row adds to at once; none where rows are listed."""
    if isinstance(contribution, Tally):
        return len(contribution.conditions)
    if isinstance(contribution, Bernstein):
        return contribution.degree + 1 + contribution.rest
    return 0 if isinstance(contribution, Ranked | Listed) else 1


def arguments(contribution: Contribution) -> tuple[Expr | None, ...]:
    """The expressions of a row that a contribution reads."""
    if isinstance(contribution, Tally):
        return contribution.conditions
    if isinstance(contribution, DistinctUnits):
        return (contribution.present,)
    return (contribution.argument,)
