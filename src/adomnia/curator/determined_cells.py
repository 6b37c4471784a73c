"""DeterminedCells: what was released exactly, and which cells that alone gives away."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia.curator.data.editions import prior_edition
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import AdomniaError, QuestionError
from adomnia.queries.measurement import Counts

if TYPE_CHECKING:
    from adomnia.priors.solver.system import System

__all__ = ["DeterminedCells", "determined_cells", "public_cells"]


@dataclass(frozen=True)
class DeterminedCells:
    """The registered releases in their order, and the cells whose counts follow from them.

    `cells` says how many there are; None where there are too many to look at. `determined` has
    each cell's name and its count, where the released numbers were given.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     database.priors()
    DeterminedCells(releases=(), cells=None, determined=())
    """

    releases: tuple[dict[str, Any], ...]
    cells: int | None
    determined: tuple[tuple[str, int | None], ...]

    def to_json(self) -> dict[str, Any]:
        """The determined_cells as plain JSON values."""
        fixed = [{"cell": name, "count": count} for name, count in self.determined]
        return {"priors": list(self.releases), "cells": self.cells, "determined": fixed}


def determined_cells(backend: TableBackend) -> DeterminedCells:
    """What is public by now; reads the ledger, not the data."""
    from adomnia.priors.layout import lay_out  # noqa: PLC0415
    from adomnia.priors.solver.tables.fibre import determined  # noqa: PLC0415 (needs SciPy: slow to import)

    kept = (entry for entry in backend.journal.entries(bodies=()) if entry.kind == "prior")
    entries = [entry for entry in kept if "sql" in entry.head["published"]]
    releases = tuple(
        {
            "number": entry.number,
            "at": entry.at,
            "sql": entry.head["published"]["sql"],
            "values": entry.head["published"]["rows"] is not None,
            "rounded": entry.head["published"]["rounded"],
            "below": entry.head["published"]["below"],
            "repriced": len(entry.head["prices"]),
            "accepted": entry.head["accepted"],
            "edition": prior_edition(entry.head["published"]),
        }
        for entry in entries
    )
    known = backend.public()[1]
    if not known:
        return DeterminedCells(releases, None, ())
    try:
        layout = lay_out(known, Counts((None,)), None, ())
    except AdomniaError:
        return DeterminedCells(releases, None, ())
    fixed = determined(layout.system)
    labels = (*layout.labels, "rows without a listed value")
    named = tuple((labels[cell] or "all rows", value) for cell, value in fixed.items())
    return DeterminedCells(releases, layout.system.cells, named)


def public_cells(backend: TableBackend) -> tuple[System, Fraction]:
    """The exact releases over the cells that they tell apart, and how far these move at once."""
    from scipy import sparse  # noqa: PLC0415 (slow to import)

    from adomnia.priors.layout import lay_out  # noqa: PLC0415
    from adomnia.priors.solver.induced_sensitivity import solve  # noqa: PLC0415

    known = backend.public()[1]
    if not known:
        raise QuestionError(
            "nothing was registered as released exactly", "adomnia prior add SQL, or [[prior]]"
        )
    system = lay_out(known, Counts((None,)), None, ()).system
    return system, solve(system, sparse.eye_array(system.cells, dtype=int)).upper
