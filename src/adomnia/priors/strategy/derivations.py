"""Plans: what could be measured in the place of a question, and how the question follows from it.

Derived in exact numbers and checked row by row before use (`strategy.md`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adomnia.priors.solver.lattice.echelon import Echelon, Vector, cells_of
from adomnia.priors.solver.system import Row, System, sparse_rows, whole
from adomnia.priors.strategy.combinations import Combinations, basis, classes
from adomnia.priors.strategy.substitutions import CONSTANT, substitutions

__all__ = ["Derivation", "derivations"]

DENSE = 2000
LARGEST = 2.0**62


@dataclass(frozen=True, eq=False)
class Derivation:
    """Outputs = recover @ (rows @ table) + offset, for every table that agrees with the system.

    Only the `missing` outputs do not follow: they are public, but a value was not given.
    `coordinates` writes the rows through independent ones; None where that took too long.
    """

    name: str
    rows: Any
    recover: Any
    offset: NDArray[np.int64]
    determined: tuple[int, ...]
    missing: tuple[int, ...]
    coordinates: Combinations | None

    @property
    def lattice(self) -> Any:
        """A basis of all changes of the rows that agree; None if unknown, or if all may happen."""
        if self.coordinates is None or not self.coordinates.whole:
            return None
        rows, rank = self.coordinates.matrix.shape
        return whole(self.coordinates.matrix.T) if 0 < rank < rows else None

    @property
    def squares(self) -> float:
        """The total squared error of the outputs if each row has noise of variance 1."""
        return float((self.recover.data.astype(np.float64) ** 2).sum())

    @property
    def fitted_squares(self) -> float:
        """The same after a least-squares fit: the trace of recover H recover', H a projection.

        H projects on the changes that the rows can take. Where that is not known or too large,
        the error without the fit, which is never below.
        """
        if self.coordinates is None or not self.coordinates.whole:
            return self.squares
        made = self.coordinates.matrix
        rows, rank = made.shape
        if min(rank, rows - rank) > DENSE:
            return self.squares
        if rank <= rows - rank:
            return _trace(made.T, self.recover)
        others = np.setdiff1d(np.arange(rows), self.coordinates.kept)
        each = sparse.eye_array(rows, dtype=np.int64, format="csr")
        kept = each[list(self.coordinates.kept)]
        relations = each[others] - sparse.csr_array(made)[others] @ kept
        return self.squares - _trace(relations, self.recover)


def _trace(span: Any, recover: Any) -> float:
    """The trace of recover P recover', P the projection on the rows of `span`."""
    if not span.shape[0]:
        return 0.0
    seen = (span @ recover.T).astype(np.float64)
    gram = (span @ span.T).astype(np.float64).toarray()
    return float(np.trace(np.linalg.solve(gram, (seen @ seen.T).toarray())))


def derivations(system: System, asked: Any) -> tuple[Derivation, ...]:
    """The question, its reductions, the cells, theirs: all that the given values allow."""
    echelon = substitutions(system)
    outputs = sparse_rows(asked)
    left = [_free(echelon, row) for row in outputs]
    live = [place for place, row in enumerate(left) if row]
    determined = tuple(place for place, row in enumerate(left) if not row)
    rows = sparse.csr_array(asked)[live]
    lift = sparse.eye_array(len(outputs), dtype=np.int64, format="csc")[:, live]
    touched = np.unique(rows.indices).tolist()
    cells = {cell: row for cell in touched if (row := _free(echelon, {cell: 1}))}
    single = sparse.eye_array(system.cells, dtype=np.int64, format="csr")[list(cells)]
    question = _Family("the question itself", "the question, reduced", rows, lift)
    table = _Family("all cells", "reduced cells", single, lift @ rows[:, list(cells)])
    found = [
        *_reductions(question, [left[place] for place in live]),
        *_reductions(table, list(cells.values())),
    ]
    made = (_plan(echelon, asked, determined, way) for way in found)
    return tuple(_distinct(plan for plan in made if plan is not None))


@dataclass(frozen=True, eq=False)
class _Family:
    """Rows that could be measured, and the outputs as combinations of them."""

    name: str
    reduced: str
    rows: Any
    lift: Any


@dataclass(frozen=True, eq=False)
class _Way:
    """Some rows of a family, all of them through these, and these through independent ones."""

    name: str
    family: _Family
    through: Combinations
    coordinates: Combinations | None


def _free(echelon: Echelon, row: Row) -> Vector:
    """What a row leaves to be learned: its part on free cells."""
    return cells_of(echelon.reduce(row))


def _reductions(family: _Family, functionals: Sequence[Vector]) -> Iterator[_Way]:
    """All rows; one of each class; a basis."""
    every = _identity(len(functionals))
    alike = classes(functionals)
    few = basis([functionals[place] for place in alike.kept])
    if few is None:
        yield _Way(family.name, family, every, None)
        yield _Way(family.reduced, family, alike, None)
        return
    kept = tuple(alike.kept[place] for place in few.kept)
    least = Combinations(kept, whole(alike.matrix @ few.matrix), few.whole)
    yield _Way(family.name, family, every, least)
    yield _Way(family.reduced, family, alike, few)
    yield _Way(family.reduced, family, least, _identity(len(kept), few.whole))


def _identity(count: int, independent: bool = False) -> Combinations:
    each = whole(sparse.eye_array(count, dtype=np.int64))
    return Combinations(tuple(range(count)), each, independent)


def _plan(
    echelon: Echelon, asked: Any, determined: tuple[int, ...], way: _Way
) -> Derivation | None:
    """The way with its offsets; None if it needs a value that was not given, or is too large."""
    rows = whole(way.family.rows[list(way.through.kept)])
    recover = whole(way.family.lift @ way.through.matrix)
    if (np.abs(recover).astype(np.float64) @ np.abs(rows)).max() >= LARGEST:
        return None
    offset, missing = _public(echelon, asked - recover @ rows)
    if not missing <= set(determined):
        return None
    lacking = tuple(sorted(missing))
    return Derivation(way.name, rows, recover, offset, determined, lacking, way.coordinates)


def _public(echelon: Echelon, rest: Any) -> tuple[NDArray[np.int64], set[int]]:
    """The public part of every output, and the outputs for which a value was not given.

    `rest` is what the recovery leaves of each output; that it vanishes on the free cells is
    checked here, in exact numbers, for every row.
    """
    rows = sparse_rows(rest)
    found = np.zeros(len(rows), np.int64)
    missing = set()
    for place, row in enumerate(rows):
        left = echelon.reduce(row)
        if any(key >= 0 for key in left):
            raise ArithmeticError("a derivation does not hold on the cells")
        value = Fraction(left.pop(CONSTANT, 0))
        if left:
            missing.add(place)
        elif value.denominator != 1:
            raise ValueError("the released values contradict each other")
        else:
            found[place] = value.numerator
    return found, missing


def _distinct(found: Iterable[Derivation]) -> Iterator[Derivation]:
    """Each plan once, under its first name."""
    seen = set()
    for plan in found:
        key = tuple(
            part.astype(np.int64).tobytes()
            for matrix in (plan.rows, plan.recover)
            for part in (matrix.indptr, matrix.indices, matrix.data)
        )
        if key not in seen:
            seen.add(key)
            yield plan
