"""What tests of engines and sensitivities share: measurements as statements enforce them, and what
a row adds to a measurement by definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any

from adomnia.curator.planning.plan import Plan
from adomnia.curator.table_backend import read_sealed
from adomnia.engines.engine import Request
from adomnia.mechanisms.noisy_values import Measured
from adomnia.privacy.contribution import Contribution, Ranked, Setting
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.proposal import contribution_of
from adomnia.privacy.sensitivity import Sensitivity, sensitivity
from adomnia.queries.expression import Expr
from adomnia.queries.measurement import (
    Counts,
    Distinct,
    Measurement,
    Moments,
    Quantile,
    Sum,
    number,
    unit_of,
    width_of,
)
from adomnia.queries.operations import evaluate
from adomnia.queries.ranges import clamp
from adomnia.schema.table import Table

__all__ = [
    "adds",
    "aggregated",
    "claim",
    "contributions",
    "measured",
    "ranked",
    "released",
    "request_of",
]


def released(plan: Plan, table: Table, engine: Any) -> Measured:
    """What the plan's mechanisms release of what the engine reads, without any ledger."""
    wanted = [mechanism.reads for mechanism in plan.mechanisms]
    sealed = iter(read_sealed(engine, table, [reads for reads in wanted if reads is not None]))
    parts = [
        mechanism.release(None if reads is None else next(sealed))
        for mechanism, reads in zip(plan.mechanisms, wanted, strict=True)
    ]
    return plan.measured(tuple(parts))


def claim(measurement: Measurement, setting: Setting, neighbors: Neighbors) -> Sensitivity:
    """The sensitivity of a measurement, as it would be asked."""
    return sensitivity(contribution_of(measurement, setting, neighbors), setting, neighbors)


def contributions(
    table: Table,
    where: Expr | None,
    keys: tuple[Expr, ...],
    measurements: Sequence[Measurement],
    neighbors: Neighbors | None = None,
) -> tuple[Contribution, ...]:
    """What rows may add, for the neighbours of the table's unit where none are given."""
    setting = Setting(where, keys, table.unit)
    rows = None if table.unit is None else table.max_rows
    near = neighbors or Neighbors("unbounded", rows)
    return tuple(contribution_of(part, setting, near) for part in measurements)


def request_of(
    table: Table,
    where: Expr | None,
    keys: tuple[Expr, ...],
    measurements: Sequence[Measurement],
    grouping: int | None = None,
) -> Request:
    """The request of measurements."""
    added = contributions(table, where, keys, measurements)
    return Request(table, where, keys, added, grouping)


def ranked(quantile: Quantile) -> Ranked:
    """What a quantile asks of the data."""
    found = contribution_of(quantile, Setting(), Neighbors())
    assert isinstance(found, Ranked)
    return found


def adds(measurement: Measurement, row: Mapping[str, Any]) -> list[int]:
    """What one row adds to counts, a sum or moments, by definition: what lies outside of a
    column's domain counts as its nearest end, and nothing else is clamped."""
    if isinstance(measurement, Counts):
        tests = measurement.conditions
        return [int(test is None or evaluate(test, row) is True) for test in tests]
    assert isinstance(measurement, Sum | Moments)
    value = aggregated(measurement.argument, row)
    if isinstance(measurement, Sum):
        return [value or 0]
    spread, degree = number(measurement.argument), measurement.degree
    width, rest = max(1, spread.width), [0] * measurement.rest
    if value is None:
        return [0] * (degree + 1) + [unit_of(measurement)] * measurement.rest
    j = value - spread.low
    return [comb(degree, k) * j**k * (width - j) ** (degree - k) for k in range(degree + 1)] + rest


def aggregated(argument: Expr, row: Mapping[str, Any]) -> Any:
    """What an aggregate reads of a row."""
    value = evaluate(argument, row)
    return clamp(number(argument), value) if argument.range.ragged and value is not None else value


def measured(measurement: Measurement, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """The exact components of some rows of one cell."""
    if isinstance(measurement, Distinct):
        values = {evaluate(measurement.argument, row) for row in rows}
        return [len(values - {None})]
    total = [0] * width_of(measurement)
    for row in rows:
        total = [a + b for a, b in zip(total, adds(measurement, row), strict=True)]
    return total
