"""Real clients: each asks, binds parameters, reads in parts, and pays what it should."""

from __future__ import annotations

import asyncio
import datetime
import subprocess
import sys
import threading
from decimal import Decimal
from fractions import Fraction

import psycopg
import pytest
from parlour import SECRET, Parlour

from adomnia.curator import spend as spending
from adomnia.engines.interrupts import interruptible

GROUPED = "SELECT sex, count(*) AS n FROM people GROUP BY sex"


def ages(above: int) -> str:
    """A question with many rows, for each test another, since what was asked once is free."""
    return f"SELECT age, count(*) AS n FROM people WHERE income > {above} GROUP BY age"


OPTIONS = "'-c adomnia.epsilon=0.5'"
DAY = datetime.date(1980, 1, 1)


@pytest.fixture
def spent(parlour: Parlour):
    """What Alice spends in the block."""
    before = parlour.spent()
    return lambda: parlour.spent() - before


@pytest.fixture
def url(parlour: Parlour) -> str:
    """The address as libpq and SQLAlchemy take it."""
    secret, options = SECRET.replace(" ", "%20"), "options=-c%20adomnia.epsilon%3D0.5"
    return f"postgresql://alice:{secret}@127.0.0.1:{parlour.port}/town?{options}"


def is_grouped(rows) -> bool:
    """Whether these are about five hundred women and men."""
    return [row[0] for row in rows] == ["F", "M"] and all(abs(r[1] - 500) < 150 for r in rows)


# libpq


def psql(parlour: Parlour, *commands: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """What psql prints."""
    told = [part for command in commands for part in ("-c", command)]
    dsn = parlour.dsn(options=OPTIONS, **settings)
    return subprocess.run(
        ["psql", "-X", dsn, *told], capture_output=True, text=True, timeout=60, check=False
    )


def test_psql_asks_and_copies(parlour, spent, tmp_path):
    file = tmp_path / "answer.csv"
    found = psql(parlour, GROUPED, f"\\copy ({GROUPED}) to '{file}' csv header", "\\conninfo")
    assert found.returncode == 0, found.stderr
    assert "(2 rows)" in found.stdout
    assert 'as user "alice"' in found.stdout
    assert "NOTICE:  this answer cost epsilon 0.5" in found.stderr
    assert "NOTICE:  with 95 % confidence: n ± 6" in found.stderr
    assert file.read_text().startswith("sex,n\nF,")
    assert spent() == Fraction(1, 2)


def test_psql_shows_where_a_question_is_wrong(parlour, spent):
    found = psql(parlour, "SELECT count(*) FROM people WHERE salary > 3")
    assert "LINE 1: SELECT count(*) FROM people WHERE salary > 3" in found.stderr
    assert found.returncode == 1
    assert "HINT:" in psql(parlour, "SELECT * FROM people").stderr
    assert spent() == 0


def test_psql_reads_with_a_cursor_and_describes(parlour, spent):
    found = subprocess.run(
        ["psql", "-X", parlour.dsn(options=OPTIONS)], input=f"\\set FETCH_COUNT 20\n{ages(1)};\n",
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert found.stdout.count("|") > 100, found.stderr
    assert spent() == Fraction(1, 2)
    found = subprocess.run(
        ["psql", "-X", "-At", parlour.dsn()], input=f"{GROUPED} \\gdesc\n",
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert set(found.stdout.split()) == {"sex|text", "n|bigint"}
    assert spent() == Fraction(1, 2)


def test_psycopg_binds_reads_and_pays_once(parlour, spent):
    sql = "SELECT count(*), sum(income) FROM people WHERE age > %s AND sex = %s AND born < %s"
    with psycopg.connect(parlour.dsn(options=OPTIONS), autocommit=True) as line:
        told: list[str] = []
        line.add_notice_handler(lambda notice: told.append(notice.message_primary))
        first = line.execute(sql, (30, "F", DAY)).fetchone()
        again = [line.execute(sql, (30, "F", DAY), binary=True).fetchone() for _ in range(8)]
        assert {row[0] for row in again} == {first[0]}  # some of them prepared by psycopg itself
        assert isinstance(first[1], Decimal | int)
        assert spent() == Fraction(1, 2)
        assert told[0].startswith("this answer cost epsilon 0.5")
        assert sum("cost nothing" in text for text in told) >= 8
        listed = "SELECT count(*) FROM people WHERE age = ANY(%s) AND sex = %s"
        few = line.execute(listed, ([30, 31], "F")).fetchone()[0]
        assert few < line.execute(listed, (list(range(20, 80)), "F")).fetchone()[0]
        assert abs(line.execute(listed, ([], "F")).fetchone()[0]) < 100
        for value in (True, None, 3.5, Decimal("1.25")):
            line.execute("SELECT %s::text", (str(value),)).fetchone()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            line.execute("INSERT INTO people VALUES (1)")


def test_psycopg_server_side_cursors_and_transactions(parlour, spent):
    with psycopg.connect(parlour.dsn(options=OPTIONS)) as line:
        with line.cursor("c", scrollable=True) as cursor:
            cursor.execute(ages(2))
            assert len(cursor.fetchmany(10)) == 10
            cursor.scroll(5, "absolute")
            assert cursor.fetchone()[0] == 5
            assert len(cursor.fetchall()) > 100
        with line.transaction(force_rollback=True), line.cursor("b", binary=True) as cursor:
            cursor.execute("SELECT sex, avg(income) FROM people GROUP BY sex")
            assert all(isinstance(value, float) for _, value in cursor.fetchall())
        assert spent() == 1
        with line.cursor().copy(f"COPY ({ages(2)}) TO STDOUT") as copy:
            assert b"".join(copy).startswith(b"0\t")
        assert spent() == 1


def test_psycopg_pipeline(parlour, spent):
    with psycopg.connect(parlour.dsn(options=OPTIONS), autocommit=True) as line:
        with line.pipeline():
            found = [
                line.execute("SELECT count(*) FROM people WHERE age > %s", (age,))
                for age in (20, 40, 60, 20)
            ]
        counts = [cursor.fetchone()[0] for cursor in found]
        assert counts[0] == counts[3]
        assert spent() == Fraction(3, 2)
        with pytest.raises(psycopg.Error), line.pipeline():  # noqa: PT012
            line.execute("SELECT nothing FROM people")
            line.execute("SELECT count(*) FROM people WHERE age > 77")
        assert spent() == Fraction(3, 2)


def test_psycopg_asynchronous_and_cancel(parlour, spent, monkeypatch):
    take, begun, ended = spending._released, threading.Event(), threading.Event()

    async def go() -> str:
        line = await psycopg.AsyncConnection.connect(parlour.dsn(options=OPTIONS))
        async with line:
            task = asyncio.create_task(line.execute("SELECT count(*) FROM people WHERE age = 61"))
            assert await asyncio.to_thread(begun.wait, 60)
            await line.cancel_safe()
            with pytest.raises(psycopg.errors.QueryCanceled) as caught:
                await task
            await line.rollback()
            cursor = await line.execute("SELECT 1")
            assert await cursor.fetchone() == (1,)
        return str(caught.value)

    def slow(backend, use):
        begun.set()
        with interruptible(ended.set):
            ended.wait(60)
        return take(backend, use)

    monkeypatch.setattr(spending, "_released", slow)
    assert "stays spent" in asyncio.run(go())
    assert spent() == Fraction(1, 2)


def test_psycopg2(parlour, spent):
    import psycopg2

    line = psycopg2.connect(parlour.dsn(options=OPTIONS))
    cursor = line.cursor()
    cursor.execute("SELECT count(*) FROM people WHERE age > %s AND born < %s", (33, DAY))
    assert cursor.fetchone()[0] > 100
    assert "this answer cost epsilon 0.5" in line.notices[0]
    named = line.cursor("named")
    named.itersize = 25
    named.execute(ages(3))
    assert len(list(named)) > 100
    line.rollback()
    with pytest.raises(psycopg2.errors.SyntaxError):
        cursor.execute("SELECT * FROM people")
    line.close()
    assert spent() == Fraction(1, 1)


# Drivers of their own


def test_asyncpg(parlour, spent):
    import asyncpg

    async def go() -> None:
        line = await asyncpg.connect(
            host="127.0.0.1", port=parlour.port, user="alice", password=SECRET, database="town",
            server_settings={"adomnia.epsilon": "0.5"},
        )  # fmt: skip
        told: list[str] = []
        line.add_log_listener(lambda _, message: told.append(message.message))
        assert len(await line.fetch(ages(5))) > 100
        statement = await line.prepare(
            "SELECT count(*), avg(age) FROM people WHERE age > $1 AND born < $2 AND sex = $3"
        )
        assert [p.name for p in statement.get_parameters()] == ["int8", "date", "text"]
        assert spent() == Fraction(1, 2)
        row = await statement.fetchrow(30, DAY, "F")
        assert (type(row[0]), type(row[1])) == (int, float)
        listed = "SELECT count(*) FROM people WHERE income = ANY($1)"
        assert await line.fetchval(listed, list(range(1000))) > 100
        async with line.transaction():
            rows = [row async for row in line.cursor(ages(4), prefetch=50)]
        assert len(rows) > 100
        assert any("cost epsilon 0.5" in text for text in told)
        with pytest.raises(asyncpg.exceptions.PostgresSyntaxError):
            await line.fetch("SELECT * FROM people")
        await line.close()

    asyncio.run(go())
    assert spent() == Fraction(4, 2)


def test_pg8000(parlour, spent):
    import pg8000.dbapi

    line = pg8000.dbapi.connect(
        user="alice", password=SECRET, host="127.0.0.1", port=parlour.port, database="town"
    )
    cursor = line.cursor()
    cursor.execute("SET adomnia.epsilon = 0.5")
    cursor.execute("SELECT count(*) FROM people WHERE age > %s AND sex = %s", (41, "M"))
    assert cursor.fetchone()[0] > 100
    assert b"this answer cost epsilon 0.5" in b" ".join(v for n in line.notices for v in n.values())
    line.rollback()
    line.close()
    assert spent() == Fraction(1, 2)


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "pg8000"])
def test_sqlalchemy(url, spent, driver):
    import sqlalchemy as sa

    address = sa.make_url(url).set(drivername=f"postgresql+{driver}")
    if driver == "pg8000":
        address = address.set(query={})
    engine = sa.create_engine(address)
    people = sa.table("people", sa.column("sex"), sa.column("age"))
    asked = sa.select(people.c.sex, sa.func.count().label("n")).where(people.c.age > 35)
    with engine.connect() as line:
        line.execute(sa.text("SET adomnia.epsilon = 0.5"))
        rows = line.execute(asked.group_by(people.c.sex)).all()
    assert [row.sex for row in rows] == ["F", "M"]
    engine.dispose()
    assert spent() <= Fraction(1, 2)  # the second driver asks what the first has paid


# Frames


def test_pandas_and_polars(url, spent):
    import pandas as pd
    import polars as pl
    import sqlalchemy as sa

    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    frame = pd.read_sql("SELECT sex, count(*) AS n FROM people WHERE age>50 GROUP BY sex", engine)
    assert list(frame["sex"]) == ["F", "M"]
    assert str(frame["n"].dtype) == "int64"
    with engine.connect() as line:
        told = pl.read_database(
            "SELECT sex, count(*) AS n FROM people WHERE age > 50 GROUP BY sex", line
        )
    assert told["n"].to_list() == list(frame["n"])
    assert spent() == Fraction(1, 2)
    engine.dispose()


def test_adbc(url, spent):
    import adbc_driver_postgresql.dbapi as adbc

    sql = "SELECT sex, count(*) AS n, avg(income) AS mean FROM people WHERE age > 55 GROUP BY sex"
    with adbc.connect(url) as line, line.cursor() as cursor:
        cursor.execute(sql)
        table = cursor.fetch_arrow_table()
    assert [str(kind) for kind in table.schema.types] == ["string", "int64", "double"]
    assert table.num_rows == 2
    assert spent() == Fraction(1, 2)


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_connectorx_counts_first_and_pays_once(parlour, url, spent, kind):
    """In a process of its own: it does not let go of Python's lock while it waits."""
    sql = f"SELECT sex, count(*) AS n FROM people WHERE age > {len(kind)} GROUP BY sex"
    program = (
        f"import connectorx as cx; t = cx.read_sql({url!r}, {sql!r}, return_type={kind!r});"
        "print(list(t['sex'] if hasattr(t, 'iloc') else t.column('sex').to_pylist()))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert found.stdout == "['F', 'M']\n", found.stderr
    assert spent() == Fraction(1, 2)
