"""Tables that agree with what is public: drawn among all of them, or moved to the nearest."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.releases.hidden_rows import HiddenRows
from adomnia.curator.releases.release_keys import ReleaseKey, TableLayout
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import QuestionError
from adomnia.limits import MAX_CONSISTENT_TABLES
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.tables.consistent import choose_table, distances, unit
from adomnia.privacy.contribution import ROWS
from adomnia.privacy.reads import CellTotals
from adomnia.queries.expression import Expr
from adomnia.queries.grouping import cell_count
from adomnia.queries.measurement import Counts
from adomnia.queries.operations import inside
from adomnia.schema.sealed import Sealed

__all__ = ["Consistent", "agreeing"]

COUNTS = Counts((None,))
MOST_CELLS = 4096


class Consistent:
    """One table, and all tables that agree with what is public (`consistent.md`).

    Made before anything is paid.
    """

    def __init__(self, backend: TableBackend, table: TableLayout) -> None:
        from adomnia.priors.solver.errors import TooLarge  # noqa: PLC0415
        from adomnia.priors.solver.lattice.graver import basis  # noqa: PLC0415 (needs SciPy)

        self._desk, self._sides = backend, table.keys
        self._keys, names = _keys(table.keys), table.workload.names
        known = backend.public()[1]
        if not known:
            raise QuestionError(
                "nothing is public that tables could agree with",
                "register what was released exactly: adomnia prior add SQL --values FILE",
            )
        layout = _layout(backend, self._keys)
        system = layout.system
        if any(value is None for value in system.values):
            raise QuestionError(
                "the numbers of an exact release were not given",
                "adomnia prior add SQL --values FILE",
            )
        if layout.asked.shape[0] != system.cells:
            read = frozenset().union(*(p.reads for p in known.published)) - {*names}
            raise QuestionError(
                "what is public ties this table to other columns",
                "publish one table with these too: " + ", ".join(sorted(read)),
            )
        order = layout.asked.tocsc().indices  # the output of every cell
        self._places = [int(layout.outputs[place]) for place in order]
        self._cells = _measured(table.keys, self._places)
        try:
            self.tables = _tables(system)
            self.moves = basis(system.matrix.toarray())
        except TooLarge:
            raise QuestionError(
                f"more than {MAX_CONSISTENT_TABLES:,} tables agree with what is public",
                "use the other methods of release",
            ) from None
        self.unit = unit(self.moves)

    @property
    def reads(self) -> CellTotals | None:
        """The true table; what is public determines it where nothing can move."""
        return CellTotals(ROWS, None, self._keys) if len(self.moves) else None

    def draw(
        self, sealed: Sealed[Any] | None, epsilon: Fraction, bits: Bits = SYSTEM
    ) -> NDArray[np.int64]:
        """A table near the true one."""
        if sealed is None:
            only: NDArray[np.int64] = self.tables[0].copy()
            return only
        share = epsilon / self._desk.policy.neighbors.group
        return choose_table(sealed, self.tables, self.moves, share, bits, places=self._places)

    def laid_out(self, values: NDArray[Any]) -> NDArray[Any]:
        """A table over the grid of its attributes, with the cells that are not shown."""
        return _laid_out(self._sides, self._cells, values)

    def weights(self, drawn: NDArray[np.int64], epsilon: Fraction) -> NDArray[np.float64]:
        """How likely each table is that agrees, all of them being as likely beforehand."""
        share = float(epsilon) / self._desk.policy.neighbors.group
        apart = distances(drawn, self.tables, self.moves) if len(self.moves) else np.zeros(1)
        weights: NDArray[np.float64] = np.exp(-share * apart / (2 * self.unit))
        weights /= weights.sum()
        return weights

    def margins(
        self, drawn: NDArray[np.int64], weights: NDArray[np.float64], confidence: float
    ) -> NDArray[np.float64]:
        """How far each count of the grid may be off."""
        shape = tuple(key.size for key in self._sides)
        cells = np.arange(prod(shape)).reshape(shape)
        found = [self._margin(cells == cell, drawn, weights, confidence) for cell in cells.flat]
        return np.array(found).reshape(shape)

    def hidden(
        self, drawn: NDArray[np.int64], weights: NDArray[np.float64], confidence: float
    ) -> dict[int, HiddenRows]:
        """By the place of a key how many rows have no value of it that is shown."""
        table, found = self.laid_out(drawn), dict[int, HiddenRows]()
        for place, key in enumerate(self._sides):
            if key.hidden:
                last = np.indices(table.shape)[place] == len(key.axis)
                off = self._margin(last, drawn, weights, confidence)
                found[place] = HiddenRows(float(table[last].sum()), off)
        return found

    def _margin(
        self,
        summed: NDArray[np.bool_],
        drawn: NDArray[np.int64],
        weights: NDArray[np.float64],
        confidence: float,
    ) -> float:
        """How far the sum of some cells of the grid may be off."""
        taken = (self._cells >= 0) & summed.reshape(-1)[self._cells]
        off = np.abs(self.tables[:, taken].sum(axis=1) - drawn[taken].sum())
        held = np.cumsum(np.bincount(off.astype(np.int64), weights))
        return float(np.searchsorted(held, confidence - 1e-12))


def agreeing(
    backend: TableBackend, table: TableLayout, counts: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """The table over all attributes of a release, moved so that it agrees with what is public.

    None where that cannot be said, or not in time.
    """
    from adomnia.priors.solver.tables.projection import project  # noqa: PLC0415 (needs SciPy: slow to import)

    keys = _keys(table.keys)
    if counts.size > MOST_CELLS:
        return None
    layout = _layout(backend, keys)
    if layout.system.cells > MOST_CELLS or any(v is None for v in layout.system.values):
        return None
    noisy = _widened(table.keys, counts)[layout.outputs]
    found = project(layout.system, layout.asked, noisy.astype(np.float64))
    if found is None:
        return None
    cells = _measured(table.keys, layout.outputs)
    return _laid_out(table.keys, cells, np.asarray(layout.asked @ found).astype(np.int64))


def _layout(backend: TableBackend, keys: tuple[Expr, ...]) -> Any:
    from adomnia.priors.layout import lay_out  # noqa: PLC0415 (needs SciPy: slow to import)

    return lay_out(backend.public()[1], COUNTS, None, keys)


def _tables(system: Any) -> NDArray[np.int64]:
    from adomnia.priors.solver.tables.fibre import tables  # noqa: PLC0415 (needs SciPy: slow to import)

    return tables(system, MAX_CONSISTENT_TABLES)


def _keys(sides: Sequence[ReleaseKey]) -> tuple[Expr, ...]:
    """The columns; what lies outside is not told from NULL where neither is shown: fewer cells."""
    return tuple(side.expr if side.null else inside(side.expr) for side in sides)


def _shape(sides: Sequence[ReleaseKey]) -> tuple[int, ...]:
    """The grid with NULL and what lies outside at the end of every side."""
    return tuple(cell_count((key,)) for key in _keys(sides))


def _measured(sides: Sequence[ReleaseKey], cells: Sequence[int]) -> NDArray[np.int64]:
    """For cells of that grid those of the measured one, in which all that is not shown is one
    value; below 0 where it has none."""
    found: NDArray[np.int64] = np.zeros(len(cells), np.int64)
    gone = np.zeros(len(cells), bool)
    for side, at in zip(sides, np.unravel_index(np.asarray(cells), _shape(sides)), strict=True):
        beyond = at >= len(side.axis)
        gone |= beyond & (not side.hidden)
        found = found * side.size + np.where(beyond, len(side.axis), at)
    return np.where(gone, -1, found)


def _laid_out(
    sides: Sequence[ReleaseKey], cells: NDArray[np.int64], values: NDArray[Any]
) -> NDArray[Any]:
    shape = tuple(side.size for side in sides)
    full = np.zeros(prod(shape), values.dtype)
    np.add.at(full, cells[cells >= 0], values[cells >= 0])
    return full.reshape(shape)


def _widened(sides: Sequence[ReleaseKey], table: NDArray[Any]) -> NDArray[Any]:
    """A measured table over the whole grid; what is not shown is in the first cell that is not."""
    full = np.zeros(_shape(sides), table.dtype)
    full[tuple(slice(side.size) for side in sides)] = table
    return full.reshape(-1)
