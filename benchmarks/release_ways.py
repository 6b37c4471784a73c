"""The ways to publish tables that are compared: ours, and the plainer ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np
from release_score import (
    FOURIER,
    INDEPENDENT,
    OURS,
    SEPARATE,
    UNBIASED,
    Counter,
    Tables,
    ways,
)

from adomnia.marginals.adaptive import can_choose, plan_adaptively, release_adaptively
from adomnia.marginals.core import estimate
from adomnia.marginals.core.basis import grouped
from adomnia.marginals.core.cost import WHOLE, SubsetShares, laplace_factor
from adomnia.marginals.core.estimate import Residuals
from adomnia.marginals.core.measure import MarginalStrategy, take
from adomnia.marginals.core.planner import residual_parts
from adomnia.marginals.release import ReleasedMarginals, plan_marginals, release_marginals
from adomnia.marginals.workload import Workload
from adomnia.mechanisms.noise import gaussian, laplace
from adomnia.mechanisms.randomness import SYSTEM
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors

Way = Callable[[Workload, Counter, Loss], Tables]


def released(workload: Workload, counter: Counter, loss: Loss) -> ReleasedMarginals:
    """What `release` publishes by default, where the policy says to one digit how many rows there
    are."""
    rows = int(float(f"{counter.rows:.0e}"))
    if can_choose(workload):
        planned = plan_adaptively(workload, loss, rows=rows)
        if not planned.measures_all(rows):
            return release_adaptively(planned, counter)
    return release_marginals(plan_marginals(workload, loss), counter)


def ours(workload: Workload, counter: Counter, loss: Loss) -> Tables:
    return released(workload, counter, loss).marginals


def unbiased(workload: Workload, counter: Counter, loss: Loss) -> Tables:
    """The same measurements without a fit."""
    return release_marginals(plan_marginals(workload, loss), counter, microdata=False).unbiased


def separately(workload: Workload, counter: Counter, loss: Loss) -> Tables:
    """Noise on each marginal on its own."""
    many = len(workload.marginals)
    found = {}
    for subset in workload.marginals:
        table = counter.table(subset)
        if loss.rho:
            noise = gaussian.sample(many / (2 * loss.rho), table.size)
        else:
            noise = laplace.sample(many / loss.epsilon, table.size)
        found[subset] = table + noise.reshape(table.shape)
    return found


def independent(workload: Workload, counter: Counter, loss: Loss) -> Tables:
    """All of the loss on single columns, cut at 0; a table of several is their product."""
    columns = unbiased(ways(workload.sizes, (1,)), counter, loss)
    whole = {place: np.maximum(columns[place,], 0) for place in range(len(workload.sizes))}
    total = max(np.mean([column.sum() for column in whole.values()]), 1e-9)
    shares = {place: column / max(column.sum(), 1e-9) for place, column in whole.items()}
    return {
        subset: total * reduce(np.multiply.outer, [shares[place] for place in subset])
        for subset in workload.marginals
    }


def paper(workload: Workload, counter: Counter, loss: Loss) -> Tables:
    """Theorem 4: the same Laplace noise on every parity needed."""
    parts = residual_parts(workload, "laplace", "mean", False)
    share = WHOLE // sum(len(part.shares) for part in parts)
    even = tuple(SubsetShares(part.group, np.full(len(part.shares), share)) for part in parts)
    factor = laplace_factor(Neighbors())
    strategy = MarginalStrategy("residual", "laplace", even, factor, loss.epsilon)
    residuals = Residuals(workload.sizes, tuple(take(strategy, counter, SYSTEM)))
    return estimate.tables(residuals, grouped(workload.marginals, workload.sizes))


WAYS: dict[str, Way] = {
    SEPARATE: separately,
    FOURIER: paper,
    INDEPENDENT: independent,
    UNBIASED: unbiased,
    OURS: ours,
}
