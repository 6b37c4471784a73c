"""Attempts over psql with too much, too long."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from parlour import Parlour, Wire, errors_in, rows_in
from wire_attempting import codes, fresh

from adomnia.curator.session import Session
from adomnia.errors import QuestionError
from adomnia.wire.protocol import connection
from adomnia.wire.statements import lexer


def test_to_prepare_a_preparation_makes_no_sense(wire: Wire) -> None:
    assert codes(wire.query("PREPARE a AS PREPARE b AS SELECT 1")) == ["42601"]
    assert codes(wire.query("PREPARE a AS COMMIT")) == ["42601"]
    assert rows_in(wire.query("PREPARE a AS SELECT 1; EXECUTE a")) == [["1"]]


def test_a_long_statement_is_read_in_a_thread(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the event loop everybody would wait until it is read."""
    readers = []

    def split(sql: str) -> list[lexer.ClientStatement]:
        readers.append(threading.current_thread().name)
        return lexer.split(sql)

    monkeypatch.setattr(connection, "split", split)
    assert rows_in(wire.query("SELECT 1" + " " * 50_000)) == [["1"]]
    assert readers[0].startswith("background")


def test_savepoints_have_an_end(wire: Wire) -> None:
    wire.query("BEGIN")
    assert codes(wire.query(";".join(["SAVEPOINT a"] * 1001))) == ["53000"]
    wire.query("ROLLBACK")


def test_a_free_answer_has_so_many_rows(parlour: Parlour) -> None:
    with pytest.raises(QuestionError):
        parlour.service.database.session("alice").ask("SELECT DISTINCT age, income FROM people")


def test_so_many_statements_and_portals_are_kept(parlour: Parlour) -> None:
    made = Wire(parlour.port)
    made.log_in(options="-c adomnia.epsilon=0.5")
    for number in range(1100):
        made.parse("", f"s{number}")
    made.send(b"S")
    assert codes(made.until()) == ["53000"]
    made.query("BEGIN")
    for number in range(110):
        made.bind(f"p{number}", "s1")
    made.send(b"S")
    assert codes(made.until()) == ["53000"]
    made.close()


def test_a_failure_says_no_more_than_its_kind(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("Zzsecret of row 17")

    monkeypatch.setattr(Session, "_plan", broken)
    (error,) = errors_in(wire.query(fresh()))
    assert "Zzsecret" not in str(error)
