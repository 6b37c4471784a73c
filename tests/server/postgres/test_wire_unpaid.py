"""Attempts over psql to read without paying."""

from __future__ import annotations

from typing import Any

import pytest
from parlour import Parlour, Wire, errors_in, rows_in
from wire_attempting import AGES, COUNT, codes, fresh

from adomnia.curator import spend as spending


def test_looking_reads_nothing_and_costs_nothing(
    parlour: Parlour, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    def touched(*_: Any) -> Any:
        raise AssertionError("the data was read")

    monkeypatch.setattr(spending, "_released", touched)
    before, entries = parlour.spent(), len(parlour.service.database.ledger())
    sql = fresh()
    wire.parse(sql, "looked")
    wire.send(b"D", b"Slooked\0")
    wire.bind("p", "looked")
    wire.send(b"D", b"Pp\0")
    wire.send(b"C", b"Pp\0")
    wire.send(b"S")
    assert not codes(wire.until())
    begun = f"BEGIN; DECLARE c CURSOR FOR {sql}; CLOSE c; PREPARE q AS {sql}; EXPLAIN {sql}; COMMIT"
    assert not codes(wire.query(begun))
    assert (parlour.spent(), len(parlour.service.database.ledger())) == (before, entries)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_parquet('people.parquet')",
        "SELECT * FROM 'people.parquet'",
        'SELECT * FROM "people.parquet"',
        "SELECT * FROM people, pg_class",
        "SELECT (SELECT COUNT(*) FROM people) FROM pg_class",
        "SELECT COUNT(*) FROM pg_class WHERE EXISTS (SELECT 1 FROM people WHERE age = 30)",
        "SELECT p.age FROM pg_class c LEFT JOIN LATERAL (SELECT age FROM people) p ON true",
        "TABLE people",
        "VALUES ((SELECT MAX(age) FROM people))",
        "COPY people TO STDOUT",
        "COPY people FROM STDIN",
        "COPY (SELECT * FROM people) TO STDOUT",
        "COPY (SELECT 1) TO PROGRAM 'id'",
        "COPY (SELECT 1) TO '/dev/null'",
        "CREATE TABLE x AS SELECT * FROM people",
        "SELECT * INTO x FROM people",
        "EXPLAIN ANALYZE SELECT COUNT(*) FROM people",
        "EXPLAIN (ANALYZE TRUE) SELECT COUNT(*) FROM people",
        "EXPLAIN (VERBOSE, ANALYZE) SELECT COUNT(*) FROM people",
        "SELECT getvariable('budget')",
        "SELECT current_setting('data_directory') || pg_read_file('adomnia.toml')",
        "SELECT lo_import('/etc/passwd')",
        "SELECT query_to_xml('SELECT * FROM people', true, true, '')",
        "DECLARE c CURSOR WITH HOLD FOR SELECT * FROM people",
        "PREPARE p AS SELECT * FROM people",
    ],
)
def test_no_statement_shows_rows(parlour: Parlour, wire: Wire, sql: str) -> None:
    before = parlour.spent()
    messages = wire.query(sql)
    assert len(codes(messages)) == 1
    assert not rows_in(messages)
    assert parlour.spent() == before


def test_a_name_that_hides_the_table_is_not_answered_from_nothing(wire: Wire) -> None:
    messages = wire.query("WITH people AS (SELECT * FROM people) SELECT COUNT(*) FROM people")
    assert len(codes(messages)) == 1
    assert not rows_in(messages)


def test_a_portal_pays_once_however_it_is_read(parlour: Parlour, wire: Wire) -> None:
    before = parlour.spent()
    wire.parse(f"SELECT sex, COUNT(*) AS n FROM people WHERE age > {next(AGES)} GROUP BY sex")
    wire.bind("p")
    for most in (1, 1, 1, 0, 7):
        wire.execute("p", most)
    wire.send(b"S")
    messages = wire.until()
    assert len(rows_in(messages)) == 2
    assert parlour.spent() - before == 0.5


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        (f"{COUNT} WHERE sex = $1", b"F' OR '1'='1"),
        (f"{COUNT} WHERE sex = $1", b"F\\' OR 1=1 --"),
        (f"{COUNT} WHERE age > $1", b"1); SELECT * FROM people; --"),
        (f"{COUNT} LIMIT $1", b"1; SELECT * FROM people"),
        (f"{COUNT} WHERE age > $1", b"1e999999999"),
        (f"{COUNT} WHERE income > $1::numeric", b"1e-999999999"),
        (f"{COUNT} WHERE income > $1::numeric", b"9" * 900_000),
        ("SELECT relname FROM pg_class WHERE relname = $1", b"x' UNION SELECT 'Zz'--"),
    ],
)
def test_a_value_is_a_value(wire: Wire, sql: str, value: bytes) -> None:
    wire.parse(sql)
    wire.bind("", "", (value,))
    wire.execute()
    wire.send(b"S")
    messages = wire.until()
    assert all(len(row) == 1 and row[0] != "Zz" for row in rows_in(messages))
    assert len(rows_in(messages)) <= 1
    assert not any("machinery" in error["M"] for error in errors_in(messages))
    assert rows_in(wire.query("SELECT 1")) == [["1"]]


def test_a_batch_pays_for_what_it_has_answered_and_no_more(parlour: Parlour, wire: Wire) -> None:
    before, sql = parlour.spent(), fresh()
    messages = wire.query(f"{sql}; SELECT nothing FROM people; {fresh()}")
    assert len(rows_in(messages)) == len(codes(messages)) == 1
    assert parlour.spent() - before == 0.5
    again = wire.query(f"ROLLBACK; {sql}")
    assert rows_in(again) == rows_in(messages)
    assert parlour.spent() - before == 0.5
