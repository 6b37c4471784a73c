"""What was counted of tables that rows are of: in numbers for one table as it is, in words for what
is joined of several or computed for each unit (`quality.md`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adomnia.curator.answers.omissions import UNKNOWN, Omission, about, known_of_columns
from adomnia.curator.answers.quality_counts import Quality
from adomnia.formatting import amount
from adomnia.queries.row_columns import attributes_of
from adomnia.queries.rows import OWNER, Scan
from adomnia.schema.table import Table
from adomnia.schema.tables import Tables

__all__ = [
    "NOBODY",
    "CountedOfTable",
    "TableCounts",
    "all_of_tables",
    "has_excess",
    "is_countable",
    "is_single",
    "same_key",
]

NOBODY = "rows that refer to nobody are not counted"


def is_countable(tables: Tables, name: str) -> bool:
    """Whether what a table leaves out can be counted: its rows are of one unit each, and so many of
    one unit at most are used as was declared."""
    return not tables.tables[name].auto and len(tables.owners(name)) == 1


def is_single(tables: Tables, name: str) -> bool:
    """Whether a table is that of units, with one row of each."""
    return name in tables.units and tables.tables[name].max_rows == 1


def has_excess(tables: Tables, name: str) -> bool:
    """Whether rows beyond a table's bound can be counted. Of a unit's own row there is no other."""
    return is_countable(tables, name) and not is_single(tables, name)


def same_key(names: Iterable[str]) -> str:
    """That one row of each unit is used, in words."""
    return f"of rows of {' and '.join(names)} with the same key one alone is used"


@dataclass(frozen=True)
class CountedOfTable:
    """What was counted of one table: rows beyond its bound, None where nobody did; and values, by
    the name of the column."""

    rows: Omission | None = None
    values: Mapping[str, Omission] = field(default_factory=dict)


@dataclass(frozen=True)
class TableCounts:
    """What was paid to know of tables, by their names; how sure all of it is with half of the
    doubt; and what is said to whoever asks of what could be counted, and was not."""

    tables: Tables
    paid: Mapping[str, Quality]
    confidence: float
    unknown: str = UNKNOWN

    def of_tables(self, columns: Mapping[str, Sequence[str]]) -> dict[str, CountedOfTable]:
        """What was counted of each of these tables and columns; all of it holds together."""
        each = replace(self, confidence=1 - (1 - self.confidence) / max(1, len(columns)))
        return {name: each._of_table(name, listed) for name, listed in columns.items()}

    def _of_table(self, name: str, columns: Sequence[str]) -> CountedOfTable:
        quality, most = self.paid.get(name), self.tables.tables[name].max_rows
        if quality is None:
            return CountedOfTable()
        named = {f"{name}.{column}": count for column, count in quality.values.items()}
        rows, values = known_of_columns(
            Table(name, attributes_of(Scan(name, name), self.tables), OWNER, most),
            [f"{name}.{column}" for column in columns],
            replace(quality, values=named),
            self.confidence,
            UNKNOWN,
        )
        found = {column.removeprefix(f"{name}."): one for column, one in values.items()}
        if rows is None or quality.rows is None:
            return CountedOfTable(None, found)
        return CountedOfTable(self._found(name, rows), found)

    def used(self, names: Collection[str]) -> str:
        """How many rows of one unit are used of each of these tables."""
        said = []
        for name in names:
            most = self.tables.tables[name].max_rows
            said.append(f"{'1 row' if most == 1 else f'{most:,} rows'} of {name}")
        listed = " and ".join(filter(None, [", ".join(said[:-1]), said[-1]]))
        units = self.tables.unit_name
        whose = f"each of {units}" if any(self.tables.units) else f"each {units}"
        return f"of {whose} at most {listed} are used"

    def in_words(self, counted: Mapping[str, CountedOfTable]) -> Iterator[str]:
        """What is left out of each of these tables by its bound; last, of which nobody knows."""
        yield from (one.rows.says for one in counted.values() if one.rows is not None)
        rest = [name for name, one in counted.items() if one.rows is None]
        which = f" rows of {' and '.join(rest)}" if len(rest) < len(counted) else ""
        if rest:
            yield f"how many{which} are left out {self.advice(rest)}"

    def advice(self, names: Sequence[str]) -> str:
        """That nobody knows, and what can be done where that is so."""
        can = any(is_countable(self.tables, name) for name in names)
        return self.unknown if can and not self.paid else UNKNOWN

    def sentence(self, name: str, rows: Omission) -> Omission:
        """What was counted of the rows of one table, with how many are used."""
        return replace(rows, says=f"{self.used([name])}; {rows.says}; {NOBODY}")

    def _found(self, name: str, rows: Omission) -> Omission:
        """The rows beyond a bound in a few words. Where the scan found no higher bound nothing is
        known of them but how many units may have some: then there is no number."""
        who = f"of {self.tables.unit_name}" if any(self.tables.units) else "people"
        bound, most = rows.bound, self.tables.tables[name].max_rows
        few = None if rows.people is None else f"at most {rows.people:,} {who}"
        if bound is None or bound == most or rows.count is None or rows.margin is None:
            paid = amount(self.paid[name].epsilon)
            says = (
                f"for epsilon {paid} nothing could be found of the rows of {name} beyond max_rows"
            )
            beyond = few and f": {few} have more than {most:,}"
            return Omission("rows", says + (beyond or ""), bound=bound, people=rows.people)
        beside = few and f"{few} with more than {bound:,} rows each"
        if rows.count + rows.margin <= 0:
            those = f": those of {beside}" if beside else ""
            return replace(rows, says=f"rows of {name} beyond max_rows are left out{those}")
        many = about(rows.count, rows.margin, "row", f" of {name}")
        end = f"beside those of {beside}" if beside else f"counting {bound:,} rows of each at most"
        return replace(rows, says=f"{many} are left out by max_rows, {end}")


def all_of_tables(counts: TableCounts) -> tuple[Omission, ...]:
    """All that was counted of an edition, whatever is asked: columns are named with their tables.
    Nothing else takes from the doubt."""
    every = {name: [*quality.values] for name, quality in counts.paid.items()}
    sure = replace(counts, confidence=2 * counts.confidence - 1)
    found: list[Omission] = []
    for name, one in sure.of_tables(every).items():
        found += [] if one.rows is None else [counts.sentence(name, one.rows)]
        found += one.values.values()
    return tuple(found)
