"""Beside exact releases a row without a listed value moves what is measured as noise covers it.

For pairs of tables whose rows with listed values agree with what is public, the exact vectors are
read as the mechanism reads them. Their difference must lie in the lattice of the noise, where it
is noise inside the kernel, and be no longer than what was priced.
"""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import adomnia
from adomnia.curator.planning.plan import LossRequest
from adomnia.curator.planning.strategy_noise import StrategyNoise
from adomnia.mechanisms.unseal import unseal
from adomnia.priors.solver.lattice.elimination import eliminate

SEX = "SELECT sex, COUNT(*) AS n FROM t GROUP BY sex"
QUESTIONS = (
    "SELECT edu, COUNT(*) AS n FROM t GROUP BY edu",
    "SELECT sex, edu, COUNT(*) AS n FROM t GROUP BY sex, edu",
    "SELECT COUNT(*) AS n FROM t WHERE edu = 'none'",
    "SELECT sex, SUM(age) AS n FROM t GROUP BY sex",
    "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM t GROUP BY sex",
)
ROWS = [("FM"[i % 2], ("none", "some")[i % 3 == 0], str(i % 4)) for i in range(12)]
CHANGES = {
    "a row with no sex comes": (ROWS, [*ROWS, ("", "none", "1")]),
    "a row with another sex comes": (ROWS, [*ROWS, ("X", "some", "3")]),
    "a row loses its edu": (ROWS, [(ROWS[0][0], "", "0"), *ROWS[1:]]),
    "a row has another edu": (ROWS, [(ROWS[0][0], "much", "0"), *ROWS[1:]]),
    "a row loses its age": (ROWS, [(*ROWS[3][:2], ""), *ROWS[:3], *ROWS[4:]]),
    "a row with nothing changes": ([*ROWS, ("", "", "")], [*ROWS, ("X", "none", "2")]),
}


def opened(folder: Path, rows: list[tuple[str, ...]], neighbors: str) -> adomnia.Database:
    folder.mkdir()
    with open(folder / "t.csv", "w", newline="") as file:
        csv.writer(file).writerows([("sex", "edu", "age"), *rows])
    (folder / "adomnia.toml").write_text(
        f'[data]\nsource = "t.csv"\ntable = "t"\n[privacy]\nepsilon = 9\nconfirmed = true\n'
        f'neighbors = "{neighbors}"\n[attributes.sex]\nvalues = ["F", "M"]\n'
        '[attributes.edu]\nvalues = ["none", "some"]\n[attributes.age]\nlow = 0\nhigh = 3\n'
    )
    database = adomnia.open(folder / "adomnia.toml")
    database.add_prior(SEX)
    return database


def vectors(database: adomnia.Database, sql: str) -> list[tuple[object, np.ndarray]]:
    """Every mechanism of the plan, and the exact values that it adds noise to."""
    found = []
    for mechanism in database.session()._plan(sql, LossRequest(epsilon=Fraction(1))).mechanisms:
        if mechanism.reads is None:
            continue
        (sealed,) = database._backend.read([mechanism.reads], database._backend.version())
        values = np.asarray(unseal(sealed)).reshape(-1).astype(object)
        way = mechanism.way if isinstance(mechanism, StrategyNoise) else None
        places = None if way is None or way.places is None else list(way.places)
        found.append((mechanism, values if places is None else values[places]))
    return found


@pytest.mark.parametrize("neighbors", ["unbounded", "bounded"])
@pytest.mark.parametrize("change", CHANGES)
def test_noise_covers_every_move(tmp_path: Path, change: str, neighbors: str):
    before, after = CHANGES[change]
    if neighbors == "bounded" and len(before) != len(after):
        before = [*before, ("", "", "")]
    with (
        opened(tmp_path / "one", before, neighbors) as one,
        opened(tmp_path / "two", after, neighbors) as two,
    ):
        for sql in QUESTIONS:
            pairs = zip(vectors(one, sql), vectors(two, sql), strict=True)
            for (mechanism, first), (_, second) in pairs:
                judge(mechanism, second - first)


def judge(mechanism, move: np.ndarray) -> None:
    assert sum(abs(int(x)) for x in move) <= mechanism.event.sensitivity
    basis = mechanism.way.measured.basis if isinstance(mechanism, StrategyNoise) else None
    if basis is not None:
        assert eliminate(basis.toarray().T, [int(x) for x in move]).solvable
