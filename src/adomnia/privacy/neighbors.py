"""Neighbours: which two tables must look alike (papers 001 and 000; `sensitivity.md`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

__all__ = ["RELATIONS", "Neighbors", "Relation", "UnitBounds"]

Relation = Literal["unbounded", "bounded", "attribute", "bit", "free-lunch"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)


@dataclass(frozen=True)
class UnitBounds:
    """How the kept rows of one unit may lie in the groups of a question.

    At most `rows` in all, in at most `groups` groups, at most `each` in one of them.
    """

    rows: int
    groups: int
    each: int

    @property
    def squares(self) -> int:
        """The largest sum of the squares of the groups' numbers of rows: fill one by one."""
        full, rest = divmod(self.rows, self.each)
        return full * self.each**2 + rest**2

    @property
    def filled(self) -> int:
        """How many groups have rows when one after the other is filled."""
        return -(-self.rows // self.each)


@dataclass(frozen=True)
class Neighbors:
    """A relation between tables.

    `unbounded`: a row more or less. `bounded`: one row changed. `attribute`: one value of one
    row changed. `bit`: one bit of one value changed. With `rows`, all rows of one unit, of
    which at most that many are kept, instead of one row. With `group`, that many of them at once.
    `free-lunch`: any two tables of at most `most` rows (`free_lunch.md`).

    In a question with GROUP BY a unit's rows are kept in at most `groups` groups, at most `each`
    in one of them. Without `rows` these two say nothing.
    """

    relation: Relation = "unbounded"
    rows: int | None = None
    group: int = 1
    most: int | None = None
    groups: int | None = None
    each: int | None = None

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise ValueError(f"neighbors is one of {', '.join(RELATIONS)}")
        if self.rows is not None and self.relation in ("attribute", "bit"):
            raise ValueError("a unit goes with unbounded or bounded neighbours")
        if self.group < 1 or (self.rows is not None and self.rows < 1):
            raise ValueError("group and max_rows are at least 1")
        if any(bound is not None and bound < 1 for bound in (self.groups, self.each)):
            raise ValueError("max_groups and max_rows_per_group are at least 1")
        if (self.most is not None) != (self.relation == "free-lunch"):
            raise ValueError("free-lunch needs most, the largest number of rows, and it alone")
        if self.most is not None and (self.most < 1 or self.group > 1 or self.rows is not None):
            raise ValueError("free-lunch hides all rows already: it takes no unit and no group")

    @property
    def replaces(self) -> bool:
        """Whether a neighbour has something changed, and nothing added or removed."""
        return self.relation not in ("unbounded", "free-lunch")

    @property
    def touched(self) -> int:
        """In how many rows neighbours differ at most: rows that come, go or change."""
        return self.most or (self.rows or 1) * self.group

    @property
    def moves(self) -> int:
        """How many rows come or go at most: a changed one goes and comes."""
        return self.touched * (1 if self.relation == "unbounded" else 2)

    @property
    def chooses(self) -> bool:
        """Whether which rows of a unit are kept depends on the groups that are asked for."""
        rows = self.rows or 1
        return min(self.groups or rows, self.each or rows) < rows

    def among(self, holders: int) -> Neighbors:
        """The relation of a sum over so many holders: a unit may have rows at each of them.

        A row is at one holder by definition; without a unit nothing changes.
        """
        return self if self.rows is None else replace(self, group=self.group * holders)

    def of_rows(self) -> Neighbors:
        """The same relation of single rows, in the place of units."""
        return replace(self, rows=None, groups=None, each=None)

    def unit_bounds(self, grouped: bool, cells: int | None = None) -> UnitBounds:
        """How many rows of one unit a question uses; `cells` are all its groups, where known."""
        rows = self.rows or 1
        if not grouped:
            return UnitBounds(rows, 1, rows)
        groups, each = min(rows, self.groups or rows, cells or rows), min(rows, self.each or rows)
        return UnitBounds(min(rows, groups * each), groups, each)
