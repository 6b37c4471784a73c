"""The laws of the paper's release: whatever is asked, the tables agree, sum alike and are whole.

Every method, kind of noise and kind of neighbour on random workloads; the figures are exact
comparisons, without a tolerance.
"""

from __future__ import annotations

import itertools
import math
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from adomnia.marginals.paper.fourier import METHODS, Options, release_fourier
from adomnia.marginals.workload import Workload

sys.path.insert(0, str(Path(__file__).parents[1] / "marginals"))
paper = import_module("paper_source")

PROGRAMS = ("fourier-lp", "marginals-lp")
PROMISES = [
    paper.pure("1/2"),
    paper.pure(3, "bounded"),
    paper.pure(1, "attribute"),
    paper.pure(2, "unbounded", rows=3),
    paper.pure(1, "bounded", sensitive=(0,)),
    paper.concentrated("1/20"),
    paper.concentrated(1, "bounded", group=2),
    paper.concentrated("1/4", "bounded", sensitive=(0, 1)),
]


@some.composite
def workloads(draw):
    sizes = tuple(draw(some.lists(some.integers(1, 5), min_size=2, max_size=4)))
    every = [
        part for ways in range(len(sizes) + 1)
        for part in itertools.combinations(range(len(sizes)), ways)
        if math.prod(sizes[place] for place in part) <= 40
    ]  # fmt: skip
    wanted = draw(some.lists(some.sampled_from(every), min_size=1, max_size=4, unique=True))
    return Workload(tuple(map(str, range(len(sizes)))), sizes, tuple(wanted))


def released(workload, promise, method, seed):
    source = paper.RowsSource(workload.sizes, paper.rows_of(workload.sizes, 30, seed))
    options = Options(method=method)
    return release_fourier(workload, source, promise, options, paper.seeded(seed))


def summed(table, marginal, part):
    return table.sum(axis=tuple(axis for axis, name in enumerate(marginal) if name not in part))


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(some.data())
def test_tables_agree_exactly_wherever_they_overlap(method, data):
    workload = data.draw(workloads())
    promise, seed = data.draw(some.sampled_from(PROMISES)), data.draw(some.integers(0, 99))
    found = released(workload, promise, method, seed)
    assert tuple(found.marginals) == workload.marginals
    assert set(found.bound) == set(workload.marginals)
    for (one, left), (other, right) in itertools.combinations(found.marginals.items(), 2):
        part = tuple(sorted(set(one) & set(other)))
        assert np.array_equal(summed(left, one, part), summed(right, other, part))
    assert len({float(table.sum()) for table in found.marginals.values()}) == 1
    for marginal, table in found.marginals.items():
        assert table.shape == workload.shape(marginal)
    if method in PROGRAMS:
        whole(workload, found)


def whole(workload, found):
    """What a linear program promises: whole numbers, none negative, all from one table."""
    table = found.table
    assert table.shape == workload.shape(found.axes)
    assert table.dtype.kind == "i"
    assert (table >= 0).all()
    for marginal, published in found.marginals.items():
        assert np.array_equal(summed(table, found.axes, marginal), published)
    assert set(found.theorem) == set(workload.marginals)


@pytest.mark.parametrize("promise", PROMISES)
def test_measured_numbers_are_whole_and_say_which_are_noisy(promise):
    workload = Workload(("a", "b", "c"), (2, 3, 2), ((0, 1), (2,)))
    for method in METHODS:
        measured = released(workload, promise, method, 1).measured
        assert measured.values.dtype == np.int64
        assert measured.values.shape == measured.noisy.shape
        assert measured.noisy.any()
        assert measured.noise.parameter > 0


@pytest.mark.parametrize("method", METHODS)
def test_the_release_is_a_function_of_what_was_measured(method):
    workload = Workload(("a", "b", "c"), (2, 3, 2), ((0, 1), (1, 2)))
    first, second = (released(workload, PROMISES[0], method, 5) for _ in range(2))
    for marginal, table in first.marginals.items():
        assert np.array_equal(table, second.marginals[marginal])
    assert (first.bound, first.notes) == (second.bound, second.notes)
