"""How often the text of a question is passed over, and how often its account is read.

The lexer, sqlglot's parser and sqlglot's tokenizer are all that ever reads a statement's text,
and the store of the accounts all that reads an account; each is counted where it is called.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import psycopg
import pytest
import sqlglot
from parlour import Parlour, Wire, errors_in, rows_in

from adomnia.queries.sql import parse
from adomnia.wire.statements import lexer

MARK = "people_of_the_walk"
_numbers = count(20)


def fresh() -> str:
    """A question that nobody has asked before; its column's name tells its text from others."""
    return f"SELECT count(*) AS {MARK} FROM people WHERE age > {next(_numbers)}"


@pytest.fixture
def walk(parlour: Parlour, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Passes over texts that hold the mark, by who makes them, and reads of accounts."""
    counts: Counter[str] = Counter()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(text: str, *args: Any, **kwargs: Any) -> Any:
            counts[name] += MARK in text or name == "account"
            return function(text, *args, **kwargs)

        return call

    store = parlour.service.accounts._store
    monkeypatch.setattr(lexer, "_scan", counted("lexer", lexer._scan))
    monkeypatch.setattr(sqlglot, "parse", counted("parser", sqlglot.parse))
    monkeypatch.setattr(parse, "_trees", counted("parser", parse._trees))
    monkeypatch.setattr(sqlglot, "tokenize", counted("tokenizer", sqlglot.tokenize))
    monkeypatch.setattr(store, "rows", counted("account", store.rows))
    return counts


@contextmanager
def connected(parlour: Parlour, walk: Counter[str]) -> Iterator[Wire]:
    """Alice, logged in; nothing has been counted yet."""
    wire = Wire(parlour.port)
    wire.log_in(options="-c adomnia.epsilon=0.5")
    walk.clear()
    yield wire
    wire.close()


def test_a_question_is_read_once_here_and_parsed_once_by_the_curator(parlour, walk):
    with connected(parlour, walk) as wire:
        assert len(rows_in(wire.query(fresh()))) == 1
    assert +walk == {"lexer": 1, "parser": 1, "account": 1}


def test_the_same_question_again_is_not_parsed(parlour, walk):
    with connected(parlour, walk) as wire:
        sql = fresh()
        assert rows_in(wire.query(sql)) == rows_in(wire.query(sql))
    assert +walk == {"lexer": 2, "parser": 1, "account": 2}


@pytest.mark.parametrize("around", ["COPY ({}) TO STDOUT", "EXPLAIN {}", "DECLARE c CURSOR FOR {}"])
def test_what_stands_around_a_question_is_read_with_it(parlour, walk, around):
    with connected(parlour, walk) as wire:
        wire.query("BEGIN")
        assert errors_in(wire.query(around.format(fresh()))) == []
        assert errors_in(wire.query("FETCH ALL FROM c")) == [] or "CURSOR" not in around
    assert +walk == {"lexer": 1, "parser": 1, "account": 1}


def test_a_statement_about_the_catalogue_is_read_and_parsed_once(parlour, walk):
    with connected(parlour, walk) as wire:
        assert rows_in(wire.query(f"SELECT count(*) > 9 AS {MARK} FROM pg_class")) == [["t"]]
    assert +walk == {"lexer": 1, "parser": 1, "tokenizer": 1, "account": 1}


def test_to_prepare_reads_no_account_and_to_run_reads_one(parlour, walk):
    with psycopg.connect(parlour.dsn(options="'-c adomnia.epsilon=0.5'")) as line:
        walk.clear()
        sql = fresh().encode()
        line.pgconn.prepare(b"walk", sql)
        assert +walk == {"lexer": 1, "parser": 1}
        for _ in range(3):
            line.pgconn.exec_prepared(b"walk", [])
        assert +walk == {"lexer": 1, "parser": 1, "account": 3}


def test_psql_reads_an_account_for_each_question(parlour, walk):
    """Beside them it is read when psql comes in: who it is, and what the secret is held against."""
    asked = [part for _ in range(3) for part in ("-c", fresh())]
    dsn = parlour.dsn(options="'-c adomnia.epsilon=0.5'")
    done = subprocess.run(
        ["psql", "-X", "-At", dsn, *asked], capture_output=True, text=True, timeout=60, check=True
    )
    assert len(done.stdout.split()) == 3
    assert +walk == {"lexer": 3, "parser": 3, "account": 2 + 3}


def test_who_is_removed_is_told_nothing(parlour, walk):
    """The one read is made before anything is answered: of data, of a plan, of the catalogue."""
    parlour.service.accounts.add("zoe", "curator", "correct horse battery")
    wire = Wire(parlour.port)
    wire.log_in("zoe", options="-c adomnia.epsilon=0.5")
    parlour.service.accounts.remove("zoe")
    for sql in (fresh(), f"EXPLAIN {fresh()}", "SELECT 1", "SELECT * FROM adomnia.budget"):
        messages = wire.query(sql)
        assert [error["C"] for error in errors_in(messages)] == ["28P01"]
        assert rows_in(messages) == []
    wire.close()
