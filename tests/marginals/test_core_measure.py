"""The linear measurements: exact coefficients, the law of the noise, plans and their variances."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from adomnia.errors import QuestionError
from adomnia.marginals.core import planner
from adomnia.marginals.core.basis import rows
from adomnia.marginals.core.views import candidates, greedy_cover
from adomnia.marginals.release import plan_marginals, release_marginals
from adomnia.marginals.workload import Workload, up_to_ways
from adomnia.mechanisms.noise import gaussian
from adomnia.mechanisms.tables.linear import Axis, Linear, _thinned, _wider, measure
from adomnia.privacy.loss import Loss
from adomnia.schema.sealed import Sealed

sys.path.insert(0, str(Path(__file__).parents[1] / "chance"))
from seeded import SeededBits


def names(many):
    return tuple(f"a{place}" for place in range(many))


def source(records, sizes):
    def tables(subsets):
        found = {}
        for subset in subsets:
            shape = tuple(sizes[p] for p in subset)
            code = np.zeros(len(records), np.int64)
            for place in subset:
                code = code * sizes[place] + records[:, place]
            found[subset] = Sealed(np.bincount(code, minlength=math.prod(shape)).reshape(shape))
        return found

    return tables


@pytest.mark.parametrize("largest", [5, 10**6, 10**12, 10**17, 10**18])
def test_coefficients_are_exact_at_every_size(largest):
    chance = np.random.default_rng(1)
    tables = chance.integers(0, largest, (3, 4, 5))
    axes = tuple(Axis(rows(size), np.ones(size - 1, np.int64)) for size in (4, 5))
    job = Linear([Sealed(table) for table in tables], axes, "gaussian", Fraction(0))
    (found,) = measure([job], SeededBits(1))
    exact = np.einsum(
        "ri,sj,tij->trs", rows(4).astype(object), rows(5).astype(object), tables.astype(object),
        optimize=False,
    )  # fmt: skip
    assert (found.astype(object) == exact).all()


def test_floats_and_other_shapes_are_refused():
    with pytest.raises(TypeError):
        measure([Linear([Sealed(np.zeros(2))], (Axis.identity(2),), "laplace", Fraction(1))])
    job = Linear([Sealed(np.zeros(3, np.int64))], (Axis.identity(2),), "laplace", Fraction(1))
    with pytest.raises(ValueError, match="shape"):
        measure([job])


@pytest.mark.parametrize(
    "variance", [Fraction(1, 300), Fraction(1, 3), Fraction(17, 10), Fraction(25), Fraction(12345)]
)
def test_thinned_noise_has_the_law_of_its_own_variance(variance):
    many = 40_000
    drawn = _thinned(_wider(variance), [variance], [many], SeededBits(11))
    reach = math.ceil(3 * math.sqrt(variance))
    step = max(1, reach // 8)
    edges = np.arange(-reach, reach + 1, step)
    law = np.array([gaussian.probability(variance, x) for x in range(-reach, reach + 1)])
    expected = np.array([law[e + reach : e + reach + step].sum() for e in edges[:-1]]) * many
    seen = np.array([((drawn >= e) & (drawn < e + step)).sum() for e in edges[:-1]])
    usable = expected > 5
    rest = many - expected[usable].sum()
    chi = ((seen - expected)[usable] ** 2 / expected[usable]).sum()
    if rest > 5:
        chi += (many - seen[usable].sum() - rest) ** 2 / rest
    assert stats.chi2.sf(chi, max(int(usable.sum()), 1)) > 1e-6


@pytest.mark.parametrize("sizes", [(5, 5, 5, 5), (2, 3, 2, 3)])
@pytest.mark.parametrize("objective", ["mean", "sum", "max"])
def test_the_short_way_of_planning_agrees_with_the_long_one(sizes, objective, monkeypatch):
    workload = up_to_ways(names(4), sizes, 3)
    loss = Loss.concentrated(Fraction(1))
    short = plan_marginals(workload, loss, objective=objective)
    monkeypatch.setattr(planner, "_every", lambda group, attributes: False)
    monkeypatch.setattr(planner, "_alike", lambda order, members, sizes: None)
    planner._marginals.cache_clear()
    long = plan_marginals(workload, loss, objective=objective)
    planner._marginals.cache_clear()
    for one, other in zip(short.strategy.parts, long.strategy.parts, strict=True):
        assert one.group.shape == other.group.shape
        assert np.array_equal(one.group.places, other.group.places)
        assert np.allclose(one.shares, other.shares, rtol=1e-12, atol=1)
    assert short.deviations == pytest.approx(long.deviations, rel=1e-9)


@pytest.mark.parametrize("most", [2**22, 2**24, 2**25, 2**40])
def test_sums_near_the_end_of_short_floats_are_exact(most):
    table = np.array([[most - 1, 1], [1, 0]])
    axes = tuple(Axis(rows(2), np.ones(1, np.int64)) for _ in range(2))
    job = Linear([Sealed(table), Sealed(table[::-1])], axes, "gaussian", Fraction(0))
    (found,) = measure([job], SeededBits(1))
    assert found.reshape(-1).tolist() == [most - 3, 3 - most]


def test_blocks_at_the_end_of_their_room_survive_the_tables():
    workload = up_to_ways(names(7), (3, 4, 3, 4, 3, 4, 3), 3)
    records = np.random.default_rng(3).integers(0, 3, (50, 7))
    made = plan_marginals(workload, Loss.concentrated(Fraction(10**12)))
    found = release_marginals(made, source(records, workload.sizes), SeededBits(2), microdata=False)
    exact = source(records, workload.sizes)(workload.marginals)
    for subset in workload.marginals:
        assert np.abs(found.unbiased[subset] - exact[subset]._Sealed__value).max() < 0.01


def test_a_wider_variance_is_never_narrower():
    for above in range(1, 400):
        variance = Fraction(above, 37)
        assert variance <= _wider(variance) <= max(Fraction(1, 128), variance * 3 / 2)


@pytest.mark.parametrize(
    "loss", [Loss.pure(Fraction(1)), Loss.concentrated(Fraction(1, 2))], ids=["epsilon", "rho"]
)
@pytest.mark.parametrize("sizes", [(2, 2, 2, 2), (3, 4, 2)])
def test_unbiased_tables_have_the_deviation_that_was_planned(loss, sizes):
    chance = np.random.default_rng(0)
    records = np.stack([chance.integers(0, size, 100) for size in sizes], axis=1)
    workload = up_to_ways(names(len(sizes)), sizes, 2)
    made = plan_marginals(workload, loss)
    exact = source(records, sizes)
    errors = {subset: [] for subset in workload.marginals}
    covered = []
    for seed in range(150):
        found = release_marginals(made, exact, SeededBits(seed), microdata=False)
        for subset in workload.marginals:
            truth = exact([subset])[subset]._Sealed__value
            off = found.unbiased[subset] - truth
            errors[subset].append(off)
            covered.append((np.abs(off) <= found.unbiased_margins[subset] + 1e-9).mean())
    for subset, off in errors.items():
        seen = np.std(np.array(off).reshape(-1))
        # 150 repetitions of correlated cells; an integer Gaussian's variance is a bit smaller
        assert 0.75 < seen / made.deviations[subset] < 1.2
        assert abs(np.mean(off)) < 5 * made.deviations[subset] / math.sqrt(150)
    assert np.mean(covered) > 0.935


def test_the_closed_form_is_the_singular_value_bound():
    workload = Workload(names(16), (2,) * 16, tuple(combinations(range(16), 3)))
    made = plan_marginals(workload, Loss.concentrated(Fraction(1, 2)))
    assert made.deviations[0, 1, 2] == pytest.approx(6.3208, abs=1e-3)


def test_sixteen_binary_attributes_are_covered_by_fourteen_views():
    workload = Workload(names(16), (2,) * 16, tuple(combinations(range(16), 3)))
    made = plan_marginals(workload, Loss.pure(Fraction(1)))
    assert sum(len(part.shares) for part in made.strategy.parts) == 14
    mean = math.sqrt(np.mean([value**2 for value in made.deviations.values()]))
    assert mean == pytest.approx(60.4, abs=0.5)


def test_every_cover_holds_every_wanted_set():
    workload = up_to_ways(names(7), (2, 3, 5, 2, 9, 4, 2), 3)
    for views in candidates(workload):
        assert all(any(set(subset) <= set(view) for view in views) for subset in workload.marginals)
    assert greedy_cover(workload, workload.marginals, 1)


@pytest.mark.parametrize("objective", ["mean", "sum", "max"])
def test_an_objective_is_best_at_its_own(objective):
    workload = up_to_ways(names(4), (2, 3, 9, 5), 2)
    loss = Loss.concentrated(Fraction(1))
    spread = {
        name: plan_marginals(workload, loss, objective=name).deviations
        for name in ("mean", "sum", "max")
    }
    judge = {
        "mean": lambda d: sum(v**2 for v in d.values()),
        "sum": lambda d: sum(v**2 * workload.cells(s) for s, v in d.items()),
        "max": lambda d: max(v**2 for v in d.values()),
    }[objective]
    own = judge(spread[objective])
    assert all(own <= judge(other) * 1.001 for other in spread.values())


def test_wrong_workloads_are_refused():
    with pytest.raises(QuestionError, match="twice"):
        Workload(names(2), (2, 2), ((0,), (0,)))
    with pytest.raises(QuestionError, match="not declared"):
        Workload(names(2), (2, 2), ((2,),))
    with pytest.raises(QuestionError, match="cells do not fit") as refused:
        up_to_ways(names(60), (10,) * 60, 8)
    assert "would fit" in refused.value.hint
    with pytest.raises(QuestionError, match="epsilon or with a rho"):
        plan_marginals(Workload(names(1), (2,), ((0,),)), Loss())
