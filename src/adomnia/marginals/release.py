"""Releasing marginals: a plan from public knowledge, then one pass over the data (`release.md`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.marginals.core import estimate
from adomnia.marginals.core.basis import closure, grouped
from adomnia.marginals.core.cost import (
    SubsetShares,
    gaussian_factor,
    laplace_factor,
    total_is_public,
    views_factor,
    with_total,
)
from adomnia.marginals.core.estimate import Residuals
from adomnia.marginals.core.last_values import (
    LastWidths,
    blocks_without,
    cells_without,
    empty_places,
    views_without,
    workload_without,
)
from adomnia.marginals.core.margins import (
    cell_margins,
    gaussian_margins,
    laplace_margins,
    least_noise,
)
from adomnia.marginals.core.measure import MarginalStrategy, NoisySubsets, Tables, expected, take
from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.marginals.core.planner import USUAL, Objective, Spread, residual_parts, variances_of
from adomnia.marginals.core.records import Forbidden, fit_records
from adomnia.marginals.core.views import incidence, view_parts
from adomnia.marginals.workload import Subset, Workload
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.tables.linear import Linear, measure
from adomnia.privacy.events import Event, Gaussian, Laplace
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors

__all__ = [
    "MarginalPlan",
    "ReleasedMarginals",
    "exact_rows",
    "plan_marginals",
    "refuse_records",
    "release_marginals",
    "residuals_of",
]

MOST_VALUES = 1 << 27
"""Records that noise alone would make are refused above this: rows times attributes."""

CROWD = 1000.0
"""Where noise could make more records than this, their number gets its own part of the loss."""

Progress = Callable[[str, float], None]
"""Called with the step's name and how much of it is done; raising in it stops the release."""


@dataclass(frozen=True, eq=False)
class MarginalPlan:
    """What will be measured, what it costs, and how exact it will be; made of public facts only.

    >>> from fractions import Fraction
    >>> from adomnia.marginals import plan_marginals, up_to_ways
    >>> plan = plan_marginals(up_to_ways(("a", "b"), (2, 2), 2), Loss.pure(Fraction(1)))
    >>> plan.cells, plan.margins()[0, 1] > plan.deviations[0, 1]
    (8, True)
    """

    workload: Workload
    neighbors: Neighbors
    strategy: MarginalStrategy
    event: Event
    blocks: Sequence[Spread]
    spreads: Sequence[Spread]
    _known: dict[float, dict[Subset, float]] = field(default_factory=dict, repr=False)

    @property
    def cells(self) -> int:
        """How many cells are published."""
        return self.workload.total_cells

    @property
    def name(self) -> str:
        """The strategy in a word or two."""
        return f"{self.strategy.kind} noise on {self.strategy.method}"

    @property
    def crowd(self) -> float:
        """The records that noise alone may make or miss: hardly ever more."""
        total = next(block for block in self.blocks if not block.group.shape)
        return 4 * math.sqrt(float(total.values[0]))

    @property
    def noise(self) -> float:
        """The rows that noise puts into a wrong cell of a table, on average over the tables."""
        found = [
            USUAL * deviation * self.workload.cells(subset)
            for subset, deviation in self.deviations.items()
        ]
        return sum(found) / len(found)

    @cached_property
    def deviations(self) -> dict[Subset, float]:
        """The standard deviation of the unbiased cells of each marginal."""
        return {
            subset: float(value) ** 0.5
            for spread in self.spreads
            for subset, value in zip(spread.group.subsets, spread.values, strict=True)
        }

    def margins(self, confidence: float = 0.95) -> dict[Subset, float]:
        """The margin that every unbiased cell of each marginal will have, this often
        (`margins.md`).
        """
        if confidence not in self._known:
            self._known[confidence] = _widths(self, confidence)
        return self._known[confidence]


def refuse_records(plan: MarginalPlan) -> None:
    """Refuse, by a QuestionError and before anything is paid, microdata of which most would be
    noise.

    >>> from fractions import Fraction
    >>> from adomnia.marginals import plan_marginals, up_to_ways
    >>> refuse_records(plan_marginals(up_to_ways(("a",), (2,), 1), Loss.pure(Fraction(1))))
    """
    noise = plan.crowd
    if noise * len(plan.workload.sizes) > MOST_VALUES:
        raise QuestionError(
            f"the noise alone would make about {noise:,.0f} records",
            "pay more, ask for fewer tables, or take unbiased tables without records",
        )


@dataclass(frozen=True, eq=False)
class ReleasedMarginals:
    """What is published; empty fields were not asked for.

    `marginals` are tabulated from `microdata`: whole numbers, none negative, all in agreement.
    `unbiased` tables have the right mean in every cell, the standard `deviations` given, and may
    be negative. `margins` belong to `marginals`, `unbiased_margins` to each unbiased table. A table
    that was not measured has margins without end.

    >>> from fractions import Fraction
    >>> from adomnia.marginals import plan_marginals, up_to_ways
    >>> plan = plan_marginals(up_to_ways(("a",), (2,), 1), Loss.pure(Fraction(1)))
    >>> ReleasedMarginals(0.95, {}, plan.margins()).microdata is None
    True
    """

    confidence: float
    unbiased: dict[Subset, NDArray[Any]]
    unbiased_margins: dict[Subset, float]
    microdata: SyntheticRecords | None = None
    marginals: dict[Subset, NDArray[np.int64]] = field(default_factory=dict)
    margins: dict[Subset, NDArray[np.float64]] = field(default_factory=dict)


def plan_marginals(
    workload: Workload,
    loss: Loss,
    neighbors: Neighbors | None = None,
    objective: Objective = "mean",
    views: bool = False,
) -> MarginalPlan:
    """The best known measurements for this loss; reads no data and spends nothing.

    The loss is an epsilon or a rho; `neighbors` are unbounded unless told. `objective` is what of
    the errors shall be small: their mean over the marginals, the sum over the cells, or the
    largest. With `views` an epsilon is spent on full tables, which others can be added to. Returns
    the plan, which `release_marginals` takes. Raises a QuestionError where the loss is
    both, or neither.

    >>> from fractions import Fraction
    >>> from adomnia.marginals import up_to_ways
    >>> plan_marginals(up_to_ways(("a", "b"), (2, 3), 2), Loss.concentrated(Fraction(1))).name
    'gaussian noise on residual'
    """
    neighbors = neighbors or Neighbors()
    if loss.rho and not loss.epsilon and not loss.delta:
        parts = tuple(residual_parts(workload, "gaussian", objective, total_is_public(neighbors)))
        factor = gaussian_factor(parts, workload.sizes, neighbors)
        strategy = MarginalStrategy("residual", "gaussian", parts, factor, loss.rho)
        return _without_crowd(
            _planned(workload, neighbors, strategy, Gaussian(loss.rho, Fraction(1)))
        )
    if not loss.epsilon or loss.rho or loss.delta:
        raise QuestionError(
            "a release is paid for with an epsilon or with a rho",
            hint="for example --epsilon 1 or --rho 0.5",
        )
    plans = [
        _planned(workload, neighbors, strategy, Laplace(loss.epsilon, Fraction(1)))
        for strategy in _pure(workload, loss.epsilon, objective, neighbors)
        if strategy.method == "views" or not views
    ]
    return _without_crowd(min(plans, key=lambda one: _judged(one, objective)))


def _without_crowd(plan: MarginalPlan) -> MarginalPlan:
    """The plan, or one with more for the number of rows, where noise could make a crowd of them."""
    if plan.crowd <= CROWD:
        return plan
    old = plan.strategy
    parts = with_total(old.parts)
    if old.kind == "gaussian":
        factor = gaussian_factor(parts, plan.workload.sizes, plan.neighbors)
    else:
        views = old.method == "views"
        factor = views_factor(parts, plan.neighbors) if views else laplace_factor(plan.neighbors)
    found = replace(old, parts=parts, factor=factor)
    return _planned(plan.workload, plan.neighbors, found, plan.event)


def _pure(
    workload: Workload, epsilon: Fraction, objective: Objective, neighbors: Neighbors
) -> list[MarginalStrategy]:
    """The strategies that are compared under pure epsilon."""
    found = [
        MarginalStrategy("views", "laplace", parts, views_factor(parts, neighbors), epsilon)
        for parts in view_parts(workload)
    ]
    if all(size <= 2 for size in workload.sizes):
        parts = tuple(residual_parts(workload, "laplace", objective, total_is_public(neighbors)))
        found.append(
            MarginalStrategy("residual", "laplace", parts, laplace_factor(neighbors), epsilon)
        )
    return found


def _planned(
    workload: Workload, neighbors: Neighbors, strategy: MarginalStrategy, event: Event
) -> MarginalPlan:
    if strategy.method == "residual":
        blocks = [Spread(part.group, _variances(strategy, part)) for part in strategy.parts]
    else:
        blocks = _from_views(workload, strategy, total_is_public(neighbors))
    groups = [block.group for block in blocks]
    spreads = variances_of(workload, groups, [block.values for block in blocks])
    return MarginalPlan(workload, neighbors, strategy, event, blocks, spreads)


def _variances(strategy: MarginalStrategy, part: SubsetShares) -> NDArray[np.float64]:
    shares, where = np.unique(part.shares, return_inverse=True)
    known = np.array([expected(strategy, part.group.shape, int(share)) for share in shares])
    found: NDArray[np.float64] = known[where]
    return found


def _from_views(workload: Workload, strategy: MarginalStrategy, public: bool) -> list[Spread]:
    """The blocks of the workload, and the variance that the views leave in each."""
    blocks = closure(grouped(workload.marginals, workload.sizes), workload.sizes)
    view, block, rest = incidence(workload, [part.group for part in strategy.parts], blocks)
    noise = np.concatenate([_variances(strategy, part) for part in strategy.parts])
    counts = [len(group.places) for group in blocks]
    precision = np.bincount(block, 1 / (np.maximum(noise, 1e-300)[view] * rest), sum(counts))
    variances = np.split(1 / precision, np.cumsum(counts)[:-1])
    if public:
        variances[0] = np.zeros(1)
    return [Spread(block, values) for block, values in zip(blocks, variances, strict=True)]


def _judged(one: MarginalPlan, objective: Objective) -> float:
    values = [spread.values for spread in one.spreads]
    if objective == "max":
        return max(float(part.max()) for part in values)
    if objective == "sum":
        sizes = [np.prod(spread.group.shape) for spread in one.spreads]
        return sum(float(part.sum() * size) for part, size in zip(values, sizes, strict=True))
    return sum(float(part.sum()) for part in values)


def release_marginals(  # noqa: PLR0913
    plan: MarginalPlan,
    tables: Tables,
    bits: Bits = SYSTEM,
    progress: Progress | None = None,
    *,
    microdata: bool = True,
    forbidden: Forbidden | None = None,
    last: LastWidths | None = None,
    confidence: float = 0.95,
) -> ReleasedMarginals:
    """The tables measured once, and everything that follows from the noisy values.

    `tables` is called with marginals and gives their exact counts, sealed. `progress` is called
    with the step's name and how much of it is done; raising in it stops the release. Without
    `microdata` only unbiased tables are made. `forbidden` cells of a marginal stay empty,
    and so does the last value of an attribute in `last` where it does not pass what is said there.
    `confidence` is how often each margin holds. Nothing is paid here: `Database.release` does that.

    Returns what may be published. Raises what `tables` or `progress` raises.

    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from adomnia.marginals import plan_marginals, up_to_ways
    >>> from adomnia.schema.sealed import Sealed
    >>> plan = plan_marginals(up_to_ways(("a",), (2,), 1), Loss.pure(Fraction(100)))
    >>> counts = {(): Sealed(np.array(50)), (0,): Sealed(np.array([20, 30]))}
    >>> found = release_marginals(plan, lambda wanted: {one: counts[one] for one in wanted})
    >>> found.marginals[0,].tolist()
    [20, 30]
    """
    say = progress or (lambda _step, _done: None)
    say("measure", 0.0)
    measured = take(plan.strategy, tables, bits, lambda done: say("measure", done))
    rows = exact_rows(tables, bits) if total_is_public(plan.neighbors) else None
    say("estimate", 0.0)
    residuals = residuals_of(plan, measured, rows)
    groups = grouped(plan.workload.marginals, plan.workload.sizes)
    unbiased = estimate.tables(residuals, groups, consume=not microdata)
    widths = plan.margins(confidence)
    if not microdata:
        say("done", 1.0)
        return ReleasedMarginals(confidence, unbiased, widths)
    say("fit", 0.0)
    empty = empty_places(plan.workload, unbiased, last or {})
    if empty:
        residuals = residuals_of(plan, measured, rows, empty)
    records = _records(residuals, bits, cells_without(forbidden or {}, empty))
    say("tabulate", 0.0)
    sizes = plan.workload.sizes
    marginals = {subset: records.tabulate(sizes, subset) for subset in plan.workload.marginals}
    margins = {
        subset: cell_margins(counts, unbiased[subset], widths[subset])
        for subset, counts in marginals.items()
    }
    say("done", 1.0)
    return ReleasedMarginals(confidence, unbiased, widths, records, marginals, margins)


def exact_rows(tables: Tables, bits: Bits) -> int:
    """The number of rows as it is: only where all neighbours share it."""
    exact = Linear([tables([()])[()]], (), "laplace", Fraction(0))
    return int(measure([exact], bits)[0].reshape(-1)[0])


def residuals_of(
    plan: MarginalPlan,
    measured: Sequence[NoisySubsets],
    rows: int | None,
    empty: frozenset[int] = frozenset(),
) -> Residuals:
    """What was measured by a plan, as residual blocks; `rows` where their number is public. Of the
    attributes that are `empty` without the last value."""
    workload = workload_without(plan.workload, empty) if empty else plan.workload
    sizes = workload.sizes
    if plan.strategy.method == "residual":
        blocks = blocks_without(measured, empty, sizes) if empty else tuple(measured)
        return Residuals(sizes, blocks)
    views = views_without(measured, empty, sizes) if empty else measured
    return estimate.combine(views, workload, rows)


def _widths(plan: MarginalPlan, confidence: float) -> dict[Subset, float]:
    """The unbiased margin of each marginal."""
    strategy = plan.strategy
    if strategy.kind == "laplace":
        found = laplace_margins(plan.workload, strategy, plan.blocks, confidence)
        return dict(zip(plan.workload.marginals, found.tolist(), strict=True))
    least = least_noise(plan.blocks)
    widths: dict[Subset, float] = {}
    for spread in plan.spreads:
        values = gaussian_margins(spread.values, least, confidence)
        widths |= dict(zip(spread.group.subsets, values.tolist(), strict=True))
    return widths


def _records(residuals: Residuals, bits: Bits, forbidden: Forbidden) -> SyntheticRecords:
    """Whole records near the measurements; what is random here protects nobody."""
    chance = np.random.default_rng(bits.integer(64))
    return fit_records(residuals, max(0, round(residuals.total)), chance, forbidden)
