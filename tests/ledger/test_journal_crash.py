"""Many processes, killed at random: nothing is answered that was not paid, nothing overspent.

For the journal in PostgreSQL its server is stopped and started again in the middle as well.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import pytest

from adomnia.errors import BudgetError, LedgerError
from adomnia.ledger.journal import Journal
from adomnia.ledger.reserve import Budgets, Reservation, answered, reserve
from adomnia.ledger.stores.postgres_journal import PostgresJournal
from adomnia.ledger.stores.sqlite_journal import SqliteJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Laplace
from tests.postgres_server import Server

WORKERS = 8
EPSILON = Fraction(1, 100)


@dataclass(frozen=True)
class Storm:
    """So many requests of all workers together, and what goes wrong meanwhile."""

    folder: Path
    opens: Callable[[], Journal]
    requests: int
    kills: int
    restarts: tuple[Callable[[], None], ...] = ()
    parent: int = field(default_factory=os.getpid)

    @property
    def calm(self) -> Path:
        """A file that is there once everything has gone wrong."""
        return self.folder / "calm"

    @property
    def budget(self) -> Fraction:
        """Enough for three quarters of the requests."""
        return EPSILON * self.requests * 3 / 4

    @property
    def budgets(self) -> Budgets:
        return Budgets(Budget(self.budget), Budget(self.budget / 2))

    def answers(self, own: int) -> Path:
        """What the analysts of one worker saw."""
        return self.folder / f"answers-{own}"

    def lines(self) -> list[list[str]]:
        files = [self.answers(own) for own in range(WORKERS) if self.answers(own).exists()]
        return [line.split() for file in files for line in file.read_text().splitlines()]


def worker(storm: Storm, own: int) -> None:
    """Ask every request of this worker that has no answer yet; a dead one's successor goes on."""
    journal = patiently(storm.opens)
    answers = os.open(storm.answers(own), os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600)
    done = {line.split()[0] for line in os.read(answers, 1 << 24).decode().splitlines()}
    for number in range(own, storm.requests, WORKERS):
        if str(number) not in done:
            ask(journal, answers, number, storm.budgets)
    journal.close()
    while os.getppid() == storm.parent and not storm.calm.exists():
        time.sleep(0.002)  # so that whoever is chosen to be killed is there, on any machine


def patiently(opens: Callable[[], Journal]) -> Journal:
    """The journal, as soon as its server is there."""
    for _ in range(300):
        try:
            return opens()
        except LedgerError:
            time.sleep(0.1)
    return opens()


def ask(journal: Journal, answers: int, number: int, budgets: Budgets) -> None:
    """Reserve, answer (the line in the file is what the analyst saw), and record the answer."""
    event = Laplace(EPSILON, Fraction(1))
    asked = Reservation(f"a{number % 3}", None, f"k{number}", f"SELECT {number}", event)
    try:
        granted = reserve(journal, asked, budgets)
    except BudgetError:
        os.write(answers, f"{number} refused -\n".encode())
        return
    kind = "again" if granted.repeated else "answered"
    os.write(answers, f"{number} {kind} {granted.receipt}\n".encode())
    if not granted.repeated:
        answered(journal, granted.receipt, {"number": number})


def start(storm: Storm, own: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        worker(storm, own)
    except BaseException as error:
        (storm.folder / f"failed-{own}").write_text(repr(error))
        os._exit(1)
    os._exit(0)


def rage(storm: Storm) -> int:
    """Run the workers, kill some at random moments and replace them; how many died.

    Kills and restarts are spread over the work, each when another part of it is done.
    """
    chance, died = random.Random(storm.requests), 0
    restarts = [
        ((step + 1) * storm.requests // (len(storm.restarts) + 1), restart)
        for step, restart in enumerate(storm.restarts)
    ]
    running = {start(storm, own): own for own in range(WORKERS)}
    while running:
        if died >= storm.kills and not restarts:
            storm.calm.touch()
        time.sleep(chance.uniform(0.001, 0.03))
        if restarts and len(storm.lines()) >= restarts[0][0]:
            restarts.pop(0)[1]()
        victim = chance.choice(list(running))
        due = died < storm.kills and len(storm.lines()) * storm.kills >= died * storm.requests
        if due:
            os.kill(victim, signal.SIGKILL)
        ended, status = os.waitpid(victim, 0 if due else os.WNOHANG)
        if ended == 0:
            continue
        own = running.pop(victim)
        if os.waitstatus_to_exitcode(status) == -signal.SIGKILL:
            died += 1
            running[start(storm, own)] = own
    return died


def judge(storm: Storm) -> None:
    """Whatever happened: nothing overspent, nothing lost, every receipt in the journal."""
    assert [file.read_text() for file in storm.folder.glob("failed-*")] == []
    lines = storm.lines()
    paid = {receipt: number for number, kind, receipt in lines if kind != "refused"}
    journal = storm.opens()
    account, verification = journal.account(), journal.verify()
    kept = {receipt: (journal.reservation(receipt), journal.answer(receipt)) for receipt in paid}
    journal.close()

    assert verification.problems == ()
    assert {int(number) for number, _, _ in lines} == set(range(storm.requests))
    assert any(kind == "refused" for _, kind, _ in lines)
    assert len(paid) * EPSILON <= account.total.epsilon <= storm.budget
    assert all(loss.epsilon <= storm.budget / 2 for loss in account.analysts.values())
    for receipt, number in paid.items():
        entry, answer = kept[receipt]
        assert entry is not None
        assert entry.head["key"] == f"k{number}"
        assert answer in (None, {"number": int(number)})


@pytest.mark.parametrize(("requests", "kills"), [(200, 8), (2000, 50)])
def test_killed_at_random_it_never_overspends(tmp_path: Path, requests: int, kills: int) -> None:
    storm = Storm(tmp_path, lambda: SqliteJournal(tmp_path / "ledger"), requests, kills)
    assert rage(storm) == kills
    judge(storm)


@pytest.mark.parametrize(
    ("requests", "kills", "times"),
    [(800, 20, 1), pytest.param(2000, 50, 4, marks=pytest.mark.slow)],
)
def test_a_server_that_restarts_never_overspends(
    tmp_path: Path, requests: int, kills: int, times: int
) -> None:
    with Server.started() as server:
        url = f"{server.url()}?adomnia_unsafe=1"
        restarts = (server.restart, lambda: server.restart(immediate=True)) * times
        storm = Storm(tmp_path, lambda: PostgresJournal(url), requests, kills, restarts)
        assert rage(storm) == kills
        judge(storm)
