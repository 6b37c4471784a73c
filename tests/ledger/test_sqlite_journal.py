"""The SQLite file: how it is made, what is refused, forks, full disks, and group commit."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

from adomnia.errors import LedgerError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import Record
from adomnia.ledger.reserve import Budgets, Reservation, reserve
from adomnia.ledger.stores.sqlite_journal import SqliteJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Laplace

BUDGETS = Budgets(Budget(Fraction(1000)))
ASKED = Reservation("alice", None, None, "SELECT 1", Laplace(Fraction(1, 10), Fraction(1)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "adomnia.ledger"


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    with SqliteJournal(path) as opened:
        yield opened


def in_child(work: Callable[[], None]) -> int:
    """The exit code of a forked child that does the work and dies without closing anything."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_only_the_owner_may_read_it(journal: SqliteJournal) -> None:
    reserve(journal, ASKED, BUDGETS)
    files = list(journal.path.parent.iterdir())
    assert len(files) == 4
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_closed_ledger_is_one_file_and_its_lock(path: Path) -> None:
    with SqliteJournal(path) as journal:
        reserve(journal, ASKED, BUDGETS)
    assert {file.name for file in path.parent.iterdir()} == {path.name, path.name + ".lock"}


def test_reading_does_not_make_a_missing_ledger(path: Path) -> None:
    with pytest.raises(LedgerError, match="there is no ledger at"):
        SqliteJournal.open(path, create=False)
    assert list(path.parent.iterdir()) == []


def _directory(path: Path) -> None:
    path.mkdir()


def _empty(path: Path) -> None:
    path.touch()


def _garbage(path: Path) -> None:
    path.write_bytes(b"age,income\n41,20000\n" * 500)


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (age)")
    connection.close()


def _orphan(path: Path) -> None:
    path.with_name(path.name + "-wal").write_bytes(b"x")


def _headless(path: Path) -> None:
    SqliteJournal(path).close()
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize("make", [_directory, _empty, _garbage, _foreign, _orphan, _headless])
def test_what_is_no_ledger_is_refused_and_left_alone(
    path: Path, make: Callable[[Path], None]
) -> None:
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(LedgerError) as refused, SqliteJournal(path) as journal:
        reserve(journal, ASKED, BUDGETS)
    assert refused.value.exit_code == 5
    assert path.name in str(refused.value)
    assert "Traceback" not in str(refused.value)
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize("name", ["missing/adomnia.ledger", "nul\0byte", "x" * 300])
def test_a_path_no_file_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LedgerError):
        SqliteJournal(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["with space", "per%20cent", "que?ry#mark", "näme"])
def test_a_path_may_be_strange(tmp_path: Path, name: str) -> None:
    with SqliteJournal(tmp_path / name) as journal:
        reserve(journal, ASKED, BUDGETS)
        assert journal.verify().ok
    assert (tmp_path / name).exists()


def test_a_ledger_that_disappeared_is_not_begun_anew(path: Path) -> None:
    with SqliteJournal(path) as journal:
        reserve(journal, ASKED, BUDGETS)
    path.unlink()
    with pytest.raises(LedgerError, match="is gone"):
        SqliteJournal(path)
    path.with_name(path.name + ".lock").unlink()
    with SqliteJournal(path) as journal:
        assert journal.account().number == 1


def test_a_making_that_was_cut_short_is_made_again(path: Path) -> None:
    path.with_name(path.name + ".new").write_bytes(b"half")
    with SqliteJournal(path) as journal:
        assert journal.verify().ok
    assert not path.with_name(path.name + ".new").exists()


def test_two_who_make_it_at_once_make_one(path: Path) -> None:
    start = threading.Barrier(8)

    def make(_: int) -> str:
        start.wait()
        with SqliteJournal(path) as journal:
            return next(journal.entries()).digest

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(make, range(8)))) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="changes its user")
@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_someone_without_the_right_is_refused(path: Path, mode: int) -> None:
    SqliteJournal(path).close()
    path.chmod(mode)
    for folder in (path.parent, *list(path.parents)[:3]):
        folder.chmod(0o755)

    def work() -> None:
        os.setuid(65534)
        try:
            with SqliteJournal(path) as journal:
                reserve(journal, ASKED, BUDGETS)
        except LedgerError:
            return
        raise AssertionError

    assert in_child(work) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="changes its user")
def test_someone_who_may_only_read_can_verify() -> None:
    # Not in pytest's own folder: others may not enter that.
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    path = folder / "adomnia.ledger"
    with SqliteJournal(path) as journal:
        reserve(journal, ASKED, BUDGETS)
    for file in folder.iterdir():
        file.chmod(0o444)

    def work() -> None:
        os.setuid(65534)
        with SqliteJournal(path, create=False) as journal:
            assert journal.verify().problems == ()
            assert journal.account().number == 2

    try:
        assert in_child(work) == 0
    finally:
        shutil.rmtree(folder)


def test_a_full_disk_fails_the_request_and_nothing_else(journal: SqliteJournal) -> None:
    reserve(journal, ASKED, BUDGETS)
    pages = journal._store.connection.execute("PRAGMA page_count").fetchone()[0]
    journal._store.connection.execute(f"PRAGMA max_page_count = {pages}")
    big = Reservation("alice", None, None, "x" * 19_000, ASKED.event)
    with pytest.raises(LedgerError, match="full"):
        reserve(journal, big, BUDGETS)
    assert journal.account().number == 2
    reserve(journal, ASKED, BUDGETS)
    assert journal.account().total.epsilon == Fraction(2, 10)
    assert journal.verify().ok


def test_a_child_goes_on_where_the_parent_was(journal: SqliteJournal) -> None:
    reserve(journal, ASKED, BUDGETS)

    def work() -> None:
        reserve(journal, ASKED, BUDGETS)
        assert journal.account().number == 3

    assert in_child(work) == 0
    assert reserve(journal, ASKED, BUDGETS).number == 4
    assert journal.verify().ok


def test_opening_it_twice_does_not_let_go_of_the_first(path: Path) -> None:
    # Closing any descriptor of a file drops all POSIX locks a process has on it. Then another
    # process that closes would take the write-ahead log away from under the first.
    with SqliteJournal(path) as first:
        reserve(first, ASKED, BUDGETS)
        SqliteJournal(path).close()
        subprocess.run([sys.executable, "-c", _VISIT, str(path)], check=True)
        reserve(first, ASKED, BUDGETS)
        subprocess.run([sys.executable, "-c", _VISIT, str(path)], check=True)
        reserve(first, ASKED, BUDGETS)
        subprocess.run([sys.executable, "-c", _EXPECT, str(path), "6"], check=True)
        assert first.verify().problems == ()


_VISIT = """
import sys
import tempfile
from fractions import Fraction
from adomnia.ledger.reserve import Budgets, Reservation, reserve
from adomnia.ledger.stores.sqlite_journal import SqliteJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Free
with SqliteJournal(sys.argv[1]) as journal:
    reserve(journal, Reservation("bob", None, None, "s", Free()), Budgets(Budget(Fraction(1))))
"""
_EXPECT = """
import sys
import tempfile
from adomnia.ledger.stores.sqlite_journal import SqliteJournal
with SqliteJournal(sys.argv[1]) as journal:
    assert journal.account().number == int(sys.argv[2]), journal.account().number
"""


def test_forking_in_the_middle_of_many_requests(journal: SqliteJournal) -> None:
    def ask() -> None:
        for _ in range(40):
            reserve(journal, ASKED, BUDGETS)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    codes = [in_child(lambda: reserve(journal, ASKED, BUDGETS) and None) for _ in range(10)]
    for thread in threads:
        thread.join()
    assert codes == [0] * 10
    assert journal.account().number == 1 + 160 + 10
    assert journal.verify().ok


def test_what_was_acknowledged_survives_a_death_without_close(path: Path) -> None:
    SqliteJournal(path).close()

    def work() -> None:
        journal = SqliteJournal(path)
        for durable in (True, False, True, False):
            journal.append(_one, durable)

    assert in_child(work) == 0
    assert path.with_name(path.name + "-wal").stat().st_size > 0
    with SqliteJournal(path) as journal:
        assert journal.account().number == 5
        assert journal.verify().ok


def _one(account: Account) -> Sequence[Record]:
    return [Record("reserved", {"analyst": "a", "loss": {}}, {"statement": "s"})]


def test_those_who_wait_share_one_commit(
    journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits: list[int] = []
    note = journal._store.lock.note
    monkeypatch.setattr(journal._store.lock, "note", lambda *last: (commits.append(1), note(*last)))
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


def test_a_decision_must_leave_the_journal_alone(journal: SqliteJournal) -> None:
    with pytest.raises(LedgerError, match="must not append"):
        journal.append(lambda account: journal.append(_one) and [])
    assert journal.append(_one)[0].number == 2


def test_verifying_does_not_stop_the_writers(journal: SqliteJournal) -> None:
    stop = threading.Event()

    def ask() -> int:
        count = 0
        while not stop.is_set():
            journal.append(_one)
            count += 1
        return count

    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(ask) for _ in range(2)]
        checks = [journal.verify() for _ in range(20)]
        stop.set()
    assert [check.problems for check in checks] == [()] * 20
    assert journal.account().number == 1 + sum(writer.result() for writer in writers)
