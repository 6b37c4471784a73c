"""Formats of the ledger: files of every published one are read for ever, others are refused.

Format 2 may still change until 0.2.0 is tagged; from then on `format2/journal.jsonl` stays as it
is. Each of its lines is a row: number, at, kind, head, body digest, digest, body.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest

from adomnia.errors import LedgerError
from adomnia.ledger.entry import Record
from adomnia.ledger.reserve import Budgets, Reservation, answered, repeated, reserve
from adomnia.ledger.stores.postgres_journal import PostgresJournal
from adomnia.ledger.stores.sqlite_journal import SqliteJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Laplace
from adomnia.privacy.loss import Loss
from tests.postgres_server import Server

BUDGETS = Budgets(Budget(Fraction(1000)))
FORMAT_2 = """
    PRAGMA application_id = 0x41444F4D;
    PRAGMA user_version = 2;
    CREATE TABLE journal (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL,
                          head TEXT NOT NULL, body_digest BLOB, digest BLOB NOT NULL, body TEXT);
    CREATE TABLE head (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER, digest BLOB);
"""
FORMAT_1 = """
    PRAGMA application_id = 0x41444F4D;
    CREATE TABLE journal (number INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL,
                          body TEXT NOT NULL, previous TEXT NOT NULL, digest TEXT NOT NULL);
    CREATE TABLE head (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER, digest TEXT);
"""


def stored() -> list[list[object]]:
    text = Path(__file__).with_name("format2").joinpath("journal.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return [[*row[:4], *(v and bytes.fromhex(v) for v in row[4:6]), row[6]] for row in rows]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[SqliteJournal]:
    rows, path = stored(), tmp_path / "ledger"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(FORMAT_2)
        connection.executemany("INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        connection.execute("INSERT INTO head VALUES (1, ?, ?)", (rows[-1][0], rows[-1][5]))
    with SqliteJournal(path, create=False) as opened:
        yield opened


def test_a_ledger_of_format_2_is_read(journal: SqliteJournal) -> None:
    account = journal.account()
    kinds = [entry.kind for entry in journal.entries()]
    assert kinds[:4] == ["opened", "reserved", "answered", "repeated"]
    assert kinds[4:] == ["reserved", "answered", "reserved", "prior", "budget", "budget"]
    assert account.dataset == {"table": "people", "source": "people.csv"}
    assert account.budgets == {None: {"epsilon": "4"}}
    assert account.analysts["alice"] == Loss.pure(Fraction(3, 10))  # since the release
    assert account.total.rho == Fraction(1, 20)
    assert account.total.delta == Fraction(1, 10**9)
    assert account.total.epsilon == Fraction(3, 10) + Fraction(1, 4)
    assert account.promises == {"0f" * 16}
    assert account.priors[0]["published"]["sql"] == "SELECT COUNT(*) FROM people"
    assert journal.verify().problems == ()


def test_what_was_paid_and_told_is_found_in_it(journal: SqliteJournal) -> None:
    paid, account = journal.find("alice", "k"), journal.account()
    (mine,), (table,) = (
        account.measured("alice", "aaaabbbbccccdddd"),
        account.measured("bob", "release:1111222233334444"),
    )
    assert paid is not None
    assert paid.head["loss"] == {"epsilon": "1/10", "squares": "1/100"}
    assert paid.body["statement"] == "SELECT COUNT(*)  \nFROM people"
    assert paid.body["use"]["mechanism"] == "laplace"
    assert paid.at.startswith("20")
    assert journal.answer(mine) == {"rows": [[41]]}
    assert journal.answer(table) == {"marginals": []}


def test_it_is_written_on(journal: SqliteJournal) -> None:
    asked = Reservation("bob", None, None, "SELECT 2", Laplace(Fraction(1), Fraction(1)))
    wide = Budgets(Budget(Fraction(1000), Fraction(1, 1000)))
    assert reserve(journal, asked, wide).number == len(stored()) + 1
    assert journal.verify().ok


def test_a_file_of_version_0_1_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(FORMAT_1)
    before = path.read_bytes()
    for create in (True, False):
        with pytest.raises(LedgerError, match=r"written by version 0\.1") as refused:
            SqliteJournal(path, create)
        assert "begin a new one" in refused.value.hint
    assert path.read_bytes() == before


def test_tables_of_version_0_1_are_refused_by_name() -> None:
    with Server.started() as server:
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE adomnia_journal (ledger TEXT, number BIGINT, at TEXT, kind TEXT,"
                " body TEXT, previous TEXT, digest TEXT, batch TEXT);"
                "CREATE TABLE adomnia_head (ledger TEXT, number BIGINT, digest TEXT)"
            )
        with pytest.raises(LedgerError, match=r"written by version 0\.1"):
            PostgresJournal(f"{server.url()}?adomnia_unsafe=1")


def test_free_repeats_take_little_room_and_no_memory(tmp_path: Path) -> None:
    """A hundred thousand of them add at most 20 MB; a tenth of them, a tenth of that."""
    path = tmp_path / "ledger"
    with SqliteJournal(path) as journal:
        asked = Reservation("alice", None, None, "SELECT 1", Laplace(Fraction(1), Fraction(1)))
        receipt = reserve(journal, asked, BUDGETS).receipt
        answered(journal, receipt, {"rows": [list(range(10_000))]})
        repeated(journal, "alice", None, [receipt], BUDGETS)
        *_, one = journal.entries()
    before = path.stat().st_size
    with SqliteJournal(path) as journal:
        for _ in range(20):
            journal.append(lambda _: [Record("repeated", one.head)] * 500, durable=False)
        index = journal._account._index
        kept = (index.keys, index.uses, index.answered, index.measured, index.prices)
        assert [len(part) for part in kept] == [0, 1, 1, 0, 0]
        assert journal.account().number == 4 + 10_000
    assert path.stat().st_size - before <= 2_000_000


def test_old_files_are_told_from_what_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(FORMAT_2.replace("user_version = 2", "user_version = 9"))
    with pytest.raises(LedgerError, match="a format that this version does not know"):
        SqliteJournal(path)
