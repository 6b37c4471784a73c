"""Whatever the noise is, what was paid for is answered: nothing fails after the debit."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import numpy as np
import pytest
from far_tails import FAR, far_tails
from hypothesis import example, given, settings
from hypothesis import strategies as some
from town import Town, write_people

import adomnia
from adomnia.marginals import release
from adomnia.marginals.paper.fourier import METHODS

AMOUNTS = ("1/1000000", "1/1000", "1", "80", "10000", "1000000")
PATTERNS = some.lists(some.sampled_from(FAR), min_size=1, max_size=7)

ADDITIVE = [
    "SELECT COUNT(*) AS n FROM people",
    "SELECT sex, region, COUNT(*) AS n, SUM(income) AS s FROM people GROUP BY sex, region",
    "SELECT AVG(income) AS a, STDDEV(income) AS d, VAR_SAMP(age) AS v FROM people",
    "SELECT region, AVG(age) AS a, VAR_POP(income * income) AS v FROM people GROUP BY region",
    "SELECT AVG(age * age * age * income * income * income) AS a FROM people",
    "SELECT SUM(income) / COUNT(*) AS q, SQRT(SUM(age)) AS r FROM people "
    "HAVING COUNT(*) > 0 OR COUNT(*) <= 0",
    "SELECT COUNT(*) FILTER (WHERE age > 40) AS a, SUM(age) FILTER (WHERE sex = 'F') AS b "
    "FROM people WHERE income > 100",
]  # fmt: skip
ASKED = [
    *ADDITIVE,
    "SELECT COUNT(DISTINCT region) AS n, MODE(sex) AS m FROM people",
    "SELECT MEDIAN(age) AS m, MIN(income) AS low, MAX(income) AS high FROM people",
]


@contextmanager
def opened() -> Iterator[adomnia.Database]:
    """The town with a new ledger: nothing is known that could be answered again."""
    with TemporaryDirectory() as folder:
        write_people(Path(folder), 200)
        with Town(Path(folder), []).open("epsilon = 1e30\ndelta = 1e-6") as database:
            yield database


def is_plain(value) -> bool:
    return value is None or isinstance(value, str | int) or not math.isnan(float(value))


def check(answer) -> None:
    json.dumps(answer.to_json())
    assert all(is_plain(value) for row in answer.rows for value in row)
    assert all(m is None or m >= 0 for column in answer.margins.values() for m in column)


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@settings(max_examples=10)
@given(pattern=PATTERNS, amount=some.sampled_from(AMOUNTS))
@example(pattern=[0], amount="1000000")
@example(pattern=[740], amount="1/1000000")
@example(pattern=[-740], amount="1/1000000")
@example(pattern=[740, -740, 740], amount="1/1000000")
@example(pattern=[-740, -740, 740], amount="1")
def test_every_question_bears_every_noise(currency, pattern, amount):
    with opened() as database, far_tails(pattern):
        for sql in ASKED if currency == "epsilon" else ADDITIVE:
            check(database.session().ask(sql, **{currency: Fraction(amount)}))


RELEASES = [
    {},
    {"unbiased": True},
    *({"method": method} for method in METHODS),
]


@pytest.mark.parametrize("how", RELEASES, ids=lambda how: how.get("method", str(how)))
@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@settings(max_examples=4)
@given(pattern=PATTERNS, amount=some.sampled_from(AMOUNTS))
@example(pattern=[0], amount="1000000")
@example(pattern=[740], amount="1/1000")
@example(pattern=[-740], amount="1/1000000")
@example(pattern=[-740, -740, 740], amount="1")
def test_every_release_bears_every_noise(how, currency, pattern, amount):
    asked = ["sex", "region", "sex,region"]
    with opened() as database, far_tails(pattern):
        paid = {currency: Fraction(amount)}
        planned = database.plan_release(marginals=asked, accept=True, **paid, **how)
        with mock.patch.object(release, "MOST_VALUES", 1 << 18):  # else it takes gigabytes
            made = database.release(planned)
    for subset, table in made.tables.items():
        assert np.isfinite(table.astype(float)).all()
        assert np.isfinite(made.margins[subset]).all()
        assert (made.margins[subset] >= 0).all()


def test_records_of_noise_alone_are_refused_before_they_are_paid():
    with opened() as database:
        with pytest.raises(adomnia.QuestionError, match="noise alone"):
            database.plan_release(marginals=["sex", "region"], epsilon=Fraction(1, 10**9))
        assert database.budget()["data"]["spent"] == "0"
        database.plan_release(marginals=["sex"], epsilon=Fraction(1, 10**9), unbiased=True)


@pytest.mark.parametrize("neighbors", ["edge", "node"])
@settings(max_examples=6)
@given(pattern=PATTERNS, amount=some.sampled_from(AMOUNTS[1:]))
@example(pattern=[740], amount="1/1000")
@example(pattern=[-740], amount="1/1000")
def test_every_question_about_a_graph_bears_every_noise(neighbors, pattern, amount):
    with TemporaryDirectory() as folder:
        Path(folder, "edges.txt").write_text("".join(f"{i} {i * i % 30}\n" for i in range(90)))
        graph = f'[graph]\nedges = "edges.txt"\nids = [0, 29]\nneighbors = "{neighbors}"\n'
        bound = "degree_bound = 9\n" if neighbors == "node" else ""
        policy = Path(folder, "adomnia.toml")
        policy.write_text(f"[privacy]\nepsilon = 1e30\nconfirmed = true\n{graph}{bound}")
        with adomnia.open_graph(policy) as network, far_tails(pattern):
            for asked in ("edges", "triangles", "2-stars", "9-stars", "degree sequence"):
                check(network.session().ask(asked, Fraction(amount)))
