"""Tables that agree with what is public: drawn among all of them, or moved to the nearest."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.table_backend import TableBackend
from adomnia.errors import QuestionError
from adomnia.limits import MAX_CONSISTENT_TABLES
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.tables.consistent import choose_table, distances, unit
from adomnia.privacy.contribution import ROWS
from adomnia.privacy.reads import CellTotals
from adomnia.queries.expression import Column, Expr, columns
from adomnia.queries.grouping import cell_count
from adomnia.queries.measurement import Counts
from adomnia.queries.operations import inside
from adomnia.queries.ranges import cells, from_domain
from adomnia.schema.sealed import Sealed

__all__ = ["Consistent", "agreeing"]

COUNTS = Counts((None,))
MOST_CELLS = 4096


class Consistent:
    """One table, and all tables that agree with what is public (`consistent.md`).

    Made before anything is paid.
    """

    def __init__(self, backend: TableBackend, names: tuple[str, ...]) -> None:
        from adomnia.priors.solver.errors import TooLarge  # noqa: PLC0415
        from adomnia.priors.solver.lattice.graver import basis  # noqa: PLC0415 (needs SciPy)

        self._desk, self._keys = backend, _keys(backend, names)
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
        """A table over the grid of its attributes, without NULL where that is no value."""
        full = np.zeros(cell_count(self._keys), values.dtype)
        full[self._places] = values
        return _shown(self._desk, self._keys, full)

    def margins(
        self, drawn: NDArray[np.int64], epsilon: Fraction, confidence: float
    ) -> NDArray[np.float64]:
        """How far each count may be off, all tables that agree being as likely beforehand."""
        share = float(epsilon) / self._desk.policy.neighbors.group
        apart = distances(drawn, self.tables, self.moves) if len(self.moves) else np.zeros(1)
        weights = np.exp(-share * apart / (2 * self.unit))
        weights /= weights.sum()
        found = np.zeros(len(drawn))
        for cell in range(len(drawn)):
            off = np.abs(self.tables[:, cell] - drawn[cell])
            held = np.cumsum(np.bincount(off, weights))
            found[cell] = int(np.searchsorted(held, confidence - 1e-12))
        return found


def agreeing(
    backend: TableBackend, names: tuple[str, ...], table: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """The table over all attributes of a release, moved so that it agrees with what is public.

    None where that cannot be said, or not in time.
    """
    from adomnia.priors.solver.tables.projection import project  # noqa: PLC0415 (needs SciPy: slow to import)

    keys = _keys(backend, names)
    if table.size > MOST_CELLS:
        return None
    layout = _layout(backend, keys)
    if layout.system.cells > MOST_CELLS or any(v is None for v in layout.system.values):
        return None
    noisy = _widened(backend, keys, table)[layout.outputs]
    found = project(layout.system, layout.asked, noisy.astype(np.float64))
    if found is None:
        return None
    full = np.zeros(cell_count(keys), np.int64)
    full[layout.outputs] = layout.asked @ found
    return _shown(backend, keys, full)


def _layout(backend: TableBackend, keys: tuple[Expr, ...]) -> Any:
    from adomnia.priors.layout import lay_out  # noqa: PLC0415 (needs SciPy: slow to import)

    return lay_out(backend.public()[1], COUNTS, None, keys)


def _tables(system: Any) -> NDArray[np.int64]:
    from adomnia.priors.solver.tables.fibre import tables  # noqa: PLC0415 (needs SciPy: slow to import)

    return tables(system, MAX_CONSISTENT_TABLES)


def _keys(backend: TableBackend, names: tuple[str, ...]) -> tuple[Expr, ...]:
    """The columns; what lies outside is not told from NULL where neither is shown: fewer cells."""
    attributes = [(n, backend.policy.attributes[n]) for n in names]
    found = [(Column(n, from_domain(one.domain)), one.nullable) for n, one in attributes]
    return tuple(column if null else inside(column) for column, null in found)


def _sides(backend: TableBackend, keys: tuple[Expr, ...]) -> tuple[list[int], tuple[slice, ...]]:
    """The grid with NULL and what lies outside at the end of every side, and the part of it that
    is published."""
    names = [next(iter(columns(key))).name for key in keys]
    nullable = [backend.policy.attributes[name].nullable for name in names]
    sizes = [cell_count((key,)) for key in keys]
    values = [len(cells(key.range)) for key in keys]
    part = tuple(slice(0, many + null) for many, null in zip(values, nullable, strict=True))
    return sizes, part


def _shown(backend: TableBackend, keys: tuple[Expr, ...], full: NDArray[Any]) -> NDArray[Any]:
    sizes, part = _sides(backend, keys)
    return full.reshape(sizes)[part]


def _widened(backend: TableBackend, keys: tuple[Expr, ...], table: NDArray[Any]) -> NDArray[Any]:
    sizes, part = _sides(backend, keys)
    full = np.zeros(sizes, table.dtype)
    full[part] = table
    return full.reshape(-1)
