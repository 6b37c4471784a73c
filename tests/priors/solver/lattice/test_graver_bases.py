"""Graver bases against known sizes, against the definition, and against another program."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import numpy as np
import pytest

from adomnia.priors.solver.effort import STEPS, Effort
from adomnia.priors.solver.errors import ProgramFailed, TooLarge
from adomnia.priors.solver.lattice import fourtitwo
from adomnia.priors.solver.lattice.graver import basis, is_minimal

needs_4ti2 = pytest.mark.skipif(
    not fourtitwo.available(),
    reason="4ti2 is not installed; known sizes and the brute force below cover the same ground",
)


def margins(shape, sets):
    cells = list(itertools.product(*map(range, shape)))
    return np.array(
        [
            [all(cell[a] == v for a, v in zip(axes, values, strict=True)) for cell in cells]
            for axes in sets
            for values in itertools.product(*(range(shape[a]) for a in axes))
        ],
        dtype=np.int64,
    )


def one_way(shape):
    return margins(shape, [(axis,) for axis in range(len(shape))])


def two_way(shape):
    return margins(shape, list(itertools.combinations(range(len(shape)), 2)))


def as_set(rows):
    return {max(tuple(row), tuple(-x for x in row)) for row in rows.tolist()}


KNOWN = [
    (one_way((5, 5)), 3940, 1, 10),
    (two_way((2, 3, 4)), 42, 1, 12),
    (two_way((3, 3, 3)), 795, 2, 24),
    (margins((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3)]), 188, 2, 10),
    (one_way((2, 3, 3)), 2352, 3, 12),
    (one_way((2, 2, 2)), 20, 2, 6),
    (one_way((2, 2, 5)), 1385, 2, 8),
    (two_way((2, 2, 2, 2)), 140, 3, 18),
]


@pytest.mark.parametrize(("matrix", "count", "entry", "length"), KNOWN)
def test_known_sizes(matrix, count, entry, length):
    found = basis(matrix)
    assert len(found) == len(as_set(found)) == count
    assert np.abs(found).max() == entry
    assert np.abs(found).sum(axis=1).max() == length
    assert not (found @ matrix.T).any()


def by_definition(matrix, reach):
    """All minimal kernel vectors with entries up to `reach`, by comparing all with all."""
    cells = matrix.shape[1]
    box = np.array(list(itertools.product(range(-reach, reach + 1), repeat=cells)))
    inside = box[~(box @ matrix.T).any(axis=1) & box.any(axis=1)]
    minimal = []
    for g in inside:
        divides = ((inside * g >= 0) & (np.abs(inside) <= np.abs(g))).all(axis=1)
        if divides.sum() == 1:
            minimal.append(g)
    return as_set(np.array(minimal).reshape(-1, cells))


def random_systems(seed, count, least=-2):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        rows, cells = rng.integers(1, 4), rng.integers(2, 6)
        yield rng.integers(rng.choice([0, least]), 3, (rows, cells))


def test_the_definition_agrees():
    compared = 0
    for matrix in random_systems(7, 60):
        found = basis(matrix)
        reach = 4
        small = found[np.abs(found).max(axis=1, initial=0) <= reach]
        assert as_set(small) == by_definition(matrix, reach)
        compared += len(small) > 0
    assert compared > 40


@needs_4ti2
def test_another_program_agrees():
    for matrix in [one_way((2, 3, 3)), two_way((3, 3, 3)), *random_systems(3, 80, -4)]:
        assert as_set(basis(matrix)) == as_set(basis(matrix, method="4ti2"))


def test_lattices_without_units_are_lifted_through_their_divisors():
    matrix = np.array([[2, 3, 5, 7]])
    assert as_set(basis(matrix)) == by_definition(matrix, 7)
    assert len(basis(np.array([[4, 6], [2, 3]]))) == 1


def test_more_than_32_cells_need_more_than_one_word():
    matrix = two_way((2, 4, 5))
    doubled = np.kron(np.eye(2, dtype=np.int64), two_way((2, 3, 4)))
    assert len(basis(doubled)) == 2 * 42
    found = basis(matrix)
    assert np.abs(found).max() == 1
    assert all(is_minimal(matrix, g) for g in found[::40])


def test_too_large_is_said():
    with pytest.raises(TooLarge, match="rows"):
        basis(one_way((5, 5)), most=1000)
    with pytest.raises(TooLarge, match="steps"):
        basis(one_way((3, 3, 4)), effort=Effort(100_000_000))


def test_nothing_moves_or_everything():
    assert basis(np.eye(3, dtype=np.int64)).shape == (0, 3)
    assert as_set(basis(np.zeros((1, 2), np.int64))) == {(1, 0), (0, 1)}


@pytest.mark.parametrize("matrix", [two_way((3, 3, 3)), one_way((2, 3, 3)), one_way((4, 4))])
def test_minimal_ones_are_told_from_sums(matrix):
    found = basis(matrix)
    known = as_set(found)
    rng = np.random.default_rng(0)
    assert all(is_minimal(matrix, g) for g in found[:: max(1, len(found) // 40)])
    for first, second in rng.integers(len(found), size=(60, 2)):
        g = found[first] + found[second]
        assert is_minimal(matrix, g) is (bool(g.any()) and as_set(g[None]) <= known)


def test_minimal_is_not_said_of_what_is_not_in_the_kernel():
    matrix = one_way((2, 2))
    assert is_minimal(matrix, [1, 0, 0, 0]) is False
    assert is_minimal(matrix, [0, 0, 0, 0]) is False
    assert is_minimal(matrix, [2, -2, -2, 2]) is False
    assert is_minimal(matrix, [1, -1, -1, 1]) is True


def test_an_undecided_search_says_so():
    matrix = one_way((4, 4))
    g = np.zeros((4, 4), np.int64)
    g[:2, :2] = g[2:, 2:] = [[1, -1], [-1, 1]]
    assert is_minimal(matrix, g.ravel(), effort=Effort(0)) is None
    assert is_minimal(matrix, g.ravel()) is False


def test_the_other_program_may_be_missing(monkeypatch):
    monkeypatch.setattr(fourtitwo.shutil, "which", lambda name: None)
    assert not fourtitwo.available()
    with pytest.raises(ProgramFailed, match="not installed"):
        basis(one_way((2, 2)), method="4ti2")


def pretend(monkeypatch, text):
    """The other program replaced by one that writes `text`."""

    def run(command, cwd, **rest):
        Path(cwd, "system.gra").write_text(text, encoding="ascii")
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(fourtitwo.shutil, "which", lambda name: "/bin/" + name)
    monkeypatch.setattr(fourtitwo.subprocess, "run", run)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1 4\n1 0 0 0\n", "outside the kernel"),
        ("1 4\n0 0 0 0\n", "zero"),
        ("2 4\n1 -1 -1 1\n2 -2 -2 2\n", "not minimal"),
        ("1 3\n1 -1 0\n", "another shape"),
    ],
)
def test_what_the_other_program_writes_is_not_trusted(monkeypatch, text, problem):
    pretend(monkeypatch, text)
    with pytest.raises(ProgramFailed, match=problem):
        basis(one_way((2, 2)), method="4ti2")


@pytest.mark.slow
def test_large_bases():
    assert len(basis(one_way((2, 3, 4)), effort=Effort(100 * STEPS))) == 26_178
    assert len(basis(two_way((3, 3, 4)), effort=Effort(100 * STEPS))) == 19_722
