"""Microdata from published tables: all that agree with them, and who is in every one.

Counts, means and medians, exact or rounded, are rows over the cells; the tables that agree with
all of them are listed with proof (`table_reconstruction.md`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adomnia.audit.finding import Finding, Rate
from adomnia.audit.reconstruction.listing import Listing, list_tables
from adomnia.audit.reconstruction.published_statistics import CellLayout, Statement
from adomnia.errors import QuestionError
from adomnia.priors.consistency import check
from adomnia.priors.solver.effort import STEPS, Effort
from adomnia.priors.solver.system import System
from adomnia.priors.solver.tables.fibre import determined

__all__ = ["microdata", "shown"]

Integers = NDArray[np.int64]

PAPER = (
    "Garfinkel, Abowd and Martindale, Understanding database reconstruction attacks on public "
    "data, CACM 62(3), 2019"
)
REMEDY = "publish fewer or coarser tables, or all of them with noise from one budget"
FOR_CHECKING = 0.1
FOR_LISTING = 0.6
SHOWN = 1000


def microdata(
    cells: CellLayout,
    statements: Sequence[Statement],
    most: int = 1000,
    time_limit: float = 60.0,
    forbidden: Integers | None = None,
    truth: Integers | None = None,
) -> Finding:
    """All tables that agree with the statements, and the people who are in every one of them.

    The success is the share of the people whose records are certain, its interval what is proven.
    `details["unique"]` is None where it is undecided; `ranges` are those of the tables listed,
    and so the least and greatest counts if `all_tables` is True. `forbidden` cells are publicly
    empty. Raises a QuestionError that names the statements where no table agrees with them.

    >>> from adomnia.audit import CellLayout, Count
    >>> cells = CellLayout({"sex": ("F", "M"), "ill": ("no", "yes")})
    >>> where = ({"sex": ["F"]}, {"ill": ["yes"]}, {"sex": ["M"]}, {"sex": ["F"], "ill": ["no"]})
    >>> counts = [Count(str(i), w, n, n) for i, (w, n) in enumerate(zip(where, (2, 3, 1, 0)))]
    >>> microdata(cells, counts).details["unique"]
    True
    """
    end = time.monotonic() + time_limit
    system = _system(cells, statements, forbidden)
    check(system, Effort(int(FOR_CHECKING * time_limit * STEPS / 5)))
    listing = list_tables(cells, statements, most, FOR_LISTING * time_limit, forbidden)
    if listing.whole and not len(listing.tables):
        names = dict.fromkeys(said.name for said in statements)
        raise QuestionError(f"no table agrees with all of: {'; '.join(names)}", "correct one")
    forced = _forced(system, listing, max(end - time.monotonic(), 0.1))
    return _finding(cells, listing, forced, truth)


def _system(
    cells: CellLayout, statements: Sequence[Statement], forbidden: Integers | None
) -> System:
    rows = [(said.name, row) for said in statements for row in said.rows(cells)]
    matrix = sparse.csr_array(
        np.array([row.factors for _, row in rows], np.int64).reshape(-1, cells.many)
    )
    values = [(row.low, row.high) for _, row in rows]
    empty = [] if forbidden is None else forbidden.tolist()
    return System.of(matrix, values, [name for name, _ in rows], empty)


def _forced(system: System, listing: Listing, seconds: float) -> dict[int, int]:
    """The cells whose least and greatest count are proven equal, with the count."""
    if listing.whole:
        same = (listing.tables == listing.tables[0]).all(axis=0)
        return {int(cell): int(listing.tables[0, cell]) for cell in np.flatnonzero(same)}
    found = determined(system, Effort(int(seconds * STEPS / 5)))
    return {cell: count for cell, count in found.items() if count is not None}


def _certain(listing: Listing, forced: dict[int, int]) -> tuple[int, int]:
    """How many records are in every table that agrees: at least, and at most."""
    proven = sum(forced.values())
    if not len(listing.tables):
        return proven, proven
    common = int(listing.tables.min(axis=0).sum())
    return (common if listing.whole else proven), common


def _finding(
    cells: CellLayout, listing: Listing, forced: dict[int, int], truth: Integers | None
) -> Finding:
    many = len(listing.tables)
    people = int(listing.tables.sum(axis=1).max()) if many else sum(forced.values())
    certain, likely = _certain(listing, forced)
    least, most = (certain / people, likely / people) if people else (0.0, 1.0)
    unique = (many == 1) if listing.whole or many > 1 else None
    counted = f"{many} tables agree" if many != 1 else "one table agrees"
    unsure = ("", "") if listing.whole else (", and there may be more", "at least ")
    details: dict[str, Any] = {
        "cells": cells.many,
        "people": people,
        "unique": unique,
        "tables": many,
        "all_tables": listing.whole,
        "branches": listing.looked,
        "certain_records": certain,
        "forced_cells": len(forced),
        "forced": [shown(cells, cell, count) for cell, count in forced.items() if count][:SHOWN],
        "ranges": _ranges(cells, listing)[:SHOWN],
    }
    if truth is not None:
        details["truth_listed"] = bool((listing.tables == truth).all(axis=1).any())
    return Finding(
        attack="microdata",
        claim=f"{counted} with what was published{unsure[0]}; {unsure[1]}{certain} of {people} "
        "records are in every one.",
        affected=f"{certain} people whose whole record follows from the tables",
        success=Rate(least, least, most if many else 1.0, 1.0),
        baseline=0.0,  # who saw nothing is certain of nobody
        covered=False,
        source=PAPER,
        remedy=REMEDY,
        details=details,
        complete=listing.whole,
    )


def shown(cells: CellLayout, cell: int, count: int) -> dict[str, Any]:
    """A cell for people: its values as text, and a count."""
    return {"record": [str(value) for value in cells.record(cell)], "count": count}


def _ranges(cells: CellLayout, listing: Listing) -> list[dict[str, Any]]:
    """Least and greatest count of each cell that is not empty in all the tables listed."""
    if not len(listing.tables):
        return []
    least, most = listing.tables.min(axis=0), listing.tables.max(axis=0)
    return [
        {
            "record": [str(value) for value in cells.record(int(cell))],
            "least": int(least[cell]),
            "most": int(most[cell]),
        }
        for cell in np.flatnonzero(most)
    ]
