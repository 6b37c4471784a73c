"""Contradictions: released answers that no table can have given, and which rows say so."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np

from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.errors import Contradiction
from adomnia.priors.solver.lattice.elimination import eliminate
from adomnia.priors.solver.lattice.region import Region, impossible, region, tighten
from adomnia.priors.solver.system import Interval, System
from adomnia.priors.solver.tables import certificate

__all__ = ["check"]

SEARCHED, SHRUNK = 300_000_000, 20_000
"""Steps to look for a whole table, and for each row of a proof without a program."""
Rows = tuple[int, ...]
Find = Callable[[Region, Effort], Rows | None]
Proof = Callable[[Region, Effort], bool]


def check(system: System, effort: Effort | None = None) -> None:
    """Raises `Contradiction` if it is proven that no table agrees with the known values.

    The simplest reasons are tried first. What is neither proven nor refuted within the
    effort passes: a contradiction is only ever claimed with a proof (`fibre.md`).
    """
    known = [row for row, value in enumerate(system.values) if value is not None]
    if not known:
        return
    try:
        _check(system, known, effort or Effort())
    except OverflowError:
        return  # numbers too large to be looked at


def _check(system: System, known: list[int], effort: Effort) -> None:
    tables = region(system)
    for reasons in (SEEN, WORKED_OUT, SOLVED):
        if reasons is SOLVED:
            tight = tighten(tables)
            if tight is not None and certificate.find_point(tight, effort) is not None:
                return
        found = [(rows, say) for say, find in reasons if (rows := find(tables, effort))]
        if found:
            rows, say = min(found, key=lambda pair: len(pair[0]))
            raise _named(system, tuple(known[row] for row in rows), say)


def _named(system: System, rows: Rows, reason: str) -> Contradiction:
    """The error, with every contradicting row by its name and released value."""
    values = [(system.names[row], system.values[row]) for row in rows]
    said = "; ".join(f"{name} = {_shown(value)}" for name, value in values if value is not None)
    message = f"the released answers contradict each other, {reason}: {said}"
    return Contradiction(message, rows)


def _shown(value: Interval) -> str:
    low, high = value
    return str(low) if low == high else f"{low} to {high}"


# Reasons that show themselves


def _alone(tables: Region, effort: Effort) -> Rows | None:
    """One row that can have no such value: too small, too large, or not a multiple."""
    failing = impossible(tables)
    for row, entries in enumerate(_entries(tables)):
        common = math.gcd(*entries.values())
        low, high = int(tables.low[row]), int(tables.high[row])
        if failing[row] or low > high or (common and -(-low // common) > high // common):
            return (row,)
        if len(set(entries.values())) > 1 and tighten(_only(tables, row)) is None:
            return (row,)
    return None


def _only(tables: Region, row: int) -> Region:
    """One row and its own cells."""
    held = tables.matrix[[row]]
    cells = held.indices
    ends = tables.low[[row]], tables.high[[row]]
    return Region(held[:, cells], *ends, tables.lower[cells], tables.upper[cells])


def _twice(tables: Region, effort: Effort) -> Rows | None:
    """The same cells, released with two totals that do not meet."""
    seen: dict[tuple[tuple[int, int], ...], list[tuple[int, int, int]]] = {}
    for row, entries in enumerate(_entries(tables)):
        if not entries:
            continue
        cells = sorted(entries)
        common = math.gcd(*entries.values()) * (1 if entries[cells[0]] > 0 else -1)
        ends = sorted((int(tables.low[row]) * common, int(tables.high[row]) * common))
        square = common * common
        low, high = -(-ends[0] // square), ends[1] // square
        key = tuple((cell, entries[cell] // common) for cell in cells)
        for other, least, most in seen.get(key, []):
            if max(low, least) > min(high, most):
                return (other, row)
        seen.setdefault(key, []).append((row, low, high))
    return None


def _parts(tables: Region, effort: Effort) -> Rows | None:
    """A total that is less than its disjoint parts, or differs from them though they fill it."""
    sets = {
        row: frozenset(entries)
        for row, entries in enumerate(_entries(tables))
        if set(entries.values()) == {1}
    }
    by_cell: dict[int, list[int]] = {}
    for whole in sorted(sets, key=lambda row: (len(sets[row]), row)):
        inner: dict[int, int] = {}
        for cell in sets[whole]:
            for row in by_cell.get(cell, []):
                inner[row] = inner.get(row, 0) + 1
            by_cell.setdefault(cell, []).append(whole)
        held = [row for row, count in inner.items() if count == len(sets[row])]
        found = _compare(tables, sets, whole, sorted(held, key=lambda row: -len(sets[row])))
        if found is not None:
            return found
    return None


def _compare(
    tables: Region, sets: dict[int, frozenset[int]], whole: int, held: list[int]
) -> Rows | None:
    """The total against as many disjoint parts of it as fit, the largest first."""
    rest, parts, least, most = sets[whole], [], 0, 0
    for row in held:
        if sets[row] <= rest:
            rest -= sets[row]
            parts.append(row)
            least += int(tables.low[row])
            most += int(tables.high[row])
    if parts and least > tables.high[whole]:
        return (whole, *_enough(tables, parts, int(tables.high[whole])))
    return (whole, *parts) if parts and not rest and most < tables.low[whole] else None


def _enough(tables: Region, parts: list[int], limit: int) -> Iterable[int]:
    """The fewest of the parts that together pass the limit: the largest."""
    total = 0
    for row in sorted(parts, key=lambda row: -int(tables.low[row])):
        if total > limit:
            return
        total += int(tables.low[row])
        yield row


def _entries(tables: Region) -> Iterable[dict[int, int]]:
    """Each row as cell -> factor, without the cells that are publicly empty."""
    matrix, live = tables.matrix, (tables.upper != 0).tolist()
    for start, end in pairwise(matrix.indptr.tolist()):
        cells, factors = matrix.indices[start:end].tolist(), matrix.data[start:end].tolist()
        held = zip(cells, factors, strict=True)
        yield {cell: factor for cell, factor in held if live[cell]}


# Reasons with a proof for a set of rows, which is then made small


def _by_sums(tables: Region, effort: Effort) -> Rows | None:
    """Some combination of the exact rows is nothing, but their values do not cancel."""
    return _smallest(tables, lambda chosen, _: _fault(chosen) == "sums", effort)


def _by_bounds(tables: Region, effort: Effort) -> Rows | None:
    """Row after row leaves less room for the cells until there is none."""
    return _smallest(tables, lambda chosen, _: tighten(chosen) is None, effort)


def _by_division(tables: Region, effort: Effort) -> Rows | None:
    """No whole numbers, not even negative ones, satisfy the exact rows."""
    return _smallest(tables, lambda chosen, _: bool(_fault(chosen)), effort)


def _by_multipliers(tables: Region, effort: Effort) -> Rows | None:
    """Not even fractions: some combination of the rows is impossible."""
    return _smallest(tables, _no_fractions, effort)


def _by_search(tables: Region, effort: Effort) -> Rows | None:
    """Fractions would do, but no whole table."""
    return _smallest(tables, _no_whole, effort)


def _fault(tables: Region) -> str:
    exact = np.flatnonzero(tables.low == tables.high)
    live = np.flatnonzero(tables.upper != 0)
    return eliminate(tables.matrix[exact][:, live], tables.low[exact].tolist()).fault


def _no_fractions(tables: Region, effort: Effort) -> bool:
    tight = tighten(tables)
    return tight is None or certificate.empty_by(tight, effort) is not None


def _no_whole(tables: Region, effort: Effort) -> bool:
    return certificate.is_empty(tables, effort.part(most=SEARCHED)) is True


def _smallest(tables: Region, proof: Proof, effort: Effort) -> Rows | None:
    """Rows that the proof refutes, none of which can be left out; None if it refutes none."""
    rows = tuple(range(len(tables.low)))
    if not proof(tables, effort):
        return None
    orders = (rows, rows[::-1])
    return min((_shrunk(tables, proof, order, effort) for order in orders), key=len)


def _shrunk(tables: Region, proof: Proof, rows: Rows, effort: Effort) -> Rows:
    """Leaves out halves of the rows, then quarters, and so on, while the proof still holds.

    When the effort is spent the rows so far are returned: they contradict each other all the same.
    """
    size = len(rows)
    while size >= 1:
        start = 0
        while start < len(rows):
            fewer = rows[:start] + rows[start + size :]
            effort.spend(SHRUNK * len(fewer))
            if effort.is_spent:
                return tuple(sorted(rows))
            if fewer and proof(tables.rows(np.array(fewer)), effort):
                rows = fewer
            else:
                start += size
        size //= 2
    return tuple(sorted(rows))


Reasons = tuple[tuple[str, Find], ...]
SEEN: Reasons = (
    ("no counts give this value", _alone),
    ("the same cells have two totals", _twice),
    ("a total does not agree with its parts", _parts),
)
WORKED_OUT: Reasons = (
    ("their sums do not agree", _by_sums),
    ("together they leave no room for some cell", _by_bounds),
    ("no whole numbers satisfy them", _by_division),
)
SOLVED: Reasons = (
    ("no counts, not even fractions, satisfy them", _by_multipliers),
    ("no whole counts satisfy them", _by_search),
)
