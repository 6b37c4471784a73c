"""Statements around questions: cursors, copies, prepared statements, settings, nothing at all."""

from __future__ import annotations

import random
import struct
from fractions import Fraction

import pytest
from parlour import errors_in, fields_of, rows_in

from adomnia.curator.session import Session
from adomnia.wire.statements.lexer import tokens

AGES = "SELECT age, count(*) AS n FROM people WHERE age < 30 GROUP BY age"


def tags(messages):
    """What was completed."""
    return [body[:-1].decode() for kind, body in messages if kind == b"C"]


def test_a_cursor_is_paid_when_it_is_first_read(parlour, wire):
    before = parlour.spent()
    wire.query("BEGIN")
    wire.query(f"DECLARE c SCROLL CURSOR FOR {AGES}")
    assert parlour.spent() == before
    ages = lambda sql: [int(row[0]) for row in rows_in(wire.query(sql))]  # noqa: E731
    assert ages("FETCH 3 FROM c") == [0, 1, 2]
    assert parlour.spent() == before + Fraction(1, 2)
    assert ages("FETCH NEXT IN c") == [3]
    assert ages("FETCH PRIOR FROM c") == [2]
    assert tags(wire.query("MOVE FORWARD 10 IN c")) == ["MOVE 10"]
    assert ages("FETCH ABSOLUTE 6 c") == [5]
    assert ages("FETCH FIRST c") == [0]
    assert tags(wire.query("FETCH BACKWARD ALL FROM c")) == ["FETCH 0"]
    assert len(ages("FETCH ALL FROM c")) >= 30
    assert tags(wire.query("CLOSE c")) == ["CLOSE CURSOR"]
    assert errors_in(wire.query("FETCH c"))[0]["C"] == "34000"
    wire.query("ROLLBACK")
    assert parlour.spent() == before + Fraction(1, 2)


def test_cursors_last_for_a_transaction_or_hold(wire):
    assert errors_in(wire.query(f"DECLARE c CURSOR FOR {AGES}"))[0]["C"] == "25P01"
    assert len(rows_in(wire.query(f"DECLARE c CURSOR FOR {AGES}; FETCH 2 FROM c"))) == 2
    assert errors_in(wire.query("FETCH 2 FROM c"))[0]["C"] == "34000"
    wire.query(f"DECLARE h CURSOR WITH HOLD FOR {AGES}")
    assert len(rows_in(wire.query("FETCH 2 FROM h"))) == 2
    assert errors_in(wire.query(f"DECLARE h CURSOR WITH HOLD FOR {AGES}"))[0]["C"] == "42P03"
    assert tags(wire.query("CLOSE ALL")) == ["CLOSE CURSOR ALL"]
    assert errors_in(wire.query(f"DECLARE b BINARY CURSOR FOR {AGES}"))[0]["C"] == "0A000"


def test_copies_of_an_answer(wire):
    got = wire.query("COPY (SELECT DISTINCT sex FROM people) TO STDOUT WITH (FORMAT csv, HEADER)")
    data = b"".join(body for kind, body in got if kind == b"d")
    assert data.splitlines()[:3] == [b"sex", b"F", b"M"]
    assert tags(got)[0].startswith("COPY ")
    wire.parse("COPY (SELECT sex, count(*) FROM people GROUP BY sex) TO STDOUT (FORMAT binary)")
    wire.bind()
    wire.execute()
    wire.send(b"S")
    got = wire.until()
    assert b"".join(kind for kind, _ in got).startswith(b"12Hddd")
    sql = "COPY (SELECT count(*) FROM people WHERE salary = 1) TO STDOUT"
    assert int(errors_in(wire.query(sql))[0]["P"]) == sql.index("salary") + 1
    for sql in (
        "COPY people FROM STDIN",
        "COPY (SELECT 1) TO 'file'",
        "COPY (SELECT 1) TO PROGRAM 'x'",
    ):
        assert errors_in(wire.query(sql))[0]["C"] in ("42501", "42601")


def test_prepared_statements_in_sql(parlour, wire):
    before = parlour.spent()
    wire.query(
        "PREPARE q (int, text) AS SELECT count(*) AS n FROM people WHERE age > $1 AND sex = $2"
    )
    assert parlour.spent() == before
    first = wire.query("EXECUTE q (30, 'F')")
    assert rows_in(first) == rows_in(wire.query("EXECUTE q(30,'F')"))
    assert parlour.spent() == before + Fraction(1, 2)
    assert errors_in(wire.query("EXECUTE q (30)"))[0]["C"] == "42601"
    assert errors_in(wire.query("EXECUTE q ('thirty', 'F')"))[0]["C"] == "22P02"
    assert errors_in(wire.query("PREPARE q AS SELECT 1"))[0]["C"] == "42P05"
    assert tags(wire.query("DEALLOCATE q")) == ["DEALLOCATE"]
    assert errors_in(wire.query("EXECUTE q (1, 'F')"))[0]["C"] == "26000"
    assert tags(wire.query("DEALLOCATE ALL; DISCARD ALL; LISTEN x; UNLISTEN *")) == [
        "DEALLOCATE ALL", "DISCARD ALL", "LISTEN", "UNLISTEN"
    ]  # fmt: skip


def test_several_statements_stop_at_the_first_error(parlour, wire):
    before = parlour.spent()
    got = wire.query(
        "SELECT 1; SELECT nothing FROM people; SELECT count(*) FROM people WHERE age=1"
    )
    assert tags(got) == ["SELECT 1"]
    assert len(errors_in(got)) == 1
    assert parlour.spent() == before
    got = wire.query(" ; /* nothing */ ; ")
    assert [kind for kind, _ in got] == [b"I", b"Z"]


def test_an_empty_statement_can_be_prepared(wire):
    wire.parse("")
    wire.bind()
    wire.send(b"D", b"P\0")
    wire.execute()
    wire.send(b"S")
    assert b"".join(kind for kind, _ in wire.until()) == b"12nIZ"


@pytest.mark.parametrize(
    ("sql", "tag"),
    [
        ("SET application_name = 'a b'", "SET"), ("SET TIME ZONE 'UTC'", "SET"),
        ("SET NAMES 'utf8'", "SET"), ("SET search_path TO a, b", "SET"),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SET"),
        ("SET extra_float_digits = 3", "SET"), ("SET my.thing = 5", "SET"),
        ("RESET ALL", "RESET"), ("RESET application_name", "RESET"),
        ("SHOW TRANSACTION ISOLATION LEVEL", "SHOW"), ("SHOW ALL", "SHOW"),
        ("START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY", "START TRANSACTION"),
        ("COMMIT AND CHAIN", "COMMIT"), ("END", "COMMIT"), ("ABORT", "ROLLBACK"),
        ("NOTIFY x, 'y'", "NOTIFY"),
    ],
)  # fmt: skip
def test_what_drivers_say_is_understood(wire, sql, tag):
    got = wire.query(sql)
    assert not errors_in(got)
    assert tags(got) == [tag]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SHOW nothing", "42704"), ("SET adomnia.epsilon = 0", "22023"), ("FROB", "42601"),
        ("SET adomnia.epsilon", "42601"), ("SELECT $1", "42P02"), ("SELECT 'a", "42601"),
        ("FETCH", "42601"), ("DISCARD EVERYTHING", "42601"), ("EXECUTE nothing", "26000"),
        ("COMMIT PREPARED 'x'", "42601"), ("SAVEPOINT a", "25P01"), ("SELECT (((", "42601"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(wire, sql, code):
    (error,) = errors_in(wire.query(sql))
    assert error["C"] == code
    assert not errors_in(wire.query("SELECT 1"))


def test_a_changed_setting_is_reported(wire):
    got = wire.query("SET application_name = 'town hall'")
    assert (b"S", b"application_name\0town hall\0") in got
    got = wire.query("SET client_min_messages = warning")
    got = wire.query("SELECT DISTINCT sex FROM people")
    assert not [kind for kind, _ in got if kind == b"N"]


def test_statements_and_values_have_a_size(wire):
    long = "SELECT '" + "x" * 100_001 + "'"
    assert errors_in(wire.query(long))[0]["C"] == "54000"
    wire.send(b"Q", b"x" * (2 << 20))
    assert errors_in(wire.until())[0]["C"] == "54000"
    for number in range(12):
        wire.parse("SELECT '" + "x" * 99_000 + "'", f"s{number}")
    wire.send(b"S")
    assert errors_in(wire.until())[0]["C"] == "53000"
    for number in range(101):
        wire.query(f"DECLARE c{number} CURSOR WITH HOLD FOR SELECT 1")
    assert errors_in(wire.query("DECLARE c CURSOR WITH HOLD FOR SELECT 1"))[0]["C"] == "53000"


def test_parameters_take_the_types_of_what_they_meet(wire):
    wire.parse(
        "SELECT count(*) FROM people WHERE age BETWEEN $1 AND $2 AND sex IN ($3,$4) AND born < $5"
        " AND member = $6 AND income > $7::numeric HAVING count(*) > $8 LIMIT $9",
        "q",
    )
    wire.send(b"D", b"Sq\0")
    wire.send(b"S")
    got = dict(wire.until())
    assert struct.unpack("!H9I", got[b"t"]) == (9, 20, 20, 25, 25, 1082, 16, 1700, 1700, 20)
    wire.bind("", "q", (b"20", b"60", b"F", b"M", b"1990-01-01", b"t", b"1.5", b"-1e3", b"5"))
    wire.execute()
    wire.send(b"S")
    assert len(rows_in(wire.until())) == 1


@pytest.mark.parametrize("value", ["F' OR '1'='1", "F'; DROP TABLE people; --", "\\", "$1", "é\n"])
def test_values_never_become_sql(wire, value, monkeypatch):
    told, ask = [], Session.ask
    monkeypatch.setattr(Session, "ask", lambda *a, **k: (told.append(a[1]), ask(*a, **k))[1])
    wire.parse("SELECT count(*) AS n FROM people WHERE sex = $1 AND age < 9 OR age > 119", "q")
    wire.bind("", "q", (value.encode(),))
    wire.execute()
    wire.send(b"S")
    got = wire.until()
    assert not errors_in(got)
    assert abs(int(rows_in(got)[0][0])) < 100  # nobody is of that sex
    assert "'" + value.replace("'", "''") + "'" in told[-1]
    wire.parse("SELECT count(*) AS n FROM people WHERE sex = $1", "never")
    wire.bind("", "never", (value.encode(),))
    wire.execute()
    wire.send(b"S")
    (error,) = errors_in(wire.until())  # examples may be never true when it is parsed, not values
    assert (error["C"], error["H"]) == ("42601", "the values of sex are 'F', 'M'")


VALID = [
    "SET LOCAL adomnia.epsilon TO 0.5", "SET TIME ZONE DEFAULT", "RESET ALL", "SHOW TIME ZONE",
    "BEGIN WORK", "COMMIT AND NO CHAIN", "ROLLBACK TO SAVEPOINT a", "RELEASE SAVEPOINT a",
    "DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT 1", "FETCH ABSOLUTE -1 FROM c", "MOVE ALL c",
    "CLOSE c", "PREPARE q (int, text) AS SELECT count(*) FROM people WHERE age > $1 AND sex = $2",
    "EXECUTE q (-1, 'F'::text)", "DEALLOCATE PREPARE q", "DISCARD ALL", "LISTEN x",
    "COPY (SELECT 1) TO STDOUT WITH (FORMAT csv, HEADER true, DELIMITER ';', NULL 'x')",
    "COPY (SELECT sex, count(*) FROM people GROUP BY sex) TO STDOUT CSV QUOTE AS 'q'",
    "EXPLAIN (VERBOSE, FORMAT JSON) SELECT count(*) FROM people", "EXPLAIN VERBOSE SELECT 1",
    "SELECT COUNT(*) FROM (SELECT sex, count(*) FROM people GROUP BY sex) AS x",
    "SELECT $$a$$, E'\\n', version() FROM pg_type LIMIT 1", "VALUES (1, 'a'), (2, 'b')",
]  # fmt: skip


def test_no_broken_statement_breaks_the_machinery(wire):
    chance = random.Random(5)
    wire.query("SET adomnia.epsilon = ''")
    for _ in range(400):
        words = [token.text for token in tokens(chance.choice(VALID))]
        for _ in range(chance.randrange(1, 3)):
            at = chance.randrange(len(words) + 1)
            other = chance.choice([[], [chance.choice(tokens(chance.choice(VALID))).text]])
            words[at : at + chance.randrange(3)] = other
        got = wire.query(f"ROLLBACK; {' '.join(words)}")
        assert got[-1][0] == b"Z", words
        assert [e for e in errors_in(got) if e["C"].startswith("XX")] == [], words


def test_notices_can_be_warnings(wire):
    wire.query("BEGIN")
    got = wire.query("BEGIN")
    assert fields_of(got[0][1])["C"] == "25001"
    wire.query("COMMIT")
    got = wire.query("COMMIT")
    assert fields_of(got[0][1])["C"] == "25P01"
