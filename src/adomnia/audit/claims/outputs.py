"""What can be seen in a mechanism's outputs: numbers, vectors and symbols as views (`claim.md`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.claims.classifier import fit_classifier, middles
from adomnia.audit.claims.events import Floats, Pair, View

__all__ = ["look", "tabulate"]

Outputs = Sequence[Any] | NDArray[Any]

COORDINATES = 16
PAIRED = 6
PATTERN = 40
ZERO = 4096.0


def tabulate(one: Outputs, other: Outputs) -> Pair | None:
    """Both as tables of numbers, one output a row; None if they are not numbers throughout.

    None among numbers (nothing was shown) becomes NaN; shorter vectors are filled up with it.
    """
    tables = [_table(outputs) for outputs in (one, other)]
    if tables[0] is None or tables[1] is None:
        return None
    width = max(table.shape[1] for table in tables if table is not None)
    filled = [
        np.pad(table, ((0, 0), (0, width - table.shape[1])), constant_values=np.nan)
        for table in tables
        if table is not None
    ]
    return Pair(filled[0], filled[1])


def look(one: Outputs, other: Outputs, train: slice, low_bits: bool = True) -> Iterator[View]:
    """The views of outputs under two inputs; what has to be learned is learned on `train`."""
    tables = tabulate(one, other)
    if tables is None:
        yield _symbols(one, other)
        return
    width = tables.one.shape[1]
    for place in range(min(width, COORDINATES)):
        name = f"coordinate {place}" if width > 1 else "the output"
        numbers = Pair(tables.one[:, place], tables.other[:, place])
        yield View(name, numbers)
        if low_bits and any(np.any(side % 1 > 0) for side in (numbers.one, numbers.other)):
            yield _each(f"the lowest bit of {name}", numbers, lowest_bit)
    if width > 1:
        yield from _vectors(tables, train)


def _table(outputs: Outputs) -> Floats | None:
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iufb":
        return outputs.reshape(len(outputs), -1).astype(np.float64)
    rows = [_row(output) for output in outputs]
    if any(row is None for row in rows):
        return None
    width = max((len(row) for row in rows if row is not None), default=0)
    table = np.full((len(rows), width), np.nan)
    for place, row in enumerate(rows):
        table[place, : len(row or ())] = row
    return table


def _row(output: Any) -> list[float] | None:
    parts = output if isinstance(output, list | tuple | np.ndarray) else [output]
    try:
        return [np.nan if part is None else _number(part) for part in np.ravel(parts).tolist()]
    except (TypeError, ValueError, OverflowError):
        return None


def _number(part: Any) -> float:
    if isinstance(part, str | bytes):  # "1" is a symbol
        raise TypeError
    return float(part)


def _symbols(one: Outputs, other: Outputs) -> View:
    """Every different output gets a number of its own."""
    codes: dict[Any, int] = {}
    numbers = [
        np.array([codes.setdefault(_name(output), len(codes)) for output in side], np.float64)
        for side in (one, other)
    ]
    return View("the output", Pair(numbers[0], numbers[1]), ordered=False)


def _name(output: Any) -> Any:
    try:
        hash(output)
    except TypeError:
        return repr(output)
    return output


def _vectors(tables: Pair, train: slice) -> Iterator[View]:
    yield _each("the sum", tables, lambda table: table.sum(axis=1))
    yield _each("the largest", tables, lambda table: table.max(axis=1))
    yield _each("the smallest", tables, lambda table: table.min(axis=1))
    for left, right in _differences(tables.one.shape[1]):
        sides = [table[:, left] - table[:, right] for table in (tables.one, tables.other)]
        yield View(f"coordinate {left} minus {right}", Pair(sides[0], sides[1]))
    yield _each("the vector", tables, _hash, ordered=False)
    middle = middles(np.vstack([tables.one[train], tables.other[train]]))
    yield _each(
        "which coordinates are high", tables, lambda table: _bits(table > middle), ordered=False
    )
    yield _each("the classifier's score", tables, fit_classifier(tables.part(train)))


def _differences(width: int) -> Iterator[tuple[int, int]]:
    """All pairs of few coordinates, of many only those beside each other."""
    if width <= PAIRED:
        yield from combinations(range(width), 2)
    else:
        yield from ((place, place + 1) for place in range(min(width - 1, COORDINATES)))


def _each(name: str, pair: Pair, see: Callable[[Floats], Floats], ordered: bool = True) -> View:
    return View(name, Pair(see(pair.one), see(pair.other)), ordered)


def _hash(table: Floats) -> Floats:
    """A number for each vector: equal vectors have equal ones, others hardly ever."""
    rows = np.where(np.isnan(table), np.nan, table) + 0.0  # one NaN, one zero
    words = np.ascontiguousarray(rows).view(np.uint64)
    factors = np.random.default_rng(0).integers(1 << 63, size=words.shape[1], dtype=np.uint64)
    mixed = words ^ (words >> np.uint64(29))
    # The top 52 bits of a sum modulo 2^64, as a float: they depend on all bits below them.
    numbers: Floats = ((mixed * (2 * factors + 1)).sum(axis=1) >> np.uint64(12)).astype(np.float64)
    return numbers


def _bits(high: NDArray[np.bool_]) -> Floats:
    kept = high[:, :PATTERN]
    weights = 2.0 ** np.arange(kept.shape[1])
    pattern: Floats = kept @ weights
    return pattern


def lowest_bit(numbers: Floats) -> Floats:
    """The power of two of a float's lowest bit that is set: which grid it lies on."""
    with np.errstate(invalid="ignore"):
        fraction, power = np.frexp(np.where(np.isfinite(numbers), numbers, 0.0))
    whole = np.abs(fraction * 2.0**53).astype(np.int64)
    lowest = np.log2(np.maximum(whole & -whole, 1))
    place: Floats = np.where(whole > 0, power - 53 + lowest, ZERO)
    return place
