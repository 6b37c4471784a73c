"""Noise inside a lattice follows its law, and the law keeps the promise."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse, stats
from seeded import DictatedBits, SeededBits

from adomnia.mechanisms.noise.conditioned import _Sampler, add_conditioned, sample
from adomnia.mechanisms.noise.exponential import enclose
from adomnia.priors.solver.shapes import margins
from adomnia.priors.strategy.groups import weigh
from adomnia.priors.strategy.kernel_noise import spread
from adomnia.schema.sealed import Sealed


def sums(cells):
    """Changes of so many cells whose total is public."""
    return np.hstack([np.eye(cells - 1, dtype=int), -np.ones((cells - 1, 1), int)])


def two_way(rows, columns):
    """Changes of a table whose row and column sums are public."""
    return np.kron(sums(rows), sums(columns))


LATTICES = {
    "one sum": (sums(3), Fraction(3, 2), 14),
    "two by three": (two_way(2, 3), Fraction(7, 3), 9),
    "three by three": (two_way(3, 3), Fraction(2), 5),
    "a weighted sum": (np.array([[3, -2]]), Fraction(4), 12),
    "no unit columns": (np.array([[2, 0, 1, 5], [0, 3, 1, -5]]), Fraction(5), 8),
    "two parts": (np.array([[1, -1, 0, 0, 0], [0, 0, 1, 0, 1], [0, 0, 0, 1, 1]]), Fraction(1), 8),
}


def law(basis, scale, reach, groups=()):
    """The factors within reach, and the probability of each; what lies outside is negligible."""
    factors = np.array(list(itertools.product(range(-reach, reach + 1), repeat=len(basis))))
    sizes = np.abs(factors @ basis)
    sums = [sizes.sum(axis=1) / float(scale)]
    sums += [sizes[:, list(columns)].sum(axis=1) / float(its) for columns, its in groups]
    weights = np.exp(-np.max(sums, axis=0))
    return factors, weights / weights.sum()


def solved(basis, draws):
    """The factors of the draws, checked to be whole."""
    found, *_ = np.linalg.lstsq(basis.T.astype(float), draws.T.astype(float), rcond=None)
    whole = np.rint(found.T).astype(int)
    assert (whole @ basis == draws).all()
    return whole


def lines(rows, columns, scale):
    """The rows and the columns of a table as groups."""
    places = np.arange(rows * columns).reshape(rows, columns)
    return tuple((tuple(line), scale) for line in [*places.tolist(), *places.T.tolist()])


GROUPS = {
    "one sum": [((0, 1), Fraction(1, 2)), ((2,), Fraction(5, 3))],
    "three by three": lines(3, 3, Fraction(2, 3)),
    "two parts": [((0, 2), Fraction(3, 7))],
}
CASES = [(name, ()) for name in LATTICES] + list(GROUPS.items())


@pytest.mark.parametrize(("name", "groups"), CASES)
def test_draws_follow_the_exact_law(name, groups):
    basis, scale, reach = LATTICES[name]
    size = 40_000
    draws = sample(basis, scale, size, SeededBits(11), groups=groups)
    found = solved(basis, draws)
    factors, chances = law(basis, scale, reach, groups)
    assert (np.abs(found) > reach).any(axis=1).mean() < 2e-3
    place = {tuple(row): number for number, row in enumerate(factors.tolist())}
    seen = np.zeros(len(factors))
    for row in found.tolist():
        if tuple(row) in place:
            seen[place[tuple(row)]] += 1
    common = chances * size > 8
    observed = np.append(seen[common], size - seen[common].sum())
    expected = np.append(chances[common], 1 - chances[common].sum()) * size
    if expected[-1] < 8:
        observed, expected = observed[:-1], expected[:-1]
    assert observed.size > 8
    assert stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > 1e-4


def test_single_draws_follow_the_law_of_many():
    basis, scale, reach = LATTICES["one sum"]
    bits = SeededBits(12)
    draws = np.concatenate([sample(basis, scale, 1, bits) for _ in range(3000)])
    factors, chances = law(basis, scale, reach)
    size = np.abs(draws).sum(axis=1)
    lengths = np.abs(factors @ basis).sum(axis=1)
    expected = np.array([chances[lengths == n].sum() for n in (0, 2, 4, 6)] + [0.0])
    expected[-1] = 1 - expected.sum()
    observed = [np.sum(size == n) for n in (0, 2, 4, 6)] + [np.sum(size > 6)]
    assert stats.chisquare(observed, expected * len(size)).pvalue > 1e-4


def length(noise, groups):
    """The greatest of the sums, each by its scale, as a fraction."""
    return max(int(np.abs(noise[list(columns)]).sum()) / scale for columns, scale in groups)


def induced_neighbours(tables):
    """Pairs of tables whose difference holds no smaller one, taken literally."""
    for one, other in itertools.permutations(tables, 2):
        move = np.subtract(other, one)
        smaller = [
            t
            for t in tables
            if t not in (one, other)
            and all(min(a, b) <= x <= max(a, b) for a, b, x in zip(one, other, t, strict=True))
        ]
        if not smaller:
            yield np.array(one), move


@pytest.mark.parametrize(
    ("matrix", "basis", "total"),
    [
        (margins((2, 3), [(0,), (1,)]).toarray(), two_way(2, 3), (2, 2, 1, 2, 1)),
        (np.array([[1, 1, 1]]), sums(3), (3,)),
        (np.array([[1, 1, 0], [0, 1, 1]]), np.array([[1, -1, 1]]), (3, 3)),
    ],
)
def test_no_output_is_more_than_e_to_epsilon_likelier_for_a_neighbour(matrix, basis, total):
    """Exact: the normaliser is the same everywhere, so exponents are compared as fractions."""
    top = max(total) + 1
    tables = [
        t
        for t in itertools.product(range(top), repeat=matrix.shape[1])
        if tuple(matrix @ np.array(t)) == total
    ]
    pairs = list(induced_neighbours(tables))
    assert pairs
    epsilon = Fraction(1, 2)
    supports = [range(matrix.shape[1]), *(np.flatnonzero(row) for row in matrix)]
    scales = [max(int(np.abs(move[list(s)]).sum()) for _, move in pairs) for s in supports]
    groups = [(s, scale / epsilon) for s, scale in zip(supports, scales, strict=True)]
    noise = [np.array(z) @ basis for z in itertools.product(range(-4, 5), repeat=len(basis))]
    for used in (groups[:1], groups):
        worst = Fraction(0)
        for table, move in pairs:
            solved(basis, move[None, :])  # the neighbour can give every output of the table
            for drawn in noise:
                out = table + drawn
                loss = length(out - table - move, used) - length(drawn, used)
                worst = max(worst, loss)
        assert worst == epsilon


def test_what_comes_out_agrees_with_what_is_public():
    matrix = margins((4, 4), [(0,), (1,)])
    table = np.arange(16, dtype=np.int64) % 5
    noisy = add_conditioned(Sealed(table), two_way(4, 4), Fraction(8), SeededBits(3))
    assert noisy.dtype == np.int64
    assert (matrix @ noisy == matrix @ table).all()
    assert (noisy != table).any()
    seen = add_conditioned(Sealed(table), sparse.csc_array(two_way(4, 4)), Fraction(8))
    assert (matrix @ seen == matrix @ table).all()


def test_scale_nought_adds_nothing_and_huge_scales_lose_nothing():
    table = np.array([5, 6, 7])
    assert add_conditioned(Sealed(table), sums(3), Fraction(0)).tolist() == [5, 6, 7]
    wide = add_conditioned(Sealed(table), sums(3), Fraction(10**30), SeededBits(5))
    assert wide.dtype == object
    assert sum(wide.tolist()) == 18
    assert max(map(abs, wide.tolist())) > 10**25
    assert add_conditioned(Sealed(table), np.zeros((0, 3)), Fraction(3)).tolist() == [5, 6, 7]


def test_floats_negative_scales_and_other_bases_are_refused():
    with pytest.raises(TypeError, match="integers"):
        add_conditioned(Sealed(np.array([0.5, 1.0, 2.0])), sums(3), Fraction(1))
    with pytest.raises(ValueError, match="not negative"):
        sample(sums(3), Fraction(-1), 1)
    with pytest.raises(ValueError, match="positive"):
        sample(sums(3), Fraction(1), 1, groups=[((0,), Fraction(0))])
    with pytest.raises(ValueError, match="no other row"):
        sample(np.array([[1, 1], [1, -1]]), Fraction(1), 1)


def test_doubts_are_settled_by_more_bits():
    """A uniform number that begins like exp(-1) is decided by the bits that follow."""
    low, _ = enclose(Fraction(1), 128)
    first, next_ = low >> 64, low & ((1 << 64) - 1)
    below, above = DictatedBits(first, next_ - 1000), DictatedBits(first, next_ + 1000)
    rest = np.array([2])
    for bits, expected in ((below, True), (above, False)):
        sampler = _Sampler(sums(3), Fraction(2), bits)
        assert sampler._accepted(rest, Fraction(2)).tolist() == [expected]
        assert bits.left == []


@pytest.mark.parametrize(
    ("rows", "columns", "scale"), [(2, 10, 40), (3, 3, 60), (3, 5, 60), (5, 5, 100)]
)
def test_the_error_is_foreseen(rows, columns, scale):
    basis = two_way(rows, columns)
    noise = spread(sparse.csc_array(basis))
    foreseen = noise.error(basis, sparse.eye_array(rows * columns), scale)
    size = 1500
    squares = (sample(basis, Fraction(scale), size, SeededBits(9)) ** 2).sum(axis=1)
    slack = 4 * squares.std() / math.sqrt(size) + 0.03 * foreseen
    assert abs(squares.mean() - foreseen) < slack


def test_the_error_with_groups_is_foreseen():
    groups = lines(3, 4, Fraction(20))
    basis = two_way(3, 4)
    weighed = weigh(sparse.csc_array(basis), np.eye(12), [(g, 1 / 3) for g, _ in groups])
    squares = (sample(basis, Fraction(60), 1500, SeededBits(8), groups=groups) ** 2).sum(axis=1)
    assert squares.mean() == pytest.approx(weighed.error * 60**2, rel=0.08)
    assert 0.1 < weighed.acceptance < 0.4
