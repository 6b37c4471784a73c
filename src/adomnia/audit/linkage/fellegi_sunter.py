"""Fellegi and Sunter's weights: how likely two records are one person's (`linkage.md`)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adomnia.audit.linkage.equivalence_classes import Columns, arrow, classes, rows, together
from adomnia.errors import QuestionError

__all__ = ["Comparison", "Shared", "common_codes", "estimate_errors", "posterior"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SAMPLE = 300  # known people from whom error rates are estimated
ROUNDS = 50
ERRORS = (1e-3, 0.5)  # between these an error rate is estimated


@dataclass(frozen=True)
class Shared:
    """A column that both files have.

    Values agree if they are equal, or numbers at most `tolerance` apart. `error` is the chance
    that the two values of one person do not agree; it is estimated where it is not declared.

    >>> Shared("age", tolerance=1.0).error is None
    True
    """

    column: str
    tolerance: float = 0.0
    error: float | None = None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Both files as numbers, a column in each line, and how many published rows are alike.

    `row` is the first published row of each kind. A missing value is NaN and agrees with nothing.
    """

    published: Floats
    sizes: Ints
    row: Ints
    known: Floats
    tolerance: tuple[float, ...]

    @classmethod
    def of(cls, published: Columns, known: Columns, columns: Sequence[Shared]) -> Comparison:
        """Both files read and numbered."""
        both = [common_codes(published, known, one.column, one.tolerance > 0) for one in columns]
        kind = classes([(part + 1, int(part.max()) + 2) for part, _ in both], rows(published))
        row, sizes = np.unique(kind, return_index=True, return_counts=True)[1:]
        sides: list[list[Floats]] = [[], []]
        for one, codes in zip(columns, both, strict=True):
            for side, file, code in zip(sides, (published, known), codes, strict=True):
                plain = np.where(code < 0, np.nan, code)
                side.append(_numbers(file, one.column) if one.tolerance else plain)
        tolerance = tuple(one.tolerance for one in columns)
        return cls(np.array(sides[0])[:, row], sizes, row, np.array(sides[1]), tolerance)

    def each(
        self, people: Sequence[int], end: float
    ) -> Iterator[tuple[int, NDArray[np.int16], Ints]]:
        """For each known person, until the clock: on what each kind agrees, as bits, and how
        many published rows agree on exactly that."""
        for i in people:
            if time.monotonic() > end:
                return
            agree = np.zeros(self.sizes.size, np.int16)
            for j, tolerance in enumerate(self.tolerance):
                theirs, own = self.published[j], self.known[j, i]
                same = np.abs(theirs - own) <= tolerance if tolerance else theirs == own
                agree |= same.astype(np.int16) << j
            counts = np.bincount(agree, self.sizes, 1 << len(self.tolerance))
            yield i, agree, counts.astype(np.int64)


def posterior(counts: Ints, errors: Floats, present: float) -> Floats:
    """For each person the probability of each pattern of agreement, summed over its rows.

    u, the chance to agree with a row that is not the person's, is counted for the person's own
    values: to agree on a rare value says more. Each row is as likely at first.
    """
    bits = _bits(errors.size)
    many = counts.sum(axis=1, keepdims=True)
    u = np.clip((counts @ bits) / many, 0.5 / many, 1 - 0.5 / many)
    agree, differ = np.log((1 - errors) / u), np.log(errors / (1 - u))
    weight = agree @ bits.T + differ @ (1 - bits.T)
    with np.errstate(divide="ignore"):
        mass = np.log(counts) + weight + np.log(present / many)
        absent = np.full((len(counts), 1), np.log1p(-present) if present < 1 else -np.inf)
    top = np.maximum(mass.max(axis=1, keepdims=True), absent)
    mass, absent = np.exp(mass - top), np.exp(absent - top)
    return np.asarray(mass / (mass.sum(axis=1, keepdims=True) + absent))


def estimate_errors(
    compare: Comparison, columns: Sequence[Shared], present: float | None, end: float
) -> tuple[Floats, float]:
    """Error rates and the share present that were not declared, by expectation maximisation."""
    declared = np.array([np.nan if one.error is None else one.error for one in columns])
    errors = np.where(np.isnan(declared), 0.1, declared)
    share = 0.5 if present is None else present
    if not np.isnan(declared).any() and present is not None:
        return errors, share
    people = np.linspace(0, compare.known.shape[1] - 1, SAMPLE).astype(int)
    counts = [part for _, _, part in compare.each(np.unique(people).tolist(), end)]
    if not counts:
        return errors, share
    for _ in range(ROUNDS):
        chance = posterior(np.array(counts), errors, share)
        agreed = chance.sum(axis=0) @ _bits(errors.size) / max(chance.sum(), 1e-9)
        errors = np.where(np.isnan(declared), np.clip(1 - agreed, *ERRORS), declared)
        if present is None:
            share = float(np.clip(chance.sum() / len(chance), 1e-6, 1 - 1e-6))
    return errors, share


def _bits(many: int) -> Floats:
    return (np.arange(1 << many)[:, None] >> np.arange(many) & 1).astype(np.float64)


def common_codes(
    published: Columns, known: Columns, name: str, near: bool = False
) -> tuple[Ints, Ints]:
    """A column of both files in common codes, -1 where a value is missing.

    Unless values need only be near, at least one must be in both files.
    """
    one, other = together([published, known], [name, name])
    for code, file in ((one, published), (other, known)):
        code[arrow(file, name).is_null(nan_is_null=True).to_numpy(zero_copy_only=False)] = -1
    if not near and np.intersect1d(one[one >= 0], other).size == 0:
        hint = "write the values alike, or leave the column out"
        raise QuestionError(f"no value of column {name!r} is in both files", hint)
    return one, other


def _numbers(file: Columns, name: str) -> Floats:
    try:
        return np.asarray(arrow(file, name).cast("float64").to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid as error:
        raise QuestionError(f"column {name!r} is not of numbers", "give no tolerance") from error
