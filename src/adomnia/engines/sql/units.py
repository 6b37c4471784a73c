"""Contribution bounding: which rows of each unit are used (`contribution.md`).

First at most `max_rows` rows of each unit: they are ordered by a hash of all columns of the table,
and the first are kept, the same ones in every question. Where the policy says of some attributes
that they are not sensitive, rows are ordered by these before all others, so that the rows that are
kept look the same in public columns whatever the secret ones say. So the choice is the same
whatever the order of the rows, the files they lie in or the number of threads; rows with the same
hash are the same row (but for a chance of 2^-64), and it does not matter which of them is kept.
Rows without a unit are nobody's, and are left out.

Then, of those that WHERE lets through, the rows in at most `max_groups` groups of the question:
a unit's groups are ordered by a hash of the keys and of the unit's first row. (Not of the unit
itself: values that are equal may be written in two ways, such as 1.0 and 1.00.) And of these at
most `max_rows_per_group` in each group, in the order of the rows.

Each engine has a hash of its own, so two engines may keep different rows of a unit that has too
many: one hash for all (MD5 of a text) made these questions three times slower in DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adomnia.engines.sql.dialect import Dialect
from adomnia.privacy.contribution import ROWS, Contribution, DistinctUnits
from adomnia.queries.expression import Expr
from adomnia.queries.grouping import public_cells
from adomnia.queries.unit_counts import TRUE
from adomnia.schema.table import Table

__all__ = ["ChosenGroups", "bounded", "per_unit"]

ORDER, FIRST = "adomnia order", "adomnia first"
"""The columns by which a unit's rows are ordered, and with the first of them in each."""


def bounded(
    source: str, table: Table, types: Mapping[str, str], needed: Iterable[str], dialect: Dialect
) -> str:
    """The kept rows, as a subquery with the needed columns alone.

    Where groups are chosen next, `needed` names `ChosenGroups.needed` too.
    """
    assert table.unit is not None
    say = dialect.quoted
    unit, order, place = say(table.unit), say(ORDER), say("adomnia place")
    wished = {*needed}
    columns = [say(name) for name in types if name in wished]
    wanted = ", ".join(dict.fromkeys([unit, *columns]))
    source, first = _public_first(source, table, types, dialect)
    turns = f"OVER (PARTITION BY {unit} ORDER BY {', '.join([*first, order])})"
    marks = [f"ROW_NUMBER() {turns} AS {place}", order]
    if FIRST in wished:
        marks.append(f"FIRST_VALUE({order}) {turns} AS {say(FIRST)}")
    carried = [*columns, *(say(name) for name in (ORDER, FIRST) if name in wished)]
    hashed = (
        f"SELECT {', '.join(dict.fromkeys([unit, *columns, *first]))}, "
        f"{_order([say(name) for name in types], dialect)} AS {order} "
        f"FROM {source} WHERE {unit} IS NOT NULL"
    )
    ranked = f"SELECT {wanted}, {', '.join(marks)} FROM ({hashed}) AS {say('adomnia hashed')}"
    return (
        f"(SELECT {', '.join(carried) or 'TRUE'} FROM ({ranked}) AS {say('adomnia ranked')} "
        f"WHERE {place} <= {table.max_rows}) AS {say('adomnia kept')}"
    )


def _public_first(
    source: str, table: Table, types: Mapping[str, str], dialect: Dialect
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
    hashed = f"SELECT {', '.join(listed)}, {keys} FROM {source} WHERE {unit} IS NOT NULL"
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

    @property
    def needed(self) -> set[str]:
        """What `bounded` must carry beside the unit and the columns that are asked for."""
        pairs = ((FIRST, self.groups), (ORDER, self.each))
        return {name for name, bound in pairs if bound is not None}

    def rows(self, rows: str, unit: str, keys: Sequence[str], dialect: Dialect) -> str:
        """Of these rows the chosen ones, as a subquery; the keys are columns of it.

        Groups are ordered by a hash, and then by their keys: no two share a rank, even if they
        share a hash. Rows follow their group in the same order, so that one sort does for all.
        """
        say = dialect.quoted
        who, mixed, group, turn = map(say, (unit, "adomnia mix", "adomnia group", "adomnia turn"))
        by, marks = ", ".join(keys), {}
        if self.groups is not None:
            by = f"{mixed}, {by}"
            hashed = f"SELECT *, {_order([say(FIRST), *keys], dialect)} AS {mixed} FROM {rows}"
            rows = f"({hashed}) AS {say('adomnia mixed')}"
            rank = f"DENSE_RANK() OVER (PARTITION BY {who} ORDER BY {by})"
            marks[f"{rank} AS {group}"] = f"{group} <= {self.groups}"
        if self.each is not None:
            before = f"RANK() OVER (PARTITION BY {who} ORDER BY {by})"
            within = f"ROW_NUMBER() OVER (PARTITION BY {who} ORDER BY {by}, {say(ORDER)})"
            marks[f"{within} - {before} AS {turn}"] = f"{turn} < {self.each}"
        ranked = f"SELECT *, {', '.join(marks)} FROM {rows}"
        return (
            f"(SELECT * FROM ({ranked}) AS {say('adomnia turns')} "
            f"WHERE {' AND '.join(marks.values())}) AS {say('adomnia chosen')}"
        )


def per_unit(
    source: str, table: Table, contributions: Sequence[Contribution], dialect: Dialect
) -> str | None:
    """How many rows are kept, or how many units there are, from the units' sizes alone.

    A unit of c rows keeps min(c, max_rows) of them, whichever they are, and at least one. None
    where more is asked.
    """
    if table.unit is None or not contributions:
        return None
    rows, unit = dialect.quoted("adomnia rows"), dialect.quoted(table.unit)
    parts = {
        ROWS: f"CAST(COALESCE(SUM(LEAST({rows}, {table.max_rows})), 0) AS BIGINT)",
        DistinctUnits(TRUE): "COUNT(*)",
    }
    if not {*contributions} <= {*parts}:
        return None
    sizes = f"SELECT COUNT(*) AS {rows} FROM {source} WHERE {unit} IS NOT NULL GROUP BY {unit}"
    listed = ", ".join(parts[part] for part in dict.fromkeys(contributions))
    return f"SELECT {listed} FROM ({sizes}) AS {dialect.quoted('adomnia sizes')}"
