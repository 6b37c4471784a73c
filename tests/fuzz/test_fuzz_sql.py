"""Ten thousand statements: each is answered or refused, none raises, none shows a true number."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import Tally, make_town, put
from grammar import mutated, statements
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import adomnia


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[adomnia.Database]:
    with make_town(tmp_path_factory.mktemp("town")) as database:
        yield database


def run(town: adomnia.Database, count: int, change: bool) -> Tally:
    """So many statements of the grammar, changed or as they are."""
    tally = Tally()

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(statements(), statements(), st.integers(0, 2**32))
    def ask(sql: str, other: str, seed: int) -> None:
        put(town, mutated(sql, other, random.Random(seed)) if change else sql, tally)

    ask()
    return tally


def judge(tally: Tally, count: int) -> None:
    assert tally.answered + tally.refused >= count * 0.9
    assert tally.answered >= count * 0.05, tally.causes
    assert tally.numbers > 0
    assert tally.equal <= tally.limit, (tally.equal, tally.expected, tally.numbers)


@pytest.mark.parametrize("change", [False, True], ids=["grammar", "mutations"])
def test_statements_are_answered_or_refused(town: adomnia.Database, change: bool) -> None:
    judge(run(town, 750, change), 750)


@pytest.mark.slow
@pytest.mark.parametrize("change", [False, True], ids=["grammar", "mutations"])
def test_ten_thousand_statements(town: adomnia.Database, change: bool) -> None:
    judge(run(town, 5000, change), 5000)


def test_the_ledger_of_all_of_it_holds(tmp_path: Path) -> None:
    with make_town(tmp_path) as database:
        run(database, 50, change=True)
        assert database.verify().ok
