"""Sealed reads: what mechanisms need of a table, in as few statements as they allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adomnia.engines.engine import Engine, Request
from adomnia.mechanisms.counts.row_limit import limit_histogram, limit_rows
from adomnia.privacy.contribution import ROWS
from adomnia.privacy.reads import CellTotals, CellValues, KeyTotals, MarginalTables, Reads
from adomnia.queries.expression import Expr
from adomnia.queries.operations import call
from adomnia.schema.sealed import Sealed
from adomnia.schema.table import Table

__all__ = ["prepare_sealed", "read_sealed"]


def read_sealed(
    engine: Engine, table: Table, wanted: Sequence[Reads], only: Expr | None = None
) -> list[Sealed[Any]]:
    """The exact values, sealed; totals of the same rows and cells come from one statement.

    With `only`, other rows are in no table: the statements leave them out.
    """
    wanted = [_among(reads, only) for reads in wanted]
    found: dict[int, Sealed[Any]] = {}
    for together in _together(wanted):
        first = wanted[together[0]]
        if isinstance(first, CellTotals):
            parts: Sequence[Any] = _totals(engine, table, [wanted[i] for i in together])
        else:
            parts = [_one(engine, table, first)]
        found.update(zip(together, parts, strict=True))
    return [found[place] for place in range(len(wanted))]


def prepare_sealed(
    engine: Engine, table: Table, wanted: Sequence[Reads], only: Expr | None = None
) -> None:
    """Refuse what cannot be computed safely, before anything is paid; no row is looked at."""
    for reads in wanted:
        engine.prepare(_request(table, _among(reads, only)))


def _request(table: Table, reads: Reads) -> Request:
    if isinstance(reads, CellTotals):
        return Request(table, reads.where, reads.keys, (reads.contribution,), reads.grouping)
    if isinstance(reads, CellValues):
        return Request(table, reads.where, reads.keys, (reads.ranked,))
    if isinstance(reads, KeyTotals):
        return Request(table, reads.where, reads.keys, reads.contributions)
    if isinstance(reads, MarginalTables):
        return Request(table, reads.where, reads.keys, ())
    raise TypeError("a table has no graph")


def _among(reads: Reads, only: Expr | None) -> Reads:
    """The same of no other rows; released tables have noise for each row (`prior_knowledge.md`)."""
    if only is None or not isinstance(reads, CellTotals | CellValues | KeyTotals):
        return reads
    where = only if reads.where is None else call("and", reads.where, only)
    return replace(reads, where=where)


def _together(wanted: Sequence[Reads]) -> list[list[int]]:
    """The places of reads that one statement serves."""
    groups: dict[Any, list[int]] = {}
    for place, reads in enumerate(wanted):
        shared: Any = place
        if isinstance(reads, CellTotals):
            shared = (reads.where, reads.keys, reads.grouping, reads.most)
        groups.setdefault(shared, []).append(place)
    return list(groups.values())


def _totals(engine: Engine, table: Table, group: Sequence[Any]) -> Sequence[Sealed[Any]]:
    first = group[0]
    contributions = tuple(reads.contribution for reads in group)
    request = Request(table, first.where, first.keys, contributions, first.grouping)
    if first.most is None:
        return engine.measure(request)
    # In one statement, so that the rows are counted in the same state of the data.
    *parts, rows = engine.measure(replace(request, contributions=(*contributions, ROWS)))
    return [limit_rows(part, rows, first.most) for part in parts]


def _one(engine: Engine, table: Table, reads: Reads) -> Sealed[Any] | Any:
    request = _request(table, reads)
    if isinstance(reads, CellValues):
        sealed = engine.histogram(request, reads.ranked)
        return sealed if reads.most is None else limit_histogram(sealed, reads.most)
    if isinstance(reads, MarginalTables):
        return engine.contingency(table, reads.keys, reads.axes, reads.where)
    return engine.keyed(request)
