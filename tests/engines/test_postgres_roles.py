"""PostgreSQL as a source: one moment, any role, any failure, and no word of data."""

from __future__ import annotations

import re
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

from postgres_place import DOMAINS, SECRET, assert_silent, count, exact, placed, table

from adomnia.engines.interrupts import Interrupts, watched
from adomnia.engines.postgres import connections
from adomnia.engines.postgres.engine import PostgreSQL
from adomnia.errors import MachineryError, PolicyError
from adomnia.schema.domain import Categories, Grid
from tests import postgres_server


@pytest.fixture
def place():
    with placed() as made:
        yield made


# One moment


def test_a_question_sees_one_moment(place):
    place.slow(rows=20, pause=0.02)
    engine = place.opened("slow")
    done = []
    asking = threading.Thread(
        target=lambda: done.append(exact(engine, "SELECT SUM(id) FROM people"))
    )
    asking.start()
    while asking.is_alive():
        place.run("UPDATE people SET id = id + 1000")
        time.sleep(0.01)
    asking.join()
    assert (done[0][0][0][0] - 210) % 20_000 == 0


def test_a_snapshot_is_one_moment_for_several_statements(place):
    engine = place.fill(5).opened()
    with engine.snapshot() as moment:
        before = count(moment)
        place.run("DELETE FROM people WHERE id < 4")
        assert count(moment) == before == 5
        with moment.snapshot() as same:
            assert count(same, "id > 0") == 5
    assert count(engine) == 2


def test_threads_ask_at_once(place):
    engine = place.fill(100).opened()
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda i: count(engine, f"id <= {i}"), range(1, 101)))
    assert found == list(range(1, 101))
    assert engine._connections._idle.qsize() <= connections.MOST


# Versions


def test_the_version_changes_with_the_data_and_only_then(place):
    place.fill()
    place.run(
        "CREATE TABLE parts (id bigint) PARTITION BY RANGE (id);"
        "CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (100)"
    )
    for name, changes in {
        "people": ["INSERT INTO people VALUES (9)", "UPDATE people SET id = 1 WHERE id = 9",
                   "DELETE FROM people WHERE id = 1", "TRUNCATE people"],
        "parts": ["INSERT INTO parts VALUES (1)"],
    }.items():  # fmt: skip
        engine = place.opened(name)
        for change in changes:
            before = engine.version()
            assert engine.version() == before
            assert count(place.opened()) >= 0
            assert engine.version() == before
            place.run(change)
            place.owner.execute("SELECT pg_stat_force_next_flush(); SELECT 1")
            assert engine.version() != before, change


def test_the_version_of_a_view_changes_with_any_transaction(place):
    engine = place.slow(rows=1, pause=0).opened("slow")
    before = engine.version()
    assert engine.version() == before
    place.run("INSERT INTO people VALUES (9)")
    assert engine.version() != before


# Failures


@contextmanager
def during(engine, place, act):
    """A question that runs while `act` happens; gives what it failed with."""
    caught = []

    def asking():
        try:
            exact(engine, "SELECT SUM(id) FROM people")
        except Exception as error:
            caught.append(error)

    thread = threading.Thread(target=asking)
    thread.start()
    running = (
        "SELECT pid FROM pg_stat_activity WHERE usename = 'reader' AND query ~ 'pg_catalog|slow'"
    )
    running += " AND state = 'active' AND wait_event = 'PgSleep'"
    end = time.monotonic() + 60
    while not (found := place.owner.execute(running).fetchall()) and time.monotonic() < end:
        time.sleep(0.02)
    act(found[0][0])
    thread.join(60)
    yield caught


def test_a_backend_that_is_ended_fails_one_question(place, capfd):
    place.slow()
    engine = place.opened("slow")

    def end(pid):
        place.owner.execute("SELECT pg_terminate_backend(%s)", [pid])

    with during(engine, place, end) as (error,):
        assert isinstance(error, MachineryError)
        assert error.exit_code == 5
        assert_silent(error, capfd)
    assert count(place.opened(), "id > 58") == 2
    place.run("DELETE FROM people WHERE id > 2")
    assert count(engine) == 2


def test_a_server_that_restarts(place, capfd):
    place.slow()
    engine, other = place.opened("slow"), place.opened()
    assert count(other) == 60
    place.owner.execute("CHECKPOINT")  # this server keeps nothing else
    with during(engine, place, lambda pid: place.server.restart(immediate=True)) as (error,):
        assert isinstance(error, MachineryError)
        assert_silent(error, capfd)
    place.owner = psycopg.connect(place.server.url(), autocommit=True)
    # Its idle connection is gone too, but that is found out before a question is asked.
    assert count(other) == 60
    place.run("DELETE FROM people WHERE id > 2")
    assert count(engine) == 2
    place.owner.close()


def test_a_server_that_is_down(place, capfd):
    engine = place.fill().opened()
    assert count(engine) == 3
    place.server.stop()
    try:
        for ask in (lambda: count(engine), engine.version, place.opened):
            with pytest.raises(MachineryError) as caught:
                ask()
            assert caught.value.exit_code == 5
            assert_silent(caught.value, capfd)
    finally:
        place.server.start()
    assert count(engine) == 3
    place.owner.close()


def test_a_question_can_be_interrupted(place):
    engine, interrupts = place.slow().opened("slow"), Interrupts()
    threading.Timer(0.5, interrupts.interrupt).start()
    started = time.monotonic()
    with watched(interrupts), pytest.raises(MachineryError):
        count(engine)
    assert time.monotonic() - started < 60
    assert count(place.opened()) == 60


def test_a_statement_has_a_time_limit(place, capfd):
    place.slow(rows=20)
    url = place.server.url(role="reader") + "?options=-c%20statement_timeout%3D300"
    engine = PostgreSQL(url, f"{place.schema}.slow", DOMAINS)
    with pytest.raises(MachineryError) as caught:
        count(engine)
    assert "QueryCanceled" in str(caught.value)
    assert_silent(caught.value, capfd)
    engine.close()
    with place.opened().snapshot() as moment:
        limit = moment._connection.execute("SHOW statement_timeout").fetchone()
    assert limit == ("10min",)


def test_nothing_can_be_written(place):
    place.fill()
    place.run("GRANT ALL ON people TO reader")
    with pytest.warns(UserWarning, match="could also change it"):
        engine = place.opened()
    with engine.snapshot() as moment, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        moment._connection.execute(f"DELETE FROM {place.schema}.people")
    assert count(engine) == 3
    place.run("REVOKE ALL ON people FROM reader")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        place.run("GRANT SELECT ON people TO reader")
        assert count(place.opened()) == 3


# Roles, tables and addresses


def test_rights(place, capfd):
    place.fill()
    place.owner.execute(f"REVOKE ALL ON {place.schema}.people FROM reader")
    with pytest.raises(PolicyError, match="may not read") as caught:
        place.opened()
    assert_silent(caught.value, capfd)
    place.owner.execute(f"GRANT SELECT (id) ON {place.schema}.people TO reader")
    engine = place.opened()
    assert list(engine.columns()) == ["id"]
    assert exact(engine, "SELECT SUM(id) FROM people", table({"id": DOMAINS["id"]})) == [[[6]]]
    place.owner.execute(f"REVOKE ALL ON {place.schema}.people FROM reader")
    with pytest.raises(MachineryError) as caught:
        exact(engine, "SELECT SUM(id) FROM people")
    assert "InsufficientPrivilege" in str(caught.value)


def test_the_role_of_the_documentation_reads_and_no_more(place):
    page = (Path(__file__).parents[2] / "docs/sources.md").read_text("utf-8")
    (role,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    name = f"role_{uuid4().hex}"
    place.fill().owner.execute(role.replace("adomnia_reader", name).replace("public", place.schema))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine = PostgreSQL(place.server.url(role=name), f"{place.schema}.people", DOMAINS)
    assert count(engine) == 3
    engine.close()
    with (
        psycopg.connect(place.server.url(role=name)) as reader,
        pytest.raises(psycopg.errors.ReadOnlySqlTransaction),
    ):
        reader.execute("CREATE TABLE t (id int)")
    place.owner.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


def test_tables_are_found_by_name_and_schema(place):
    place.fill()
    name = f"t_{uuid4().hex}"
    place.run(f'CREATE TABLE {name} AS SELECT 1::bigint AS id; CREATE TABLE "a.b" (id int)')
    url = place.server.url(role="reader")
    for written in (name, f"{place.schema}.{name}", f"{place.schema}.a.b"):
        engine = PostgreSQL(url, written, {})
        assert list(engine.columns()) == ["id"]
        engine.close()
    for missing in ("none_such", f"{place.schema}.none", "nowhere.people", "pg_class", ""):
        with pytest.raises(PolicyError, match="there is no table"):
            PostgreSQL(url, missing, {})
    place.owner.execute(
        f"CREATE SCHEMA {place.schema}_2 CREATE TABLE {name} (id int); "
        f"GRANT USAGE ON SCHEMA {place.schema}_2 TO reader; "
        f"GRANT SELECT ON {place.schema}_2.{name} TO reader"
    )
    with pytest.raises(PolicyError, match="several tables"):
        PostgreSQL(url, name, {})
    place.owner.execute(f"DROP SCHEMA {place.schema}_2 CASCADE")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://reader:{s}@127.0.0.1:{port}/nowhere",
        "postgresql://nobody_{s}:{s}@127.0.0.1:{port}/postgres",
        "postgresql://reader:{s}@127.0.0.1:1/postgres",
        "postgresql://127.0.0.1:1/postgres?user=reader&password={s}",
        "postgresql://reader:{s}@[::bad/x?y=",
        "postgresql://reader:a@{s}@127.0.0.1:1/postgres",
        "postgresql://reader:a/{s}@127.0.0.1:1/postgres",
        "postgresql://reader:{s}/b@127.0.0.1:1/postgres",
        "postgresql://reader:{s}@127.0.0.1:{port}/postgres?nonsense={s}",
    ],
)
def test_a_password_is_never_shown(url, capfd):
    address = url.format(s=SECRET, port=postgres_server.shared().port)
    with pytest.raises(MachineryError) as caught:
        PostgreSQL(address, "people", DOMAINS)
    assert_silent(caught.value, capfd)


def test_a_domain_that_cannot_be_is_an_error_of_the_policy(place):
    place.fill()
    for domain in (
        Grid(Fraction(0), Fraction(10**401), Fraction(10**400)),
        Categories(("a\0b",)),
    ):
        with pytest.raises(PolicyError):
            place.opened(domains={"name": domain})


def test_without_the_driver_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(PolicyError, match=r"adomnia\[postgres\]"):
        PostgreSQL("postgresql://127.0.0.1/x", "people", DOMAINS)


def test_the_encoding_must_hold_every_text():
    server = postgres_server.shared()
    name = f"latin_{uuid4().hex}"
    server.execute(f"CREATE DATABASE {name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' "
                   "TEMPLATE template0")  # fmt: skip
    with pytest.raises(PolicyError, match="UTF8"):
        PostgreSQL(server.url(name, "reader"), "people", DOMAINS)
    server.execute(f"DROP DATABASE {name}")
