"""What a curator is told of a source, exactly: what cleaning does to each column, how many rows
each unit has, which rows repeat, and what an earlier edition had that this source has not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction

from adomnia.schema.domain import Value

__all__ = [
    "Bins",
    "ChangedColumn",
    "CodeCounts",
    "CutRows",
    "Extremes",
    "InspectedColumn",
    "InspectedNumbers",
    "InspectedUnits",
    "Inspection",
    "LineCounts",
    "Patterns",
    "RowChanges",
    "SourceChanges",
    "Spike",
    "UndeclaredColumn",
]

Extremes = tuple[float | date, float | date]
"""A low and a high end, of numbers, days or moments."""

Frequent = Sequence[tuple[str | None, int]]
"""Values and how many rows have each, the most frequent first; None cannot be read."""


Patterns = Mapping[str, str]
"""Regular expressions that texts of undeclared columns may match, by what they are called."""


@dataclass(frozen=True)
class Bins:
    """Counts between edges, two of which are the bounds of the domain, and of what lies before and
    after them all.

    Days are counted from the first of January of the year 1, which is 1, moments by the seconds
    since its first.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    before: int
    after: int


@dataclass(frozen=True)
class Spike:
    """A number that many rows have, far above or below all others: it may stand for missing. Days
    are counted as in bins."""

    value: float
    rows: int
    above: bool
    is_day: bool = False

    @property
    def text(self) -> str:
        """The number or the day as it is written."""
        if self.is_day:
            return date.fromordinal(int(self.value)).isoformat()
        return str(int(self.value)) if self.value.is_integer() else repr(self.value)


@dataclass(frozen=True)
class InspectedNumbers:
    """A column of numbers or days: what is clamped, between which ends it lies in the source, what
    its mean is there and once it is cleaned, which bounds would leave out how much, and numbers
    that may stand for missing."""

    below: int
    above: int
    ends: Extremes | None
    mean: float | None
    cleaned_mean: float | None
    bounds: Mapping[Fraction, Extremes]
    bins: Bins | None
    spikes: Sequence[Spike] = ()

    @property
    def codes(self) -> str:
        """The numbers that may stand for missing: the bounds are those of all others."""
        return " and ".join(spike.text for spike in self.spikes)


@dataclass(frozen=True)
class InspectedColumn:
    """A declared column: values that are there, not read, or not in its list (`moved` of these to
    `other`), the most frequent of both; how many rows have each listed value; or its numbers."""

    name: str
    rows: int
    present: int
    unread: int
    unlisted: int = 0
    moved: int = 0
    frequent: Frequent = ()
    counts: Mapping[Value, int] = field(default_factory=dict)
    numbers: InspectedNumbers | None = None

    @property
    def left_out(self) -> int:
        """How many values cleaning changes: clamped, not listed or not read."""
        clamped = 0 if self.numbers is None else self.numbers.below + self.numbers.above
        return clamped + self.unlisted + self.unread


@dataclass(frozen=True)
class UndeclaredColumn:
    """A column without a domain: how many different values it has, the most rows of one of them,
    how many match each pattern, and how many are long."""

    name: str
    rows: int
    present: int
    distinct: int
    most_rows: int
    matched: Mapping[str, int] = field(default_factory=dict)
    long: int = 0


@dataclass(frozen=True)
class CutRows:
    """What a bound cuts: rows `of` those that there were, units that lose some, and of each number
    the part of its sum, beside the whole. `key` is the column whose groups are bounded."""

    bound: str
    key: str | None
    rows: int
    of: int
    units: int
    sums: Mapping[str, tuple[Fraction, Fraction]]


@dataclass(frozen=True)
class InspectedUnits:
    """How many units have how many rows, rows of nobody, and what each bound cuts."""

    sizes: Mapping[int, int]
    nobody: int
    cuts: Sequence[CutRows]


@dataclass(frozen=True)
class Inspection:
    """All of it; `repeated` rows are the same as an earlier one, `most_alike` of one kind."""

    rows: int
    columns: Sequence[InspectedColumn]
    undeclared: Sequence[UndeclaredColumn]
    repeated: int
    most_alike: int
    units: InspectedUnits | None


@dataclass(frozen=True)
class LineCounts:
    """Rows of text files, those with more or fewer fields than the first line, fields that hold
    line breaks, the most line breaks of one, files whose first line is a title, and in which line
    the names of columns seem to be then. Of sheets only the last two are told."""

    rows: int = 0
    longer: int = 0
    shorter: int = 0
    broken: int = 0
    most_breaks: int = 0
    titles: int = 0
    header: int = 0

    def together(self, other: LineCounts) -> LineCounts:
        """The counts of both."""
        return LineCounts(
            self.rows + other.rows,
            self.longer + other.longer,
            self.shorter + other.shorter,
            self.broken + other.broken,
            max(self.most_breaks, other.most_breaks),
            self.titles + other.titles,
            max(self.header, other.header),
        )


@dataclass(frozen=True)
class ChangedColumn:
    """How far a column's shares are from those it had (total variation), and how many values are
    new, with the most frequent of them."""

    name: str
    variation: float
    new: int
    frequent: Frequent


@dataclass(frozen=True)
class CodeCounts:
    """How many rows there are, and of each declared column how many have each code, or each band
    of codes."""

    rows: int
    columns: Mapping[str, Mapping[int | None, int]]


@dataclass(frozen=True)
class RowChanges:
    """How many rows of a source are not in an edition, and the reverse; and its words."""

    added: int
    gone: int
    words: Sequence[ChangedColumn]


@dataclass(frozen=True)
class SourceChanges:
    """How many rows an edition has, which are new and which are gone as they are cleaned (`rows`
    is None where that cannot be told), and how far its declared columns have moved."""

    before: int
    now: int
    rows: RowChanges | None
    columns: Sequence[ChangedColumn]

    @property
    def all_columns(self) -> Sequence[ChangedColumn]:
        """Declared columns, and the undeclared ones whose words were compared."""
        return [*self.columns, *(() if self.rows is None else self.rows.words)]

    @property
    def added(self) -> int:
        """How many rows are new; at least so many, where they cannot be told apart."""
        return max(0, self.now - self.before) if self.rows is None else self.rows.added

    @property
    def gone(self) -> int:
        """How many rows are gone; at least so many, where they cannot be told apart."""
        return max(0, self.before - self.now) if self.rows is None else self.rows.gone
