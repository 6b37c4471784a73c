"""Classes of rows, read: in which cell of a grid they fall, and which conditions they meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.queries.classes import Classes
from adomnia.queries.expression import Column, Expr
from adomnia.queries.grouping import axes
from adomnia.queries.operations import call
from adomnia.queries.ranges import Truth, show

__all__ = ["ClassReader", "Features", "Integers", "condition", "labels"]

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Features:
    """The expressions whose values make a class, each once."""

    exprs: tuple[Expr, ...]

    @classmethod
    def of(cls, exprs: Sequence[Expr | None]) -> Features:
        """Of a list in which some are missing and some are there twice."""
        return cls(tuple(dict.fromkeys(expr for expr in exprs if expr is not None)))


class ClassReader:
    """Reads where classes fall in a grid of keys, and which conditions they meet."""

    def __init__(self, features: Features, found: Classes) -> None:
        self.found = found
        self.places = {expr: place for place, expr in enumerate(features.exprs)}

    def codes(self, expr: Expr, value: Any) -> Integers:
        """For each class what `value` says of the expression's value there."""
        place = self.places[expr]
        table = np.array([value(v) for v in self.found.values[place]], np.int64)
        return table[self.found.codes[:, place]]

    def met(self, expr: Expr | None) -> NDArray[np.bool_]:
        """In which classes a condition is true."""
        if expr is None:
            return np.ones(len(self.found), bool)
        return self.codes(expr, lambda v: v is True).astype(bool)

    def cell(self, keys: tuple[Expr, ...]) -> Integers:
        """The number of each class's cell in the grid of the keys; -1 outside."""
        cell = np.zeros(len(self.found), np.int64)
        out = np.zeros(len(self.found), bool)
        for key, axis in zip(keys, axes(keys), strict=True):
            index = {(isinstance(v, bool), v): i for i, v in enumerate(axis)}
            code = self.codes(key, lambda v, at=index: at.get((isinstance(v, bool), v), -1))
            cell = cell * len(axis) + code
            out |= code < 0
        cell[out] = -1
        return cell


def labels(features: Features, found: Classes) -> tuple[str, ...]:
    """The classes as people know them: the columns that are keys, with their values."""
    named = [(i, expr) for i, expr in enumerate(features.exprs) if isinstance(expr, Column)]
    shown = [
        [f"{expr.name} {show(expr.range, value)}" for value in found.values[i]] for i, expr in named
    ]
    return tuple(
        ", ".join(texts[row[i]] for texts, (i, _) in zip(shown, named, strict=True))
        for row in found.codes
    )


def condition(features: tuple[Expr, ...], found: Classes, cell: int) -> Expr:
    """Every feature has the value that it has in this class."""
    tests = [
        _has(feature, found.values[place][found.codes[cell, place]])
        for place, feature in enumerate(features)
    ]
    return tests[0] if len(tests) == 1 else call("and", *tests)


def _has(feature: Expr, value: Any) -> Expr:
    if value is None:
        return call("is_null", feature)
    if isinstance(feature.range, Truth):
        return feature if value else call("not", feature)
    return call("in", feature, params=(value,))
