"""Scores of bounds: how many units are above each bound of a grid, in one pass over the rows.

A unit's rows are numbered from 1 on (`units.py`), so as many units have more than k rows as there
are rows of rank k + 1, and one unit is in each of these counts once at most. Of rows between two
ranks a unit has no more than there are ranks. A unit's largest number is one number, however many
rows it has: it is sought in all of them (`threshold_scan.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.statement import CodedRows
from adomnia.engines.sql.translation import Texts
from adomnia.engines.sql.units import RANK, UNIT
from adomnia.errors import QuestionError
from adomnia.privacy.reads import UnitPeaks, UnitRows
from adomnia.schema.table import Table

__all__ = ["laid_on_grid", "score_statement"]


def score_statement(table: Table, reads: UnitRows | UnitPeaks, rows: CodedRows) -> str:
    """The query for places on the grid, and what is counted there."""
    if isinstance(reads, UnitRows):
        return _by_rank(table, reads, rows)
    return _by_peak(table, reads, rows)


def _by_rank(table: Table, reads: UnitRows, rows: CodedRows) -> str:
    """For each place the largest number of rows that one rank has there, and of all of them."""
    if table.unit is None:
        raise QuestionError("rows are counted for each unit, and the policy names none")
    say = rows.dialect.quoted
    rank, many = say("adomnia turn"), say("adomnia many")
    ranks = (
        f"SELECT {say(RANK)} AS {rank}, COUNT(*) AS {many} FROM {rows.source(table, [])} "
        f"WHERE {say(RANK)} > {int(reads.beyond)} GROUP BY {say(RANK)}"
    )
    place = _place(rank, reads.grid, rows.dialect)
    listed = (
        f"SELECT {place}, MAX({many}) AS {say('adomnia p0')}, SUM({many}) AS {say('adomnia p1')}"
    )
    return f"{listed} FROM ({ranks}) AS {say('adomnia ranks')} GROUP BY 1"


def _by_peak(table: Table, reads: UnitPeaks, rows: CodedRows) -> str:
    """For each place how many units have their largest number there; or how many rows."""
    say, texts = rows.dialect.quoted, Texts(rows.columns(table))
    ends = min(reads.grid[0], -reads.grid[-1]) - 1, max(reads.grid[-1], -reads.grid[0]) + 1
    value = texts.within(reads.column, *ends)
    value, peak = f"-({value})" if reads.lowest else value, say("adomnia peak")
    source = texts.around(rows.source(table, [reads.column.name]))
    largest = f"MAX({value})" if table.unit is not None else value
    group = f" GROUP BY {say(UNIT)}" if table.unit is not None else ""
    peaks = f"SELECT {largest} AS {peak} FROM {source}{group}"
    place = _place(peak, reads.grid, rows.dialect)
    listed = f"SELECT {place}, COUNT(*) AS {say('adomnia p0')}"
    return f"{listed} FROM ({peaks}) AS {say('adomnia peaks')} WHERE {peak} IS NOT NULL GROUP BY 1"


def _place(value: str, grid: Sequence[int], dialect: Dialect) -> str:
    """How many bounds a number is above."""
    whens = " ".join(f"WHEN {value} <= {int(bound)} THEN {i}" for i, bound in enumerate(grid))
    return f"CASE {whens} ELSE {len(grid)} END AS {dialect.quoted('adomnia k0')}"


def laid_on_grid(
    reads: UnitRows | UnitPeaks, found: Sequence[tuple[Any, ...]]
) -> NDArray[np.int64]:
    """What was counted at each place, as the scores of the bounds; of ranks also how many rows
    lie up to each bound."""
    size = len(reads.grid)
    if isinstance(reads, UnitPeaks):
        counts = np.zeros(size + 1, np.int64)
        for place, many in found:
            counts[int(place)] += int(many)
        above: NDArray[np.int64] = counts.sum() - np.cumsum(counts)[:size]
        return above.reshape(-1, 1)
    largest, totals = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    for place, most, many in found:
        largest[int(place)], totals[int(place)] = int(most), int(many)
    return np.stack([largest[1:], np.cumsum(totals)[:size]], axis=1)
