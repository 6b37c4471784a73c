"""Neighbours: which two tables must look alike (papers 001 and 000; `sensitivity.md`)."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["RELATIONS", "Neighbors"]

RELATIONS = ("unbounded", "bounded", "attribute", "bit", "free-lunch")


@dataclass(frozen=True)
class Neighbors:
    """A relation between tables.

    `unbounded`: a row more or less. `bounded`: one row changed. `attribute`: one value of one
    row changed. `bit`: one bit of one value changed. With `rows`, all rows of one unit, of
    which at most that many are kept, instead of one row. With `group`, that many of them at once.
    `free-lunch`: any two tables of at most `most` rows (`free_lunch.md`).
    """

    relation: str = "unbounded"
    rows: int | None = None
    group: int = 1
    most: int | None = field(default=None, repr=False)  # ledgers keep how other relations read

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise ValueError(f"neighbors is one of {', '.join(RELATIONS)}")
        if self.rows is not None and self.relation in ("attribute", "bit"):
            raise ValueError("a unit goes with unbounded or bounded neighbours")
        if self.group < 1 or (self.rows is not None and self.rows < 1):
            raise ValueError("group and max_rows are at least 1")
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
