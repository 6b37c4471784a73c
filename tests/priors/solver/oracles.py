"""Graver bases from outside the package: by Pottier's completion, and by 4ti2 where it is.

A Graver basis holds the whole vectors of the kernel that are no sum of two others of the kernel
with the same signs. They are the differences of neighbours when the released values are unknown.
"""

from __future__ import annotations

import heapq
import itertools
import math
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from literal import Public, parts, smallest

PROGRAM = shutil.which("4ti2-graver")


def kernel(rows: np.ndarray) -> np.ndarray:
    """A lattice basis of the whole vectors that the rows send to zero (Euclid on the columns)."""
    count, cells = rows.shape
    work = np.hstack([rows.T, np.eye(cells, dtype=np.int64)]).astype(object)
    done = 0
    for row in range(count):
        while True:
            live = [i for i in range(done, cells) if work[i, row]]
            if len(live) < 2:
                break
            least = min(live, key=lambda i: abs(work[i, row]))
            for i in set(live) - {least}:
                work[i] -= work[i, row] // work[least, row] * work[least]
        if live:
            work[[done, live[0]]] = work[[live[0], done]]
            done += 1
    return work[done:, count:].astype(np.int64)


def completed(rows: np.ndarray) -> np.ndarray:
    """The Graver basis, both signs: sums of pairs are reduced, short ones first, until none is new.

    Pairs that nowhere have other signs need no look: their sum is reduced by themselves.
    """
    found = np.zeros((0, rows.shape[1]), dtype=np.int64)
    waiting: list[tuple[int, tuple[int, ...]]] = []
    for step in kernel(rows):
        _wait(waiting, step[None])
    while waiting:
        rest = _reduced(np.array(heapq.heappop(waiting)[1]), found)
        if rest.any():
            for step in (rest, -rest):
                _wait(waiting, found[(found * step < 0).any(axis=1)] + step)
                found = np.vstack([found, step])
    return smallest(np.unique(found, axis=0))


def _wait(waiting: list, sums: np.ndarray) -> None:
    """Puts sums in line by their size."""
    for size, step in zip(abs(sums).sum(axis=1), sums, strict=True):
        heapq.heappush(waiting, (int(size), tuple(map(int, step))))


def _reduced(step: np.ndarray, found: np.ndarray) -> np.ndarray:
    """What is left when parts of the step that are already there are taken away."""
    while step.any():
        inside = ((found * step >= 0) & (abs(found) <= abs(step))).all(axis=1)
        if not inside.any():
            return step
        step = step - found[inside.argmax()]
    return step


def from_4ti2(rows: np.ndarray, seconds: float = 60) -> np.ndarray:
    """The Graver basis, both signs, by the program of 4ti2."""
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join(" ".join(map(str, row)) for row in rows)
        (Path(folder) / "known.mat").write_text(f"{len(rows)} {rows.shape[1]}\n{text}\n")
        command = [PROGRAM, "-q", "--precision=gmp", "known"]
        subprocess.run(command, cwd=folder, check=True, timeout=seconds, capture_output=True)
        numbers = (Path(folder) / "known.gra").read_text().split()
    half = np.array(numbers[2:], dtype=np.int64).reshape(-1, rows.shape[1])
    return np.vstack([half, -half])


def graver(rows: np.ndarray) -> np.ndarray:
    """The Graver basis, both signs, by whichever oracle there is."""
    rows = np.array(rows, dtype=np.int64)
    if not rows.any():
        return np.vstack([sign * np.eye(rows.shape[1], dtype=np.int64) for sign in (1, -1)])
    return from_4ti2(rows) if PROGRAM else completed(rows)


def vectors(basis) -> set[tuple[int, ...]]:
    """A basis as a set with both signs."""
    return {tuple(int(s * x) for x in step) for step in np.asarray(basis) for s in (1, -1)}


def possible_steps(public: Public) -> set[tuple[int, ...]]:
    """The basis of the rows, without steps on forbidden cells and those that no table allows.

    Only for rows that are exact or unknown.
    """
    allowed = [cell for cell in range(public.cells) if cell not in public.forbidden]
    found = set()
    for part in graver(public.rows[:, allowed]):
        step = np.zeros(public.cells, dtype=np.int64)
        step[allowed] = part
        if is_possible(public, step):
            found.add(tuple(map(int, step)))
    return found


def is_possible(public: Public, step) -> bool:
    """Whether a table that agrees with the given values has all that the step takes away."""
    given = [row for row, value in enumerate(public.values) if value is not None]
    rows = public.rows[given]
    takes = np.maximum(0, -np.asarray(step))
    rest = [public.values[row] - int(public.rows[row] @ takes) for row in given]
    if min(rest, default=0) < 0:
        return False
    touched = [c for c in range(public.cells) if rows[:, c].any() and c not in public.forbidden]
    return has_table(rows[:, touched], tuple(rest))


def has_table(rows: np.ndarray, values: tuple[int, ...]) -> bool:
    """Whether some table has these values exactly."""

    @cache
    def reach(cell: int, rest: tuple[int, ...]) -> bool:
        if min(rest, default=0) < 0:
            return False
        if cell == rows.shape[1]:
            return not any(rest)
        column = rows[:, cell]
        fewer = tuple(int(r - c) for r, c in zip(rest, column, strict=True))
        return reach(cell + 1, rest) or reach(cell, fewer)

    if (rows < 0).any():
        raise ValueError("only for rows without negative coefficients")
    return reach(0, values)


# How large tables must be for all differences to be seen


def circuits(rows: np.ndarray) -> list[np.ndarray]:
    """The kernel's vectors of smallest support, whole and without a common factor."""
    cells, found = rows.shape[1], []
    for size in range(1, np.linalg.matrix_rank(rows) + 2 if rows.size else 2):
        for support in itertools.combinations(range(cells), size):
            line = kernel(rows[:, support])
            if len(line) == 1 and line.all():
                step = np.zeros(cells, dtype=np.int64)
                step[list(support)] = line[0]
                found.append(step)
    return found


def enough(rows: np.ndarray) -> int:
    """A total up to which every difference of neighbours is seen when no value is given.

    Cells that both tables have can be taken out of both, so one table is the negative part of
    the step. The step is a sum of at most D circuits with its signs and weights from 0 to 1, D
    the dimension of the kernel, since a circuit with weight 1 would be a part of it.
    """
    halves = [max(step.clip(0).sum(), (-step).clip(0).sum()) for step in circuits(rows)]
    return len(kernel(rows)) * int(max(halves, default=0))


# Checking a step by itself


def is_minimal(rows: np.ndarray, step) -> bool:
    """Whether a step is of the kernel and no part of it is."""
    step = np.asarray(step)
    if not step.any() or (rows @ step).any():
        return False
    support = np.flatnonzero(step)
    line = kernel(rows[:, support])
    if len(line) == 1:
        return math.gcd(*map(int, step[support])) == 1
    if np.prod(abs(step[support]) + 1.0) > 2_000_000:
        raise ValueError("the step is too long to be checked part by part")
    tried = np.array(list(parts(step[support])), dtype=np.int64)
    return int((~(tried @ rows[:, support].T).any(axis=1)).sum()) == 2
