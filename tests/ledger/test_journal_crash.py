"""Many processes, killed at random: nothing is answered that was not paid, nothing overspent."""

from __future__ import annotations

import os
import random
import signal
import time
from fractions import Fraction
from pathlib import Path

import pytest

from adomnia.errors import BudgetError
from adomnia.ledger.reserve import Budgets, Reservation, answered, reserve
from adomnia.ledger.sqlite import SqliteJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Laplace

WORKERS = 8
EPSILON = Fraction(1, 100)


def worker(folder: Path, own: int, requests: int, budgets: Budgets) -> None:
    """Ask every request of this worker that has no answer yet; a dead one's successor goes on."""
    journal = SqliteJournal(folder / "ledger")
    answers = os.open(folder / f"answers-{own}", os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600)
    done = {line.split()[0] for line in os.read(answers, 1 << 24).decode().splitlines()}
    for number in range(own, requests, WORKERS):
        if str(number) not in done:
            ask(journal, answers, number, budgets)
    journal.close()


def ask(journal: SqliteJournal, answers: int, number: int, budgets: Budgets) -> None:
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


def start(folder: Path, own: int, requests: int, budgets: Budgets) -> int:
    child = os.fork()
    if child:
        return child
    try:
        worker(folder, own, requests, budgets)
    except BaseException as error:
        (folder / f"failed-{own}").write_text(repr(error))
        os._exit(1)
    os._exit(0)


def storm(folder: Path, requests: int, kills: int, budgets: Budgets) -> int:
    """Run the workers, kill some at random moments and replace them; how many died."""
    chance, died = random.Random(requests), 0
    running = {start(folder, own, requests, budgets): own for own in range(WORKERS)}
    while running:
        time.sleep(chance.uniform(0.001, 0.03))
        victim = chance.choice(list(running))
        if died < kills:
            os.kill(victim, signal.SIGKILL)
        ended, status = os.waitpid(victim, 0 if died < kills else os.WNOHANG)
        if ended == 0:
            continue
        own = running.pop(victim)
        if os.waitstatus_to_exitcode(status) == -signal.SIGKILL:
            died += 1
            running[start(folder, own, requests, budgets)] = own
    return died


@pytest.mark.parametrize(("requests", "kills"), [(200, 8), (2000, 50)])
def test_killed_at_random_it_never_overspends(tmp_path: Path, requests: int, kills: int) -> None:
    budget = EPSILON * requests * 3 / 4
    died = storm(tmp_path, requests, kills, Budgets(Budget(budget), Budget(budget / 2)))
    assert not list(tmp_path.glob("failed-*"))
    files = [tmp_path / f"answers-{own}" for own in range(WORKERS)]
    lines = [line.split() for file in files for line in file.read_text().splitlines()]
    paid = {receipt: number for number, kind, receipt in lines if kind != "refused"}
    with SqliteJournal(tmp_path / "ledger", create=False) as journal:
        account, verification = journal.account(), journal.verify()

    assert died  # how many depends on the machine: the work may end before the last kill
    assert verification.problems == ()
    assert {int(number) for number, _, _ in lines} == set(range(requests))
    assert any(kind == "refused" for _, kind, _ in lines)
    assert len(paid) * EPSILON <= account.total.epsilon <= budget
    assert all(loss.epsilon <= budget / 2 for loss in account.analysts.values())
    for receipt, number in paid.items():
        entry = account.reservation(receipt)
        assert entry is not None
        assert entry.body["key"] == f"k{number}"
        assert account.answer(receipt) in (None, {"number": int(number)})
