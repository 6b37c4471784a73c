"""Attempts to pay less, or to make somebody pay twice."""

from __future__ import annotations

import threading
import time
from fractions import Fraction
from pathlib import Path

import httpx
import pytest
from attempting import ask, fresh, signed_in, slow_questions, spent, token
from lodge import Lodge, client

from adomnia.curator.database import open_database
from adomnia.server.serve import Addresses


def test_overlapping_requests_with_one_key_are_paid_once(at: Addresses, lodge: Lodge) -> None:
    key, sql, before = {"Idempotency-Key": f"k{time.monotonic_ns()}"}, fresh(), spent(lodge, "bob")
    answers = []

    def one() -> None:
        with client(at, "bob") as bob:
            answers.append(ask(bob, sql, "1/50", **key).json())

    with slow_questions(2):
        threads = [threading.Thread(target=one) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert spent(lodge, "bob") - before == Fraction(1, 50)
    assert answers[0]["rows"] == answers[1]["rows"]


def test_a_form_that_is_sent_twice_at_once_is_paid_once(at: Addresses, lodge: Lodge) -> None:
    browser, before = signed_in(at, "alice"), spent(lodge, "alice")
    form = {"token": token(browser), "key": "twice" * 5, "sql": fresh(), "amount": "1/50"}
    ends = []

    def send() -> None:
        again = httpx.Client(base_url=at.url or "", cookies=browser.cookies, timeout=30)
        ends.append(again.post("/ask", data=form).headers["location"])

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len({*ends}) == 1
    assert spent(lodge, "alice") - before == Fraction(1, 50)


def test_reading_an_answer_again_spends_nothing(at: Addresses, lodge: Lodge) -> None:
    browser = signed_in(at, "alice")
    form = {"token": token(browser), "key": "again" * 5, "sql": fresh(), "amount": "1/50"}
    page = browser.get(browser.post("/ask", data=form).headers["location"]).headers["location"]
    before = spent(lodge, "alice"), len(lodge.database.ledger())
    shown = {browser.get(f"{page}/table.csv").text for _ in range(3)}
    assert len(shown) == 1
    assert (spent(lodge, "alice"), len(lodge.database.ledger())) == before


FREE = (
    "SELECT DISTINCT city FROM people",
    "SELECT DISTINCT age FROM people WHERE sex = 'F' AND sex = 'M'",
    "SELECT DISTINCT CASE WHEN age > 50 THEN city ELSE sex END AS x FROM people",
    "SELECT DISTINCT 100 / age AS x FROM people",
    "SELECT * FROM people LIMIT 0",
    "SELECT COUNT(*), SUM(age), MEDIAN(age) FROM people WHERE 1 <> 1",
    "SELECT sex, COUNT(*) AS n FROM people WHERE NULL GROUP BY sex",
    "SELECT sex, AVG(age) FROM people GROUP BY sex LIMIT 0",
)


def test_free_answers_are_the_same_for_other_data(lodge: Lodge, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    policy = tmp_path / "adomnia.toml"
    policy.write_text(lodge.policy.read_text())
    pq.write_table(
        pa.table({"sex": ["M"], "age": [3], "city": ["linz"]}), tmp_path / "people.parquet"
    )
    with open_database(policy) as other:
        for sql in FREE:
            here, there = (db.session("alice").ask(sql, 1) for db in (lodge.database, other))
            assert (here.rows, here.margins) == (there.rows, there.margins)
            assert not any(here.spent.values())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT sex FROM people HAVING COUNT(*) > 5",
        "SELECT DISTINCT sex FROM people ORDER BY COUNT(*)",
        "SELECT DISTINCT sex FROM people WHERE age = (SELECT MAX(age) FROM people)",
        "SELECT DISTINCT sex, COUNT(*) OVER () FROM people",
        "SELECT COUNT(*) FROM people WHERE (SELECT COUNT(*) FROM people) = 0",
        "SELECT * FROM people LIMIT 0 OFFSET 0 UNION SELECT * FROM people",
        "SELECT * FROM people WHERE 1 <> 1 OR age > 0",
        "SELECT * FROM read_parquet('people.parquet') LIMIT 0",
    ],
)
def test_a_free_question_carries_nothing_else(at: Addresses, lodge: Lodge, sql: str) -> None:
    before = spent(lodge, "alice")
    with client(at) as alice:
        assert ask(alice, sql, 1).status_code == 400
    assert spent(lodge, "alice") == before
