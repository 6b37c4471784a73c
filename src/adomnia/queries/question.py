"""A question, bound to the policy: which rows, which cells, which statistics, what is shown.

Everything after `statistics` is post-processing of the noisy answer and costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from adomnia.queries.expression import Expr
from adomnia.queries.ranges import Day, Moment, count_cells
from adomnia.queries.rows import Rows

__all__ = [
    "Apply",
    "Given",
    "Group",
    "Literal",
    "Output",
    "Post",
    "Question",
    "Refusal",
    "Sort",
    "Statistic",
]


@dataclass(frozen=True)
class Statistic:
    """One aggregate over the rows of a cell.

    `count` takes a condition (None: all rows); `distinct`, `sum`, `avg`, `var`, `quantile`,
    `min`, `max` and `mode` take an expression, `quantile` also its share. Where it is the place of
    a day or a moment in its `calendar`, in steps from the lowest, it is shown as that.
    """

    kind: str
    argument: Expr | None = None
    share: Fraction | None = None
    population: bool = False
    calendar: Day | Moment | None = None


@dataclass(frozen=True)
class Group:
    """The value of a key in this row of the answer."""

    index: int


@dataclass(frozen=True)
class Given:
    """The value of a statistic in this row of the answer."""

    index: int


@dataclass(frozen=True)
class Literal:
    """A constant of the answer; `of` is the statistic that has this value on all data."""

    value: Any
    of: Statistic | None = None


@dataclass(frozen=True)
class Apply:
    """An operation of `post.py` on values of the answer."""

    op: str
    args: tuple[Post, ...]


Post = Group | Given | Literal | Apply


@dataclass(frozen=True)
class Output:
    """A column of the answer."""

    name: str
    value: Post


@dataclass(frozen=True)
class Sort:
    """One key of ORDER BY."""

    value: Post
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class Refusal:
    """Why a question is not answered: what is wrong, what would work, and where it stands."""

    message: str
    hint: str
    position: int


@dataclass(frozen=True)
class Question:
    """What is asked of one private table.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     question = database.bind("SELECT sex FROM people GROUP BY sex")
    >>> question.public, [output.name for output in question.outputs]
    (True, ['sex'])
    """

    table: str
    where: Expr | None
    keys: tuple[Expr, ...]
    statistics: tuple[Statistic, ...]
    outputs: tuple[Output, ...]
    having: Post | None = None
    order: tuple[Sort, ...] = ()
    limit: int | None = None
    offset: int = 0
    rows: Rows | None = None
    """Of which tables the rows are, where the policy has several."""
    never: bool = False
    """Whether no row of the public domain meets its condition, whatever the data."""
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """What should be said beside the answer."""
    refusal: Refusal | None = field(default=None, compare=False, repr=False)
    """A comparison that is never true, most likely by mistake: then nothing is answered."""

    @property
    def empty(self) -> bool:
        """Whether the answer has no row, whatever the data."""
        return self.limit == 0 or (self.never and bool(self.keys or not self.statistics))

    @property
    def public(self) -> bool:
        """Whether the answer is the same for all data: it needs none, and costs nothing."""
        return self.empty or self.never or not (self.statistics or self.open)

    @property
    def open(self) -> bool:
        """Whether a key's values are not public, so that groups must be selected privately."""
        return any(count_cells(key.range) is None for key in self.keys)
