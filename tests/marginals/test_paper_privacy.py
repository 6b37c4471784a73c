"""Theorem 4 by brute force: every pair of neighbours of tiny tables, every kind of neighbour."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from paper_source import RowsSource, concentrated, pure, rows_of, seeded

from adomnia.errors import QuestionError
from adomnia.marginals.paper.bits import Encoding
from adomnia.marginals.paper.parities import measure_counts, measure_parities
from adomnia.marginals.paper.promise import MarginalPromise, parity_sensitivity
from adomnia.marginals.workload import downward_closure
from adomnia.mechanisms.noise import laplace
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors

PROMISES = {
    "unbounded": {"relation": "unbounded"},
    "bounded": {"relation": "bounded"},
    "attribute": {"relation": "attribute"},
    "group": {"relation": "unbounded", "group": 2},
    "group, bounded": {"relation": "bounded", "group": 2},
    "unit": {"relation": "unbounded", "rows": 2},
    "unit, bounded": {"relation": "bounded", "rows": 2},
    "sensitive": {"relation": "bounded", "sensitive": (0,)},
    "two sensitive": {"relation": "bounded", "sensitive": (0, 2)},
    "sensitive, group": {"relation": "bounded", "sensitive": (1,), "group": 2},
}
WORKLOADS = [
    ((2, 2, 2), ((0, 1), (1, 2), (0, 2))),
    ((2, 2, 2), ((0,), (1,), (2,))),
    ((2, 2, 2), ((0, 1, 2),)),
    ((3, 2, 2), ((0, 1), (2,))),
    ((2, 1, 4), ((0, 2), ())),
]
BASE = 6


def neighbours(sizes, relation="unbounded", sensitive=None, rows=None, group=1):
    """Rows taken away and rows put in their place, from a table that is large enough."""
    domain = list(itertools.product(*map(range, sizes)))
    many = (rows or 1) * group
    for gone in itertools.combinations_with_replacement(domain, many):
        if relation == "unbounded":
            yield gone, ()
            continue
        if rows is not None and sensitive is None:
            yield gone, ()
        for come in itertools.product(domain, repeat=many):
            if all(allowed(a, b, relation, sensitive) for a, b in zip(gone, come, strict=True)):
                yield gone, come


def allowed(a, b, relation, sensitive):
    differ = {place for place, (x, y) in enumerate(zip(a, b, strict=True)) if x != y}
    if sensitive is not None and not differ <= set(sensitive):
        return False
    return relation == "bounded" or len(differ) <= 1


def apart(sizes, subsets, what, gone, come):
    before, after = RowsSource(sizes, list(gone)), RowsSource(sizes, list(come))
    if what is measure_parities:
        return before.exact_parities(subsets) - after.exact_parities(subsets)
    pairs = [before.exact_marginal(part) - after.exact_marginal(part) for part in subsets]
    return np.concatenate([pair.ravel() for pair in pairs])


@pytest.mark.parametrize(("sizes", "marginals"), WORKLOADS)
@pytest.mark.parametrize("name", PROMISES)
@pytest.mark.parametrize("measure", [measure_parities, measure_counts])
def test_no_two_neighbours_are_told_apart_beyond_the_loss(sizes, marginals, name, measure):
    setting = PROMISES[name]
    source = RowsSource(sizes, rows_of(sizes, BASE))
    strong = measure(Encoding(sizes), marginals, source, pure("1/3", **setting), seeded(1))
    smooth = measure(Encoding(sizes), marginals, source, concentrated("1/5", **setting), seeded(2))
    assert np.array_equal(strong.noisy, smooth.noisy)
    pairs = list(neighbours(sizes, **setting))
    draw = np.random.default_rng(0)
    if len(pairs) > 600:
        pairs = [pairs[place] for place in draw.choice(len(pairs), 600, replace=False)]
    worst = 0
    for gone, come in pairs:
        moved = apart(sizes, strong.subsets, measure, gone, come)
        assert not moved[~strong.noisy].any(), "what is public differs between neighbours"
        worst = max(worst, int(np.abs(moved).sum()))
        squares = int((moved[strong.noisy] ** 2).sum())
        assert squares <= 2 * Fraction(1, 5) * smooth.noise.parameter
    assert worst <= Fraction(1, 3) * strong.noise.parameter
    tight = name in ("unbounded", "bounded", "attribute", "sensitive", "two sensitive")
    if tight and all(size & (size - 1) == 0 for size in sizes):
        assert worst == Fraction(1, 3) * strong.noise.parameter, "less noise would do"


def test_the_log_ratio_of_every_output_stays_below_epsilon():
    sizes, marginals, epsilon = (2, 2), ((0,), (1,)), 0.7
    source = RowsSource(sizes, [(0, 0), (0, 1)])
    measured = measure_parities(Encoding(sizes), marginals, source, pure("7/10"), seeded(1))
    scale = measured.noise.parameter
    h = source.exact_parities(measured.subsets)
    worst = 0.0
    for row in itertools.product(range(2), repeat=2):
        other = RowsSource(sizes, [(0, 0), (0, 1), row]).exact_parities(measured.subsets)
        for output in itertools.product(range(-8, 9, 2), repeat=3):
            ratio = sum(
                math.log(laplace.probability(scale, y - int(a)))
                - math.log(laplace.probability(scale, y - int(b)))
                for y, a, b in zip(output, h, other, strict=True)
            )
            worst = max(worst, abs(ratio))
    assert worst == pytest.approx(epsilon)


def test_one_row_moves_each_parity_by_one_and_a_changed_row_by_none_or_two():
    sizes = (2, 2, 2)
    every = downward_closure([(0, 1, 2)])
    for gone, come in neighbours(sizes):
        assert set(np.abs(apart(sizes, every, measure_parities, gone, come))) == {1}
    for gone, come in neighbours(sizes, "bounded"):
        assert set(np.abs(apart(sizes, every, measure_parities, gone, come))) <= {0, 2}


def test_theorem_4_has_the_scale_of_the_paper():
    sizes = (2,) * 16
    marginals = tuple(itertools.combinations(range(16), 3))
    needed = downward_closure(marginals)
    assert len(needed) == 697 == math.comb(16, 3) + math.comb(16, 2) + 16 + 1
    found = parity_sensitivity(Encoding(sizes), needed, pure(1))
    assert (found.l1, found.l2_squared) == (697, 697)
    changed = parity_sensitivity(Encoding(sizes), needed, pure(1, "bounded"))
    assert changed.exact
    assert changed.l1 == 2 * max(odd(16, 3, weight) for weight in range(1, 17))


def odd(bits, ways, weight):
    """Sets of up to `ways` bits that share an odd number with a set of `weight` bits."""
    return sum(
        math.comb(weight, inside) * math.comb(bits - weight, size - inside)
        for size in range(1, ways + 1)
        for inside in range(1, size + 1, 2)
    )


def test_of_many_bits_the_change_is_bounded_by_all_that_can_move():
    sizes = (2,) * 30
    needed = downward_closure([(i, i + 1) for i in range(29)])
    found = parity_sensitivity(Encoding(sizes), needed, pure(1, "bounded"))
    assert not found.exact
    assert found.l1 == 2 * (len(needed) - 1)


def test_of_all_sets_of_many_bits_the_worst_change_is_known():
    for bits in (16, 25):
        needed = downward_closure(itertools.combinations(range(bits), 3))
        found = parity_sensitivity(Encoding((2,) * bits), needed, pure(1, "bounded"))
        assert found.exact
        assert found.l1 == 2 * max(odd(bits, 3, weight) for weight in range(1, bits + 1))


@pytest.mark.parametrize("k", [4, 7, 16])
def test_one_sensitive_attribute_needs_noise_on_half_of_what_the_paper_counts(k):
    marginals = tuple(itertools.combinations(range(k), 3))
    source = RowsSource((2,) * k, rows_of((2,) * k, 50))
    promise = pure(1, "bounded", sensitive=(0,))
    measured = measure_parities(Encoding((2,) * k), marginals, source, promise, seeded(0))
    paper = math.comb(k - 1, 2) + math.comb(k, 2) + k + 1
    assert 2 * measured.many == paper
    assert measured.noise.parameter == paper  # the same scale, on half as many coefficients
    public = ~measured.noisy
    assert np.array_equal(measured.values[public], source.exact_parities(
        [subset for subset, free in zip(measured.subsets, public, strict=True) if free]
    ))  # fmt: skip


def test_under_bounded_neighbours_the_number_of_rows_is_public():
    source = RowsSource((2, 2), rows_of((2, 2), 40))
    promise = pure("1/100", "bounded")
    measured = measure_parities(Encoding((2, 2)), ((0, 1),), source, promise, seeded(0))
    assert measured.values[0] == 40
    assert list(measured.noisy) == [False, True, True, True]


def test_only_what_is_needed_is_asked_for():
    source = RowsSource((2, 2, 2), rows_of((2, 2, 2), 10))
    measure_parities(Encoding((2, 2, 2)), ((0, 2),), source, pure(1), seeded(0))
    assert source.asked == [(), (0,), (2,), (0, 2)]


def test_a_promise_that_cannot_be_kept_is_refused():
    with pytest.raises(QuestionError, match="come and go"):
        pure(1, "unbounded", sensitive=(0,))
    with pytest.raises(QuestionError, match="at least one"):
        pure(1, "bounded", sensitive=())
    with pytest.raises(QuestionError, match="epsilon or a rho"):
        MarginalPromise(Loss(), Neighbors())
    with pytest.raises(QuestionError, match="epsilon or a rho"):
        MarginalPromise(Loss.approximate(Fraction(1), Fraction(1, 10)), Neighbors())
    source = RowsSource((2,), [[0]])
    with pytest.raises(QuestionError, match="noise would pass"):
        measure_parities(Encoding((2,)), ((0,),), source, pure(Fraction(1, 1 << 50)), seeded(0))
    assert not source.asked
