"""Laws of released marginals: privacy of each measurement by brute force, and agreement."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import combinations, product
from math import prod
from pathlib import Path

import numpy as np
import pytest

from adomnia.marginals.core.basis import norms, rows
from adomnia.marginals.core.cost import WHOLE, one_row, row_sum, scales_of
from adomnia.marginals.core.measure import parameter
from adomnia.marginals.release import plan_marginals, release_marginals
from adomnia.marginals.workload import Workload, up_to_ways
from adomnia.privacy.events import loss as loss_of
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.schema.sealed import Sealed

sys.path.insert(0, str(Path(__file__).parents[1] / "chance"))
from seeded import SeededBits

DOMAINS = [(2, 3), (2, 2, 2), (3, 4), (2, 1, 3), (5,), (2, 2, 3)]
RELATIONS = [
    Neighbors(),
    Neighbors("bounded"),
    Neighbors("attribute"),
    Neighbors("bit"),
    Neighbors("unbounded", rows=3),
    Neighbors("bounded", rows=2),
    Neighbors("bounded", group=2),
]
LOSSES = [Loss.pure(Fraction(1)), Loss.concentrated(Fraction(1, 2))]


def names(sizes):
    return tuple(f"a{place}" for place in range(len(sizes)))


def counts(records, sizes, subset):
    shape = tuple(sizes[place] for place in subset)
    table = np.zeros(shape, np.int64)
    for record in records:
        table[tuple(record[place] for place in subset)] += 1
    return table


def source(records, sizes):
    return lambda subsets: {s: Sealed(counts(records, sizes, s)) for s in subsets}


def measured(strategy, sizes, record):
    """All measured integers of one record, and the noise parameter of each."""
    values, noises = [], []
    for part in strategy.parts:
        shape = part.group.shape
        for subset, share in zip(part.group.subsets, part.shares.tolist(), strict=True):
            table = counts([record], sizes, subset).astype(object)
            unit = parameter(strategy, shape, share)
            scales = np.ones(1, object)
            for axis, size in enumerate(shape):
                if strategy.method == "residual":
                    table = np.moveaxis(
                        np.tensordot(rows(size).astype(object), table, (1, axis)), 0, axis
                    )
                    scale = scales_of(size, strategy.kind).astype(object)
                else:
                    scale = np.ones(size, object)
                scales = np.multiply.outer(scales, scale).reshape(-1)
            values += table.reshape(-1).tolist()
            noises += [unit * int(scale) for scale in scales]
    return np.array(values, object), noises


def cost(strategy, change, noises):
    """Epsilon or rho of a change of the measured vector, exactly; what has no noise must stay."""
    total = Fraction(0)
    for moved, noise in zip(change, noises, strict=True):
        if noise == 0:
            assert moved == 0
        elif strategy.kind == "laplace":
            total += Fraction(abs(int(moved))) / noise
        else:
            total += Fraction(int(moved) ** 2) / (2 * noise)
    return total


def steps(strategy, sizes, neighbors):
    """How the measured vector may change with one row, by brute force over the domain."""
    everyone = list(product(*map(range, sizes)))
    vectors = {record: measured(strategy, sizes, record) for record in everyone}
    noises = vectors[everyone[0]][1]
    changes = []
    if not neighbors.replaces or neighbors.rows is not None:
        changes += [vector for vector, _ in vectors.values()]
    if neighbors.replaces:
        for left, right in combinations(everyone, 2):
            apart = sum(a != b for a, b in zip(left, right, strict=True))
            if neighbors.relation == "bounded" or apart == 1:
                changes.append(vectors[left][0] - vectors[right][0])
    return changes, noises


@pytest.mark.parametrize("sizes", DOMAINS)
@pytest.mark.parametrize("neighbors", RELATIONS, ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
def test_no_neighbour_costs_more_than_was_promised(sizes, neighbors, loss):
    made = plan_marginals(up_to_ways(names(sizes), sizes, 2), loss, neighbors)
    changes, noises = steps(made.strategy, sizes, neighbors)
    times = (neighbors.rows or 1) * neighbors.group
    worst = max((cost(made.strategy, times * change, noises) for change in changes), default=0)
    promised = loss.epsilon or loss.rho
    assert worst <= promised
    if neighbors.relation in ("unbounded", "bounded"):
        assert worst >= promised * Fraction(9, 10), "budget is wasted"
    assert loss_of(made.event) == loss


@pytest.mark.parametrize("size", range(1, 40))
def test_rows_are_orthogonal_and_a_row_of_data_has_the_same_length_everywhere(size):
    found = rows(size)
    gram = found @ found.T
    assert (gram == np.diag(norms(size))).all()
    assert (found.sum(axis=1) == 0).all()
    for value in range(size):
        length = sum(
            Fraction(int(row[value]) ** 2, int(n))
            for row, n in zip(found, norms(size), strict=True)
        )
        assert length == Fraction(size - 1, size) == one_row((size,))


@pytest.mark.parametrize("sizes", [(2, 2), (3,), (2, 5), (4, 3)])
def test_the_largest_sum_over_laplace_scales(sizes):
    def added(size, value):
        pairs = zip(rows(size)[:, value].tolist(), scales_of(size, "laplace").tolist(), strict=True)
        return sum((Fraction(abs(entry), scale) for entry, scale in pairs), Fraction(0))

    cells = product(*map(range, sizes))
    worst = max(prod(map(added, sizes, cell), start=Fraction(1)) for cell in cells)
    assert worst == row_sum(sizes)


@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
def test_shares_never_pass_the_whole(loss):
    for sizes in [(2,) * 12, (3, 7, 2, 2, 9), (10,) * 8]:
        made = plan_marginals(up_to_ways(names(sizes), sizes, 3), loss)
        assert sum(int(part.shares.sum()) for part in made.strategy.parts) <= WHOLE


# What is published


def below(table, subset, common):
    return table.sum(axis=tuple(i for i, place in enumerate(subset) if place not in common))


@pytest.mark.parametrize("sizes", [(2, 3, 1, 4), (2, 2, 2, 2), (1, 1), (6,), (30, 40, 50, 60, 3)])
@pytest.mark.parametrize("many", [0, 1, 90])
@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
@pytest.mark.parametrize("neighbors", RELATIONS[:2], ids=str)
def test_what_is_published_agrees(sizes, many, loss, neighbors):
    chance = np.random.default_rng(many)
    records = [tuple(int(chance.integers(0, size)) for size in sizes) for _ in range(many)]
    workload = up_to_ways(names(sizes), sizes, 2)
    found = release_marginals(
        plan_marginals(workload, loss, neighbors), source(records, sizes), SeededBits(7)
    )
    total = len(found.microdata)
    if neighbors.replaces:
        assert total == many
    assert np.asarray(found.microdata).shape == (total, len(sizes))
    for subset, table in found.marginals.items():
        assert table.shape == workload.shape(subset)
        assert table.dtype == np.int64
        assert (table >= 0).all()
        assert table.sum() == total
        assert found.margins[subset].shape == table.shape
    for left, right in combinations(workload.marginals, 2):
        common = tuple(place for place in left if place in right)
        one, other = (below(found.marginals[s], s, common) for s in (left, right))
        assert (one == other).all()
        one, other = (below(found.unbiased[s], s, common) for s in (left, right))
        assert np.allclose(one, other, rtol=1e-9, atol=1e-6)


def test_the_same_bits_give_the_same_release():
    sizes = (2, 3, 4)
    records = [(0, 1, 2), (1, 2, 3)] * 30
    made = plan_marginals(up_to_ways(names(sizes), sizes, 2), LOSSES[1])
    first, second = (
        release_marginals(made, source(records, sizes), SeededBits(5)) for _ in range(2)
    )
    assert (np.asarray(first.microdata) == np.asarray(second.microdata)).all()
    assert all((first.unbiased[s] == second.unbiased[s]).all() for s in first.unbiased)


def test_forbidden_cells_stay_empty():
    sizes = (3, 3, 2)
    mask = np.eye(3, dtype=bool)
    records = [(0, 1, 0), (1, 2, 1), (2, 0, 0)] * 40
    for sizes_, recs in [
        (sizes, records),
        ((*sizes, 200, 300), [(*r, i, i) for i, r in enumerate(records)]),
    ]:
        workload = up_to_ways(names(sizes_), sizes_, 2)
        made = plan_marginals(workload, Loss.concentrated(Fraction(1)))
        found = release_marginals(
            made, source(recs, sizes_), SeededBits(3), forbidden={(0, 1): mask}
        )
        assert (found.marginals[0, 1][mask] == 0).all()


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(10**6)])
def test_the_ends_of_epsilon(epsilon):
    sizes = (2, 3)
    records = [(0, 1), (1, 2), (1, 1)] * 10
    workload = Workload(names(sizes), sizes, ((0,), (0, 1)))
    found = release_marginals(
        plan_marginals(workload, Loss.pure(epsilon)), source(records, sizes), SeededBits(2)
    )
    assert all((table >= 0).all() for table in found.marginals.values())
    if epsilon > 1:
        assert (found.marginals[0, 1] == counts(records, sizes, (0, 1))).all()
