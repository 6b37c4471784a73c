"""Strategies: what to measure so that the question follows from it with the least noise.

Exact statistics tie cells to each other. To measure a cell and its mirror image pays twice for one
number; `choose` measures less and derives the rest (`strategy.md`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adomnia.priors.solver.bound import Bound
from adomnia.priors.solver.effort import STEPS, Effort
from adomnia.priors.solver.induced_sensitivity import solve as solved
from adomnia.priors.solver.system import System, whole
from adomnia.priors.solver.tables.projection import project
from adomnia.priors.strategy.derivations import Derivation, derivations
from adomnia.priors.strategy.groups import weigh
from adomnia.priors.strategy.kernel_noise import spread

__all__ = ["Kind", "PriorStrategy", "candidates", "choose", "expected_error", "settled"]

Kind = Literal["laplace", "gaussian"]
Solve = Callable[..., Bound]
Group = tuple[tuple[int, ...], Bound]
"""Some of the measured rows, and how far they can change together."""

MANY = 20
DIMENSIONS = 40
WORTH = 0.95
LEAST, LEAST_OF_ALL = 1e-3, 1e-5


@dataclass(frozen=True, eq=False)
class PriorStrategy:
    """What is measured, what that costs, and how the outputs follow: recover @ measured + offset.

    The `determined` outputs follow from what is public alone and are never measured; those also
    `missing` need a value that was not given, and their offset 0 means nothing. `error` is the
    expected total squared error of the outputs at epsilon 1 (rho 1/2), `least_squares` that after
    a least-squares fit to everything measured. With a `basis`, the noise is drawn from the
    lattice of its rows (one column for each measured row), otherwise for each row on its own;
    `groups` of measured rows then have bounds of their own.
    """

    name: str
    rows: Any
    bound: Bound
    recover: Any
    offset: NDArray[np.int64]
    error: float
    least_squares: float
    determined: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    basis: Any = None
    groups: tuple[Group, ...] = ()


def choose(
    system: System, asked: Any, kind: Kind, solve: Solve = solved, *, effort: Effort | None = None
) -> PriorStrategy:
    """The strategy with the least expected error at equal loss; the same one every time."""
    best = candidates(system, asked, kind, solve, effort=effort)[0]
    return settled(system, asked, best)


def settled(system: System, asked: Any, best: PriorStrategy) -> PriorStrategy:
    """The strategy without measuring what no table that agrees has otherwise."""
    if best.bound.upper == 0 and best.rows.shape[0] and None not in system.values:
        return _constant(system, whole(asked), best)
    return best


def candidates(
    system: System, asked: Any, kind: Kind, solve: Solve = solved, *, effort: Effort | None = None
) -> tuple[PriorStrategy, ...]:
    """Every strategy that can be used, the best one first; `solve` bounds sensitivities.

    At least one can: the question itself needs no value that was not given.
    """
    ways, effort = derivations(system, whole(asked)), effort or Effort(2 * STEPS)
    found = [
        measured
        for done, plan in enumerate(ways)
        for measured in _priced(plan, system, kind, solve, effort.part(len(ways) - done))
    ]
    found.sort(key=_rank)
    first = next((m for m in found if m.basis is not None), None)
    if first is not None:
        found[found.index(first)] = _with_groups(first, system, solve, effort)
    return tuple(sorted(found, key=_rank))


def expected_error(basis: Any, outputs: Any, scale: float) -> float:
    """The total squared error of `outputs` times noise of this scale in the basis' lattice.

    The limit of wide noise (`conditioned.md`); infinite where such noise is not offered.
    """
    noise = spread(whole(basis))
    return float("inf") if noise is None else noise.error(whole(basis), whole(outputs), scale)


def _priced(
    plan: Derivation, system: System, kind: Kind, solve: Solve, effort: Effort
) -> list[PriorStrategy]:
    """The plan with noise on each row, and with noise inside the kernel where that is offered."""
    norm = 1 if kind == "laplace" else 2
    bound = Bound(Fraction(0), Fraction(0), "nothing is measured")
    if plan.rows.shape[0]:
        bound = solve(system, plan.rows, norm, effort=effort)
    variance = float(2 * bound.upper**2 if kind == "laplace" else bound.upper)
    plain = PriorStrategy(
        plan.name,
        plan.rows,
        bound,
        plan.recover,
        plan.offset,
        variance * plan.squares,
        variance * plan.fitted_squares,
        plan.determined,
        plan.missing,
    )
    lattice = plan.lattice if kind == "laplace" and bound.upper else None
    noise = None if lattice is None else spread(lattice)
    if noise is None:
        return [plain]
    error = noise.error(lattice, plan.recover, float(bound.upper))
    inside = replace(
        plain, name="inside the kernel", error=error, least_squares=error, basis=lattice
    )
    return [plain, inside]


def _groups(
    inside: PriorStrategy, system: System, solve: Solve, effort: Effort
) -> tuple[Group, ...]:
    """The measured rows that lie within one released row, where they change less than all do."""
    cells, released = abs(inside.rows).sign(), abs(system.matrix).sign()
    within = (cells @ released.T).toarray() == cells.sum(axis=1)[:, None]
    found = dict.fromkeys(tuple(np.flatnonzero(column).tolist()) for column in within.T)
    groups = [group for group in found if 1 < len(group) < cells.shape[0]]
    if len(groups) > MANY or inside.basis.shape[0] > DIMENSIONS:
        return ()
    rows = sparse.csr_array(inside.rows)
    bounds = [
        solve(system, rows[list(group)], 1, effort=effort.part(len(groups) - done))
        for done, group in enumerate(groups)
    ]
    return tuple(
        (group, bound)
        for group, bound in zip(groups, bounds, strict=True)
        if 0 < bound.upper < inside.bound.upper
    )


def _with_groups(
    inside: PriorStrategy, system: System, solve: Solve, effort: Effort
) -> PriorStrategy:
    """The same with bounds for groups, where that is worth its while."""
    groups = _groups(inside, system, solve, effort)
    noise = spread(inside.basis)
    if not groups or noise is None:
        return inside
    total = inside.bound.upper
    scales = [(group, float(bound.upper / total)) for group, bound in groups]
    weighed = weigh(inside.basis, inside.recover, scales)
    error = weighed.error * float(total) ** 2
    slow = weighed.acceptance < LEAST or weighed.acceptance * noise.acceptance < LEAST_OF_ALL
    if slow or error > WORTH * inside.error:
        return inside
    return replace(inside, error=error, least_squares=error, groups=groups)


def _rank(measured: PriorStrategy) -> tuple[float, bool, int]:
    """Least error first; among equals the simpler noise, then the fewer rows."""
    return float(f"{measured.error:.9g}"), measured.basis is not None, measured.rows.shape[0]


def _constant(system: System, asked: Any, best: PriorStrategy) -> PriorStrategy:
    """No table that agrees has another answer: any of them tells it, and nothing is measured."""
    table = project(system, best.rows, np.zeros(best.rows.shape[0]))
    if table is None:
        return best
    outputs = asked.shape[0]
    return replace(
        best,
        rows=whole(np.zeros((0, system.cells))),
        recover=whole(np.zeros((outputs, 0))),
        offset=asked @ table,
        determined=tuple(range(outputs)),
        basis=None,
    )
