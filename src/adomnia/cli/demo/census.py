"""A made-up census: nobody in it exists, but its columns hang together as in a real one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow

__all__ = ["census_rows", "write_census"]

CHUNK = 50_000
REGIONS = np.array([
    "Ardmoor", "Belcastra", "Corvale", "Dunmere", "Eskerby", "Fenwick",
    "Galloch", "Harrowen", "Inverlay", "Jorvale", "Kelsing", "Lormont",
])  # fmt: skip
EDUCATION = np.array([
    "none", "primary", "secondary", "vocational", "bachelor", "master", "doctorate",
])  # fmt: skip
WORK = np.array([
    "farming", "manual", "crafts", "care", "sales",
    "office", "technical", "teaching", "science", "management",
])  # fmt: skip
# Rows: education; columns: occupation.
_CHANCES = np.array([
    [4, 8, 2, 2, 3, 1, 0, 0, 0, 0],
    [4, 9, 4, 3, 4, 1, 0, 0, 0, 0],
    [2, 4, 4, 4, 6, 5, 2, 0, 0, 1],
    [2, 3, 9, 5, 3, 3, 5, 0, 0, 1],
    [0, 0, 1, 3, 3, 6, 5, 4, 2, 4],
    [0, 0, 0, 1, 1, 4, 5, 5, 5, 6],
    [0, 0, 0, 1, 0, 1, 3, 4, 10, 5],
], dtype=float)  # fmt: skip
_PAY = np.array([0.7, 0.8, 1.0, 0.85, 0.85, 1.0, 1.25, 1.1, 1.3, 1.7])
_BASE = np.array([17_000, 19_000, 24_000, 27_000, 36_000, 43_000, 52_000])

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def write_census(path: Path, rows: int, done: Callable[[int], object], seed: int = 1) -> None:
    """Write so many made-up people to a Parquet file; `done` hears of each part."""
    from pyarrow import parquet  # noqa: PLC0415 (slow)

    chance = np.random.default_rng(seed)  # made-up people, not noise
    first = census_rows(0, 0, chance)
    with parquet.ParquetWriter(path, first.schema) as writer:
        for start in range(0, rows, CHUNK):
            count = min(CHUNK, rows - start)
            writer.write_table(census_rows(start, count, chance))
            done(count)


def census_rows(start: int, count: int, chance: np.random.Generator) -> pyarrow.Table:
    """Made-up people, numbered from `start`."""
    import pyarrow  # noqa: PLC0415 (slow)

    sex = chance.integers(0, 2, count)
    age = _ages(count, chance, sex)
    region = np.minimum(chance.geometric(0.16, count) - 1, len(REGIONS) - 1)
    education = _education(age, region, chance)
    work = _occupation(education, chance)
    employed = (age >= 18) & (age < 67) & (chance.random(count) < 0.86)
    pay = _BASE[education] * _PAY[work] * (1.1 - 0.015 * region) * (0.93 + 0.11 * sex)
    income = _income(age, pay, employed, chance)
    occupation = np.where(employed, WORK[work], _idle(age))
    return pyarrow.table({
        "person_id": np.arange(start, start + count) + 1,
        "household_id": (np.arange(start, start + count) * 2) // 5 + 1,
        "sex": np.array(["F", "M"])[sex],
        "age": age,
        "region": REGIONS[region],
        "education": EDUCATION[education],
        "occupation": occupation.astype(str),
        "income": income,
    })  # fmt: skip


def _ages(count: int, chance: np.random.Generator, sex: Whole) -> Whole:
    """A pyramid that thins out from sixty on, for women a little later."""
    young = chance.integers(0, 65, count)
    old = 60 + chance.gamma(2.2, 7.5 - sex, count)
    ages: Whole = np.where(chance.random(count) < 0.78, young, np.minimum(old, 105))
    return ages.astype(np.int64)


def _education(age: Whole, region: Whole, chance: np.random.Generator) -> Whole:
    """Younger generations and towns went to school longer; nobody is ahead of his age."""
    spread = chance.normal(3.3 - 0.02 * np.maximum(age - 30, 0) - 0.04 * region, 1.4)
    limit = np.select([age < 6, age < 12, age < 18, age < 21, age < 24, age < 28],
                      [0, 0, 1, 3, 4, 5], 6)  # fmt: skip
    level: Whole = np.clip(np.rint(spread), 0, limit).astype(np.int64)
    return level


def _occupation(education: Whole, chance: np.random.Generator) -> Whole:
    shares = np.cumsum(_CHANCES / _CHANCES.sum(axis=1, keepdims=True), axis=1)
    drawn = chance.random(len(education))[:, None]
    work: Whole = np.minimum((drawn > shares[education]).sum(axis=1), len(WORK) - 1)
    return work


def _income(
    age: Whole, pay: Floats, employed: NDArray[np.bool_], chance: np.random.Generator
) -> Whole:
    """Pay grows with experience; a pension is less of it, and children have none."""
    full = pay * (1 + 0.35 * np.clip(age - 20, 0, 30) / 30)
    pension = np.where(age >= 67, 0.45 * full, np.where(age >= 18, 6_000.0, 0.0))
    drawn = np.where(employed, full, pension) * chance.lognormal(0, 0.38, len(age))
    whole: Whole = np.clip(np.rint(drawn / 10) * 10, 0, 400_000).astype(np.int64)
    return whole


def _idle(age: Whole) -> NDArray[np.str_]:
    return np.select([age < 6, age < 18, age >= 67], ["child", "pupil", "retired"], "none")
