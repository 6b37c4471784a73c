"""The leak of exact releases: noisy counts, harmless alone, rebuild a table with exact ones.

Kifer and Machanavajjhala 2011, section 4.1. Why it works, and what accounting for the exact
answers changes, is in `prior_leak.md`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.exact_releases.rebuild import CellComponent, along, parts, rebuild
from adomnia.audit.finding import Finding, Rate, wilson
from adomnia.priors.solver.effort import STEPS, Effort
from adomnia.priors.solver.errors import Contradiction, TooLarge
from adomnia.priors.solver.lattice.kernel import sparse_kernel
from adomnia.priors.solver.system import System
from adomnia.priors.solver.tables.contradiction import check
from adomnia.priors.solver.tables.fibre import determined
from adomnia.priors.solver.tables.projection import agrees, nearest
from adomnia.priors.solver.tables.sampling import Move, sample

__all__ = ["chain_leak", "prior_leak"]

Integers = NDArray[np.int64]
PAPER = "Kifer and Machanavajjhala, No Free Lunch in Data Privacy, SIGMOD 2011, section 4.1"
REMEDY = "declare what was released exactly as [[prior]]: noise then grows with what moves together"
AT_ONCE = 2_000_000
POOL = 128
PROGRAMMED = 100
A_SECOND = STEPS // 5
"""Steps that are counted as a second."""


def chain_leak(
    k: int | Sequence[int],
    epsilon: float,
    trials: int = 200,
    seed: int = 0,
    people: int = 1000,
    time_limit: float = 60.0,
) -> Finding:
    """The paper's chain: k counts with noise, and every sum of two neighbours known exactly.

    Each pair of neighbouring cells holds `people` people, so the exact answers allow people + 1
    tables, one of which is drawn in each trial. `k` may be several: `details["curve"]` has one
    entry for each, and the finding speaks of the last one done.

    Returns the share of the cells that came out exactly. Raises a ValueError where a chain has
    fewer than two cells, or a pair nobody.

    >>> chain_leak(100, epsilon=1.0, trials=5, people=20).success.value > chain_leak(
    ...     2, epsilon=1.0, trials=5, people=20
    ... ).success.value
    True
    """
    sizes = [k] if isinstance(k, int) else list(k)
    _check(epsilon, trials)
    if not sizes or min(sizes) < 2 or people < 1:
        raise ValueError("a chain has two cells or more, and one person or more in each pair")
    deadline = time.monotonic() + time_limit
    curve: list[dict[str, Any]] = []
    for size in sizes:
        if curve and time.monotonic() > deadline:
            break
        chance = np.random.default_rng([seed, size])
        right, done = _chain_trials(size, epsilon, trials, chance, people, deadline)
        curve.append(_chain_point(size, epsilon, people, right, done))
    last = curve[-1]
    claim = (
        f"{last['k']} counts with noise for epsilon {epsilon:g} each, and exact sums of neighbours,"
        f" give the whole table in {last['before']['value']:.0%} of trials; accounted for,"
        f" in {last['after']['value']:.1%}."
    )
    return Finding(
        attack="prior-leak",
        claim=claim,
        affected="everybody in the table",
        success=Rate(**last["before"]),
        baseline=last["baseline"],
        covered=False,
        source=PAPER,
        remedy=REMEDY,
        details={"epsilon": epsilon, "people": people, "curve": curve},
        complete=len(curve) == len(sizes) and all(p["trials"] == trials for p in curve),
    )


def prior_leak(  # noqa: PLR0913, PLR0917
    system: System,
    epsilon: float,
    trials: int = 200,
    seed: int = 0,
    table: Sequence[int] | None = None,
    sensitivity: float | Fraction | None = None,
    time_limit: float = 60.0,
) -> Finding:
    """Attack the cells of any system of exact rows, each counted with Laplace(1/epsilon) noise.

    Tables to attack are drawn from the public rows, unless one is handed in to be scored against.
    `sensitivity` is that of all cells together between induced neighbours; with it the attack is
    repeated at Laplace(sensitivity/epsilon). Where every part of the lattice is a line it is
    known without. Raises ValueError where no table gives the released values.

    Returns the share of the cells that came out exactly.

    >>> from adomnia.audit import System
    >>> prior_leak(System.of([[1, 1]], [10]), epsilon=50.0, trials=5).success.value
    1.0
    """
    _check(epsilon, trials)
    deadline = time.monotonic() + time_limit
    rng = np.random.default_rng(seed)
    exact = system.only(system.exact)  # without rounded rows, which only weakens the attacker
    if table is not None and not (len(table) == exact.cells and agrees(exact, np.asarray(table))):
        raise ValueError("the table does not give the released values")
    found = parts(sparse_kernel(exact.matrix, exact.forbidden), rng)
    scale = _sensitivity(found) if sensitivity is None else float(sensitivity)
    facts: dict[str, Any] = {
        "epsilon": epsilon,
        "cells": exact.cells,
        "dimension": sum(part.dimension for part in found),
        "parts": len(found),
        "rounded_rows_left_out": len(system.values) - len(exact.values),
        "sensitivity": scale,
        "cells_without_exact_answers": -math.expm1(-epsilon / 2),
    }
    size = max(1, min(trials, POOL, AT_ONCE // exact.cells))
    tally, effort = _Tally(), Effort(int(time_limit * A_SECOND))
    try:
        drawn = sample(exact, _everywhere(found), 2 * size, rng, effort)
    except TooLarge:
        _refuse_contradictions(exact)
        return _finding(tally, facts, complete=False)
    known, undecided = _determined(exact, drawn, effort.part(3))
    facts |= {"determined": known, "undecided": undecided}
    # Even and odd places began differently: what is attacked tells nothing to the blind guess.
    pool = drawn[:, ::2] if table is None else np.asarray(table, np.int64)[:, None]
    world = _World(epsilon, scale, pool, drawn[:, 1::2].mean(axis=1), exact, found, deadline)
    for batch in _batches(trials, size):
        if tally.trials and time.monotonic() > deadline:
            break
        _attack(world, batch, rng, tally)
    complete = tally.trials == trials and not undecided and time.monotonic() <= deadline
    return _finding(tally, facts, complete)


# The chain


def _chain_trials(
    k: int, epsilon: float, trials: int, rng: np.random.Generator, people: int, deadline: float
) -> tuple[dict[str, int], int]:
    """How often each way rebuilt the table, and in how many trials."""
    change = np.where(np.arange(k) % 2 == 0, 1, -1).astype(np.int64)
    right = {"before": 0, "after": 0, "averaging": 0}
    done = 0
    for batch in _batches(trials, max(1, AT_ONCE // k)):
        if done and time.monotonic() > deadline:
            break
        truth = rng.integers(0, people + 1, len(batch))
        done += len(batch)
        for name, scale in (("before", 1 / epsilon), ("after", k / epsilon)):
            # What is seen, less the table in which every other cell, from the first on, is empty.
            seen = change[:, None] * truth + rng.laplace(0, scale, (k, len(batch)))
            right[name] += int((along(seen, change, 0, people) == truth).sum())
            if name == "before":
                mean = np.clip(np.rint((change[:, None] * seen).mean(axis=0)), 0, people)
                right["averaging"] += int((mean == truth).sum())
    return right, done


def _chain_point(
    k: int, epsilon: float, people: int, right: dict[str, int], done: int
) -> dict[str, Any]:
    """A point of the curve: the rates, and what theory says about them (`prior_leak.md`)."""
    return {
        "k": k,
        "trials": done,
        **{name: vars(wilson(count / done, done)) for name, count in right.items()},
        "baseline": 1 / (people + 1),
        "determined": 0,
        "averaging_formula": math.erf(epsilon * math.sqrt(k) / 4),
        "after_ceiling": math.expm1(-epsilon) / math.expm1(-epsilon * (people + 1)),
    }


# Any system


@dataclass(frozen=True, eq=False)
class _World:
    """What is attacked, what is promised, and what is guessed without any noisy count."""

    epsilon: float
    sensitivity: float | None
    pool: Integers
    centre: NDArray[np.float64]
    exact: System
    found: list[CellComponent]
    deadline: float


@dataclass
class _Tally:
    """For each way to guess: the share of cells that were right, one entry per trial."""

    shares: dict[str, list[float]] = field(
        default_factory=lambda: {"before": [], "after": [], "blind": []}
    )

    @property
    def trials(self) -> int:
        return len(self.shares["before"])

    def add(self, name: str, guess: Integers, truth: Integers) -> None:
        self.shares[name] += (guess == truth).mean(axis=0).tolist()

    def rates(self, name: str) -> dict[str, Any]:
        shares = self.shares[name]
        trials = len(shares)
        whole = sum(share == 1 for share in shares) / max(1, trials)
        cells = math.fsum(shares) / max(1, trials)
        return {"cells": vars(wilson(cells, trials)), "table": vars(wilson(whole, trials))}


def _attack(world: _World, batch: range, rng: np.random.Generator, tally: _Tally) -> None:
    truth = world.pool[:, [i % world.pool.shape[1] for i in batch]]
    blind = np.repeat(world.centre[:, None], len(batch), axis=1)
    seen = {"blind": blind, "before": truth + rng.laplace(0, 1 / world.epsilon, truth.shape)}
    if world.sensitivity is not None:
        seen["after"] = truth + rng.laplace(0, world.sensitivity / world.epsilon, truth.shape)
    for name, counts in seen.items():
        tally.add(name, _guess(world, counts, truth), truth)


def _guess(world: _World, noisy: NDArray[np.float64], truth: Integers) -> Integers:
    """The rebuilt tables; of the truth only its place in the lattice, A t = b, is used."""
    guess = rebuild(noisy, truth, world.found, world.deadline)
    if world.exact.cells > PROGRAMMED or all(part.dimension == 1 for part in world.found):
        return guess
    for i, values in enumerate((world.exact.matrix @ truth).T.tolist()):
        if time.monotonic() > world.deadline:
            break
        given = replace(world.exact, values=tuple((value, value) for value in values))
        best = nearest(given, noisy[:, i], effort=Effort(A_SECOND))
        if best is not None:
            guess[:, i] = best
    return guess


def _finding(tally: _Tally, facts: dict[str, Any], complete: bool) -> Finding:
    before, blind = tally.rates("before"), tally.rates("blind")
    after = tally.rates("after") if tally.shares["after"] else None
    claim = (
        f"Noisy counts for epsilon {facts['epsilon']:g} each, combined with what was released"
        f" exactly, give {before['cells']['value']:.0%} of {facts['cells']} cells exactly"
        f" ({blind['cells']['value']:.0%} without them) and the whole table in"
        f" {before['table']['value']:.0%} of trials."
    )
    return Finding(
        attack="prior-leak",
        claim=claim if tally.trials else "No table could be drawn in time.",
        affected="everybody in the table",
        success=Rate(**before["cells"]),
        baseline=blind["cells"]["value"],
        covered=False,
        source=PAPER,
        remedy=REMEDY,
        details={**facts, "trials": tally.trials, "before": before, "after": after, "blind": blind},
        complete=complete,
    )


def _everywhere(found: list[CellComponent]) -> list[Move]:
    """The moves of all parts, by the cells of the whole table."""
    return [(part.cells[cells], change) for part in found for cells, change in part.moves]


def _refuse_contradictions(exact: System) -> None:
    try:
        check(exact)
    except Contradiction:
        message = "no table of counts gives these exact answers: check their values"
        raise ValueError(message) from None


def _determined(exact: System, tables: Integers, effort: Effort) -> tuple[int, int]:
    """How many cells the exact answers determine alone, and how many were left undecided."""
    fixed = determined(exact, effort, tables.T)
    alike = {*np.flatnonzero((tables == tables[:, :1]).all(axis=1)).tolist()}
    return len(fixed), len(alike - fixed.keys()) if effort.is_spent else 0


def _sensitivity(found: list[CellComponent]) -> float | None:
    """Of all cells between induced neighbours, where every part is a line; else unknown."""
    if any(part.dimension > 1 for part in found):
        return None
    return float(max((abs(part.basis).sum() for part in found), default=0))


def _batches(trials: int, size: int) -> Iterator[range]:
    for start in range(0, trials, size):
        yield range(start, min(trials, start + size))


def _check(epsilon: float, trials: int) -> None:
    if not (0 < epsilon < math.inf and trials >= 1):
        raise ValueError("epsilon is positive and there is one trial or more")
