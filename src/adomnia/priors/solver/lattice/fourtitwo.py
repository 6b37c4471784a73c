"""The program 4ti2, where it is installed: a second way to Graver bases, never trusted blindly."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adomnia.priors.solver.errors import ProgramFailed, TooLarge

__all__ = ["PROGRAM", "available", "graver"]

PROGRAM = "4ti2-graver"
SAMPLED = 200
PATIENCE = 300
"""Seconds after which the program is stopped: an error, not a result."""
Integers = NDArray[np.int64]


def available() -> bool:
    """Whether the program is on the path."""
    return shutil.which(PROGRAM) is not None


def graver(matrix: Integers, most: int) -> Integers:
    """The Graver basis up to sign as the program lists it.

    That every row is a change no released row sees is verified; that rows are minimal is verified
    among themselves for a sample; that none is missing rests on the program.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise ProgramFailed(f"{PROGRAM} is not installed: use the method 'own'")
    with tempfile.TemporaryDirectory(prefix="adomnia-") as folder:
        place = Path(folder)
        (place / "system.mat").write_text(_written(matrix), encoding="ascii")
        try:
            subprocess.run(  # noqa: S603 - a fixed program and fixed words, no shell
                [program, "-q", "system"],
                cwd=place,
                check=True,
                capture_output=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            raise ProgramFailed(f"{PROGRAM} did not end in {PATIENCE} seconds") from None
        except subprocess.CalledProcessError as problem:
            raise ProgramFailed(f"{PROGRAM} failed with code {problem.returncode}") from None
        rows = _read((place / "system.gra").read_text(encoding="ascii"), matrix.shape[1])
    if len(rows) > most:
        raise TooLarge(f"more than {most} rows")
    _verify(matrix, rows)
    return rows


def _written(matrix: Integers) -> str:
    lines = [f"{matrix.shape[0]} {matrix.shape[1]}"]
    lines += [" ".join(str(entry) for entry in row) for row in matrix.tolist()]
    return "\n".join(lines) + "\n"


def _read(text: str, cells: int) -> Integers:
    words = text.split()
    count, width = int(words[0]), int(words[1])
    entries = [int(word) for word in words[2:]]
    if width != cells or len(entries) != count * width:
        raise ProgramFailed(f"{PROGRAM} wrote a matrix of another shape")
    return np.array(entries, dtype=np.int64).reshape(count, width)


def _verify(matrix: Integers, rows: Integers) -> None:
    """No row is seen by the system or zero; none of a sample divides, or equals, another row."""
    exact = matrix.astype(object)
    if len(rows) and ((rows.astype(object) @ exact.T) != 0).any():
        raise ProgramFailed(f"{PROGRAM} listed a row outside the kernel")
    if not rows.any(axis=1).all():
        raise ProgramFailed(f"{PROGRAM} listed zero")
    step = max(1, len(rows) // SAMPLED)
    for number in range(0, len(rows), step):
        row = rows[number]
        for turned in (rows, -rows):
            agree = np.sign(turned) * np.sign(row) >= 0
            divides = (agree & (np.abs(turned) <= np.abs(row))).all(axis=1)
            divides[number] = False
            if divides.any():
                raise ProgramFailed(f"{PROGRAM} listed a row that is not minimal")
