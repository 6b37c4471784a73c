"""Units: which rows of a person are used.

A unit's rows have ranks from 1 on: they are ordered by a hash of all columns of the source. Where
the policy says of some attributes that they are not sensitive, rows are ordered by these before all
others, so that the rows that are kept look the same in public columns whatever the secret ones say.
So a rank is the same whatever the order of the rows, the files they lie in or the number of
threads, and rests on the unit's own rows alone; rows with the same hash are the same row (but for a
chance of 2^-64), and it does not matter which of them is kept. In an edition ranks are worked out
when it is written. Rows without a unit are nobody's, and are left out.

At most `max_rows` rows of each unit are used, the first ones, the same in every question. Then, of
those that WHERE lets through, the rows in at most `max_groups` groups of the question: a unit's
groups are ordered by a hash of the keys and of the unit's first row. (Not of the unit itself:
values that are equal may be written in two ways, such as 1.0 and 1.00.) And of these at most
`max_rows_per_group` in each group, in the order of their ranks.

Each engine has a hash of its own, so two engines may keep different rows of a unit that has too
many: one hash for all (MD5 of a text) made these questions three times slower in DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adomnia.engines.sql.dialect import Dialect
from adomnia.queries.expression import Expr
from adomnia.queries.grouping import public_cells
from adomnia.queries.rows import OWNER
from adomnia.schema.table import Table

__all__ = ["FIRST", "MARKS", "RANK", "UNIT", "ChosenGroups", "ranked"]

UNIT, RANK, FIRST = MARKS = (OWNER, "adomnia rank", "adomnia first")
"""Whose row it is, which of theirs, and a hash of their first row."""


def ranked(
    source: str, table: Table, types: Mapping[str, str], needed: Iterable[str], dialect: Dialect,
    beside: Sequence[str] = (),
) -> str:  # fmt: skip
    """The rows that somebody owns with the needed columns of the source, and their marks; what
    stands `beside` these columns comes along and has no part in the order."""
    assert table.unit is not None
    say = dialect.quoted
    unit, order = say(table.unit), say("adomnia order")
    columns = [say(name) for name in (*(n for n in types if n in {*needed}), *beside)]
    source, first = _public_first(source, table, types, dialect, beside)
    turns = f"OVER (PARTITION BY {unit} ORDER BY {', '.join([*first, order])})"
    hashed = (
        f"SELECT {', '.join(dict.fromkeys([unit, *columns, *first]))}, "
        f"{_order([say(name) for name in types], dialect)} AS {order} "
        f"FROM {source} WHERE {unit} IS NOT NULL"
    )
    marks = (f"{unit} AS {say(UNIT)}", f"ROW_NUMBER() {turns} AS {say(RANK)}",
             f"FIRST_VALUE({order}) {turns} AS {say(FIRST)}")  # fmt: skip
    listed = ", ".join([*columns, *marks])
    return (
        f"(SELECT {listed} FROM ({hashed}) AS {say('adomnia hashed')}) AS {say('adomnia ranked')}"
    )


def _public_first(
    source: str, table: Table, types: Mapping[str, str], dialect: Dialect, beside: Sequence[str]
) -> tuple[str, list[str]]:
    """The rows with an order by what is public by the curator's word, and what it goes by.

    Rows of a unit that are equal in public columns are numbered, and a hash of unit, columns and
    number orders them: it depends on nothing secret. Nothing where no column is public.
    """
    say = dialect.quoted
    attributes = (table.attributes.get(name) for name in types)
    names = [a.name for a in attributes if a is not None and not a.sensitive]
    public = [say(name) for name in names if name != table.unit]
    if not public or table.unit is None:
        return source, []
    unit, alike = say(table.unit), f"PARTITION BY {say(table.unit)}, {', '.join(public)}"
    who, what, tie, turn, mixed = (
        say(f"adomnia {word}") for word in ("who", "what", "tie", "number", "public")
    )
    listed = [say(name) for name in types]
    hashes = {who: [unit], what: public, tie: listed}
    keys = ", ".join(f"{_order(columns, dialect)} AS {name}" for name, columns in hashes.items())
    carried = ", ".join(dict.fromkeys([unit, *listed, *(say(name) for name in beside)]))
    hashed = f"SELECT {carried}, {keys} FROM {source} WHERE {unit} IS NOT NULL"
    # the least hash: values that are equal may be written in two ways, and count as one
    owner, cell = say("adomnia owner"), say("adomnia cell")
    marks = (
        f"MIN({who}) OVER (PARTITION BY {unit}) AS {owner}, MIN({what}) OVER ({alike}) AS {cell}, "
        f"ROW_NUMBER() OVER ({alike} ORDER BY {tie}) AS {turn}"
    )
    numbered = f"SELECT *, {marks} FROM ({hashed}) AS {say('adomnia seen')}"
    order = f"{_order([owner, cell, turn], dialect)} AS {mixed}"
    rows = f"(SELECT *, {order} FROM ({numbered}) AS {say('adomnia numbered')})"
    return f"{rows} AS {say('adomnia listed')}", [mixed, *public, turn]


def _order(columns: Sequence[str], dialect: Dialect) -> str:
    """Hashed twice: a hash that only joins those of its columns favours some of their values."""
    return dialect.order([dialect.order(columns)])


@dataclass(frozen=True)
class ChosenGroups:
    """Which groups of a unit are used, and how many rows in each; None where all are."""

    groups: int | None
    each: int | None

    @classmethod
    def of(cls, table: Table, keys: Sequence[Expr]) -> ChosenGroups:
        """What is left to choose in the groups of these keys, once rows are bounded.

        Of groups that lie on few cells all are used: `arrange` lays out no others.
        """
        if table.unit is None or not keys:
            return cls(None, None)
        cells = public_cells(tuple(keys))
        most = table.max_rows if cells is None else cells
        groups, each = table.max_groups, table.max_rows_per_group
        return cls(
            groups if groups is not None and groups < min(most, table.max_rows) else None,
            each if each is not None and each < table.max_rows else None,
        )

    def __bool__(self) -> bool:
        return self.groups is not None or self.each is not None

    def rows(self, rows: str, keys: Sequence[str], dialect: Dialect) -> str:
        """Of these rows the chosen ones, as a subquery; the keys are columns of it.

        Groups are ordered by a hash, and then by their keys: no two share a rank, even if they
        share a hash. Rows follow their group in the same order, so that one sort does for all.
        """
        say = dialect.quoted
        who, mixed, group, turn = map(say, (UNIT, "adomnia mix", "adomnia group", "adomnia turn"))
        by, marks = ", ".join(keys), {}
        if self.groups is not None:
            by = f"{mixed}, {by}"
            hashed = f"SELECT *, {_order([say(FIRST), *keys], dialect)} AS {mixed} FROM {rows}"
            rows = f"({hashed}) AS {say('adomnia mixed')}"
            rank = f"DENSE_RANK() OVER (PARTITION BY {who} ORDER BY {by})"
            marks[f"{rank} AS {group}"] = f"{group} <= {self.groups}"
        if self.each is not None:
            before = f"RANK() OVER (PARTITION BY {who} ORDER BY {by})"
            within = f"ROW_NUMBER() OVER (PARTITION BY {who} ORDER BY {by}, {say(RANK)})"
            marks[f"{within} - {before} AS {turn}"] = f"{turn} < {self.each}"
        ranked = f"SELECT *, {', '.join(marks)} FROM {rows}"
        return (
            f"(SELECT * FROM ({ranked}) AS {say('adomnia turns')} "
            f"WHERE {' AND '.join(marks.values())}) AS {say('adomnia chosen')}"
        )
