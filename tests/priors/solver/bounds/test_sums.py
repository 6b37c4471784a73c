"""Closed forms of public sums, against all minimal changes."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.priors.solver.bounds.sums import public_sum, sum_bound
from adomnia.priors.solver.induced_sensitivity import solve
from adomnia.priors.solver.lattice.graver import basis
from adomnia.priors.solver.reduction.element import UnitMove, element
from adomnia.priors.solver.system import System


def elements(rows, effects, norm):
    """One element for each column; `effects` has some rows of outputs for each of them."""
    return [
        element(
            {row: int(x) for row, x in enumerate(column) if x},
            [
                UnitMove({o: int(x) for o, x in enumerate(effect) if x}, {number: 1})
                for effect in choices
            ],
            norm,
        )
        for number, (column, choices) in enumerate(zip(rows.T, effects, strict=True))
    ]


def greatest(rows, effects, norm):
    """The greatest change over the Graver basis of cells, one for each choice."""
    spread = np.repeat(rows, [len(choices) for choices in effects], axis=1)
    question = np.array([effect for choices in effects for effect in choices])
    first = np.repeat(np.arange(len(effects)), [len(choices) for choices in effects])
    moved = [
        move @ question
        for move in basis(spread)
        if all(np.sign(move[first == e]).min() * np.sign(move[first == e]).max() >= 0
               for e in range(len(effects)))
    ]  # fmt: skip
    return max((int((np.abs(x) ** norm).sum()) for x in moved), default=0)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("norm", [1, 2])
def test_closed_forms_hold_and_their_lower_ends_are_reached(seed, norm):
    rng = np.random.default_rng(seed)
    cells, outputs = int(rng.integers(2, 6)), int(rng.integers(1, 3))
    weights = rng.choice(np.arange(1, 9), cells, replace=False)
    weights = weights * rng.choice([-1, 1], cells) if seed % 3 == 0 else weights
    rows = np.array([weights] if seed % 2 else [np.ones(cells, int), weights])
    low = -3 if seed % 5 == 0 else 0
    effects = [rng.integers(low, 4, (rng.integers(1, 3), outputs)) for _ in range(cells)]
    found = sum_bound(rows, elements(rows, effects, norm), norm)
    assert found is not None
    assert found.lower <= greatest(rows, effects, norm) <= found.upper


@pytest.mark.parametrize("most", [7, 100, 2000])
def test_a_count_beside_a_public_sum(most):
    weights = np.arange(1, most + 1)[None]
    ones = np.ones_like(weights)
    found = solve(System.of(weights), ones)
    assert (found.upper, found.lower) == (most - 1, most - 1)
    squared = solve(System.of(weights), ones, 2)
    assert (squared.upper, squared.lower) == ((most - 1) ** 2, (most - 1) ** 2)


def test_some_of_the_rows_beside_a_public_sum():
    """Who is counted is another matter than what is summed: all that come may be counted."""
    weights = np.repeat(np.arange(1, 101), 2)[None]
    counted = np.tile([0, 1], 100)[None]
    found = solve(System.of(weights), counted)
    assert (found.upper, found.lower) == (100, 100)
    groups = np.vstack([counted, 1 - counted])
    assert solve(System.of(weights), groups).upper == 199
    assert solve(System.of(weights), groups, 2).upper == 100**2 + 99**2
    both = np.vstack([np.ones_like(weights), weights])
    found = solve(System.of(both), counted)
    assert (found.upper, found.lower) == (99, 99)


def test_other_rows_are_no_public_sum():
    assert public_sum(np.array([[1, 2, 3]])) == [1, 2, 3]
    assert public_sum(np.array([[1, 2, 3], [2, 2, 2]])) == [1, 2, 3]
    assert public_sum(np.array([[1, 2, 3], [2, 2, 1]])) is None
    assert public_sum(np.ones((3, 3), np.int64)) is None
