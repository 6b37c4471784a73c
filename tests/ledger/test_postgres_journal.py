"""The journal in PostgreSQL: what is made and refused, and what a lost connection can do."""

from __future__ import annotations

import os
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest

from adomnia.errors import LedgerError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import Record, receipt
from adomnia.ledger.reserve import Budgets, Reservation, reserve
from adomnia.ledger.stores import postgres_database, postgres_journal
from adomnia.ledger.stores.postgres_address import LedgerAddress
from adomnia.ledger.stores.postgres_connection import connect
from adomnia.ledger.stores.postgres_journal import PostgresJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Laplace
from tests.postgres_server import Server, shared

BUDGETS = Budgets(Budget(Fraction(1000)))
ASKED = Reservation("alice", None, None, "SELECT 1", Laplace(Fraction(1, 10), Fraction(1)))
SECRET = "sesame"


def fresh(server: Server) -> str:
    """The address of a ledger that nobody has made yet."""
    return f"{server.url()}?adomnia_unsafe=1&ledger={uuid.uuid4().hex}"


@pytest.fixture
def server() -> Server:
    return shared()


@pytest.fixture
def url(server: Server) -> str:
    """A ledger of the test's own."""
    return fresh(server)


@pytest.fixture
def journal(url: str) -> Iterator[PostgresJournal]:
    with PostgresJournal(url) as opened:
        yield opened


@pytest.fixture
def knife(server: Server) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        yield connection


def _one(account: Account) -> Sequence[Record]:
    return [Record("reserved", {"analyst": "a", "loss": {}}, {"statement": "s"})]


def in_child(work: Callable[[], object]) -> int:
    """The exit code of a forked child that does the work and dies without closing anything."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# The address


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:sesame@h/d", "postgresql://h/d?ledger=adomnia"),
        ("postgres://u:sesame@h:1,[::1]:2/d?ledger=x.y-z", "postgres://h:1,[::1]:2/d?ledger=x.y-z"),
        ("postgresql:///d?host=/run&password=sesame", "postgresql:///d?ledger=adomnia"),
        ("postgresql://", "postgresql:///?ledger=adomnia"),
        ("postgresql://u:%40sesame@h/d?sslmode=require", "postgresql://h/d?ledger=adomnia"),
    ],
)
def test_an_address_shows_no_password(url: str, shown: str) -> None:
    address = LedgerAddress.of(url)
    assert str(address) == shown
    assert SECRET not in repr(address)


def test_what_is_ours_is_taken_out_of_the_address() -> None:
    url = "postgresql://h/d?sslmode=require&ledger=people&anchor=a%20b&adomnia_unsafe=1&user=x"
    address = LedgerAddress.of(url, Path("folder"))
    assert address.conninfo == "postgresql://h/d?sslmode=require&user=x"
    assert (address.ledger, address.anchor, address.unsafe) == ("people", Path("folder/a b"), True)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:ses/ame@h/d",
        "postgresql://u:ses?ame@h/d",
        "postgresql://u:sesame",
        "postgresql://h/d?ledger=",
        "postgresql://h/d?ledger=a%20b",
        "postgresql://h/d?ledger=';DROP",
        f"postgresql://h/d?ledger={'x' * 100}",
    ],
)
def test_an_address_that_is_none_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match="ledger") as refused:
        LedgerAddress.of(url)
    assert not {"ses", "ame", "DROP"} & set(str(refused.value).split())
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("query", ["no_such_option=1", "sslmode=perhaps", "%", "connect_timeout=x"])
def test_what_the_client_library_does_not_understand_is_refused(query: str) -> None:
    with pytest.raises(LedgerError) as refused:
        PostgresJournal(f"postgresql://u:{SECRET}@127.0.0.1:1/d?{query}")
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None or SECRET not in str(refused.value.__cause__)


def test_nobody_there_is_an_error_with_the_place_and_no_password() -> None:
    with pytest.raises(LedgerError, match=r"postgresql://127.0.0.1:1/d\?ledger=adomnia") as refused:
        PostgresJournal(f"postgresql://u:{SECRET}@127.0.0.1:1/d")
    assert refused.value.exit_code == 5
    assert SECRET not in str(refused.value)


def test_without_the_driver_it_says_what_to_install(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerError, match=r"adomnia\[postgres\]"):
        PostgresJournal(url)


# Making one


def test_reading_does_not_make_a_missing_ledger(url: str) -> None:
    assert PostgresJournal.found(LedgerAddress.of(url)) is None
    with pytest.raises(LedgerError, match="there is no ledger at"):
        PostgresJournal(url, create=False)
    PostgresJournal(url).close()
    found = PostgresJournal.found(LedgerAddress.of(url))
    assert found is not None
    found.close()


def test_two_who_make_it_at_once_make_one(url: str) -> None:
    start = threading.Barrier(8)

    def make(_: int) -> str:
        start.wait()
        with PostgresJournal(url) as journal:
            return next(journal.entries()).digest

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(make, range(8)))) == 1


def test_ledgers_of_one_database_do_not_mix(server: Server, url: str) -> None:
    with PostgresJournal(url) as one, PostgresJournal(fresh(server)) as two:
        reserve(one, ASKED, BUDGETS)
        assert (one.account().number, two.account().number) == (2, 1)
        assert one.verify().ok
        assert two.verify().ok


def test_a_role_that_may_only_append_is_enough(
    server: Server, url: str, journal: PostgresJournal, knife: psycopg.Connection[Any]
) -> None:
    role = f"r{uuid.uuid4().hex}"
    knife.execute(f"CREATE ROLE {role} LOGIN")
    knife.execute(f"GRANT SELECT, INSERT ON adomnia_journal TO {role}")
    knife.execute(f"GRANT SELECT, UPDATE ON adomnia_head TO {role}")
    limited = url.replace("postgres@", f"{role}@")
    with PostgresJournal(limited) as clerk:
        reserve(clerk, ASKED, BUDGETS)
        assert clerk.verify().ok
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            clerk._store.connection.execute("UPDATE adomnia_journal SET body = '{}'")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            clerk._store.connection.execute("DELETE FROM adomnia_journal")
    with pytest.raises(LedgerError, match="permission denied") as refused:
        PostgresJournal(f"{limited}x")
    assert "docs/ledger.md" in str(refused.value)


# Only what is durable


def test_a_server_that_may_forget_is_refused(url: str) -> None:
    with pytest.raises(LedgerError, match="fsync = off"):
        PostgresJournal(url.replace("adomnia_unsafe=1", ""))


def test_a_server_as_it_should_be_needs_no_leave() -> None:
    with Server(durable=True) as server:
        server._settings["full_page_writes"] = "on"
        server.start()
        with PostgresJournal(server.url()) as journal:
            reserve(journal, ASKED, BUDGETS)
            server.restart(immediate=True)
            assert journal.account().number == 2


def test_a_table_that_a_crash_empties_is_refused(url: str, knife: psycopg.Connection[Any]) -> None:
    PostgresJournal(url).close()
    knife.execute("CREATE SCHEMA frail")
    knife.execute("CREATE UNLOGGED TABLE frail.adomnia_journal (LIKE public.adomnia_journal)")
    try:
        with pytest.raises(LedgerError, match="does not survive a crash"):
            PostgresJournal(f"{url}&schema=frail")
    finally:
        knife.execute("DROP SCHEMA frail CASCADE")


@pytest.mark.parametrize("durable", [True, False])
def test_every_commit_waits_for_the_disk_whatever_the_default(
    url: str, monkeypatch: pytest.MonkeyPatch, durable: bool
) -> None:
    seen: list[Any] = []
    commit = postgres_database.commit

    def looked(connection: psycopg.Connection[Any], *given: Any) -> None:
        seen.append(connection.execute("SHOW synchronous_commit").fetchone())
        commit(connection, *given)

    with PostgresJournal(f"{url}&options=-csynchronous_commit%3Doff") as journal:
        monkeypatch.setattr(postgres_database, "commit", looked)
        journal.append(_one, durable)
    assert seen == [("on",)]


def test_rows_that_something_swallows_are_not_taken_for_stored(
    url: str, knife: psycopg.Connection[Any]
) -> None:
    with PostgresJournal(url) as journal:
        name = journal._store.address.ledger
        body = "BEGIN RETURN NULL; END"
        knife.execute(f"CREATE FUNCTION f{name}() RETURNS trigger LANGUAGE plpgsql AS '{body}'")
        knife.execute(
            f"CREATE TRIGGER t{name} BEFORE INSERT ON adomnia_journal FOR EACH ROW"
            f" WHEN (NEW.ledger = '{name}') EXECUTE FUNCTION f{name}()"
        )
        with pytest.raises(LedgerError, match="did not take the entries"):
            reserve(journal, ASKED, BUDGETS)
        knife.execute(f"DROP TRIGGER t{name} ON adomnia_journal")
        assert reserve(journal, ASKED, BUDGETS).number == 2


# A connection that is lost


def cut(journal: PostgresJournal, knife: psycopg.Connection[Any]) -> None:
    """End the journal's connection from the server's side."""
    pid = journal._store.connection.info.backend_pid
    assert knife.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,)).fetchone() == (True,)


def test_one_lost_in_between_is_made_anew(
    journal: PostgresJournal, knife: psycopg.Connection[Any]
) -> None:
    for step in range(2):
        cut(journal, knife)
        assert reserve(journal, ASKED, BUDGETS).number == 2 + step
        cut(journal, knife)
        assert journal.account().number == 2 + step
        cut(journal, knife)
        assert len(list(journal.entries())) == 2 + step


def test_one_lost_in_the_middle_is_tried_again_and_paid_once(
    journal: PostgresJournal, knife: psycopg.Connection[Any]
) -> None:
    calls: list[int] = []

    def decide(account: Account) -> Sequence[Record]:
        calls.append(account.number)
        if len(calls) < 3:
            cut(journal, knife)
        return _one(account)

    assert [entry.number for entry in journal.append(decide)] == [2]
    assert calls == [1, 1, 1]
    assert len(list(journal.entries())) == 2


def test_nothing_of_a_transaction_goes_over_another_connection(
    url: str, journal: PostgresJournal
) -> None:
    calls: list[int] = []

    def decide(account: Account) -> Sequence[Record]:
        calls.append(account.number)
        if len(calls) == 1:
            journal._store.disconnect()
            with PostgresJournal(url) as other:  # the lock is gone with the connection
                other.append(_one)
        return _one(account)

    assert [entry.number for entry in journal.append(decide)] == [3]
    assert calls == [1, 2]
    assert journal.verify().ok


def test_a_bad_record_and_a_lost_connection_at_once(
    journal: PostgresJournal, knife: psycopg.Connection[Any]
) -> None:
    cuts = [1]

    def bad(account: Account) -> Sequence[Record]:
        if cuts:
            cuts.pop()
            cut(journal, knife)
        return [*_one(account), Record("reserved", {"analyst": "alice"})]

    journal.append(_one)
    with ThreadPoolExecutor(3) as pool:
        requests = [pool.submit(journal.append, decide) for decide in (_one, bad, _one)]
    assert isinstance(requests[1].exception(), LedgerError)
    assert [entry.number for entry in journal.entries()] == [1, 2, 3, 4]
    assert journal.verify().ok


@pytest.mark.parametrize(
    "error",
    [
        psycopg.errors.SerializationFailure("x"),
        psycopg.errors.DeadlockDetected("x"),
        psycopg.errors.LockNotAvailable("x"),
        psycopg.errors.CannotConnectNow("x"),
    ],
)
def test_a_conflict_is_tried_again(
    journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch, error: psycopg.Error
) -> None:
    commit, errors = postgres_database.commit, [error]

    def conflicting(*given: Any) -> None:
        if errors:
            raise errors.pop()
        commit(*given)

    monkeypatch.setattr(postgres_database, "commit", conflicting)
    assert reserve(journal, ASKED, BUDGETS).number == 2
    assert [entry.number for entry in journal.entries()] == [1, 2]


class Commit:
    """A commit that goes as told the first time: `stored` or not, and nobody hears of it."""

    def __init__(self, stored: bool, then: Callable[[], object] = lambda: None) -> None:
        self.stored, self.then, self.calls = stored, then, 0
        self.real = postgres_database.commit

    def __call__(self, connection: psycopg.Connection[Any], *given: Any) -> None:
        self.calls += 1
        if self.calls > 1:
            return self.real(connection, *given)
        if self.stored:
            self.real(connection, *given)
        connection.close()
        self.then()
        raise psycopg.OperationalError("the connection was lost")


@pytest.mark.parametrize("stored", [True, False])
def test_one_lost_in_the_commit_is_paid_once_either_way(
    journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch, stored: bool
) -> None:
    commit = Commit(stored)
    monkeypatch.setattr(postgres_database, "commit", commit)
    granted = reserve(journal, ASKED, BUDGETS)
    assert commit.calls == (1 if stored else 2)
    assert granted.receipt in map(receipt, journal.entries())
    assert journal.account().total.epsilon == Fraction(1, 10)
    assert journal.verify().ok


def test_others_may_write_before_the_outcome_is_known(
    url: str, journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stored in (True, False):
        with PostgresJournal(url) as other:
            then = [lambda other=other: reserve(other, ASKED, BUDGETS)]
            commit = Commit(stored, lambda then=then: then.pop()())
            monkeypatch.setattr(postgres_database, "commit", commit)
            granted = reserve(journal, ASKED, BUDGETS)
            monkeypatch.setattr(postgres_database, "commit", commit.real)
        assert granted.receipt in map(receipt, journal.entries())
    assert journal.account().total.epsilon == Fraction(4, 10)


def test_a_commit_still_under_way_is_waited_for(
    journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, late = postgres_database.commit, threading.Event()

    def slow(connection: psycopg.Connection[Any], *given: Any) -> None:
        monkeypatch.setattr(postgres_database, "commit", real)
        journal._store._connection = None  # it lives on at the server's side

        def finish() -> None:
            threading.Event().wait(0.5)
            late.set()
            real(connection, *given)
            connection.close()

        threading.Thread(target=finish).start()
        raise psycopg.OperationalError("the connection was lost")

    monkeypatch.setattr(postgres_database, "commit", slow)
    granted = reserve(journal, ASKED, BUDGETS)
    assert late.is_set()
    assert list(map(receipt, journal.entries(1))) == [granted.receipt]


def test_a_transaction_that_had_failed_is_not_taken_for_stored(
    journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = postgres_database.commit

    def failed(connection: psycopg.Connection[Any], *given: Any) -> None:
        monkeypatch.setattr(postgres_database, "commit", real)
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute("SELECT 1/0")
        real(connection, *given)

    monkeypatch.setattr(postgres_database, "commit", failed)
    granted = reserve(journal, ASKED, BUDGETS)
    assert list(map(receipt, journal.entries(1))) == [granted.receipt]


@pytest.mark.parametrize("stored", [True, False])
def test_what_cannot_be_known_in_time_is_an_error_and_stays_spent(
    monkeypatch: pytest.MonkeyPatch, stored: bool
) -> None:
    with Server.started() as server, PostgresJournal(fresh(server)) as journal:
        monkeypatch.setattr(postgres_journal, "PATIENCE", 0.3)
        monkeypatch.setattr(postgres_database, "commit", Commit(stored, server.stop))
        with pytest.raises(LedgerError, match="not known whether") as refused:
            reserve(journal, ASKED, BUDGETS)
        assert refused.value.exit_code == 5
        with pytest.raises(LedgerError, match="cannot be used"):
            journal.account()
        server.start()
        assert journal.account().total.epsilon == (Fraction(1, 10) if stored else 0)
        assert reserve(journal, ASKED, BUDGETS).number == (3 if stored else 2)
        assert journal.verify().ok


@pytest.mark.parametrize("immediate", [True, False])
def test_a_restart_is_waited_for(immediate: bool) -> None:
    with Server.started() as server, PostgresJournal(fresh(server)) as journal:
        before = reserve(journal, ASKED, BUDGETS)
        server.stop(immediate)
        with ThreadPoolExecutor(1) as pool:
            after = pool.submit(reserve, journal, ASKED, BUDGETS)
            threading.Event().wait(0.5)
            assert in_child(lambda: None) == 0  # who waits for a server does not stop a fork
            assert not after.done()
            server.start()
            written = [before.receipt, after.result().receipt]
        assert list(map(receipt, journal.entries(1))) == written
        assert journal.verify().ok


def test_a_writer_that_falls_silent_is_ended(
    url: str, journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = postgres_database.BEGIN.replace(f"'{postgres_database.IDLE}s'", "'1500ms'")
    assert quick != postgres_database.BEGIN
    monkeypatch.setattr(postgres_database, "BEGIN", quick)
    address = LedgerAddress.of(url)
    silent = connect(address)
    postgres_database.begin(silent, address, 0)
    assert reserve(journal, ASKED, BUDGETS).number == 2
    with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
        silent.execute("SELECT 1")
    silent.close()


def test_a_head_that_a_stranger_holds_is_waited_for_and_then_an_error(
    url: str, journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        postgres_database,
        "BEGIN",
        postgres_database.BEGIN.replace(f"'{postgres_database.WAIT}s'", "'50ms'"),
    )
    monkeypatch.setattr(postgres_journal, "PATIENCE", 0.3)
    address = LedgerAddress.of(url)
    with connect(address) as stranger:
        postgres_database.begin(stranger, address, 0)
        with pytest.raises(LedgerError, match="lock timeout"):
            reserve(journal, ASKED, BUDGETS)
        assert journal.account().number == 1  # whoever reads does not wait
        stranger.execute("ROLLBACK")
    assert reserve(journal, ASKED, BUDGETS).number == 2


# Forks and batches, as for SQLite


def test_a_child_goes_on_where_the_parent_was(journal: PostgresJournal) -> None:
    reserve(journal, ASKED, BUDGETS)

    def work() -> None:
        reserve(journal, ASKED, BUDGETS)
        assert journal.account().number == 3

    assert in_child(work) == 0
    assert reserve(journal, ASKED, BUDGETS).number == 4
    assert journal.verify().ok


def test_forking_in_the_middle_of_many_requests(journal: PostgresJournal) -> None:
    def ask() -> None:
        for _ in range(20):
            reserve(journal, ASKED, BUDGETS)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    codes = [in_child(lambda: reserve(journal, ASKED, BUDGETS)) for _ in range(6)]
    for thread in threads:
        thread.join()
    assert codes == [0] * 6
    assert journal.account().number == 1 + 80 + 6
    assert journal.verify().ok


def test_those_who_wait_share_one_commit(
    journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits: list[int] = []
    commit = postgres_database.commit
    monkeypatch.setattr(
        postgres_database, "commit", lambda *given: (commits.append(1), commit(*given))
    )
    entered, go = threading.Event(), threading.Event()

    def hold(account: Account) -> Sequence[Record]:
        entered.set()
        go.wait(60)
        return _one(account)

    with ThreadPoolExecutor(33) as pool:
        pool.submit(journal.append, hold)
        entered.wait(60)
        rest = [pool.submit(journal.append, _one) for _ in range(32)]
        while journal._writer._queue.qsize() < 32:
            threading.Event().wait(0.001)
        go.set()
    assert len({future.result()[0].number for future in rest}) == 32
    assert len(commits) == 2


def test_verifying_does_not_stop_the_writers(journal: PostgresJournal) -> None:
    stop = threading.Event()

    def ask() -> int:
        count = 0
        while not stop.is_set():
            journal.append(_one)
            count += 1
        return count

    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(ask) for _ in range(2)]
        checks = [journal.verify() for _ in range(10)]
        stop.set()
    assert [check.problems for check in checks] == [()] * 10
    assert journal.account().number == 1 + sum(writer.result() for writer in writers)
