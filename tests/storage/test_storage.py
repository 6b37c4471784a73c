"""Connections to a real server: addresses that hide secrets, and a pool that outlives a restart."""

from __future__ import annotations

import threading

import psycopg
import pytest

from adomnia.errors import LedgerError
from adomnia.storage import driver
from adomnia.storage.address import PostgresAddress, shown_address
from adomnia.storage.pool import Pool
from tests import postgres_server

SECRET = "sesame"


@pytest.fixture(scope="module")
def url() -> str:
    return postgres_server.shared().url()


def alive(connection: psycopg.Connection) -> None:
    connection.execute("SELECT 1")


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{SECRET}@db.example/books",
        f"postgresql://me:{SECRET}@db.example/books?password={SECRET}",
        f"postgresql://me:pa/{SECRET}@db.example/books",
        f"postgresql://me@db.example/books;password={SECRET}",
        f"postgresql://me@db.example/books&password={SECRET}",
        f"postgresql://{SECRET}@/books",
        f"postgres://me:{SECRET}@[::1]:5433/books",
        f"postgresql://db.example:{SECRET}/books",
    ],
)
def test_no_secret_is_shown(url):
    assert SECRET not in shown_address(url)


def test_our_own_options_are_taken_out():
    found = PostgresAddress.of("postgresql://h/d?ledger=a%20b&sslmode=require", ("ledger",))
    assert found.own == {"ledger": "a b"}
    assert found.conninfo == "postgresql://h/d?sslmode=require"
    assert SECRET not in repr(PostgresAddress.of(f"postgresql://me:{SECRET}@h/d"))


def test_without_the_driver_it_is_said_what_needs_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(LedgerError, match="a ledger there needs the package psycopg"):
        driver.driver("a ledger there", LedgerError)


def test_an_address_may_say_its_own_deadlines(url):
    with driver.connect(url) as ours, driver.connect(f"{url}?connect_timeout=3") as theirs:
        assert ours.info.get_parameters()["connect_timeout"] == "10"
        assert theirs.info.get_parameters()["connect_timeout"] == "3"
        assert ours.info.get_parameters()["application_name"] == "adomnia"


def test_a_connection_is_used_again_and_what_it_began_is_undone(url):
    pool = Pool(url, 2, alive)
    with pool.connection() as first:
        first.execute("BEGIN")
        first.execute("CREATE TEMP TABLE left_over (n int)")
    with pool.connection() as second:
        assert second is first
        assert second.execute("SELECT to_regclass('left_over')").fetchone() == (None,)
    pool.close()
    assert first.closed


def test_no_more_than_so_many_at_once(url):
    pool, waits = Pool(url, 1, alive), threading.Event()

    def second() -> None:
        with pool.connection():
            waits.set()

    with pool.connection():
        thread = threading.Thread(target=second)
        thread.start()
        assert not waits.wait(0.2)
    assert waits.wait(10)
    thread.join()
    pool.close()


def test_a_connection_that_was_lost_is_replaced(url):
    pool = Pool(url, 1, alive)
    with pool.connection() as lost:
        number = lost.info.backend_pid
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [number])
    with pool.connection() as fresh:
        assert fresh is not lost
        assert fresh.execute("SELECT 1").fetchone() == (1,)
    pool.close()


def test_one_that_comes_back_after_the_end_is_closed(url):
    pool = Pool(url, 1, alive)
    with pool.connection() as held:
        pool.close()
        assert not held.closed
    assert held.closed
