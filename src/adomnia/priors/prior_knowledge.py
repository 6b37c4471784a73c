"""What is already public: exact releases, and the promise after them (`prior_knowledge.md`)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from adomnia.errors import QuestionError
from adomnia.queries.expression import Column, Expr
from adomnia.queries.measurement import Counts, Sum, width_of
from adomnia.queries.operations import call, inside
from adomnia.queries.patterns import names
from adomnia.queries.ranges import from_domain
from adomnia.schema.table import Table

__all__ = ["Interval", "PriorKnowledge", "Published"]

Interval = tuple[int, int]
"""The least and the greatest value that a released number can stand for; equal where exact."""


@dataclass(frozen=True)
class Published:
    """Counts or sums that were released exactly, one row of components per cell of the keys.

    `values` holds an interval for each component of each cell (two equal ends where exact), or
    None where the numbers were not given here. A `rounded` release never pins its numbers down,
    and of the `loose` components only a range is public: whether a group has rows.
    """

    sql: str
    where: Expr | None
    keys: tuple[Expr, ...]
    measurements: tuple[Counts | Sum, ...]
    values: tuple[tuple[Interval, ...], ...] | None = None
    rounded: bool = False
    loose: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """How many numbers each cell has."""
        return sum(width_of(measurement) for measurement in self.measurements)

    @property
    def reads(self) -> frozenset[str]:
        """The columns that the release is about."""
        return names(self.where, *self.keys, *self.arguments)

    @property
    def arguments(self) -> tuple[Expr | None, ...]:
        """What is counted or summed."""
        found: list[Expr | None] = []
        for measurement in self.measurements:
            counted = isinstance(measurement, Counts)
            found += measurement.conditions if counted else [measurement.argument]  # type: ignore[union-attr]
        return tuple(found)

    @property
    def is_marginal(self) -> bool:
        """Whether it is a plain table of counts by some columns."""
        plain = all(isinstance(key, Column) for key in self.keys)
        return plain and self.where is None and self.measurements == (Counts((None,)),)


@dataclass(frozen=True)
class PriorKnowledge:
    """All that is public, and among which tables the promise holds.

    `nullable`: columns in which a row may have no listed value; NULL is a cell of its own there.
    Rows without a listed value in one of the other columns that a release reads, the `listed`
    ones, are in no table: the statement that runs leaves them out. `total`: neighbours have
    equally many rows. `universe`: the only columns that are ever asked about. `max_group`:
    no more people than this move together. The last two weaken the promise, and are declared.
    """

    published: tuple[Published, ...] = ()
    nullable: frozenset[str] = frozenset()
    total: bool = False
    universe: tuple[str, ...] | None = None
    max_group: int | None = None

    def __bool__(self) -> bool:
        """Whether anything is public."""
        return bool(self.published)

    @property
    def listed(self) -> frozenset[str]:
        """Columns in which a row needs a listed value to be in any table (`prior_knowledge.md`)."""
        read: frozenset[str] = frozenset().union(*(p.reads for p in self.published))
        return read - self.nullable

    def only_listed(self, table: Table) -> Expr | None:
        """The condition that rows in tables meet; None where all rows do."""
        tests = [
            call("not", call("is_null", inside(_column(table, name))))
            for name in sorted(self.listed)
        ]
        return tests[0] if len(tests) == 1 else call("and", *tests) if tests else None

    def within_universe(self) -> PriorKnowledge:
        """What is public about the columns of the universe (`prior_knowledge.md`, claim 3)."""
        if self.universe is None:
            return self
        inside = frozenset(self.universe)
        kept = tuple(p for p in self.published if p.reads <= inside)
        rest = [p for p in self.published if not p.reads <= inside]
        _check_gluing(kept, rest, inside)
        totals = tuple(_total(p) for p in rest if not p.reads & inside)
        return replace(self, published=kept + totals[:1])


def _check_gluing(
    kept: tuple[Published, ...], rest: list[Published], inside: frozenset[str]
) -> None:
    """Refuse a universe on which what is public says more than its own tables do."""
    tables = [p.reads for p in kept if p.is_marginal]
    outside: set[str] = set()
    for published in rest:
        shared, apart = published.reads & inside, published.reads - inside
        glued = not shared or any(shared <= table for table in tables)
        if not published.is_marginal or published.rounded or not glued or outside & apart:
            raise QuestionError(
                "the declared universe is not closed: what was released as "
                f"{published.sql!r} ties its columns to others",
                "add to the universe: " + ", ".join(sorted(apart)),
            )
        outside |= apart


def _column(table: Table, name: str) -> Column:
    return Column(name, from_domain(table.attributes[name].domain))


def _total(published: Published) -> Published:
    """A table of counts tells how many rows there are."""
    values = published.values
    if values is not None:
        values = ((tuple(sum(row[0][end] for row in values) for end in (0, 1)),),)  # type: ignore[assignment]
    return replace(published, keys=(), values=values)
