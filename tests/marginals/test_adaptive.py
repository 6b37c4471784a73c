"""Adaptive releases: parts add up to the loss, margins hold whatever was chosen."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from adomnia.errors import QuestionError
from adomnia.marginals import adaptive
from adomnia.marginals.adaptive import plan_adaptively, release_adaptively
from adomnia.marginals.core.cost import WHOLE, laplace_factor
from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.marginals.core.schedule import candidates, schedule
from adomnia.marginals.workload import Workload, up_to_ways
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.schema.sealed import Sealed

sys.path.insert(0, str(Path(__file__).parents[1] / "chance"))
from seeded import SeededBits

RELATIONS = [
    Neighbors(), Neighbors("bounded"), Neighbors("attribute"), Neighbors("unbounded", group=3),
    Neighbors("bounded", rows=2),
]  # fmt: skip
SIZES = (2, 3, 2, 4, 2)


def names(many):
    return tuple(f"a{place}" for place in range(many))


def people(rows=400, seed=1):
    chance = np.random.default_rng(seed)
    found = np.stack([chance.integers(0, size, rows) for size in SIZES], axis=1)
    found[:, 2] = found[:, 0]  # a pair that is worth finding
    return found


def exact(records, subset, sizes=SIZES):
    return SyntheticRecords(records, np.ones(len(records), np.int64)).tabulate(sizes, subset)


def source(records):
    return lambda wanted: {s: Sealed(exact(records, s)) for s in wanted}


class Prices:
    """What each use costs, from what is really done: its noise, and its choices."""

    def __init__(self, monkeypatch):
        self.spent: list[Fraction] = []
        taken, chosen = adaptive.take, adaptive.farthest

        def take(strategy, *args, **named):
            shares = sum(int(part.shares.sum()) for part in strategy.parts)
            assert shares <= WHOLE
            self.spent.append(strategy.budget)
            return taken(strategy, *args, **named)

        def farthest(some, many, eta, law, bits):
            epsilon = 2 * eta * self.rows
            cost = epsilon**2 / 8 if law == "exponential" else epsilon
            self.spent.append(cost * min(many, len(some)))
            return chosen(some, many, eta, law, bits)

        monkeypatch.setattr(adaptive, "take", take)
        monkeypatch.setattr(adaptive, "farthest", farthest)


@pytest.mark.parametrize("neighbors", RELATIONS, ids=str)
@pytest.mark.parametrize(
    "loss", [Loss.concentrated(Fraction(1, 400)), Loss.pure(Fraction(1, 4))], ids=["rho", "epsilon"]
)
@pytest.mark.parametrize("rows", [None, 4000], ids=["counted", "public"])
def test_all_that_is_done_costs_no_more_than_the_loss(monkeypatch, neighbors, loss, rows):
    prices = Prices(monkeypatch)
    prices.rows = laplace_factor(neighbors)
    workload = up_to_ways(names(5), SIZES, 3)
    plan = plan_adaptively(workload, loss, neighbors, rows)
    monkeypatch.setattr(adaptive.AdaptivePlan, "measures_all", lambda self, rows: False)
    release_adaptively(plan, source(people(4000)), SeededBits(3))
    spent, amount = sum(prices.spent), loss.rho or loss.epsilon
    assert spent <= amount
    assert spent > amount * Fraction(97, 100)  # and hardly anything is lost
    assert (plan.event.epsilon, plan.event.rho) == (loss.epsilon, loss.rho)


@pytest.mark.parametrize(
    "loss", [Loss.concentrated(Fraction(1, 50)), Loss.pure(Fraction(1, 2))], ids=["rho", "epsilon"]
)
def test_margins_hold_although_noise_chose_the_tables(monkeypatch, loss):
    """Independent columns: nothing is worth choosing, so noise alone decides."""
    chance = np.random.default_rng(2)
    records = np.stack([chance.integers(0, size, 600) for size in SIZES], axis=1)
    workload = up_to_ways(names(5), SIZES, 2)
    plan = plan_adaptively(workload, loss, rows=600)
    monkeypatch.setattr(adaptive.AdaptivePlan, "measures_all", lambda self, rows: False)
    monkeypatch.setattr(
        adaptive.AdaptivePlan,
        "schedule",
        lambda self, rows: adaptive.Schedule(Fraction(1, 2), Fraction(1, 4), 3),
    )
    missed = looked = 0
    for seed in range(60):
        made = release_adaptively(plan, source(records), SeededBits(seed), confidence=0.9)
        chosen = [s for s in made.unbiased if len(s) == 2]
        assert len(chosen) == 3
        for subset in chosen:
            off = np.abs(made.marginals[subset] - exact(records, subset))
            missed += int((off > made.margins[subset]).sum())
            looked += off.size
    assert missed <= 0.1 * looked


def test_tables_that_were_not_chosen_have_no_margin():
    workload = up_to_ways(names(5), SIZES, 2)
    plan = plan_adaptively(workload, Loss.pure(Fraction(1, 5)), rows=400)
    made = release_adaptively(plan, source(people()), SeededBits(4))
    singles = [(place,) for place in range(5)]
    assert all(np.isfinite(made.margins[s]).all() for s in singles)
    models = [s for s in workload.marginals if np.isinf(made.margins[s]).all()]
    assert models
    assert {*models}.isdisjoint(made.unbiased)
    assert all(made.marginals[s].sum() == len(made.microdata) for s in workload.marginals)


def test_the_pair_that_matters_is_found(monkeypatch):
    chance, sizes = np.random.default_rng(8), (3,) * 16
    records = chance.integers(0, 3, (4000, 16))
    records[:, 11] = records[:, 4]
    workload = up_to_ways(names(16), sizes, 2)
    plan = plan_adaptively(workload, Loss.concentrated(Fraction(1, 500)), rows=4000)
    monkeypatch.setattr(adaptive.AdaptivePlan, "measures_all", lambda self, rows: False)

    def tables(wanted):
        return {subset: Sealed(exact(records, subset, sizes)) for subset in wanted}

    made = [release_adaptively(plan, tables, SeededBits(seed)) for seed in range(10)]
    assert sum((4, 11) in one.unbiased for one in made) >= 8


def test_all_tables_are_measured_where_rows_are_many():
    workload = up_to_ways(names(5), SIZES, 2)
    plan = plan_adaptively(workload, Loss.pure(Fraction(1)), rows=100_000)
    made = release_adaptively(plan, source(people()), SeededBits(4))
    assert plan.measures_all(100_000)
    assert {*made.unbiased} == {*workload.marginals}
    assert all(np.isfinite(margin).all() for margin in made.margins.values())


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_a_schedule_spends_on_choices_only_where_rows_are_enough(kind):
    workload = up_to_ways(names(20), (4,) * 20, 2)
    picks = [
        schedule(workload, Neighbors(), kind, 0.01, rows).picks
        for rows in (0, 100, 10_000, 10**6, 10**9)
    ]
    assert picks == sorted(picks)
    assert picks[0] == 0
    assert picks[-1] == len(candidates(workload)) == 190
    alone = schedule(up_to_ways(names(3), (4,) * 3, 1), Neighbors(), kind, 1.0, 100)
    assert (alone.picks, alone.singles) == (0, 1)


def test_candidates_lie_in_wanted_tables_and_hold_something():
    workload = Workload(names(4), (2, 2, 1, 3), ((0, 1, 3), (2, 3)))
    assert {*candidates(workload)} == {(0, 1, 3), *combinations((0, 1, 3), 2)}


def test_too_many_cells_to_choose_from_are_refused_before_anything_is_paid():
    workload = Workload(names(2), (8000, 8000), ((0, 1),))
    with pytest.raises(QuestionError, match="too many to choose from"):
        plan_adaptively(workload, Loss.pure(Fraction(1)))


def test_no_rows_and_no_domain_are_no_trouble():
    workload = up_to_ways(names(5), SIZES, 2)
    plan = plan_adaptively(workload, Loss.concentrated(Fraction(1, 10**6)))
    made = release_adaptively(plan, source(people(0)), SeededBits(9))
    assert {*made.marginals} == {*workload.marginals}
