"""A value that does not fit its parameter is refused as PostgreSQL refuses it, and named."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import asyncpg
import postgres_cluster
import psycopg
import pytest
from parlour import SECRET, Parlour, Wire, errors_in
from psycopg import pq

from adomnia.wire.values.types import name_of

QUESTION = "SELECT count(*) AS n FROM people WHERE age > $1"

TEXTS = [
    (23, "abc"), (23, "99999999999"), (21, "40000"), (21, "-32768"), (20, "1" * 30), (23, "1_0"),
    (23, " 12 "), (23, ""), (23, "\u0663"), (23, "1.5"), (20, "+5"), (20, "9" * 5000),
    (700, "x"), (700, "1e39"), (700, "1e-60"), (701, "1e400"), (701, "1e-400"), (701, "1_0"),
    (701, "-inf"), (701, "NaN"), (701, "0e0"), (701, ""), (1700, "x"), (1700, "1_0"),
    (1700, "sNaN"), (1700, "1e200000"), (1700, " 1 "), (1700, ".5"),
    (16, "maybe"), (16, "tr"), (16, ""), (16, " yes "), (16, "o"), (16, "of"), (16, "N"),
    (1082, "soon"), (1082, "2020-13-01"), (1082, "2020-02-30"), (1082, ""), (1082, "2020-01-01x"),
    (1082, "20200101"), (1082, "2020-01-01 10:00:00+02"), (1114, "soon"), (1184, "x"),
    (1114, "2020-01-01 25:00:00"), (1114, "2020-01-01"), (1007, "{1,x}"), (1007, "1,2"),
    (1007, "{1"), (1007, "{99999999999}"), (1009, "{a"), (17, "\\xzz"), (17, "\\x0"),
    (2950, "x"), (26, "x"), (26, "99999999999"), (26, "-1"), (2205, "nosuch"), (25, "anything"),
]  # fmt: skip

BINARIES = [
    (23, b"\0"), (23, b"\0" * 5), (16, b"\0\0"), (701, b"\0" * 3), (1082, b"\0"), (1700, b"\0"),
    (1700, b"\0\1\0\0\0\0\0\0\xff\xff"), (1007, b"\0"), (25, b"\xff"), (1114, b""),
    (1114, b"\x7f" + b"\xff" * 6 + b"\0"), (2950, b"x"), (23, b"\0\0\0\7"),
]  # fmt: skip


@pytest.fixture(scope="module")
def genuine() -> Iterator[pq.PGconn]:
    if postgres_cluster.initdb() is None:
        pytest.skip("PostgreSQL's programs are not here")
    with postgres_cluster.cluster() as url, psycopg.connect(url, autocommit=True) as line:
        yield line.pgconn


@pytest.fixture(scope="module")
def ours(parlour: Parlour) -> Iterator[pq.PGconn]:
    with psycopg.connect(parlour.dsn(), autocommit=True) as line:
        line.execute("SET adomnia.epsilon = 0.5")
        yield line.pgconn


def told(answer: pq.PGresult, field: pq.DiagnosticField) -> str:
    """A field of an error; nothing where there is no error."""
    return (answer.error_field(field) or b"").decode()


def code(line: pq.PGconn, value: bytes, oid: int, form: int) -> str:
    """The SQLSTATE with which a value of a type is refused."""
    sql = f"SELECT $1::{ {2205: 'regclass'}.get(oid) or name_of(oid) }"
    answer = line.exec_params(sql.encode(), [value], [oid], [form])
    return told(answer, pq.DiagnosticField.SQLSTATE)


@pytest.mark.parametrize(("oid", "text"), TEXTS)
def test_texts_are_refused_as_postgres_does(genuine, ours, oid, text):
    assert code(ours, text.encode(), oid, 0) == code(genuine, text.encode(), oid, 0)


@pytest.mark.parametrize(("oid", "data"), BINARIES)
def test_binary_values_are_refused_as_postgres_does(genuine, ours, oid, data):
    assert code(ours, data, oid, 1) == code(genuine, data, oid, 1)


def test_the_parameter_and_its_type_are_named(ours):
    sql = "SELECT count(*) FROM people WHERE sex = $1 AND born > $2"
    answer = ours.exec_params(sql.encode(), [b"F", b"2020-13-01"])
    message = told(answer, pq.DiagnosticField.MESSAGE_PRIMARY)
    assert message == 'parameter $2: the value is out of range for the type date: "2020-13-01"'
    assert told(answer, pq.DiagnosticField.CONTEXT) == "parameter $2"
    assert told(answer, pq.DiagnosticField.STATEMENT_POSITION) == ""


@pytest.mark.parametrize("value", ["x" * 41, "1" * 100_000, "a\nb", "\x1b[2J"])
def test_a_long_or_strange_value_is_not_repeated(ours, value):
    answer = ours.exec_params(QUESTION.encode(), [value.encode()])
    message = told(answer, pq.DiagnosticField.MESSAGE_PRIMARY)
    assert message.startswith("parameter $1: the value is ")
    assert message.endswith("the type bigint")


def test_what_no_question_takes_is_named_as_well(ours):
    answer = ours.exec_params(QUESTION.replace("$1", "$1::float8").encode(), [b"NaN"])
    message = told(answer, pq.DiagnosticField.MESSAGE_PRIMARY)
    assert message == "parameter $1: the number is out of range"


def test_execute_points_at_the_value(parlour):
    wire = Wire(parlour.port)
    wire.log_in(options="-c adomnia.epsilon=0.5")
    wire.query(f"PREPARE q (bigint) AS {QUESTION}")
    sql = "SELECT 1; EXECUTE q ( 'thirty')"
    (error,) = errors_in(wire.query(sql))
    assert (error["C"], int(error["P"])) == ("22P02", sql.index("'thirty'") + 1)
    assert error["M"] == 'parameter $1: the value is not of the type bigint: "thirty"'
    wire.close()


# Through drivers


def test_psycopg_raises_what_it_raises_for_postgres(parlour):
    with psycopg.connect(parlour.dsn(), autocommit=True) as line:
        line.execute("SET adomnia.epsilon = 0.5")
        with pytest.raises(psycopg.errors.InvalidTextRepresentation) as wrong:
            line.execute("SELECT count(*) FROM people WHERE age > %s", ["abc"])
        assert wrong.value.diag.context == "parameter $1"
        with pytest.raises(psycopg.errors.DatetimeFieldOverflow, match=r"parameter \$1.* date"):
            line.execute("SELECT count(*) FROM people WHERE born > %s", ["2020-13-01"])
        sql = "SELECT count(*) FROM people WHERE age > %s AND income < %s"
        with pytest.raises(psycopg.errors.NumericValueOutOfRange, match=r"parameter \$2.* bigint"):
            line.execute(sql, ["1", "9" * 20])
        assert line.execute("SELECT 1").fetchone() == (1,)
    assert parlour.spent() == 0


def test_asyncpg_raises_what_it_raises_for_postgres(parlour):
    async def visit() -> None:
        line = await asyncpg.connect(
            host="127.0.0.1", port=parlour.port, user="alice", password=SECRET, database="town"
        )
        try:
            await line.execute("SET adomnia.epsilon = 0.5")
            for kind in ("int8", "date"):  # as text: of itself it checks values before it sends
                await line.set_type_codec(
                    kind, encoder=str, decoder=str, schema="pg_catalog", format="text"
                )
            with pytest.raises(asyncpg.InvalidTextRepresentationError) as wrong:
                await line.fetch(QUESTION, "abc")
            assert wrong.value.context == "parameter $1"
            assert str(wrong.value) == 'parameter $1: the value is not of the type bigint: "abc"'
            with pytest.raises(asyncpg.InvalidDatetimeFormatError, match=r"parameter \$1.* date"):
                await line.fetch("SELECT count(*) FROM people WHERE born > $1", "soon")
            assert await line.fetchval("SELECT 1") is not None
        finally:
            await line.close()

    asyncio.run(visit())
    assert parlour.spent() == 0
