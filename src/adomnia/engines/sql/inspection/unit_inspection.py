"""Units as a source has them: how many rows each has, and what the bounds of the policy cut.

Which rows a bound cuts is decided as in the statements that questions run (`units.py`), so these
are the rows that answers are without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from adomnia.engines.source_facts import CutRows, InspectedUnits
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.inspection.number_inspection import Ordered, width_of
from adomnia.engines.sql.statement import DATA, CodedRows
from adomnia.engines.sql.units import RANK, UNIT, ChosenGroups
from adomnia.queries.expression import Column
from adomnia.queries.grouping import public_cells
from adomnia.queries.ranges import from_domain
from adomnia.schema.domain import Domain, Grid, Open
from adomnia.schema.table import Table

__all__ = ["inspect_owned", "inspect_units"]

MOST_GROUPS = 2000
"""Columns with more values are no keys whose groups are looked at one by one."""

Run = Callable[[str], Sequence[tuple[Any, ...]]]


@dataclass(frozen=True)
class _Totals:
    """How many rows there are, units with fewer rows than before, and what numbers add up to."""

    rows: int
    units: int
    sums: dict[str, Fraction]


def inspect_units(
    run: Run, table: Table, coded: CodedRows, staged: Callable[[str], AbstractContextManager[str]]
) -> InspectedUnits:
    """Rows per unit, rows of nobody, and what each bound cuts."""
    assert table.unit is not None
    unit = coded.dialect.quoted(table.unit)
    nobody = run(f"SELECT COUNT(*) FROM {DATA} WHERE {unit} IS NULL")[0][0]
    return replace(inspect_owned(run, table, coded, staged), nobody=int(nobody))


def inspect_owned(
    run: Run, table: Table, coded: CodedRows, staged: Callable[[str], AbstractContextManager[str]]
) -> InspectedUnits:
    """The same of coded rows that all have a unit: none is nobody's."""
    say = coded.dialect.quoted
    unit, many = say(UNIT), say("adomnia many")
    names = [name for name in table.attributes if name in coded.names]
    with staged(f"SELECT * FROM {coded.source(table, names)}") as stage:
        counted = f"SELECT COUNT(*) AS {many} FROM {stage} GROUP BY {unit}"
        found = run(f"SELECT {many}, COUNT(*) FROM ({counted}) AS {say('a')} GROUP BY {many}")
        cuts = list(_Cuts(run, table, coded.dialect, stage).found(names))
    return InspectedUnits({int(rows): int(units) for rows, units in sorted(found)}, 0, cuts)


@dataclass(frozen=True)
class _Cuts:
    """The coded rows of units with their marks, and what bounds cut of them."""

    run: Run
    table: Table
    dialect: Dialect
    stage: str

    def found(self, names: Sequence[str]) -> Iterator[CutRows]:
        """What `max_rows` cuts of all; of the rest, in the groups of each column, the others."""
        numbers = [name for name in names if isinstance(self._domain(name), Grid)]
        say, most = self.dialect.quoted, self.table.max_rows
        inside = f"SELECT * FROM {self.stage} WHERE {say(RANK)} <= {most}"
        kept = f"({inside}) AS {say('adomnia kept')}"
        whole = self._totals(self.stage, self.stage, numbers)
        first = self._totals(kept, self.stage, numbers)
        yield _difference("max_rows", None, whole, first)
        for name in names:
            key = say("adomnia k0")
            keyed = f"(SELECT *, {say(name)} AS {key} FROM {kept}) AS {say('adomnia keyed')}"
            for bound, chosen in self._bounds(name):
                rows = chosen.rows(keyed, [key], self.dialect)
                yield _difference(bound, name, first, self._totals(rows, kept, numbers))

    def _bounds(self, name: str) -> Iterator[tuple[str, ChosenGroups]]:
        """The bounds that choose among the groups of a column, each alone."""
        domain = self._domain(name)
        if isinstance(domain, Open):
            return
        keys = (Column(name, from_domain(domain)),)
        if _wide(domain) or (public_cells(keys) or MOST_GROUPS + 1) > MOST_GROUPS:
            return
        chosen = ChosenGroups.of(self.table, keys)
        if chosen.groups is not None:
            yield "max_groups", ChosenGroups(chosen.groups, None)
        if chosen.each is not None:
            yield "max_rows_per_group", ChosenGroups(None, chosen.each)

    def _totals(self, rows: str, before: str, numbers: Sequence[str]) -> _Totals:
        """What rows add up to, and how many units have fewer of them than before."""
        say = self.dialect.quoted
        who, had, has = say(UNIT), say("adomnia had"), say("adomnia has")
        sums = [say(f"adomnia s{i}") for i in range(len(numbers))]
        each = [f"{self._sum(name)} AS {total}" for name, total in zip(numbers, sums, strict=True)]
        now = f"SELECT {', '.join([who, f'COUNT(*) AS {has}', *each])} FROM {rows} GROUP BY {who}"
        then = f"SELECT {who}, COUNT(*) AS {had} FROM {before} GROUP BY {who}"
        a, b = say("a"), say("b")
        added = [f"SUM({a}.{total})" for total in sums]
        fewer = f"COUNT(CASE WHEN {a}.{has} < {b}.{had} THEN 1 END)"
        count, units, *totals = self.run(
            f"SELECT {', '.join([f'SUM({a}.{has})', fewer, *added])} "
            f"FROM ({now}) AS {a} JOIN ({then}) AS {b} ON {a}.{who} = {b}.{who}"
        )[0]
        found = zip(numbers, totals, strict=True)
        return _Totals(
            int(count or 0), int(units), {name: self._value(name, total) for name, total in found}
        )

    def _sum(self, name: str) -> str:
        """The sum of a column's cleaned numbers, in steps."""
        grid, code = self._domain(name), self.dialect.quoted(name)
        assert isinstance(grid, Grid)
        low, width = int(grid.low / grid.step), int((grid.high - grid.low) / grid.step)
        inside = f"LEAST(GREATEST(CAST({code} AS BIGINT), 0), {width}) + ({low})"
        return self.dialect.total(f"CASE WHEN {code} IS NOT NULL THEN {inside} END")

    def _value(self, name: str, steps: Any) -> Fraction:
        grid = self._domain(name)
        assert isinstance(grid, Grid)
        return int(steps or 0) * grid.step

    def _domain(self, name: str) -> Domain:
        return self.table.attributes[name].domain


def _wide(domain: Domain) -> bool:
    """Whether a column has so many values that listing its cells would take long."""
    return isinstance(domain, Ordered) and width_of(domain) > MOST_GROUPS


def _difference(bound: str, key: str | None, before: _Totals, after: _Totals) -> CutRows:
    sums = {name: (total - after.sums[name], total) for name, total in before.sums.items()}
    return CutRows(bound, key, before.rows - after.rows, before.rows, after.units, sums)
