"""The choice among consistent tables: its distances, its loss, and data that disagrees."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from seeded import SeededBits
from test_consistent_law import differences, fibre, law, margins, neighbors

from adomnia.mechanisms.tables.consistent import choose_table, distances, unit
from adomnia.priors.solver.lattice.graver import basis
from adomnia.priors.solver.system import System
from adomnia.priors.solver.tables.fibre import tables
from adomnia.schema.sealed import Sealed


def chain(cells, total):
    """Sums of every two cells that follow each other."""
    matrix = np.eye(cells, dtype=np.int64)[:-1] + np.eye(cells, dtype=np.int64)[1:]
    return matrix, np.full(cells - 1, total)


def one_way(total):
    """All 1-way sums of a 2x2x2 table."""
    cells = np.array(list(product(range(2), repeat=3)))
    matrix = np.array([cells[:, axis] == side for axis in range(3) for side in range(2)])
    return matrix.astype(np.int64), np.array([total, 3] * 3)


FIBRES = {
    "2x2": fibre(*margins((5, 4), (6, 3))),
    "2x3": fibre(*margins((4, 3), (3, 2, 2))),
    "3x3": fibre(*margins((3, 2, 2), (3, 2, 2))),
    "3x3 sparse": fibre(*margins((2, 2, 1), (1, 1, 3))),
    "chain": fibre(*chain(6, 5)),
    "2x2x2": fibre(*one_way(3)),
    "total": fibre(np.ones((1, 4), np.int64), np.array([4])),
}
each_fibre = pytest.mark.parametrize("tables", FIBRES.values(), ids=FIBRES)


def paths(joined):
    """All distances in a graph, by growing balls."""
    found = np.where(np.eye(len(joined), dtype=bool), 0, -1)
    ball = np.eye(len(joined), dtype=bool)
    for steps in range(1, len(joined)):
        grown = ball | (ball.astype(int) @ joined.astype(int) > 0)
        found[grown & ~ball] = steps
        ball = grown
    return found


def largest_loss(weights, joined):
    """The largest log ratio of a probability between neighbours; a row of weights per truth."""
    laws = weights - np.log(np.exp(weights).sum(axis=1, keepdims=True))
    return max(np.abs(laws[one] - laws[other]).max() for one, other in np.argwhere(joined))


@each_fibre
def test_distances_are_those_of_the_graph_of_induced_neighbors(tables):
    moves = differences(tables)
    found = [distances(start, tables, moves) for start in tables]
    assert (np.array(found) == unit(moves) * paths(neighbors(tables))).all()


def test_distances_are_the_same_from_both_ends_of_a_larger_fibre():
    tables = fibre(*margins((8, 7, 5), (9, 6, 5)))
    moves = differences(fibre(*margins((2, 2, 2), (2, 2, 2))))  # all fifteen are possible there
    assert len(moves) == 15
    places = np.arange(0, len(tables), 40)
    found = np.array([distances(tables[place], tables, moves) for place in places])[:, places]
    assert len(places) > 10
    assert (found == found.T).all()
    assert (np.diag(found) == 0).all()


@each_fibre
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_neighbors_differ_by_epsilon_at_most(tables, epsilon):
    joined = neighbors(tables)
    assert largest_loss(-epsilon / 2 * paths(joined), joined) <= epsilon + 1e-9


def test_weights_without_the_half_cost_more_than_epsilon():
    """Weights exp(-epsilon d), epsilon 1: the paper says that they cost up to 2 epsilon."""
    graphs = [neighbors(tables) for tables in FIBRES.values()]
    losses = [largest_loss(-paths(joined), joined) for joined in graphs]
    assert min(losses) > 1
    assert 1.4 < max(losses) <= 2


@pytest.mark.parametrize("name", ["2x2", "3x3 sparse", "chain", "total"])
def test_data_that_disagrees_costs_no_more_than_its_rows(name):
    """One row more or less, anywhere: distances move by one at most, of `unit` for a move."""
    tables = FIBRES[name]
    moves = differences(tables)
    chance = np.random.default_rng(1)
    for start in chance.integers(0, 5, (60, tables.shape[1])):
        near = distances(start, tables, moves)
        for cell in range(start.size):
            start[cell] += 1
            assert np.abs(distances(start, tables, moves) - near).max() <= 1
            start[cell] -= 1


def test_without_moves_differences_are_counted():
    tables = FIBRES["2x3"]
    none = np.zeros((0, 6), np.int64)
    assert (distances(tables[3], tables, none) == np.abs(tables - tables[3]).sum(axis=1)).all()


def test_the_only_table_is_the_answer_whatever_the_data():
    tables, none = np.array([[2, 0, 1]]), np.zeros((0, 3), np.int64)
    for counts in ([2, 0, 1], [7, 7, 7]):
        answer = choose_table(Sealed(np.array(counts)), tables, none, Fraction(1))
        assert answer.tolist() == [2, 0, 1]


def test_a_table_may_be_sealed_in_its_shape():
    tables = FIBRES["2x3"]
    sealed = Sealed(tables[5].reshape(2, 3))
    answer = choose_table(sealed, tables, differences(tables), Fraction(1000), SeededBits(1))
    assert (answer == tables[5]).all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_counts_of_any_width_are_compared(dtype):
    tables = FIBRES["2x3"]
    sealed, far = Sealed(tables[5].astype(dtype)), Sealed(np.full(6, np.iinfo(dtype).max, dtype))
    moves = differences(tables)
    assert (choose_table(sealed, tables, moves, Fraction(1000), SeededBits(1)) == tables[5]).all()
    assert choose_table(far, tables, moves, Fraction(1000), SeededBits(1)).sum() == 7


def test_epsilon_nothing_is_uniform():
    tables = FIBRES["2x2"]
    bits, moves = SeededBits(2), differences(tables)
    drawn = [choose_table(Sealed(tables[0]), tables, moves, Fraction(0), bits) for _ in range(1000)]
    _, counts = np.unique(np.array(drawn), axis=0, return_counts=True)
    assert len(counts) == len(tables)
    assert np.abs(counts - 1000 / len(tables)).max() < 100


def test_what_cannot_be_is_refused():
    tables = FIBRES["2x2"]
    moves = differences(tables)
    with pytest.raises(ValueError, match="no table"):
        distances(tables[0], tables[:0], moves)
    with pytest.raises(ValueError, match="not all different"):
        distances(tables[0], np.vstack([tables, tables[:1]]), moves)
    with pytest.raises(ValueError, match="another number of cells"):
        distances(tables[0][:3], tables, moves)
    with pytest.raises(ValueError, match="one column for each cell"):
        distances(tables[0], tables, moves[:, :2])
    with pytest.raises(ValueError, match="changes something"):
        distances(tables[0], tables, 0 * moves)
    with pytest.raises(ValueError, match="not negative"):
        choose_table(Sealed(tables[0]), tables, moves, Fraction(-1))
    with pytest.raises(TypeError, match="integers"):
        choose_table(Sealed(tables[0] / 2), tables, moves, Fraction(1))


def projected(noisy, start, matrix):
    """The nearest tables without negative cells and with the same sums (Dykstra's algorithm)."""
    kernel = np.eye(matrix.shape[1]) - np.linalg.pinv(matrix) @ matrix
    correction = np.zeros_like(noisy)
    for _ in range(300):
        corrected = start + (noisy - start) @ kernel + correction
        noisy = np.maximum(corrected, 0)
        correction = corrected - noisy
    return noisy


def test_error_in_a_small_fibre():
    """3x3, n = 30, epsilon 1: about 35 where Laplace noise of scale 6, projected, has about 57."""
    matrix, values = margins((18, 9, 3), (12, 10, 8))
    tables = fibre(matrix, values)
    moves = differences(fibre(*margins((2, 2, 2), (2, 2, 2))))
    start = np.array([10, 7, 1, 2, 3, 4, 0, 0, 3])
    squares = ((tables - start) ** 2).sum(axis=1)
    ours = law(start, tables, moves, 1) @ squares
    noisy = start + np.random.default_rng(1).laplace(0, 6, (2000, 9))
    laplace = ((projected(noisy, start, matrix) - start) ** 2).sum(axis=1).mean()
    assert len(tables) == 510
    assert 35 < ours < 36
    assert 50 < laplace < 65
    assert squares.mean() > 64


def public(rows, columns):
    """All tables with these margins and the Graver moves, by the package's own lists."""
    known = System.of(margins(rows, columns)[0], [*rows, *columns])
    return tables(known), basis(known.matrix)


def test_the_lists_of_the_package_fit():
    listed, moves = public((18, 9, 3), (12, 10, 8))
    ours = fibre(*margins((18, 9, 3), (12, 10, 8)))
    assert sorted(map(tuple, listed.tolist())) == sorted(map(tuple, ours.tolist()))
    assert len(moves) == 15
    answer = choose_table(Sealed(ours[7]), listed, moves, Fraction(1))
    assert answer.reshape(3, 3).sum(axis=1).tolist() == [18, 9, 3]


@pytest.mark.slow
def test_a_million_tables():
    listed, moves = public((55, 49, 47), (53, 55, 43))
    begun = time.process_time()
    found = distances(listed[len(listed) // 2], listed, moves)
    assert time.process_time() - begun < 300
    assert 800_000 < len(listed) <= 1_000_000
    assert (found == 0).sum() == 1
    assert (found % 4 == 0).all()
