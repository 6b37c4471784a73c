"""Structural zeros: cells of released tables that no possible row is in.

A row is impossible where the policy says so, and cells are impossible where two keys read the same
column: nobody is 37 years old and in the decade of the fifties. All of it is public.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.releases.release_keys import ReleaseKey
from adomnia.errors import QuestionError
from adomnia.limits import MAX_STRUCTURAL_CELLS
from adomnia.marginals.workload import Subset
from adomnia.policy.impossible_section import Impossible
from adomnia.queries.expression import Column, Expr, columns
from adomnia.queries.grouping import axes
from adomnia.queries.operations import evaluate
from adomnia.queries.ranges import count_cells

__all__ = ["Zeros", "in_table", "structural_zeros"]

Zeros = Mapping[Subset, NDArray[np.bool_]]
"""Cells that stay empty, by the places of the keys that tell."""


def structural_zeros(keys: Sequence[ReleaseKey], impossible: Sequence[Impossible]) -> Zeros:
    """The cells over some of the keys that no possible row is in."""
    found: dict[Subset, NDArray[np.bool_]] = {}
    for places, read in _together(keys, impossible):
        empty = ~_reached([keys[place] for place in places], read, impossible)
        if empty[tuple(slice(len(keys[place].axis)) for place in places)].all():
            raise QuestionError(
                "by [[impossible]] of the policy no row can be in these tables",
                "correct its conditions",
            )
        if empty.any():
            found[places] = found[places] | empty if places in found else empty
    return found


def in_table(zeros: Zeros, subset: Subset, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """The cells of a table that stay empty."""
    found = np.zeros(shape, bool)
    for places, mask in zeros.items():
        if {*places} <= {*subset}:
            spread = [
                size if place in places else 1 for place, size in zip(subset, shape, strict=True)
            ]
            found |= mask.reshape(spread)
    return found


def _together(
    keys: Sequence[ReleaseKey], impossible: Sequence[Impossible]
) -> Iterator[tuple[Subset, tuple[Column, ...]]]:
    """Keys that are to be looked at together, and all columns that say something about them."""
    listed = [i for i, key in enumerate(keys) if all(map(_is_listed, columns(key.expr)))]
    for one in impossible:
        places = tuple(i for i in listed if {*one.columns} & {*keys[i].columns})
        if places:
            read = _columns(one.test, *(keys[place].expr for place in places))
            _check(read, [keys[place] for place in places], f"when = {one.when[:60]!r}")
            yield places, read
    for places in combinations(listed, 2):
        first, second = (keys[place] for place in places)
        if {*first.columns} & {*second.columns}:
            read = _columns(first.expr, second.expr)
            _check(read, (first, second), f"{first.name[:60]!r} beside {second.name[:60]!r}")
            yield places, read


def _is_listed(column: Column) -> bool:
    return count_cells(column.range) is not None


def _columns(*exprs: Expr) -> tuple[Column, ...]:
    return tuple(dict.fromkeys(column for expr in exprs for column in columns(expr)))


def _check(read: Sequence[Column], keys: Sequence[ReleaseKey], what: str) -> None:
    """Refuse what cannot be looked through, before anything is paid."""
    many = max(prod(map(len, axes(tuple(read)))), prod(key.size for key in keys))
    if many > MAX_STRUCTURAL_CELLS:
        raise QuestionError(
            f"{what}: which cells stay empty would be told by {many:,} combinations of values",
            f"at most {MAX_STRUCTURAL_CELLS:,} are looked through: take coarser keys",
        )


def _reached(
    keys: Sequence[ReleaseKey], read: Sequence[Column], impossible: Sequence[Impossible]
) -> NDArray[np.bool_]:
    """Which cells of the keys some possible combination of values is in."""
    spans = axes(tuple(read))
    names = [column.name for column in read]
    can_be = np.ones([len(span) for span in spans], bool)
    for one in impossible:
        if {*one.columns} <= {*names}:
            can_be &= ~_over(one.test, names, spans, {True: 1}).astype(bool)
    codes = []
    for key in keys:
        place = {value: number for number, value in enumerate(key.axis)}
        rest = len(key.axis) if key.hidden else -1
        code = np.broadcast_to(_over(key.expr, names, spans, place, rest), can_be.shape)
        can_be &= code >= 0
        codes.append(code)
    found = np.zeros([key.size for key in keys], bool)
    found[tuple(code[can_be] for code in codes)] = True
    return found


def _over(
    expr: Expr,
    names: Sequence[str],
    spans: Sequence[tuple[Any, ...]],
    numbers: Mapping[Any, int],
    other: int = 0,
) -> NDArray[np.int64]:
    """An expression over all combinations of values, as numbers; it is worked out once for each
    combination of those that it reads."""
    used = {column.name for column in columns(expr)}
    own = [span if name in used else span[:1] for name, span in zip(names, spans, strict=True)]
    found = [
        numbers.get(evaluate(expr, dict(zip(names, cell, strict=True))), other)
        for cell in product(*own)
    ]
    return np.array(found, np.int64).reshape([len(span) for span in own])
