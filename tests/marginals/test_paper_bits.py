"""Bits and the transform: Theorems 2 and 3 of the paper, and the patterns that no value has."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from paper_source import RowsSource, rows_of

from adomnia.marginals.paper.bits import Encoding, fold, invert, parts, signs, spell, walsh_hadamard

DRAW = np.random.default_rng(3)


def everything(bits):
    return signs(np.arange(1 << bits), np.arange(1 << bits))


@pytest.mark.parametrize("bits", range(6))
def test_the_fast_transform_is_the_matrix_of_signs_in_whole_numbers(bits):
    values = DRAW.integers(-1000, 1000, 1 << bits)
    fast = walsh_hadamard(values)
    assert fast.dtype == values.dtype
    assert np.array_equal(fast, everything(bits) @ values)
    assert np.array_equal(walsh_hadamard(fast), values << bits)
    assert np.array_equal(invert(fast), values)


def test_the_transform_takes_many_tables_at_once_and_large_numbers():
    values = DRAW.integers(-9, 9, (5, 8))
    assert np.array_equal(walsh_hadamard(values), [walsh_hadamard(row) for row in values])
    huge = np.array([10**30, 3], object)
    assert list(walsh_hadamard(huge)) == [10**30 + 3, 10**30 - 3]


def test_theorem_2_the_normalised_basis_is_orthonormal():
    basis = everything(4) / 2 ** (4 / 2)
    assert np.allclose(basis @ basis.T, np.eye(16))
    values = DRAW.integers(0, 9, 16)
    assert np.allclose(walsh_hadamard(values) / 2 ** (4 / 2), basis @ values)


def test_theorem_3_a_marginal_needs_its_own_parities_and_no_others():
    bits, basis = 4, everything(4).reshape(16, 2, 2, 2, 2)
    for size in range(bits + 1):
        for marginal in itertools.combinations(range(bits), size):
            others = tuple(1 + axis for axis in range(bits) if axis not in marginal)
            needed = {spell(part, bits) for part in parts(marginal)}
            summed = basis.sum(axis=others).reshape(16, -1)
            assert {row for row in range(16) if summed[row].any()} == needed


def test_parts_come_in_the_order_of_the_numbers_they_spell():
    for places in [(), (0,), (1, 4), (0, 2, 3)]:
        found = [spell([places.index(bit) for bit in part], len(places)) for part in parts(places)]
        assert found == list(range(1 << len(places)))


def test_a_value_takes_as_few_bits_as_can_hold_it():
    encoding = Encoding((1, 2, 3, 4, 5, 17))
    assert encoding.widths == (0, 1, 2, 2, 3, 5)
    assert encoding.places((1, 2)) == (0, 1, 2)
    assert encoding.places((0,)) == ()
    assert list(encoding.possible((2, 1))) == [0, 1, 2, 3, 4, 5]
    assert list(encoding.possible((1, 2))) == [0, 1, 2, 4, 5, 6]
    assert encoding.possible(tuple(range(6))).size == 1 * 2 * 3 * 4 * 5 * 17


def test_marginals_of_values_come_back_from_marginals_of_bits():
    sizes = (3, 1, 2, 5)
    source, encoding = RowsSource(sizes, rows_of(sizes, 300)), Encoding(sizes)
    for size in range(5):
        for marginal in itertools.combinations(range(4), size):
            table = invert(source.exact_parities(parts(encoding.places(marginal))))
            assert np.array_equal(table[encoding.possible(marginal)].sum(), 300)
            exact = source.exact_marginal(marginal)
            assert np.array_equal(fold(table, encoding, marginal), exact)


@pytest.mark.parametrize("size", range(1, 10))
def test_folding_loses_nothing_and_makes_nothing_negative(size):
    encoding = Encoding((size,))
    full = 1 << encoding.widths[0]
    spread = np.stack([fold(row, encoding, (0,)) for row in np.eye(full, dtype=np.int64)])
    assert spread.shape == (full, size)
    assert (spread.sum(axis=1) == 1).all()
    assert (spread >= 0).all()
    assert np.array_equal(spread[:size], np.eye(size))
    assert spread.sum(axis=0).max() <= 2


def test_folded_marginals_agree_exactly():
    encoding = Encoding((3, 5, 2))
    table = DRAW.integers(-99, 99, 4 * 8 * 2)
    whole = fold(table, encoding, (0, 1, 2))
    padded = table.reshape(4, 8, 2)
    assert np.array_equal(whole.sum(axis=1), fold(padded.sum(axis=1), encoding, (0, 2)))
    assert np.array_equal(whole.sum(axis=(0, 2)), fold(padded.sum(axis=(0, 2)), encoding, (1,)))
