"""Classes: the rows of the public domain that some expressions cannot tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.queries.expression import Expr, columns
from adomnia.queries.operations import evaluate
from adomnia.queries.patterns import is_rounded, stand_ins
from adomnia.queries.ranges import outside

__all__ = ["MAX_GRID", "Classes", "classes"]

MAX_GRID = 1 << 21
"""Rows are grouped as long as the columns that are read span no more than this."""

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Classes:
    """`codes[i, f]` says which of `values[f]` the expression f has for the rows of class i."""

    codes: Codes
    values: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        """How many classes there are."""
        return len(self.codes)

    def column(self, place: int) -> list[Any]:
        """The value of one expression in every class."""
        return [self.values[place][code] for code in self.codes[:, place]]


def classes(features: tuple[Expr, ...], nullable: frozenset[str]) -> Classes | None:
    """Which values the expressions can take together; rows have NULL, or what lies outside of the
    domain, in `nullable` columns alone.

    None comes back where there are too many rows to try, or where an engine may round otherwise.
    """
    read = {(column.name, column.range) for feature in features for column in columns(feature)}
    axes: dict[str, tuple[Any, ...]] = {}
    for name in dict.fromkeys(c.name for feature in features for c in columns(feature)):
        # a record may hold a column with another range than it has now: all values count
        listed = [stand_ins(name, spread, features) for n, spread in read if n == name]
        if None in listed:
            return None
        every = _ordered(part for part in listed if part is not None)
        beyond = _ordered(outside(spread) for n, spread in read if n == name)
        axes[name] = (*every, *beyond, None) if name in nullable else every
    if any(map(is_rounded, features)) or prod(map(len, axes.values())) > MAX_GRID:
        return None
    shape = tuple(len(axis) for axis in axes.values())
    group = np.zeros(prod(shape), np.int64)
    parts, values = [], []
    for feature in features:
        code, found = _coded(feature, axes)
        spread_out = np.broadcast_to(code, shape).reshape(-1)
        parts.append(spread_out)
        values.append(found)
        _, group = np.unique(group * len(found) + spread_out, return_inverse=True)
    _, first = np.unique(group, return_index=True)
    codes = np.stack([part[first] for part in parts], axis=1) if parts else np.zeros((1, 0), int)
    return Classes(codes.astype(np.int64), tuple(values))


def _ordered(lists: Iterable[Sequence[Any]]) -> tuple[Any, ...]:
    """All values, each once; in the order of the longest list, then of the others."""
    long = sorted(lists, key=lambda part: (-len(part), repr(part)))
    found = {_marked(value): value for part in long for value in part}
    return tuple(found.values())


def _coded(feature: Expr, axes: dict[str, tuple[Any, ...]]) -> tuple[Codes, tuple[Any, ...]]:
    """The feature over its own columns, laid along their axes, and the values that it takes."""
    own = list(dict.fromkeys(column.name for column in columns(feature)))
    places: dict[Any, int] = {}
    codes = [
        places.setdefault(_marked(evaluate(feature, dict(zip(own, row, strict=True)))), len(places))
        for row in product(*(axes[name] for name in own))
    ]
    ordered = [name for name in axes if name in own]
    table = np.array(codes, np.int64).reshape([len(axes[name]) for name in own])
    table = table.transpose([own.index(name) for name in ordered])
    shape = [len(axis) if name in own else 1 for name, axis in axes.items()]
    return table.reshape(shape), tuple(value for _, value in places)


def _marked(value: Any) -> tuple[bool, Any]:
    """The value with its kind beside it, since True equals 1."""
    return isinstance(value, bool), value
