"""Amounts of units: what a unit's rows add to each cell, and what rows of two units add up to.

The bound of a unit is found among these and applied to them, before anything is added up over
units (`mechanisms/joins`). What one row may add is enforced in the statement as ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.engines.engine import Request
from adomnia.engines.sql.coding import Coded, clamped
from adomnia.engines.sql.components import aggregates_of, components
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.statement import (
    CodedRows,
    axis_codes,
    kept_rows,
    place_on,
    read_by,
    tested,
)
from adomnia.engines.sql.tables.owners import PAIR
from adomnia.engines.sql.translation import Texts
from adomnia.engines.sql.units import FIRST
from adomnia.errors import QuestionError
from adomnia.limits import MAX_UNIT_AMOUNT
from adomnia.privacy.contribution import Contribution
from adomnia.queries.expression import Column, Expr
from adomnia.queries.grouping import axes
from adomnia.queries.ranges import UNLISTED
from adomnia.schema.unit_amounts import PairAmounts, UnitAmounts

__all__ = ["AMOUNT", "ORDER", "amounts_statement", "pair_amounts", "pairs_in_order", "unit_amounts"]

AMOUNT, ORDER = "adomnia p0", "adomnia order"


def amounts_statement(request: Request, rows: CodedRows, marks: Sequence[str]) -> str:
    """The query for units, the cell, and what they add there by the request's one contribution;
    for pairs of units, which are in one cell, an order in its place."""
    (contribution,) = request.contributions
    if len(marks) > 1 and request.keys:
        raise QuestionError("rows of two units are not counted by group")
    coded, say = rows.columns(request.table), rows.dialect.quoted
    texts = Texts(coded)
    values = [one.text for one in aggregates_of(contribution, texts, coded)]
    number, where = _cell_number(request.keys, texts, coded), tested(request.where, texts)
    source = texts.around(kept_rows(rows, request.table, read_by(request), len(marks)))
    listed = [say(mark) for mark in marks]
    if len(marks) == 1:
        listed.append(f"{number} AS {say('adomnia cell')}")
    parts = len(marks) + bool(request.keys)  # without keys there is one cell
    group = ", ".join(str(i + 1) for i in range(parts))
    most = str(MAX_UNIT_AMOUNT)
    listed += [f"CAST({clamped(text, f'-{most}', most)} AS BIGINT) AS {say(f'adomnia p{i}')}"
               for i, text in enumerate(values)]  # fmt: skip
    if len(marks) > 1:  # numbers of units depend on others: rows are taken by their own hashes
        listed.append(f"MIN({say(FIRST)}) AS {say(ORDER)}")
    return f"SELECT {', '.join(listed)} FROM {source}{where} GROUP BY {group}"


def pairs_in_order(source: str, dialect: Dialect) -> str:
    """The query for two units, what they add, and in which order they are taken."""
    units, order = [dialect.quoted(mark) for mark in PAIR], dialect.quoted(ORDER)
    listed = [*units, dialect.quoted(AMOUNT), f"ROW_NUMBER() OVER (ORDER BY {order}) AS {order}"]
    return f"SELECT {', '.join(listed)} FROM {source}"


def _cell_number(keys: Sequence[Expr], texts: Texts, coded: Coded) -> str:
    """The number of a row's cell among all of its keys' public domain; NULL where it is in none."""
    number = "CAST(0 AS BIGINT)"
    for key, axis in zip(keys, axes(tuple(keys)), strict=True):
        listed = [value for value in axis if value != UNLISTED]
        codes = axis_codes(key, listed, coded)
        if len(listed) < len(axis):  # what is not listed has a code of its own, and is last
            codes.append(-1 if isinstance(key, Column) else UNLISTED)
        number = f"({number} * {len(axis)} + {place_on(texts.key(key), codes, coded.dialect)})"
    return number


def unit_amounts(columns: Sequence[NDArray[Any]], contribution: Contribution) -> UnitAmounts:
    """Rows of (unit, cell, aggregates) with a place for each component of a cell."""
    units, cells, *parts = columns
    if cells.dtype == object:  # in no cell of the public domain
        inside = np.array([cell is not None for cell in cells], dtype=bool)
        units, cells, *parts = (column[inside] for column in columns)
    found = components(contribution, parts)
    many, width = found.shape
    places = cells.astype(np.int64)[:, None] * width + np.arange(width)
    amounts = np.clip(found, -MAX_UNIT_AMOUNT, MAX_UNIT_AMOUNT).astype(np.int64)
    owners = np.repeat(units.astype(np.int64), width)
    return UnitAmounts(owners, places.reshape(many * width), amounts.reshape(many * width))


def pair_amounts(columns: Sequence[NDArray[Any]], alike: bool) -> PairAmounts:
    """Rows of (unit, unit, amount, order)."""
    left, right, amounts, order = (column.astype(np.int64, copy=False) for column in columns)
    return PairAmounts(left, right, amounts, alike, order)
