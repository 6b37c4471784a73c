"""Neighbours: which two tables must look alike (papers 001 and 000; `sensitivity.md`)."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RELATIONS", "Neighbors"]

RELATIONS = ("unbounded", "bounded", "attribute", "bit")


@dataclass(frozen=True)
class Neighbors:
    """A relation between tables.

    `unbounded`: a row more or less. `bounded`: one row changed. `attribute`: one value of one
    row changed. `bit`: one bit of one value changed. With `rows`, all rows of one unit, of
    which at most that many are kept, instead of one row. With `group`, that many of them at once.
    """

    relation: str = "unbounded"
    rows: int | None = None
    group: int = 1

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise ValueError(f"neighbors is one of {', '.join(RELATIONS)}")
        if self.rows is not None and self.relation in ("attribute", "bit"):
            raise ValueError("a unit goes with unbounded or bounded neighbours")
        if self.group < 1 or (self.rows is not None and self.rows < 1):
            raise ValueError("group and max_rows are at least 1")

    @property
    def replaces(self) -> bool:
        """Whether a neighbour has something changed, and nothing added or removed."""
        return self.relation != "unbounded"
