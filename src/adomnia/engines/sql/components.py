"""Components: a contribution becomes SQL aggregates that enforce it, and these its components.

Whatever is clamped is clamped inside the aggregate, row by row. This is the one place that makes
SQL of a contribution; `privacy/sensitivity.py` reads the same value (`sensitivity.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.engines.sql.coding import Coded
from adomnia.engines.sql.translation import Texts
from adomnia.engines.sql.units import UNIT
from adomnia.privacy.contribution import (
    Bernstein,
    Clamped,
    Contribution,
    DistinctUnits,
    DistinctValues,
    Tally,
)
from adomnia.queries.expression import Column, Expr
from adomnia.queries.operations import LIMIT

__all__ = ["Aggregate", "aggregates_of", "components"]


@dataclass(frozen=True)
class Aggregate:
    """The SQL of an aggregate that is never NULL; its `kind` is count, total or distinct."""

    text: str
    kind: str = "count"


def aggregates_of(
    contribution: Contribution, texts: Texts, columns: Coded
) -> tuple[Aggregate, ...]:
    """What must be computed in each group, in the order in which `components` takes it."""
    if isinstance(contribution, Tally):
        return _tally(contribution, texts)
    if isinstance(contribution, Clamped):
        return (_total(_clamped(contribution, texts, columns), columns),)
    if isinstance(contribution, Bernstein):
        return _moments(contribution, texts, columns)
    if isinstance(contribution, DistinctUnits):
        unit, present = columns.dialect.quoted(UNIT), contribution.present
        text = f"COUNT(DISTINCT CASE WHEN {texts.where(present)} THEN {unit} END)"
        return (Aggregate(text, "distinct"),)
    if isinstance(contribution, DistinctValues):
        return (Aggregate(f"COUNT(DISTINCT {texts.of(contribution.argument)})", "distinct"),)
    texts.of(contribution.argument)  # it is listed by another statement, and can be written
    return ()


def components(contribution: Contribution, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The components per cell (cells × width, whole numbers) from the aggregates."""
    columns: Sequence[NDArray[Any]] = parts
    if isinstance(contribution, DistinctValues) and contribution.most is not None:
        columns = [np.minimum(part, contribution.most) for part in parts]
    if isinstance(contribution, Bernstein):
        columns = _bernstein(contribution, [part.astype(object) for part in parts])
    return np.stack([_exact(column) for column in columns], axis=1)


# Conditions


def _tally(tally: Tally, texts: Texts) -> tuple[Aggregate, ...]:
    if tally.patterns is not None:
        return _by_pattern(tally, tally.patterns, texts)
    if tally.most is not None:
        few = f"{_number(tally.conditions, [1] * len(tally.conditions), texts)} <= {tally.most}"
        tests = [few if test is None else f"{texts.where(test)} AND {few}"
                 for test in tally.conditions]  # fmt: skip
        return tuple(map(_filtered, tests))
    plain = (None if test is None else texts.where(test) for test in tally.conditions)
    return tuple(map(_filtered, plain))


def _by_pattern(
    tally: Tally, patterns: tuple[tuple[bool, ...], ...], texts: Texts
) -> tuple[Aggregate, ...]:
    """Each row has one number, that of its pattern, and counts by it alone."""
    weights = [1 << place for place in range(len(tally.conditions))]
    number = _number(tally.conditions, weights, texts)
    marks = [sum(w for w, met in zip(weights, one, strict=True) if met) for one in patterns]
    found = []
    for place in range(len(tally.conditions)):
        # What is in no pattern counts as the first of them.
        rest = patterns[0][place]
        listed = [m for m, one in zip(marks, patterns, strict=True) if one[place] != rest]
        among = f"{number} {'NOT IN' if rest else 'IN'} ({', '.join(map(str, listed))})"
        found.append(_filtered(among if listed else None if rest else "FALSE"))
    return tuple(found)


def _number(conditions: Sequence[Expr | None], weights: Sequence[int], texts: Texts) -> str:
    """The weights of the conditions that a row meets, added up once in a row."""
    always = sum(w for test, w in zip(conditions, weights, strict=True) if test is None)
    terms = [f"CASE WHEN {texts.where(test)} THEN {w} ELSE 0 END"
             for test, w in zip(conditions, weights, strict=True) if test is not None]  # fmt: skip
    return texts.once(" + ".join([f"CAST({always} AS BIGINT)", *terms]))


def _filtered(test: str | None) -> Aggregate:
    return Aggregate("COUNT(*)" if test is None else f"COUNT(*) FILTER (WHERE {test})")


# Numbers


def _total(text: str, columns: Coded) -> Aggregate:
    return Aggregate(f"COALESCE({columns.dialect.total(text)}, 0)", "total")


def _clamped(clamped: Clamped, texts: Texts, columns: Coded) -> str:
    low, high = clamped.low, clamped.high
    if clamped.bit is not None and _bit(clamped.argument, columns) > clamped.bit:
        high = min(high, low + clamped.bit)  # a bit may move it by more than was priced
    text = texts.within(clamped.argument, low, high)
    return f"COALESCE({text}, CAST({low} AS BIGINT))" if clamped.always else text


def _bit(argument: Expr, columns: Coded) -> int:
    """How far one bit moves a column, as the policy's domain numbers its values."""
    extent = columns.extent(argument.name) if isinstance(argument, Column) else None
    width = LIMIT if extent is None else extent[1] - extent[0] - 2  # without what lies outside
    return int(1 << (max(1, width).bit_length() - 1))


def _moments(bernstein: Bernstein, texts: Texts, columns: Coded) -> tuple[Aggregate, ...]:
    """Number, sum and sum of squares of one clamped number, and the rows for `rest`."""
    low = bernstein.low
    text = texts.within(bernstein.argument, low, bernstein.high)
    above = text if low == 0 else f"({text} - CAST({low} AS BIGINT))"
    found = [Aggregate(f"COUNT({text})"), _total(above, columns)]
    if bernstein.degree == 2:
        found.append(_total(f"{above} * {above}", columns))
    return (*found, Aggregate("COUNT(*)")) if bernstein.rest else tuple(found)


def _bernstein(bernstein: Bernstein, parts: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Bernstein's polynomials from Σ1, Σj and Σj² (`measurement.md`)."""
    width, degree = bernstein.width, bernstein.degree
    powers = parts[: degree + 1]
    found = [comb(degree, k) * _expanded(powers, width, degree, k) for k in range(degree + 1)]
    return [*found, (parts[-1] - powers[0]) * bernstein.unit] if bernstein.rest else found


def _expanded(powers: list[NDArray[Any]], width: int, degree: int, k: int) -> NDArray[Any]:
    """Σ j^k (width - j)^(degree - k), expanded in powers of j."""
    terms = [
        comb(degree - k, i) * (-1) ** i * width ** (degree - k - i) * powers[k + i]
        for i in range(degree - k + 1)
    ]
    out: NDArray[Any] = sum(terms[1:], terms[0])
    return out


def _exact(part: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers as 64-bit integers where they fit, else as Python's."""
    if part.dtype != object:
        return part.astype(np.int64)
    large = max((abs(int(value)) for value in part), default=0) > LIMIT
    return part if large else part.astype(np.int64)
