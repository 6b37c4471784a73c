"""Each reduction alone: what it leaves has the same minimal differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracles import graver
from scipy import sparse

from adomnia.priors.solver.reduction.difference import difference
from adomnia.priors.solver.reduction.element import (
    Element,
    UnitMove,
    add,
    element,
    evaluate,
    join,
    root,
    value,
)
from adomnia.priors.solver.reduction.kernel_parts import split_by_kernel
from adomnia.priors.solver.reduction.pairs import widest
from adomnia.priors.solver.reduction.preparation import group_columns, parts
from adomnia.priors.solver.reduction.series_parallel import components, dense, elements, reduce
from adomnia.priors.solver.shapes import chain, margins
from adomnia.priors.solver.system import System, whole


def made(rows, asked=None, norm=1):
    asked = np.eye(rows.shape[1], dtype=int) if asked is None else asked
    return elements(whole(rows), whole(asked), norm)


def single(effect, cell=0, norm=1):
    return Element({}, (UnitMove(effect, {cell: 1}),), value(effect, norm))


def test_vectors_are_added_without_zeros():
    assert add({1: 2, 2: 3}, {1: 1, 3: 1}, -2) == {2: 3, 3: -2}
    assert value({1: 2, 2: -3}, 1) == 5
    assert value({1: 2, 2: -3}, 2) == 13


@pytest.mark.parametrize("square", [0, 1, 2, 3, 4, 10**12, 10**12 + 1])
def test_roots_are_not_below(square):
    assert root(square) ** 2 >= square
    assert root(square) ** 2 <= square + 3e-6 * (square + 1)
    if square in (0, 1, 4, 10**12):
        assert root(square) ** 2 == square


@pytest.mark.parametrize("norm", [1, 2])
def test_joined_elements_bound_all_their_ways(norm):
    """Also where there are more ways than are kept."""
    chance = np.random.default_rng(norm)
    ways = [
        [
            {k: int(x) for k, x in enumerate(effect) if x}
            for effect in chance.integers(-3, 4, (40, 4))
        ]
        for _ in range(2)
    ]
    one, other = (
        element({}, [UnitMove(effect, {cell: 1}) for cell, effect in enumerate(some)], norm)
        for some in ways
    )
    joined = join(one, other, (2, -1), norm)
    pairs = itertools.product(*ways)
    twice = [({k: 2 * x for k, x in a.items()}, b) for a, b in pairs]
    assert one.complete
    assert not joined.complete
    assert joined.most >= max(value(add(a, b, -1), norm) for a, b in twice)
    assert joined.outputs == {output for some in ways for effect in some for output in effect}


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("spread", [1, 5])
def test_widest_pairs_agree_with_looking_at_all(norm, spread):
    chance = np.random.default_rng(spread)
    for count in (2, 3, 10, 250):
        effects = chance.integers(-spread, spread + 1, (count, 3))
        signs = chance.choice([-1, 1], count)
        members = [
            (int(s), single({k: int(x) for k, x in enumerate(e) if x}, cell, norm))
            for cell, (s, e) in enumerate(zip(signs, effects, strict=True))
        ]
        upper, lower, cells = widest(members, norm)
        turned = effects * signs[:, None]
        true = max((abs(a - b) ** norm).sum() for a, b in itertools.combinations(turned, 2))
        assert upper == lower == true
        if true:
            change = sum(units * effects[cell] for cell, units in cells.items())
            assert (abs(change) ** norm).sum() == true


def test_pairs_of_one_element_do_not_count():
    """Two ways of the same element are no pair: they were one when it was made."""
    both = Element({}, (UnitMove({0: 5}, {0: 1}), UnitMove({0: -5}, {1: 1})), 5)
    upper, lower, _ = widest([(1, both), (1, single({0: 1}, 2))], 1)
    assert upper == lower == 6


@pytest.mark.parametrize("seed", range(5))
def test_taking_rows_apart_keeps_the_kernel(seed):
    chance = np.random.default_rng(seed)
    rows = (chance.random((6, 8)) < 0.5).astype(int)
    rows = np.vstack([rows, rows[0] | rows[1], 3 * rows[2], np.ones(8, int), rows[3] - rows[4]])
    table = chance.integers(0, 4, 8)
    values = [int(x) for x in rows @ table]
    short, left = difference(sparse.csr_array(rows), values)
    ranks = [
        np.linalg.matrix_rank(m)
        for m in (rows, short.toarray(), np.vstack([rows, short.toarray()]))
    ]
    assert len(set(ranks)) == 1
    assert short.nnz <= (rows != 0).sum()
    known = [(row, x) for row, x in zip(short.toarray(), left, strict=True) if x is not None]
    assert known
    assert all(row @ table == x for row, x in known)


def test_equal_columns_have_one_class():
    groups, firsts = group_columns(whole(np.array([[1, 1, 0, 1], [0, 2, 0, 0]])))
    assert groups.tolist() == [0, 1, 2, 0]
    assert firsts.tolist() == [0, 1, 2]


def test_equal_parts_are_kept_once():
    rows = margins((40, 3, 4), [(0, 1), (0, 2)])
    found = parts(System.of(rows), sparse.eye_array(480, dtype=np.int64))
    assert len(found) == 1
    assert len(found[0].copies) == 40
    assert sorted(np.concatenate(found[0].copies).tolist()) == list(range(480))
    assert found[0].matrix.shape == (7, 12)


def test_cells_that_nobody_tells_apart_are_one():
    rows = margins((4, 1000), [(0,)])
    found = parts(System.of(rows), margins((4, 1000), [(0,)]))
    assert [part.matrix.shape for part in found] == [(1, 1)]
    assert len(found[0].copies) == 4


def test_rounded_rows_get_slack_and_zero_rows_empty_their_cells():
    rows = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]])
    found = parts(System.of(rows, [0, (1, 3), None]), np.eye(4, dtype=int))
    cells = sorted(np.concatenate([c for part in found for c in part.copies]).tolist())
    assert cells == [2, 3, 4]


def test_chains_shrink_to_nothing():
    left, found = reduce(made(chain(9)), 1)
    assert left == []
    assert [bound.upper for bound in found] == [9]
    assert found[0].witness == {cell: (-1) ** cell * found[0].witness[0] for cell in range(9)}


def test_a_row_of_two_cells_with_factors():
    """2a = 3b: three of one come with two of the other."""
    left, found = reduce(made(np.array([[2, -3]])), 1)
    assert left == []
    assert found[0].upper == found[0].lower == 5


def test_what_is_left_is_connected():
    rows = margins((2, 3, 3), [(0, 1), (0, 2)])
    left, found = reduce(made(rows), 1)
    assert found == []
    assert [len(part) for part in components(left)] == [9, 9]
    assert dense(components(left)[0]).shape == (6, 9)


@pytest.mark.parametrize("seed", range(6))
def test_the_kernel_splits_without_loss(seed):
    """Moves of what is left, as moves of the cells, are those of the whole system."""
    chance = np.random.default_rng(seed)
    rows = chance.integers(0, 3, (4, 7))
    members = made(rows)
    smaller = split_by_kernel(members, 1)
    if smaller is None:
        smaller = [members]
    found = {
        tuple(_cells([(int(x), one) for x, one in zip(move, part, strict=True)], 7))
        for part in smaller
        for move in graver(dense(part))
    }
    assert found == {tuple(move) for move in graver(rows).tolist()}


def _cells(moves, count):
    _, cells = evaluate([(units, one) for units, one in moves if units], 1)
    return [cells.get(cell, 0) for cell in range(count)]
