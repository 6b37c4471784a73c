"""A watched question: its stages are told, and it can be ended from another thread."""

from __future__ import annotations

import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from town import Town

from adomnia.curator.watch import Watch
from adomnia.errors import CancelledError, MachineryError

COUNT = "SELECT COUNT(*) FROM people"


def test_stages_are_told(town: Town) -> None:
    seen: list[str] = []
    town.open().session().ask(COUNT, epsilon=1, watch=Watch(seen.append))
    assert seen == ["planned", "paid", "answered"]


def test_before_it_is_paid_nothing_is_spent(town: Town) -> None:
    session, watch = town.open("epsilon = 2").session(), Watch()
    watch.cancel()
    with pytest.raises(CancelledError):
        session.ask(COUNT, epsilon=1, watch=watch)
    assert session.remaining()["epsilon"] == 2


def test_after_it_is_paid_it_stays_spent(town: Town) -> None:
    session = town.open("epsilon = 2").session()

    def tell(stage: str) -> None:
        if stage == "paid":
            watch.cancel()

    watch = Watch(tell)
    with pytest.raises(CancelledError, match="stays spent"):
        session.ask(COUNT, epsilon=1, watch=watch)
    assert session.remaining()["epsilon"] == 1
    assert session.ask(COUNT, epsilon=1).spent["epsilon"] == 1  # it was never answered


def test_a_running_statement_ends_at_once(town: Town) -> None:
    rows = 4_000_000
    chance = np.random.default_rng(1)
    table = pa.table({
        "sex": np.array(["F", "M"])[chance.integers(0, 2, rows)],
        "age": chance.integers(0, 121, rows),
        "income": chance.integers(0, 2001, rows),
        "region": chance.integers(1, 5, rows),
    })  # fmt: skip
    pq.write_table(table, town.folder / "people.parquet")
    session = town.open("epsilon = 100").session()
    long = (
        "SELECT age, COUNT(*) FROM people WHERE LN(income + 1) * EXP(age / 40.0) > 3 "
        "AND SQRT(income) * LN(age + region + 1) > 2 GROUP BY age"
    )

    def tell(stage: str) -> None:
        if stage == "paid":
            threading.Timer(0.01, watch.cancel).start()

    watch = Watch(tell)
    with pytest.raises(CancelledError) as caught:
        session.ask(long, epsilon=1, watch=watch)
    assert isinstance(caught.value.__context__, MachineryError)  # the engine's own words are gone
    assert caught.value.__context__.__context__ is None
    assert session.ask(COUNT, epsilon=1).spent["epsilon"] == 1
    assert session.remaining()["epsilon"] == 98
