"""Sums over steps, against every cell multiplied out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from adomnia.mining.parts.additive_scores import curvature, scores, step_sums

shapes = some.lists(some.integers(1, 4), min_size=1, max_size=4).map(tuple)


def taken(sizes):
    """A row for each cell: one, and for each step whether the cell is in it."""
    codes = np.indices(sizes).reshape(len(sizes), -1).T
    steps = [codes[:, [axis]] >= np.arange(1, size) for axis, size in enumerate(sizes)]
    return np.concatenate([np.ones((len(codes), 1)), *steps], axis=1)


@settings(max_examples=50, deadline=None)
@given(shapes, some.integers(1, 3), some.integers(0, 2**32 - 1))
def test_they_are_what_a_matrix_of_steps_gives(sizes, last, seed):
    draw, steps = np.random.default_rng(seed), taken(sizes)
    table = draw.standard_normal((*sizes, last))
    weights = draw.standard_normal((last, steps.shape[1]))
    flat = table.reshape(-1, last)
    assert np.allclose(scores(weights, sizes).reshape(-1, last), steps @ weights.T)
    assert np.allclose(step_sums(table), flat.T @ steps)
    expected = [steps.T @ (steps * column[:, None]) for column in flat.T]
    assert np.allclose(curvature(table), expected)


def test_an_axis_of_one_group_has_no_step():
    assert step_sums(np.full((1, 2, 1), 3.0)).tolist() == [[6.0, 3.0]]
    assert curvature(np.full((1, 1), 2.0)).tolist() == [[[2.0]]]
    assert scores(np.array([[5.0]]), (1, 1)).tolist() == [[[5.0]]]


@pytest.mark.parametrize("sizes", [(3,), (4, 4, 4, 4)])
def test_a_curvature_of_counts_is_symmetric_and_not_negative(sizes):
    counts = np.arange(np.prod(sizes), dtype=float).reshape(*sizes, 1)
    (found,) = curvature(counts)
    assert np.array_equal(found, found.T)
    assert np.linalg.eigvalsh(found).min() > -1e-6
