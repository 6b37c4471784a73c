"""Several tables in one place, for whoever drafts a policy: which rows refer to which, exactly.

Keys are compared as texts, and rows belong to whom they reach, as a load has it (`owners.md`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from adomnia.engines.key_facts import MatchedRows, OwnerCounts, OwnerHops
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.tables.owners import key_text

__all__ = ["SqlLinks", "text_columns"]


class SqlLinks(ABC):
    """Tables whose columns are texts, asked in SQL."""

    _dialect: Dialect

    @abstractmethod
    def _texts(self, table: str) -> str:
        """A table, or a statement in parentheses, with the columns as texts."""

    @abstractmethod
    def _rows(self, statement: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a statement; whatever fails, fails quietly."""

    def match(self, table: str, column: str, other: str, key: str) -> MatchedRows:
        """How many values of a column are in another table's."""
        say = self._dialect.quoted
        keys = f"SELECT DISTINCT {say(key)} AS k FROM {self._texts(other)} AS o"
        rows, matched = self._rows(
            f"SELECT COUNT(t.{say(column)}), COUNT(x.k) FROM {self._texts(table)} AS t "
            f"LEFT JOIN ({keys}) AS x ON t.{say(column)} = x.k"
        )[0]
        return MatchedRows(int(rows), int(matched))

    def owned(self, table: str, ways: Sequence[OwnerHops]) -> OwnerCounts:
        """How many rows the units have; a row of two units is counted for both, and one that does
        not reach one unit by each way is nobody's."""
        owners, places = self._owners(table, ways), range(len(ways))
        owned = " AND ".join(f"o{i} IS NOT NULL" for i in places)
        each = [
            f"SELECT o{i} AS o FROM ({owners}) AS a WHERE "
            + " AND ".join([owned, *(f"o{i} <> o{j}" for j in range(i))])
            for i in places
        ]
        many = f"SELECT COUNT(*) AS many FROM ({' UNION ALL '.join(each)}) AS b GROUP BY o"
        found = self._rows(f"SELECT many, COUNT(*) FROM ({many}) AS c GROUP BY many ORDER BY many")
        nobody = self._rows(f"SELECT COUNT(*) FROM ({owners}) AS a WHERE NOT ({owned})")[0][0]
        return OwnerCounts({int(rows): int(units) for rows, units in found}, int(nobody))

    def differing(self, table: str, ways: tuple[OwnerHops, OwnerHops]) -> int:
        """How many rows have one unit by one way and another by the other."""
        owners = self._owners(table, ways)
        found = self._rows(f"SELECT COUNT(*) FROM ({owners}) AS a WHERE o0 <> o1")
        return int(found[0][0])

    def _owners(self, table: str, ways: Sequence[OwnerHops]) -> str:
        """The statement that gives the one unit that each row reaches by each way, or NULL."""
        joins, owners = "", []
        for place, hops in enumerate(ways):
            joins += f" LEFT JOIN ({self._reached(hops)}) AS r{place}"
            joins += f" ON t.{self._dialect.quoted(hops[0].column)} = r{place}.k"
            owners.append(f"CASE WHEN r{place}.lo = r{place}.hi THEN r{place}.lo END AS o{place}")
        return f"SELECT {', '.join(owners)} FROM {self._texts(table)} AS t{joins}"

    def _reached(self, hops: OwnerHops) -> str:
        """The statement that gives the least and the greatest unit that a key leads to."""
        first, *rest = hops
        key, rows = f"o.{self._dialect.quoted(first.key)}", f"{self._texts(first.other)} AS o"
        if not rest:
            return f"SELECT DISTINCT {key} AS k, {key} AS lo, {key} AS hi FROM {rows}"
        column = f"o.{self._dialect.quoted(rest[0].column)}"
        return (
            f"SELECT {key} AS k, MIN(n.lo) AS lo, MAX(n.hi) AS hi FROM {rows} "
            f"LEFT JOIN ({self._reached(tuple(rest))}) AS n ON {column} = n.k GROUP BY {key}"
        )


def text_columns(columns: Sequence[str], types: Mapping[str, str], dialect: Dialect) -> str:
    """Columns of these types selected as texts, under their own names."""
    names = ((name, dialect.quoted(name)) for name in columns)
    return ", ".join(f"{key_text(said, types[name], dialect)} AS {said}" for name, said in names)
