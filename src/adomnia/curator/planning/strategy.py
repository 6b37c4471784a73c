"""Derived answers: with numbers public, less is measured and the rest follows (`strategy.md`).

Counts and sums are tied to each other by what was released exactly. So a part of them is
measured, the others are derived from it and the released numbers, and all of it is moved to the
nearest table that agrees with what is public. The choice rests on public facts alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adomnia.priors.prior_knowledge import PriorKnowledge
from adomnia.queries.expression import Expr
from adomnia.queries.grouping import cell_count
from adomnia.queries.measurement import Counts, Measurement, width_of

if TYPE_CHECKING:
    from adomnia.priors.layout import Layout
    from adomnia.priors.strategy.choice import PriorStrategy

__all__ = ["Derived", "derive"]

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999)
"""The confidences at which the spread of noise inside the kernel is simulated."""

MOST_CONDITIONS = 256
MOST_CELLS = 4096
"""Larger systems are measured as they are asked: to weigh strategies would take seconds."""


@dataclass(frozen=True, eq=False)
class Derived:
    """What is measured in the place of the counts that are asked, and how they follow.

    `places` are those of the asked counts that are measured, numbered cell by cell; None where
    `counts` are measured instead, over the whole table.
    """

    measured: PriorStrategy
    layout: Layout
    size: tuple[int, int]
    places: tuple[int, ...] | None
    counts: Counts | None

    @property
    def name(self) -> str:
        """The strategy in a word or two."""
        return self.measured.name

    @property
    def bound(self) -> Fraction:
        """The sensitivity of what is measured, squared for Gaussian noise."""
        return self.measured.bound.upper

    @property
    def terms(self) -> NDArray[np.int64]:
        """Of how many draws each cell is a sum."""
        draws = np.asarray(abs(self.measured.recover).sum(axis=1)).reshape(-1).astype(np.int64)
        found: NDArray[np.int64] = self._spread(draws).max(axis=1)
        return found

    @cached_property
    def widths(self) -> NDArray[np.float64] | None:
        """At scale 1, how far each cell strays at each of the `LEVELS`; None for plain noise."""
        if self.measured.basis is None:
            return None
        from adomnia.priors.strategy.groups import widths  # noqa: PLC0415 (needs SciPy: slow to import)

        shares = [(group, float(part / self.bound)) for group, part in self.groups]
        found = widths(self.measured.basis, self.measured.recover, shares, LEVELS)
        return np.stack([self._spread(level).max(axis=1) for level in found])

    @property
    def groups(self) -> list[tuple[tuple[int, ...], Fraction]]:
        """Measured counts that move less together than all of them do."""
        return [(group, part.upper) for group, part in self.measured.groups]

    @property
    def is_tied(self) -> bool:
        """Whether cells share draws, so that they cannot be summed as if they did not."""
        if self.measured.basis is not None:
            return True
        outputs, drawn = self.measured.recover.shape
        return bool(outputs != drawn or self.measured.recover.nnz != outputs)

    def agreeing(self, values: NDArray[Any]) -> NDArray[Any] | None:
        """Counts that were measured before, moved to the nearest table that is public by now."""
        if not self._is_told:
            return None
        noisy = values.reshape(-1)[self.layout.outputs]
        table = self._project(self.layout.asked, noisy)
        return None if table is None else self._spread(self.layout.asked @ table)

    @property
    def _is_told(self) -> bool:
        """Whether all released numbers were given."""
        return all(value is not None for value in self.layout.system.values)

    def _project(self, rows: Any, noisy: NDArray[Any]) -> NDArray[np.int64] | None:
        from adomnia.priors.solver.tables.projection import project  # noqa: PLC0415 (needs SciPy: slow to import)

        return project(self.layout.system, rows, noisy.astype(np.float64))

    def fill(self, noisy: NDArray[Any]) -> tuple[NDArray[Any], bool]:
        """The asked counts from the noisy measured ones; whether they agree with what is public."""
        if self.measured.rows.shape[0] and self._is_told:
            table = self._project(self.measured.rows, noisy)
            if table is not None:
                return self._spread(self.layout.asked @ table), True
        return self._spread(
            _times(self.measured.recover, noisy) + self.measured.offset.astype(object)
        ), False

    def _spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the outputs that can occur, laid out over all cells."""
        full = np.zeros(self.size[0] * self.size[1], values.dtype)
        full[self.layout.outputs] = values
        return full.reshape(self.size)


@lru_cache(maxsize=256)
def derive(
    known: PriorKnowledge, asked: Measurement, where: Expr | None, keys: tuple[Expr, ...], kind: str
) -> Derived | None:
    """The best way to learn what is asked; None where it is simply measured as it is."""
    from adomnia.priors.layout import lay_out  # noqa: PLC0415 (needs SciPy: slow to import)
    from adomnia.priors.strategy.choice import candidates, settled  # noqa: PLC0415

    if known.max_group is not None:
        return None  # its bound is for the question as it stands
    layout = lay_out(known, asked, where, keys)
    if layout.system.cells > MOST_CELLS or layout.found is None or layout.unit != 1:
        return None
    if not layout.asked.shape[0]:
        return None
    size = (cell_count(keys), width_of(asked))
    system, wanted = layout.system, layout.asked
    for candidate in candidates(system, wanted, kind):  # type: ignore[arg-type]
        measured = settled(system, wanted, candidate)
        single = np.abs(measured.recover.data).max(initial=0) <= 1  # margins count draws
        if measured.missing or not (single or measured.basis is not None):
            continue
        if measured.bound.upper == 0 and measured.rows.shape[0]:
            continue  # nothing is ever measured without noise
        places = _places(layout, measured)
        if places is not None:
            return Derived(measured, layout, size, places, None)
        cells = _single_cells(measured)
        if cells is not None and len(cells) <= MOST_CONDITIONS:
            return Derived(measured, layout, size, None, Counts(layout.conditions(cells)))
    return None


def _places(layout: Layout, measured: PriorStrategy) -> tuple[int, ...] | None:
    """Which of the asked counts are measured, if nothing else is."""
    asked = {_key(row): i for i, row in enumerate(layout.asked.tocsr())}
    found = [asked.get(_key(row)) for row in measured.rows.tocsr()]
    if any(place is None for place in found):
        return None
    return tuple(int(layout.outputs[place]) for place in found if place is not None)


def _times(matrix: Any, values: NDArray[Any]) -> NDArray[Any]:
    """The product in whole numbers, however large."""
    found = np.zeros(matrix.shape[0], object)
    listed = matrix.tocoo()
    for row, column, factor in zip(*listed.coords, listed.data, strict=True):
        found[row] += int(factor) * int(values[column])
    return found


def _key(row: Any) -> tuple[tuple[int, int], ...]:
    plain = row.tocoo()
    return tuple(sorted(zip(plain.coords[-1].tolist(), plain.data.tolist(), strict=True)))


def _single_cells(measured: PriorStrategy) -> list[int] | None:
    """The cells that are measured one by one, if nothing else is."""
    rows = measured.rows.tocsr()
    if (np.diff(rows.indptr) != 1).any() or (rows.data != 1).any():
        return None
    cells: list[int] = rows.indices.tolist()
    return cells
