"""A published table costs nothing at any size, before it is out and after."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import pytest

import adomnia
from adomnia.errors import QuestionError

NAMES = ("a", "b", "c")


def opened(folder: Path, sizes: tuple[int, int, int], neighbors: str = "unbounded"):
    with open(folder / "t.csv", "w", newline="") as file:
        rows = [[i * (k + 2) % n for k, n in enumerate(sizes)] for i in range(200)]
        csv.writer(file).writerows([NAMES, *rows])
    parts = [
        f"[attributes.{name}]\nvalues = {list(range(n))}\n"
        for name, n in zip(NAMES, sizes, strict=True)
    ]
    (folder / "adomnia.toml").write_text(
        '[data]\nsource = "t.csv"\ntable = "t"\n[privacy]\nepsilon = 1\nconfirmed = true\n'
        f'neighbors = "{neighbors}"\n' + "".join(parts)
    )
    return adomnia.open(folder / "adomnia.toml")


def table(*names: str) -> str:
    keys = ", ".join(names)
    return f"SELECT {keys}, COUNT(*) AS n FROM t GROUP BY {keys}"


@pytest.mark.parametrize("sizes", [(4, 5, 8), (8, 20, 38)])
def test_what_was_answered_and_is_then_published_costs_what_it_did(tmp_path: Path, sizes):
    with opened(tmp_path, sizes) as database:
        database.session().ask(table("a", "b"), epsilon=Fraction(1, 10))
        for pair in (("a", "b"), ("b", "c"), ("a", "c")):
            found = database.add_prior(table(*pair))
            assert found.after.epsilon == Fraction(1, 10)
        for again in (table("a", "b"), table("b", "a"), table("c"), "SELECT COUNT(*) AS n FROM t"):
            with pytest.raises(QuestionError, match="already public"):
                database.session().plan(again, epsilon=1)
        assert database._backend.journal.account().total.epsilon == Fraction(1, 10)


@pytest.mark.parametrize("neighbors", ["unbounded", "bounded"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(1000) FILTER (WHERE b = 2) AS n FROM t",
        "SELECT SUM(COALESCE(b, 1)) AS n FROM t",
        "SELECT COUNT(*) FILTER (WHERE COALESCE(b, 1) = 1 OR b = 2) AS n FROM t",
        "SELECT COALESCE(b, 1) AS b, COUNT(*) AS n FROM t GROUP BY 1",
    ],
)
def test_beside_a_release_what_may_be_asked_is_answered(tmp_path: Path, sql: str, neighbors: str):
    with opened(tmp_path, (2, 4, 2), neighbors) as database:
        database.add_prior(table("a"))
        assert database.session().ask(sql, epsilon=Fraction(1, 10)).rows
        assert database._backend.journal.account().total.epsilon == Fraction(1, 10)
