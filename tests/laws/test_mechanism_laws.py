"""The laws of mechanisms: what they say of themselves is plain, whole, and read back as it was."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import adomnia
from adomnia.curator.planning.plan import LossRequest, make_plan
from adomnia.curator.releases.release import release_mechanism
from adomnia.curator.releases.release_plan import ReleaseSpec, plan_release
from adomnia.mechanisms.choices.choice_mechanisms import AboveBar, AuctionPrice, LargestCount
from adomnia.mechanisms.choices.scan_mechanisms import BoundScan
from adomnia.mechanisms.mechanism import Mechanism
from adomnia.privacy.loss import Loss
from adomnia.privacy.reads import UnitPeaks
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Counts
from adomnia.queries.ranges import from_domain
from adomnia.testing import mechanisms as laws

POLICY = """
[data]
source = "people.parquet"
table = "people"
[privacy]
confirmed = true
epsilon = 100000
delta = 1e-6
[attributes.sex]
values = ["F", "M"]
[attributes.age]
low = 0
high = 90
"""

STATEMENTS = [
    "SELECT COUNT(*) FROM people",
    "SELECT sex, COUNT(*), SUM(age), AVG(age), VAR_POP(age) FROM people GROUP BY sex",
    "SELECT COUNT(DISTINCT age), COUNT(*) FILTER (WHERE age > 9), COUNT_IF(age < 5) FROM people",
    "SELECT MEDIAN(age), MIN(age), QUANTILE(age, 0.9) FROM people",
    "SELECT age / 30, MODE(sex) FROM people GROUP BY 1",
    "SELECT city, COUNT(*), SUM(age) FROM people GROUP BY city",
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[adomnia.Database]:
    folder: Path = tmp_path_factory.mktemp("laws")
    sexes, ages = ["F", "M", None, "F"] * 20, [3, None, 90, 1000] * 20
    table = pa.table({"sex": sexes, "age": ages, "city": ["Rome", "Linz"] * 40})
    pq.write_table(table, folder / "people.parquet")
    (folder / "adomnia.toml").write_text(POLICY)
    with adomnia.open(folder / "adomnia.toml") as opened:
        yield opened


def planned(database: adomnia.Database) -> Iterator[Mechanism[Any]]:
    """One of every kind."""
    policy = database.policy
    for sql in STATEMENTS:
        for asked in (LossRequest(Fraction(1)), LossRequest(None, Fraction(1, 2))):
            yield from make_plan(database.bind(sql), policy, asked).mechanisms
    yield from make_plan(
        database.bind("SELECT MIN(age) FROM people"),
        policy,
        LossRequest(Fraction(6), None, Fraction(1, 10**6), "value"),
    ).mechanisms
    for loss in ((Fraction(6), None), (None, Fraction(1, 2))):
        asked = LossRequest(*loss, None, "interval", 0.9)
        yield from make_plan(database.bind(STATEMENTS[3]), policy, asked).mechanisms
    counts = Counts((None, database.bind("SELECT COUNT(*) FROM people WHERE age > 9").where))
    yield LargestCount(counts, Fraction(1), 1)
    yield AboveBar(counts, Fraction(1), 1, bar=30, cutoff=1)
    yield AuctionPrice(counts, Fraction(1), 1, prices=(3, 5))
    column = Column("age", from_domain(policy.attributes["age"].domain))
    yield BoundScan(UnitPeaks(column, (1, 5, 50)), Fraction(1))
    for method in ("microdata", "fourier"):
        order = ReleaseSpec(Loss.pure(Fraction(1)), marginals=(("sex",),), method=method)
        yield release_mechanism(database._backend, plan_release(database._backend, order))


def test_every_mechanism_keeps_the_protocol(database: adomnia.Database) -> None:
    kinds = set()
    for mechanism in planned(database):
        kinds.add(type(mechanism).__name__)
        laws.says_plainly_what_it_is(mechanism)
    assert kinds == {
        "AddedNoise", "ExponentialQuantile", "SmoothQuantile", "PermutedMode", "SelectedKeys",
        "IntervalQuantile", "LargestCount", "AboveBar", "AuctionPrice", "BoundScan", "CoreRelease",
        "ParityRelease",
    }  # fmt: skip


def test_what_is_released_is_read_back_as_it_was(database: adomnia.Database) -> None:
    for mechanism in planned(database):
        assert mechanism.reads is not None
        backend = database._backend
        (sealed,) = backend.read([mechanism.reads], backend.version())
        laws.is_read_back_as_it_was(mechanism, sealed)


def test_the_same_question_has_the_same_record(database: adomnia.Database) -> None:
    assert len(list(planned(database))) > 20
    laws.has_the_same_record(lambda: planned(database))
