"""What is left out of an answer about rows that are derived of tables: told of each table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from adomnia.curator.answers.column_uses import read_columns
from adomnia.curator.answers.omissions import UNKNOWN, Omission, outside_values
from adomnia.curator.answers.table_omissions import (
    NOBODY,
    CountedOfTable,
    TableCounts,
    is_single,
    same_key,
)
from adomnia.curator.planning.plan import Plan
from adomnia.engines.sql.units import ChosenGroups
from adomnia.mechanisms.joins.measured_at_bound import MeasuredAtBound
from adomnia.mechanisms.noisy_values import Measured
from adomnia.queries.derived_table import DerivedTable
from adomnia.queries.expression import columns
from adomnia.queries.measurement import Counts, Measurement, Sum, number, unit_of
from adomnia.queries.question import Question
from adomnia.queries.ranges import from_domain
from adomnia.queries.row_columns import attributes_of
from adomnia.queries.rows import (
    Combined,
    Filtered,
    Joined,
    Numbered,
    PerUnit,
    Projected,
    Rows,
    Scan,
    all_scans,
    units_of_row,
)
from adomnia.schema.domain import Categories, Domain
from adomnia.schema.tables import Tables

__all__ = ["cut_off", "left_out_of_rows", "rows_left_out"]


def cut_off(plan: Plan, found: Measured, tables: Tables, confidence: float) -> Iterator[Omission]:
    """At which bound units were cut off, and how many may have been: with half of the doubt."""
    for step, part in zip(plan.steps, found.parts, strict=False):
        if not isinstance(step, MeasuredAtBound) or part.bound is None:
            continue
        measurement = step.measurement
        amount = f"{part.bound:,} rows" if isinstance(measurement, Counts) else "a sum of "
        if not isinstance(measurement, Counts):
            amount += shown_amount(part.bound, measurement)
        units = tables.unit_name
        above = step.way.most_above(part.bound, (1 - confidence) / 2)
        few = "how many of them are cut off there is not known"
        if above is not None:
            few = f"at most {int(above):,} of them are cut off there"
        says = f"each of {units} counts up to {amount}, a bound that was found privately; {few}"
        people = None if above is None else int(above)
        yield Omission("rows", says, bound=part.bound, people=people)


def shown_amount(bound: int, measurement: Measurement) -> str:
    """A bound of what a unit adds up to, in the unit of what is summed."""
    if isinstance(measurement, Sum):
        return f"{float(bound * number(measurement.argument).step):,.10g}"
    return f"{bound / unit_of(measurement):,.4g} rows"


def left_out_of_rows(
    question: Question, table: DerivedTable, counts: TableCounts
) -> tuple[Omission, ...]:
    """What the bounds of each table and the domains of its columns leave out of rows that are
    derived of them: in numbers for one table as it is, in words for all others."""
    rows = table.rows
    assert rows is not None
    named = _named(question, rows, counts.tables)
    counted = counts.of_tables({name: [*listed] for name, listed in named.items()})
    if isinstance(rows, Scan) and rows.table in counts.paid and question.statistics:
        return tuple(_of_table(question, table, counts, counted[rows.table]))
    beyond = [_beyond(rows, counts, counted)] if question.statistics else []
    if any(counts.unknown in part.says for part in beyond):
        counts = replace(counts, unknown=UNKNOWN)  # what can be done is said once
    return (*beyond, *_outside(named, counts, counted))


def _of_table(
    question: Question, table: DerivedTable, counts: TableCounts, counted: CountedOfTable
) -> Iterator[Omission]:
    """What is left out of a question over one table as it is, as for a policy with one table."""
    scan = table.rows
    assert isinstance(scan, Scan)
    if is_single(counts.tables, scan.table):
        yield Omission("rows", same_key([scan.table]), None, 0, 0, table.max_rows)
    elif counted.rows is not None:
        yield counts.sentence(scan.table, counted.rows)
    else:
        yield from rows_left_out(scan, counts)
    if ChosenGroups.of(table, question.keys):
        says = "what max_groups and max_rows_per_group leave out beside is not known"
        yield Omission("groups", says)
    for column, part in counted.values.items():
        yield replace(part, column=f"{scan.name}.{column}")


def rows_left_out(rows: Rows, counts: TableCounts) -> Iterator[Omission]:
    """What the bounds of the tables leave out that rows are derived of, in words."""
    names = dict.fromkeys(scan.table for scan in all_scans(rows))
    yield _beyond(rows, counts, counts.of_tables(dict.fromkeys(names, ())))


def _beyond(rows: Rows, counts: TableCounts, counted: Mapping[str, CountedOfTable]) -> Omission:
    """What the bounds of tables leave out, in one sentence."""
    tables = counts.tables
    bounded = {
        name: one
        for name, one in counted.items()
        if not (tables.tables[name].auto or is_single(tables, name))
    }
    if all(is_single(tables, name) for name in counted):
        return Omission("rows", same_key(counted))
    if units_of_row(rows, tables) > 1 or not bounded:
        return Omission("rows", NOBODY)
    told = "; ".join(counts.in_words(bounded))
    return Omission("rows", f"{counts.used(bounded)}; {told}; {NOBODY}")


def _named(question: Question, rows: Rows, tables: Tables) -> Mapping[str, Mapping[str, Domain]]:
    """By table the columns that are read and of which values may be outside."""
    read = read_columns(question)
    if isinstance(rows, Projected):
        made = (expr for name, expr in rows.columns if name in read)
        read = frozenset(column.name for expr in made for column in columns(expr))
        rows = rows.rows
    read |= {*_read(rows)}
    named: dict[str, dict[str, Domain]] = {scan.table: {} for scan in all_scans(rows)}
    for scan in all_scans(rows):
        for name, attribute in attributes_of(scan, tables).items():
            if name in read and from_domain(attribute.domain).ragged:
                plain = name.removeprefix(f"{scan.name}.")
                named[scan.table][plain] = attribute.domain
    return named


def _outside(
    named: Mapping[str, Mapping[str, Domain]],
    counts: TableCounts,
    counted: Mapping[str, CountedOfTable],
) -> Iterator[Omission]:
    """Values outside of what is declared, of each table: how many, where that was counted."""
    rest: dict[str, Domain] = {}
    for name, listed in named.items():
        values = counted[name].values
        for column, domain in listed.items():
            if column in values:
                yield Omission("values", values[column].says, f"{name}.{column}")
            else:
                rest[f"{name}.{column}"] = domain
    if rest:
        says = f"{_said(rest)}; how many {counts.advice([*named])}"
        yield from (Omission("values", says, name) for name in rest)


def _said(named: Mapping[str, Domain]) -> str:
    """What becomes of values outside, of lists and of bounds."""
    texts = {name: one for name, one in named.items() if isinstance(one, Categories)}
    parts: Mapping[str, Mapping[str, Domain]] = {
        "are in no group and equal no declared one": texts,
        "are added up as the nearest and equal no declared one": {
            name: one for name, one in named.items() if name not in texts
        },
    }
    return ", ".join(f"{outside_values(each)} {does}" for does, each in parts.items() if each)


def _read(rows: Rows) -> Iterator[str]:
    """The columns that rows are derived by."""
    if isinstance(rows, Filtered):
        yield from (column.name for column in columns(rows.where))
        yield from _read(rows.rows)
    elif isinstance(rows, Projected):
        yield from (column.name for _, expr in rows.columns for column in columns(expr))
        yield from _read(rows.rows)
    elif isinstance(rows, Joined | Combined):
        pairs = rows.pairs if isinstance(rows, Joined) else [pair for _, *pair in rows.columns]
        yield from (column.name for pair in pairs for end in pair for column in columns(end))
        yield from _read(rows.left)
        yield from _read(rows.right)
    elif isinstance(rows, Numbered):
        yield from _read(rows.rows)
    elif isinstance(rows, PerUnit):
        exprs = [key for _, key in rows.keys]
        exprs += [e for _, t in rows.totals for e in (t.argument, t.by) if e is not None]
        yield from (column.name for expr in exprs for column in columns(expr))
        yield from _read(rows.rows)
