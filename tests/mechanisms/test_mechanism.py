"""The functions that open sealed values: noise is added, nothing overflows, no order leaks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from seeded import SeededBits

from adomnia.mechanisms.quantiles.quantile import Share
from adomnia.mechanisms.sealed_noise import (
    add_gaussian,
    add_laplace,
    choose_quantiles,
    select_keys,
    select_partitions,
)
from adomnia.schema.sealed import Sealed

ADDERS = [add_laplace, add_gaussian]


@pytest.mark.parametrize("add", ADDERS)
@pytest.mark.parametrize("shape", [(0,), (1,), (4, 5), (1000,)])
def test_noise_keeps_the_shape_and_the_centre(add, shape):
    noisy = add(Sealed(np.full(shape, 10**9)), Fraction(4), SeededBits(1))
    assert noisy.shape == shape
    assert noisy.dtype == np.int64
    assert np.all(np.abs(noisy - 10**9) < 200)
    assert noisy.size < 1000 or len(set(noisy.tolist())) > 5


@pytest.mark.parametrize("add", ADDERS)
def test_scale_zero_returns_public_values(add):
    assert add(Sealed(np.array([1, 2, 3])), Fraction(0)).tolist() == [1, 2, 3]


@pytest.mark.parametrize("add", ADDERS)
@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), 10**40])
def test_sums_never_overflow(add, value):
    kind = np.int64 if abs(value) <= 2**63 else object
    noisy = add(Sealed(np.full(300, value, kind)), Fraction(100), SeededBits(2))
    assert noisy.dtype == object
    assert all(abs(each - value) < 10**4 for each in noisy)
    assert {each > value for each in noisy} == {True, False}


@pytest.mark.parametrize("add", ADDERS)
def test_huge_noise_gives_python_integers(add):
    noisy = add(Sealed(np.array([1, 2, 3])), Fraction(10**60), SeededBits(3))
    assert noisy.dtype == object
    assert all(type(each) is int for each in noisy)


@pytest.mark.parametrize("add", ADDERS)
@pytest.mark.parametrize("kind", [float, object])
def test_floats_are_refused_without_being_shown(add, kind):
    with pytest.raises(TypeError, match="integers") as refusal:
        add(Sealed(np.array([123.25], kind)), Fraction(1))
    assert "123" not in str(refusal.value)


def test_a_vector_gets_independent_noise():
    noisy = add_laplace(Sealed(np.zeros(2000, np.int64)), Fraction(1000), SeededBits(4))
    assert abs(np.corrcoef(noisy[:-1], noisy[1:])[0, 1]) < 0.1


def test_one_quantile_for_every_cell():
    cells = {0: (np.array([3, 9]), np.array([50, 2])), 2: (np.array([7]), np.array([80]))}
    chosen = choose_quantiles(
        Sealed(cells), 4, 0, 1000, Share(Fraction(1, 2)), Fraction(2), SeededBits(5)
    )
    assert chosen.shape == (4,)
    assert chosen[0] == 3
    assert chosen[2] == 7
    assert all(0 <= each <= 1000 for each in chosen)


KEYS = ["b", "a", None, 7, ("x", 2), "c", 10]


def test_large_keys_are_kept_in_the_order_of_keys():
    counts = np.array([500, 600, 700, 800, 900, 1, 550])
    keys, places, noisy = select_keys(Sealed((KEYS, counts)), Fraction(2), 100, SeededBits(6))
    assert keys == [None, 10, 7, "a", "b", ("x", 2)]
    assert [KEYS[place] for place in places] == keys
    assert np.all(np.abs(noisy - counts[places]) < 100)
    same = select_partitions(Sealed((KEYS, counts)), Fraction(2), 100, SeededBits(6))
    assert same[0] == places
    assert same[1].tolist() == noisy.tolist()


def test_the_order_does_not_depend_on_the_rows():
    counts = np.full(len(KEYS), 1000)
    shown = [
        select_keys(Sealed((order, counts)), Fraction(1), 10, SeededBits(7))[0]
        for order in (KEYS, KEYS[::-1], sorted(KEYS, key=str))
    ]
    assert shown[0] == shown[1] == shown[2]


def test_small_keys_stay_hidden():
    sealed = Sealed((list(range(1000)), np.ones(1000, np.int64)))
    keys, places, noisy = select_keys(sealed, Fraction(1), 40, SeededBits(8))
    assert (keys, places, noisy.size) == ([], [], 0)


def test_no_keys_at_all():
    places, noisy = select_partitions(Sealed(([], np.zeros(0, np.int64))), Fraction(1), 5)
    assert places == []
    assert noisy.size == 0


def test_noisy_counts_below_the_threshold_never_leave():
    sealed = Sealed((list(range(2000)), np.full(2000, 20)))
    _, places, noisy = select_keys(sealed, Fraction(5), 20, SeededBits(9))
    assert 800 < len(places) < 1400
    assert noisy.min() == 20
