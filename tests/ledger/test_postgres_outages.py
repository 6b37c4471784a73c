"""What befalls a real server: a line cut in the commit, an old backup, a standby, wrong clocks."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from select import select
from typing import Any

import psycopg
import pytest

from adomnia.errors import LedgerError
from adomnia.ledger import entry
from adomnia.ledger.reserve import Budgets, Granted, Reservation, answered, reserve
from adomnia.ledger.stores import postgres_journal
from adomnia.ledger.stores.postgres_journal import PostgresJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Laplace
from tests.postgres_server import Server, shared

BUDGETS = Budgets(Budget(Fraction(1000)))
ASKED = Reservation("alice", None, "key", "SELECT 1", Laplace(Fraction(1, 10), Fraction(1)))
COMMIT = b"; COMMIT\0"  # how the message ends that a transaction ends with


def fresh(server: Server) -> str:
    """The address of a ledger that nobody has made yet."""
    return f"{server.url()}?adomnia_unsafe=1&ledger={uuid.uuid4().hex}"


def pay(journal: PostgresJournal, asked: Reservation = ASKED) -> Granted:
    return reserve(journal, asked, BUDGETS)


def tenths(url: str) -> Fraction:
    """How many tenths a new reader of the ledger finds spent, all of it being in order."""
    with PostgresJournal(url, create=False) as journal:
        assert journal.verify().problems == ()
        return journal.account().total.epsilon * 10


class Wire:
    """A line to a server that is cut in the middle of a commit.

    `stored`: the server has committed, and its answer is lost; else it never hears of the commit.
    `gone`: nobody can connect afterwards.
    """

    def __init__(self, server: Server, stored: bool, gone: bool) -> None:
        self.stored, self.gone, self.armed, self.cuts = stored, gone, False, 0
        self._server = ("127.0.0.1", server.port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection(self._server) as server:
            tail, other = b"", {client: server, server: client}
            while True:
                ready = select([client, server], [], [])[0][0]
                if not (data := ready.recv(1 << 16)):
                    return
                tail = (tail + data)[-len(COMMIT) :]
                if self.armed and ready is client and tail == COMMIT:
                    return self._cut(server, data)
                other[ready].sendall(data)

    def _cut(self, server: socket.socket, data: bytes) -> None:
        self.armed, self.cuts = False, self.cuts + 1
        if self.gone:
            self.close()
        if self.stored:
            server.sendall(data)
            server.recv(1 << 16)  # it has committed, and nobody hears of it


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that may be stopped."""
    with Server.started() as own:
        yield own


@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("stored", [False, True])
def test_a_line_cut_in_the_commit(
    monkeypatch: pytest.MonkeyPatch, stored: bool, gone: bool
) -> None:
    url, wire = fresh(shared()), Wire(shared(), stored, gone)
    through = url.replace(f":{shared().port}/", f":{wire.port}/")
    monkeypatch.setattr(postgres_journal, "PATIENCE", 0.3 if gone else 30.0)
    with PostgresJournal(through) as journal:
        wire.armed = True
        if gone:
            with pytest.raises(LedgerError, match="not known whether") as refused:
                pay(journal)
            assert refused.value.exit_code == 5
        else:
            assert pay(journal).number == 2
            assert tenths(url) == 1  # paid once, whether or not it was stored the first time
    wire.close()
    assert wire.cuts == 1
    if gone:  # what may have been stored is spent, and the repeated question pays for itself
        assert tenths(url) == stored
        with PostgresJournal(url) as journal:
            granted = pay(journal)
            assert not granted.repeated
            answered(journal, granted.receipt, {"rows": []})
            assert pay(journal).repeated
        assert tenths(url) == 1 + stored


def test_a_session_ended_while_its_commit_waits_is_paid_once(server: Server) -> None:
    """It waits for a standby that never comes; by then the entry is stored."""
    with PostgresJournal(fresh(server)) as journal, psycopg.connect(
        server.url(), autocommit=True
    ) as knife, ThreadPoolExecutor(1) as pool:  # fmt: skip
        _wait_for_standby(knife, "nobody")
        paid = pool.submit(pay, journal)
        waits = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        for _ in range(600):
            if found := knife.execute(waits).fetchone():
                break
            threading.Event().wait(0.05)
        assert found is not None
        knife.execute("SELECT pg_terminate_backend(%s, 20000)", found)
        assert paid.result(60).number == 2
        assert [line.number for line in journal.entries()] == [1, 2]
        assert journal.verify().ok


def _wait_for_standby(knife: psycopg.Connection[Any], name: str) -> None:
    knife.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
    knife.execute("SELECT pg_reload_conf()")
    while knife.execute("SHOW synchronous_standby_names").fetchone() != (name,):
        threading.Event().wait(0.05)  # until the server has told its processes


class Backup:
    """The files of a server as they were once."""

    def __init__(self, server: Server) -> None:
        self._server, self._copy = server, server.room / "backup"
        server.stop()
        self._copied(server.room / "data", self._copy)
        server.start()

    def put_back(self) -> None:
        self._server.stop()
        shutil.rmtree(self._server.room / "data")
        self._copied(self._copy, self._server.room / "data")
        self._server.start()

    def _copied(self, source: Path, target: Path) -> None:
        subprocess.run(["cp", "-a", source, target], check=True)


def test_an_old_backup_is_noticed_by_who_has_seen_more(server: Server, tmp_path: Path) -> None:
    url = fresh(server)
    anchored = f"{url}&anchor={tmp_path / 'anchor'}"
    with PostgresJournal(url) as reader, PostgresJournal(anchored) as writer:
        pay(writer)
        backup = Backup(server)
        for _ in range(2):
            pay(writer)
        assert reader.account().number == 4
        backup.put_back()
        _refused([writer, reader], "this process saw entry 4")
        with PostgresJournal(anchored) as later:
            _refused([later], "the anchor says 4")
        with PostgresJournal(url) as careless:  # it has seen nothing, and has no anchor
            for _ in range(3):
                pay(careless)
        _refused([writer, reader], "not the one this process saw|does not follow")
        with PostgresJournal(anchored) as later:
            _refused([later], "the anchor does not match entry 4")


def _refused(journals: Sequence[PostgresJournal], why: str) -> None:
    """Whoever asks is refused, every time, and told why."""
    for journal in journals * 2:
        with pytest.raises(LedgerError, match=why) as refused:
            pay(journal)
        assert refused.value.exit_code == 5
        assert not journal.verify().ok


def test_a_standby_is_read_and_not_written(server: Server) -> None:
    url, signal = fresh(server), server.room / "data" / "standby.signal"
    with PostgresJournal(url) as journal:
        pay(journal)
        server.stop()
        signal.touch()
        server.start()
        assert journal.account().number == 2
        assert journal.verify().ok
        for asked in (lambda: pay(journal), lambda: PostgresJournal(fresh(server))):
            with pytest.raises(LedgerError, match="cannot be used") as refused:
                asked()
            assert refused.value.exit_code == 5
            assert "this server is a standby" in refused.value.hint
        server.stop()
        signal.unlink()
        server.start()
        assert pay(journal).number == 3


class Clock(datetime):
    """A clock that is set back a century at every look."""

    year_now = 2999

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        cls.year_now -= 100
        return datetime(cls.year_now, 1, 1, tzinfo=tz)


def test_clocks_that_disagree_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    url = fresh(shared())
    monkeypatch.setattr(entry, "datetime", Clock)
    with PostgresJournal(url) as one, PostgresJournal(url) as two:
        granted = pay(one)
        answered(two, granted.receipt, {"rows": []})
        assert pay(two).receipt == pay(one).receipt == granted.receipt
        times = [line.at for line in two.entries()]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == 3
    assert tenths(url) == 1
