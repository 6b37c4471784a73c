"""Adaptive releases: which tables are worth measuring is chosen privately (`adaptive.md`).

Single columns first; then, in rounds, the tables that the records made so far are farthest from.
Tables that were not chosen follow from the records alone: they are a model, and have no margin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.limits import MAX_ADAPTIVE_CELLS
from adomnia.marginals.core import estimate
from adomnia.marginals.core.basis import grouped
from adomnia.marginals.core.chosen_margins import chosen_width
from adomnia.marginals.core.cost import (
    WHOLE,
    SubsetShares,
    gaussian_factor,
    laplace_factor,
    total_is_public,
    views_factor,
)
from adomnia.marginals.core.estimate import Residuals
from adomnia.marginals.core.last_values import (
    LastWidths,
    blocks_without,
    cells_without,
    empty_places,
    outstanding,
    views_without,
    workload_without,
)
from adomnia.marginals.core.margins import cell_margins
from adomnia.marginals.core.measure import MarginalStrategy, NoisySubsets, Tables, parameter, take
from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.marginals.core.range_noise import RangeNoise
from adomnia.marginals.core.records import Forbidden, fit_records
from adomnia.marginals.core.schedule import Schedule, candidates, schedule, usual_noise
from adomnia.marginals.release import (
    MarginalPlan,
    Progress,
    ReleasedMarginals,
    exact_rows,
    plan_marginals,
    release_marginals,
    residuals_of,
)
from adomnia.marginals.workload import Subset, Workload, downward_closure
from adomnia.mechanisms.margins.margin import Noise, margin
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.tables.farthest import Candidate, Law, farthest
from adomnia.privacy.events import InTurn
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors

__all__ = [
    "AdaptivePlan",
    "can_choose",
    "part_of",
    "plan_adaptively",
    "release_adaptively",
    "single_plan",
]

COUNTING = Fraction(1, 50)
"""The share of the loss for the number of rows, where nobody has said it."""

ROUNDS = 5
"""How often the records are made anew between choices, at most."""

ENOUGH = {"gaussian": 0.1, "laplace": 0.25}
"""If so large a part of the candidates is worth measuring, all are, and no choice is paid for:
Gaussian noise on all grows with the root of their number only."""


QUIET = 0.3
"""Where all tables can be measured with noise below this share of the rows, they are."""


@dataclass(frozen=True, eq=False)
class AdaptivePlan:
    """What will be spent, and how; which tables are measured is decided on the way.

    `rows` is about how many rows there are, where that is public; else they are counted first.
    `whole` is the plan for all tables at once, with what counting leaves.

    >>> from fractions import Fraction
    >>> from adomnia.marginals import up_to_ways
    >>> plan = plan_adaptively(up_to_ways(("a", "b"), (2, 3), 2), Loss.pure(Fraction(1)))
    >>> plan.cells, plan.name
    (11, 'tables chosen in rounds, laplace noise')
    """

    workload: Workload
    neighbors: Neighbors
    loss: Loss
    rows: int | None
    whole: MarginalPlan

    @property
    def kind(self) -> str:
        """Which noise."""
        return "gaussian" if self.loss.rho else "laplace"

    @property
    def amount(self) -> Fraction:
        """The rho or the epsilon of all of it."""
        return self.loss.rho or self.loss.epsilon

    @property
    def left(self) -> Fraction:
        """What counting the rows leaves of it."""
        return self.amount if self.rows is not None else self.amount * (1 - COUNTING)

    @property
    def event(self) -> InTurn:
        """What it costs, whatever is chosen."""
        return InTurn(self.loss.epsilon, self.loss.rho, Fraction(1))

    @property
    def cells(self) -> int:
        """How many cells are published."""
        return self.workload.total_cells

    @property
    def name(self) -> str:
        """The strategy in a few words."""
        return f"tables chosen in rounds, {self.kind} noise"

    @property
    def deviations(self) -> dict[Subset, float]:
        """Nothing: how exact a table will be depends on what is chosen."""
        return {}

    @cached_property
    def candidates(self) -> tuple[Subset, ...]:
        """The tables that may be chosen."""
        return candidates(self.workload)

    def schedule(self, rows: float) -> Schedule:
        """The shares of what is left, for so many rows."""
        return schedule(self.workload, self.neighbors, self.kind, float(self.left), rows)

    def measures_all(self, rows: float) -> bool:
        """Whether so many rows make all tables worth measuring."""
        many = self.schedule(rows).picks >= ENOUGH[self.kind] * len(self.candidates)
        return many or self.whole.noise <= QUIET * rows


def plan_adaptively(
    workload: Workload, loss: Loss, neighbors: Neighbors | None = None, rows: int | None = None
) -> AdaptivePlan:
    """The plan of an adaptive release; reads no data and spends nothing.

    Raises a QuestionError where the tables to choose from have too many cells.
    """
    neighbors = neighbors or Neighbors()
    many = sum(workload.cells(subset) for subset in candidates(workload))
    if many > MAX_ADAPTIVE_CELLS:
        raise QuestionError(
            f"tables of {many:,} cells are too many to choose from",
            f"at most {MAX_ADAPTIVE_CELLS:,} are looked at: ask for fewer ways or attributes",
        )
    rest = loss if rows is not None else part_of(loss, 1 - COUNTING)
    return AdaptivePlan(workload, neighbors, loss, rows, plan_marginals(workload, rest, neighbors))


def can_choose(workload: Workload) -> bool:
    """Whether there are tables to choose from, and not too many cells."""
    cells = sum(workload.cells(subset) for subset in candidates(workload))
    return 0 < cells <= MAX_ADAPTIVE_CELLS


def single_plan(plan: AdaptivePlan, share: Fraction = Fraction(1)) -> MarginalPlan:
    """The plan of the single columns, for a share of what is left of the loss."""
    loss = part_of(plan.loss, plan.left / plan.amount * share)
    return plan_marginals(_singles(plan.workload), loss, plan.neighbors, views=True)


def part_of(loss: Loss, share: Fraction) -> Loss:
    """A share of a loss that is an epsilon or a rho."""
    return Loss.concentrated(loss.rho * share) if loss.rho else Loss.pure(loss.epsilon * share)


def release_adaptively(  # noqa: PLR0913
    plan: AdaptivePlan,
    tables: Tables,
    bits: Bits = SYSTEM,
    progress: Progress | None = None,
    *,
    forbidden: Forbidden | None = None,
    last: LastWidths | None = None,
    confidence: float = 0.95,
) -> ReleasedMarginals:
    """The tables that are worth it measured, and all tables tabulated from records.

    As `release_marginals`; tables that were not measured have no margin: it is infinite.

    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from adomnia.marginals import up_to_ways
    >>> from adomnia.schema.sealed import Sealed
    >>> plan = plan_adaptively(up_to_ways(("a",), (2,), 1), Loss.pure(Fraction(100)), rows=50)
    >>> counts = {(): Sealed(np.array(50)), (0,): Sealed(np.array([20, 30]))}
    >>> found = release_adaptively(plan, lambda wanted: {one: counts[one] for one in wanted})
    >>> found.marginals[0,].tolist()
    [20, 30]
    """
    say = progress or (lambda _step, _done: None)
    say("measure", 0.0)
    rows = plan.rows if plan.rows is not None else _counted(plan, tables, bits)
    if plan.measures_all(rows):
        return release_marginals(
            plan.whole, tables, bits, progress,
            forbidden=forbidden, last=last, confidence=confidence,
        )  # fmt: skip
    run = _Run(plan, tables, bits, forbidden or {})
    planned = plan.schedule(rows)
    run.measure_singles(planned.singles)
    run.find_empty([*(last or {})])
    run.choose_and_measure(planned, lambda done: say("measure", done))
    say("fit", 0.0)
    records = run.fitted()
    say("tabulate", 0.0)
    found = run.released(records, confidence)
    say("done", 1.0)
    return found


def _counted(plan: AdaptivePlan, tables: Tables, bits: Bits) -> float:
    """The number of rows, for a small part of the loss."""
    part = SubsetShares(grouped([()], plan.workload.sizes)[0], np.array([WHOLE]))
    if total_is_public(plan.neighbors):
        return float(exact_rows(tables, bits))
    strategy = _strategy(plan, (part,), plan.amount * COUNTING)
    return float(take(strategy, tables, bits)[0].values[0])


def _strategy(
    plan: AdaptivePlan, parts: tuple[SubsetShares, ...], budget: Fraction
) -> MarginalStrategy:
    """Residual blocks under zCDP, full tables under pure epsilon."""
    if plan.kind == "gaussian":
        factor = gaussian_factor(parts, plan.workload.sizes, plan.neighbors)
        return MarginalStrategy("residual", "gaussian", parts, factor, budget)
    factor = views_factor(parts, plan.neighbors)
    return MarginalStrategy("views", "laplace", parts, factor, budget)


class _Run:
    """A release on its way: what was measured so far, and what is left to choose from.

    `noisy` has residual blocks under zCDP, and full tables under pure epsilon.
    """

    def __init__(
        self, plan: AdaptivePlan, tables: Tables, bits: Bits, forbidden: Forbidden
    ) -> None:
        self.plan, self.tables, self.bits, self.forbidden = plan, tables, bits, forbidden
        self.chance = np.random.default_rng(bits.integer(64))
        self.rows = exact_rows(tables, bits) if total_is_public(plan.neighbors) else None
        self.noisy: list[NoisySubsets] = []
        self.empty: frozenset[int] = frozenset()
        self.chosen: dict[Subset, Fraction] = {}

    def measure_singles(self, share: Fraction) -> None:
        """The total and every attribute, for this share of what is left."""
        self.singles = single_plan(self.plan, share)
        self.noisy = take(self.singles.strategy, self.tables, self.bits)
        self.single_residuals = residuals_of(self.singles, self.noisy, self.rows)

    def find_empty(self, places: Sequence[int]) -> None:
        """The attributes whose last value does not stand out of its noise."""
        plan, alone = self.singles, self.singles.workload
        tables = estimate.tables(self.single_residuals, grouped(alone.marginals, alone.sizes))
        noise = RangeNoise(alone, plan.strategy, plan.blocks)
        self.empty = empty_places(alone, tables, outstanding(noise, places))
        self.forbidden = cells_without(self.forbidden, self.empty)

    def choose_and_measure(self, planned: Schedule, progress: Callable[[float], None]) -> None:
        """Rounds: records of what is known, the tables farthest from them, measured."""
        plan, rest = self.plan, self.plan.left * (1 - planned.singles)
        rounds = min(ROUNDS, planned.picks)
        sealed = self.tables(plan.candidates) if rounds else {}
        picks = planned.picks
        for turn in range(rounds):
            left = [subset for subset in plan.candidates if subset not in self.chosen]
            if len(left) <= picks:  # what remains is measured without a choice
                self._measure(left, rest)
                break
            now = -(-picks // (rounds - turn))
            mine = rest * now / picks
            choosing = mine * planned.choosing
            chosen = self._choose({s: sealed[s] for s in left}, now, choosing, mine - choosing)
            self._measure(chosen, mine - choosing)
            picks, rest = picks - now, rest - mine
            progress((turn + 1) / rounds)

    def _choose(
        self, sealed: Mapping[Subset, Any], picks: int, budget: Fraction, rest: Fraction
    ) -> list[Subset]:
        """Tables that no records near what is known come close to."""
        plan, records = self.plan, self.fitted()
        paid = float(rest / picks)
        noise = usual_noise(plan.kind, plan.neighbors)
        noise /= math.sqrt(paid) if plan.kind == "gaussian" else paid
        some = [
            Candidate(
                table,
                records.tabulate(plan.workload.sizes, subset),
                math.floor(noise * plan.workload.cells(subset)),
            )
            for subset, table in sealed.items()
        ]
        law: Law = "exponential" if plan.kind == "gaussian" else "permute-and-flip"
        epsilon = _root(8 * budget / picks) if plan.kind == "gaussian" else budget / picks
        eta = epsilon / (2 * laplace_factor(plan.neighbors))
        places = farthest(some, picks, eta, law, self.bits)
        return [[*sealed][place] for place in places]

    def _measure(self, chosen: Sequence[Subset], budget: Fraction) -> None:
        """Equal parts for each table, divided among what is not yet measured of it."""
        if not chosen:
            return
        plan, shares = self.plan, dict[Subset, int]()
        for subset in chosen:
            parts = [subset] if plan.kind == "laplace" else self._missing(subset)
            for part in parts:
                shares[part] = shares.get(part, 0) + WHOLE // len(chosen) // len(parts)
        groups = grouped(list(shares), plan.workload.sizes)
        strategy = _strategy(
            plan,
            tuple(
                SubsetShares(group, np.array([shares[s] for s in group.subsets], np.int64))
                for group in groups
            ),
            budget,
        )
        self.noisy += take(strategy, self.tables, self.bits)
        for subset, share in shares.items():
            self.chosen[subset] = parameter(strategy, plan.workload.shape(subset), share)

    def _missing(self, subset: Subset) -> list[Subset]:
        """The blocks of a table that were not measured yet; single ones are from the start."""
        parts = downward_closure([subset])
        return [part for part in parts if len(part) > 1 and part not in self.chosen]

    def residuals(self, empty: frozenset[int] = frozenset()) -> Residuals:
        """All that was measured, as residual blocks, without last values that are empty."""
        workload = workload_without(self.plan.workload, empty)
        if self.plan.kind == "gaussian":
            return Residuals(workload.sizes, blocks_without(self.noisy, empty, workload.sizes))
        known = (*self.singles.workload.marginals, *self.chosen)
        wanted = Workload(workload.names, workload.sizes, known)
        views = views_without(self.noisy, empty, workload.sizes)
        return estimate.combine(views, wanted, self.rows)

    def fitted(self) -> SyntheticRecords:
        """Records near what was measured; what is random here protects nobody."""
        residuals = self.residuals(self.empty)
        rows = max(0, round(residuals.total))
        return fit_records(residuals, rows, self.chance, self.forbidden)

    def released(self, records: SyntheticRecords, confidence: float) -> ReleasedMarginals:
        """All tables, with margins for those that were measured whole."""
        workload = self.plan.workload
        unbiased, widths = self._unbiased(confidence)
        marginals = {s: records.tabulate(workload.sizes, s) for s in workload.marginals}
        margins = {
            subset: cell_margins(counts, unbiased[subset], widths[subset])
            if subset in unbiased
            else np.full(counts.shape, np.inf)
            for subset, counts in marginals.items()
        }
        return ReleasedMarginals(confidence, unbiased, widths, records, marginals, margins)

    def _unbiased(
        self, confidence: float
    ) -> tuple[dict[Subset, NDArray[Any]], dict[Subset, float]]:
        """The tables all of whose parts were measured, and how far off they may be."""
        workload, alone = self.plan.workload, self.singles.workload
        singles = estimate.tables(self.single_residuals, grouped(alone.marginals, alone.sizes))
        widths = dict(self.singles.margins(confidence))
        found = {s: singles[s] for s in workload.marginals if s in singles}
        if self.plan.kind == "laplace":
            for noisy in self.noisy:
                own = dict(zip(noisy.group.subsets, noisy.values, strict=True))
                found |= {s: values for s, values in own.items() if s in self.chosen}
            for subset, scale in self.chosen.items():
                widths[subset] = float(margin([(1.0, Noise("laplace", scale))], confidence))
            return {s: found[s] for s in workload.marginals if s in found}, widths
        whole = [s for s in workload.marginals if len(s) > 1 and not self._missing(s)]
        residuals = self.residuals()
        found |= estimate.tables(residuals, grouped(whole, workload.sizes))
        variances = {
            subset: variance
            for block in residuals.blocks
            for subset, variance in zip(block.group.subsets, block.variances.tolist(), strict=True)
        }
        for subset in whole:
            widths[subset] = chosen_width(variances, subset, workload, confidence)
        return found, widths


def _singles(workload: Workload) -> Workload:
    """Every attribute that is in a table, alone."""
    used = sorted({place for subset in workload.marginals for place in subset})
    alone = tuple((place,) for place in used) or ((),)
    return Workload(workload.names, workload.sizes, alone)


def _root(number: Fraction) -> Fraction:
    """The square root, rounded down."""
    scale = 1 << 60
    return Fraction(math.isqrt(number.numerator * scale**2 // number.denominator), scale)
