"""Budgets against closed forms, Google's accountants, and an analyst who adapts."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from adomnia.errors import PolicyError
from adomnia.privacy.composition import Budget, _lines, convert
from adomnia.privacy.loss import Loss

MILLIONTH = Fraction(1, 10**6)
RHOS = [Fraction(1, 10**6), Fraction(1, 1000), Fraction(1, 50), Fraction(1, 2), Fraction(5)]
DELTAS = [Fraction(1, 10), MILLIONTH, Fraction(1, 10**12)]


def gaussian(rho: float, delta: float) -> float:
    """The exact epsilon of one Gaussian of that rho."""
    mu = math.sqrt(2 * rho)

    def excess(epsilon: float) -> float:
        tail = epsilon + norm.logcdf(-epsilon / mu - mu / 2)
        return float(norm.cdf(-epsilon / mu + mu / 2) - math.exp(tail)) - delta

    return float(brentq(excess, 0, 200)) if excess(0) > 0 else 0.0


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("rho", RHOS)
def test_conversion_lies_between_exact_curve_and_closed_form(
    rho: Fraction, delta: Fraction
) -> None:
    closed = float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / delta))
    assert gaussian(float(rho), float(delta)) <= convert(rho, delta) <= closed * (1 + 1e-10)


@pytest.mark.parametrize("rho", RHOS)
def test_conversion_agrees_with_googles_accountants(rho: Fraction) -> None:
    import dp_accounting
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    event = dp_accounting.GaussianDpEvent(1 / math.sqrt(2 * float(rho)))
    ours = convert(rho, MILLIONTH)
    assert ours <= RdpAccountant().compose(event).get_epsilon(1e-6) * (1 + 1e-5)
    if rho <= 1:  # the other discretises: slow for large losses
        assert ours >= PLDAccountant().compose(event).get_epsilon(1e-6) - 1e-3


@given(
    low=st.fractions(Fraction(1, 10**9), 10),
    more=st.fractions(1, 100),
    delta=st.fractions(Fraction(1, 10**15), Fraction(1, 2)),
)
@settings(max_examples=50, deadline=None)
def test_conversion_grows_with_rho(low: Fraction, more: Fraction, delta: Fraction) -> None:
    # The orders move with rho, so neighbouring values may differ by their spacing.
    assert convert(low, delta) <= convert(low * more, delta) * Fraction(10001, 10000)


def test_conversion_of_nothing_and_of_extremes() -> None:
    assert convert(Fraction(0), MILLIONTH) == 0
    assert convert(Fraction(10**6), MILLIONTH) >= 10**6
    assert 0 < convert(Fraction(1, 10**30), Fraction(1, 10**300)) < MILLIONTH
    with pytest.raises(PolicyError):
        convert(Fraction(1), Fraction(1))


def test_pure_budget_is_exact() -> None:
    budget, tenth = Budget(epsilon=Fraction(1)), Loss.pure(Fraction(1, 10))
    nine = sum([tenth] * 9, Loss())
    assert budget.spent(nine) == {"epsilon": Fraction(9, 10)}
    assert budget.remaining(nine) == budget.room(nine) == {"epsilon": Fraction(1, 10)}
    assert budget.allows(nine + tenth)
    assert not budget.allows(nine + tenth + Loss.pure(Fraction(1, 10**300)))


@pytest.mark.parametrize(
    "foreign", [Loss.concentrated(MILLIONTH), Loss.approximate(MILLIONTH, MILLIONTH)]
)
def test_pure_budget_refuses_what_is_not_pure(foreign: Loss) -> None:
    budget = Budget(epsilon=Fraction(10))
    assert not budget.allows(foreign)
    assert budget.remaining(foreign) == {"epsilon": 0}
    assert set(budget.spent(foreign)) > {"epsilon"}


def test_concentrated_budget_counts_pure_uses_as_half_their_square() -> None:
    budget = Budget(rho=Fraction(1, 2))
    total = Loss.pure(Fraction(3, 5)) + Loss.concentrated(Fraction(8, 25))
    assert budget.spent(total) == {"rho": Fraction(1, 2)}
    assert budget.allows(total)
    assert budget.remaining(total) == {"rho": 0}
    assert budget.room(Loss())["epsilon"] == 1
    assert not budget.allows(total + Loss.pure(MILLIONTH))
    assert not budget.allows(Loss.approximate(MILLIONTH, MILLIONTH))


def test_approximate_budget_sums_pure_uses_exactly_while_they_fit() -> None:
    budget = Budget(Fraction(1), MILLIONTH)
    third = Loss.pure(Fraction(1, 3))
    assert budget.remaining(third) == {"epsilon": Fraction(2, 3), "delta": MILLIONTH / 2}
    assert budget.spent(third + third + third) == {"epsilon": 1, "delta": 0}
    assert budget.allows(third + third + third)
    assert not budget.allows(third + third + third + third)


def test_many_small_pure_uses_fit_beyond_their_plain_sum() -> None:
    budget, many = Budget(Fraction(1), MILLIONTH), Fraction(400, 10_000)
    total = Loss(epsilon=Fraction(4), squares=many)
    assert budget.allows(total)
    assert budget.spent(total)["delta"] == MILLIONTH / 2


def test_half_of_delta_is_for_uses_that_have_one() -> None:
    budget = Budget(Fraction(1), MILLIONTH)
    half = Loss.approximate(Fraction(1, 4), MILLIONTH / 2)
    assert budget.allows(half)
    assert budget.remaining(half) == {"epsilon": Fraction(3, 4), "delta": 0}
    assert not budget.allows(half + Loss.approximate(MILLIONTH, Fraction(1, 10**15)))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4), Fraction(20)])
def test_gaussian_uses_cost_little_more_than_the_best_conversion(epsilon: Fraction) -> None:
    budget = Budget(epsilon, MILLIONTH)
    rho = budget.room(Loss())["rho"]
    total = Loss.concentrated(rho)
    assert budget.allows(total)
    assert not budget.allows(total + Loss.concentrated(rho / 1000))
    assert gaussian(float(rho), 1e-6) <= epsilon
    assert convert(rho, MILLIONTH) >= epsilon * Fraction(8, 10)


@pytest.mark.parametrize(("laplaces", "gaussians"), [(1, 1), (4, 2), (40, 1), (0, 5)])
def test_mixed_totals_are_never_below_the_pld_accountant(laplaces: int, gaussians: int) -> None:
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    pure, rho = Fraction(1, 20), Fraction(1, 400)
    accountant = PLDAccountant(value_discretization_interval=1e-3)
    accountant.compose(dp_accounting.LaplaceDpEvent(float(1 / pure)), laplaces or 1)
    accountant.compose(dp_accounting.GaussianDpEvent(1 / math.sqrt(2 * rho)), gaussians)
    uses = [Loss.pure(pure)] * (laplaces or 1) + [Loss.concentrated(rho)] * gaussians
    spent = Budget(Fraction(2), MILLIONTH).spent(sum(uses, Loss()))
    assert spent["epsilon"] >= accountant.get_epsilon(float(spent["delta"])) - 0.05
    assert spent["epsilon"] <= pure * (laplaces or 1) + 2 * convert(rho * gaussians, MILLIONTH)


def test_the_lines_share_half_of_delta() -> None:
    lines = _lines(Fraction(1), MILLIONTH / 2)
    shares = [
        math.exp((float(line.order) - 1) * (math.log1p(-1 / line.order) - float(line.toll)))
        / float(line.order)
        for line in lines
    ]
    assert 0.999 * 5e-7 <= sum(shares) <= 5e-7


LOSSES = st.builds(
    Loss,
    st.fractions(0, 3),
    st.fractions(0, 1),
    st.sampled_from([Fraction(0), Fraction(1, 10**7), MILLIONTH]),
    st.fractions(0, 9),
)
BUDGETS = st.sampled_from(
    [Budget(Fraction(2)), Budget(Fraction(2), MILLIONTH), Budget(rho=Fraction(1, 2))]
)


@given(BUDGETS, LOSSES, LOSSES)
def test_what_a_budget_allows_it_allows_in_parts(budget: Budget, some: Loss, more: Loss) -> None:
    if budget.allows(some + more):
        assert budget.allows(some)
    assert all(value >= 0 for value in budget.remaining(some + more).values())


@given(BUDGETS, LOSSES)
def test_what_is_said_to_fit_fits(budget: Budget, spent: Loss) -> None:
    if not budget.allows(spent):
        assert set(budget.remaining(spent).values()) == {0}
        return
    room = budget.room(spent)
    assert budget.allows(spent + Loss.pure(room["epsilon"]))
    assert budget.allows(spent + Loss.concentrated(room.get("rho", Fraction(0))))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"delta": MILLIONTH},
        {"epsilon": Fraction(1), "rho": Fraction(1)},
        {"epsilon": Fraction(0)},
        {"epsilon": Fraction(1), "delta": Fraction(1)},
        {"rho": Fraction(-1)},
    ],
)
def test_impossible_budgets_are_refused(fields: dict[str, Fraction]) -> None:
    with pytest.raises(PolicyError):
        Budget(**fields)


def stopping(bound: Callable[[float], float], limit: float) -> float:
    """The delta at epsilon = `limit` that the best adaptive analyst reaches.

    Gaussian steps as long as `bound` of their rho is within the limit; at any moment the
    analyst may stop and spend what is left as one pure use. Solved backwards on a grid of the
    loss so far, with all the choices seen.
    """
    rhos = [1e-3]
    while bound(rhos[-1] * 1.1) <= limit:
        rhos.append(rhos[-1] * 1.1)
    losses = np.linspace(-8, 12, 4001)
    nodes, weights = np.polynomial.hermite_e.hermegauss(31)
    weights = weights / weights.sum()

    def stopped(rho: float) -> np.ndarray:
        rest = max(0.0, limit - bound(rho))
        high = 1 / (1 + math.exp(-rest))
        up, down = (np.maximum(0, 1 - np.exp(limit - losses - x)) for x in (rest, -rest))
        return high * up + (1 - high) * down

    def before(value: np.ndarray, step: float) -> np.ndarray:
        moved = [losses + step + math.sqrt(2 * step) * node for node in nodes]
        return sum(w * np.interp(at, losses, value) for w, at in zip(weights, moved, strict=True))

    value = stopped(rhos[-1])
    for rho, after in reversed(list(pairwise(rhos))):
        value = np.maximum(before(value, after - rho), stopped(rho))
    return float(np.interp(0.0, losses, before(value, rhos[0])))


def test_an_adaptive_analyst_breaks_pointwise_conversion_but_not_the_budget() -> None:
    delta = Fraction(1, 50)
    budget = Budget(Fraction(2), delta)

    @lru_cache
    def pointwise(rho: float) -> float:
        return float(convert(Fraction(rho), delta))

    @lru_cache
    def ours(rho: float) -> float:
        return float(budget.spent(Loss.concentrated(Fraction(rho)))["epsilon"])

    assert stopping(pointwise, 2.0) > 1.2 * delta
    assert stopping(ours, 2.0) <= delta / 2
