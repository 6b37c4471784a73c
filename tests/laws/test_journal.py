"""The laws of a journal. Another storage joins by adding its factory to FACTORIES."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.curator.ledger_view import record_budgets
from adomnia.errors import BudgetError, LedgerError, QuestionError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import ROOT, Record, receipt, write_loss
from adomnia.ledger.journal import Journal
from adomnia.ledger.reserve import Budgets, Reservation, answered, left, repeated, reserve
from adomnia.ledger.stores.postgres_journal import PostgresJournal
from adomnia.ledger.stores.sqlite_journal import SqliteJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import (
    Composed,
    Event,
    Free,
    Gaussian,
    Laplace,
    PartitionSelection,
    to_json,
)
from adomnia.privacy.events import loss as cost
from adomnia.privacy.loss import Loss
from tests.postgres_server import shared

Opens = Callable[[], Journal]


def in_postgres(folder: Path) -> Journal:
    ledger = hashlib.sha256(str(folder).encode()).hexdigest()[:32]
    return PostgresJournal(f"{shared().url()}?adomnia_unsafe=1&ledger={ledger}")


FACTORIES: dict[str, Callable[[Path], Journal]] = {
    "sqlite": lambda folder: SqliteJournal(folder / "ledger"),
    "postgres": in_postgres,
}
"""Each opens the journal that belongs to a folder: twice the same folder, twice the same one."""

WIDE = Budgets(Budget(Fraction(1000)))
TENTH = Fraction(1, 10)


@pytest.fixture(params=list(FACTORIES))
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opens]:
    opened: list[Journal] = []

    def again() -> Journal:
        opened.append(FACTORIES[request.param](tmp_path))
        return opened[-1]

    yield again
    for journal in opened:
        journal.close()


@pytest.fixture
def journal(opens: Opens) -> Journal:
    return opens()


def laplace(epsilon: Fraction) -> Laplace:
    return Laplace(epsilon, Fraction(1))


def asked(epsilon: Fraction = TENTH, key: str | None = None, who: str = "alice") -> Reservation:
    return Reservation(who, "s1", key, "SELECT COUNT(*) FROM people", laplace(epsilon))


def line(statement: str, epsilon: Fraction = TENTH) -> Record:
    body = {"statement": statement, "event": to_json(laplace(epsilon))}
    return Record("reserved", {"analyst": "alice", "loss": write_loss(Loss.pure(epsilon))}, body)


def test_a_new_journal_holds_its_opening_and_nothing_spent(journal: Journal) -> None:
    (first,) = journal.entries()
    assert (first.number, first.kind, first.previous) == (1, "opened", ROOT)
    assert first.head["format"] == 2
    assert len(str(first.head["salt"])) == 32
    assert journal.account().total == Loss()
    assert journal.verify().ok


def test_entries_are_in_order_and_chained(journal: Journal) -> None:
    written = journal.append(lambda account: [line("a"), line("b")])
    written += journal.append(lambda account: [line("c")])
    entries = list(journal.entries())
    assert tuple(entries[1:]) == written
    assert [entry.number for entry in entries] == [1, 2, 3, 4]
    assert [entry.previous for entry in entries[1:]] == [e.digest for e in entries[:-1]]
    assert list(journal.entries(after=2)) == entries[2:]
    assert list(journal.entries(after=4)) == []


def test_what_was_written_never_changes(opens: Opens) -> None:
    journal, seen = opens(), []
    for step in range(5):
        journal.append(lambda account, step=step: [line(str(step))], durable=step % 2 == 0)
        now = list(opens().entries())
        assert now[: len(seen)] == seen
        seen = now
    assert len(seen) == 6


def test_it_is_still_there_when_opened_again(opens: Opens) -> None:
    first = opens()
    granted = reserve(first, asked(), WIDE)
    first.close()
    again = opens()
    entry = again.reservation(granted.receipt)
    assert entry is not None
    assert receipt(entry) == granted.receipt
    assert entry.body["statement"] == "SELECT COUNT(*) FROM people"
    assert again.account().total == Loss.pure(TENTH)


def test_a_decision_sees_everything_before_it(opens: Opens) -> None:
    one, two = opens(), opens()
    seen: list[tuple[int, Fraction]] = []

    def decide(account: Account) -> Sequence[Record]:
        seen.append((account.number, account.total.epsilon))
        return [line("x")]

    for journal in (one, two, two, one, two):
        journal.append(decide)
    assert seen == [(number, (number - 1) * TENTH) for number in range(1, 6)]


def test_a_decision_that_raises_appends_nothing(journal: Journal) -> None:
    def refuse(account: Account) -> Sequence[Record]:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        journal.append(refuse)
    assert len(list(journal.entries())) == 1


@pytest.mark.parametrize(
    "bad",
    [
        Record("invented", {}),
        Record("reserved", {"analyst": "alice"}),
        Record("reserved", {"analyst": "alice", "loss": {"omega": "1"}}),
        Record("reserved", {"analyst": "alice", "loss": {"epsilon": "-1"}}),
        Record("reserved", {"analyst": "alice", "loss": {}}, {"statement": object()}),
        Record("answered", {"receipt": "0" * 32}, {}),
        Record("repeated", {"analyst": "alice", "receipts": ["0" * 32]}),
        Record("prior", {"published": {}, "prices": {"0" * 32: {}}, "accepted": False}),
        Record("budget", {"name": None, "old": {"epsilon": "1"}, "new": None, "by": "ann"}),
        Record("opened", {"format": 2, "salt": ""}),
        Record("reserved", {"analyst": float("nan"), "loss": {}}),
    ],
)
def test_a_record_that_could_not_be_read_back_is_not_written(journal: Journal, bad: Record) -> None:
    with pytest.raises(LedgerError):
        journal.append(lambda account: [line("good"), bad])
    journal.append(lambda account: [line("after")])
    kept = [entry for entry in journal.entries() if entry.kind == "reserved"]
    assert [entry.body["statement"] for entry in kept] == ["after"]
    assert journal.account().total == Loss.pure(TENTH)
    assert journal.verify().ok


def test_a_snapshot_does_not_change(journal: Journal) -> None:
    granted = reserve(journal, asked(key="k"), WIDE)
    before = journal.account()
    answered(journal, granted.receipt, {"rows": []})
    reserve(journal, asked(key="l", who="bob"), WIDE)
    assert (before.number, before.total) == (2, Loss.pure(TENTH))
    assert set(before.analysts) == {"alice"}
    assert not before.is_answered(granted.receipt)
    assert before.find("bob", "l") is None
    assert list(before.answered("alice")) == []
    assert [receipt for receipt, _ in before.uses()] == [granted.receipt]


def test_many_threads_lose_nothing(journal: Journal) -> None:
    def ask(step: int) -> str:
        return reserve(journal, asked(who=f"a{step % 7}"), WIDE).receipt

    with ThreadPoolExecutor(16) as pool:
        receipts = list(pool.map(ask, range(200)))
    account = journal.account()
    assert len(set(receipts)) == 200
    assert all(account.use(receipt) for receipt in receipts)
    assert account.total.epsilon == 20
    assert sum((loss.epsilon for loss in account.analysts.values()), Fraction(0)) == 20
    assert journal.verify().ok


def test_those_who_wait_are_served_in_order_and_each_by_itself(journal: Journal) -> None:
    entered, go = threading.Event(), threading.Event()

    def hold(account: Account) -> Sequence[Record]:
        entered.set()
        go.wait(60)
        return [line("first")]

    def refuse(account: Account) -> Sequence[Record]:
        raise ZeroDivisionError

    with ThreadPoolExecutor(20) as pool:
        first = pool.submit(journal.append, hold)
        entered.wait(60)
        rest = []
        for step in range(10):
            decide = refuse if step == 4 else lambda account, step=step: [line(str(step))]
            rest.append(pool.submit(journal.append, decide))
            while journal._writer._queue.qsize() <= step:  # so that they queue in this order
                threading.Event().wait(0.001)
        go.set()
    assert isinstance(rest[4].exception(), ZeroDivisionError)
    order = [entry.number for step, f in enumerate(rest) if step != 4 for entry in f.result()]
    assert first.result()[0].number == 2
    assert order == list(range(3, 12))


def test_a_closed_journal_refuses(journal: Journal) -> None:
    journal.close()
    with pytest.raises(LedgerError, match="closed"):
        journal.append(lambda account: [])
    with pytest.raises(LedgerError, match="closed"):
        journal.account()
    journal.close()


def test_a_repeated_request_gets_the_same_receipt_and_answer_once_paid(opens: Opens) -> None:
    first = reserve(opens(), asked(key="k"), WIDE)
    answered(opens(), first.receipt, {"rows": [[41]]})
    again = reserve(opens(), asked(key="k"), WIDE)
    assert not first.repeated
    assert again.repeated
    assert (again.receipt, again.answer) == (first.receipt, {"rows": [[41]]})
    assert again.remaining == first.remaining
    assert opens().account().total == Loss.pure(TENTH)


def test_a_repeated_request_is_answered_when_nothing_is_left(journal: Journal) -> None:
    tight = Budgets(Budget(TENTH))
    first = reserve(journal, asked(key="k"), tight)
    answered(journal, first.receipt, {"rows": []})
    assert reserve(journal, asked(key="k"), tight).receipt == first.receipt


def test_a_request_that_was_never_answered_pays_again(journal: Journal) -> None:
    lost, second = (reserve(journal, asked(key="k"), WIDE) for _ in range(2))
    assert lost.receipt != second.receipt
    assert journal.account().total.epsilon == 2 * TENTH
    found = journal.find("alice", "k")
    assert found is not None
    assert receipt(found) == second.receipt
    answered(journal, second.receipt, {"rows": [2]})
    assert reserve(journal, asked(key="k"), WIDE).answer == {"rows": [2]}


def test_of_two_overlapping_requests_the_first_answer_stays(journal: Journal) -> None:
    one, two = (reserve(journal, asked(key="k"), WIDE) for _ in range(2))
    answered(journal, one.receipt, {"rows": [1]})
    answered(journal, two.receipt, {"rows": [2]})
    assert reserve(journal, asked(key="k"), WIDE).receipt == one.receipt


def test_a_key_belongs_to_one_question_of_one_analyst(journal: Journal) -> None:
    reserve(journal, asked(key="k"), WIDE)
    other = Reservation("alice", None, "k", "SELECT 2", laplace(TENTH))
    with pytest.raises(QuestionError, match="this key was used for another question"):
        reserve(journal, other, WIDE)
    assert not reserve(journal, asked(key="k", who="bob"), WIDE).repeated
    assert not reserve(journal, asked(key=None), WIDE).repeated


def test_a_request_may_be_more_than_its_statement(journal: Journal) -> None:
    def request(spelled: str) -> Reservation:
        return Reservation("alice", None, "k", "SELECT 1", laplace(TENTH), spelled)

    first = reserve(journal, request("SELECT 1 at 1/10"), WIDE)
    answered(journal, first.receipt, {})
    assert reserve(journal, request("SELECT 1 at 1/10"), WIDE).repeated
    with pytest.raises(QuestionError):
        reserve(journal, request("SELECT 1 at 1/5"), WIDE)


def test_only_what_was_paid_is_answered_and_only_once(journal: Journal) -> None:
    with pytest.raises(LedgerError, match="nobody paid"):
        answered(journal, "f" * 32, {})
    granted = reserve(journal, asked(), WIDE)
    answered(journal, granted.receipt, {"rows": [1]})
    with pytest.raises(LedgerError, match="twice"):
        answered(journal, granted.receipt, {"rows": [2]})
    assert journal.answer(granted.receipt) == {"rows": [1]}
    assert journal.answer("f" * 32) is None


def test_answers_come_back_in_order(journal: Journal) -> None:
    granted = [reserve(journal, asked(), WIDE) for _ in range(3)]
    for step in (1, 0, 2):
        answered(journal, granted[step].receipt, {"step": step})
    found = list(journal.account().answered("alice"))
    assert found == [granted[step].receipt for step in (1, 0, 2)]
    assert [(journal.answer(receipt) or {})["step"] for receipt in found] == [1, 0, 2]
    assert list(journal.account().answered("alice", 2)) == found[2:]
    assert list(journal.account().answered("bob")) == []


def test_bodies_are_read_only_of_the_kinds_that_are_asked_for(journal: Journal) -> None:
    granted = reserve(journal, asked(), WIDE)
    answered(journal, granted.receipt, {"rows": [1]})
    _, paid, told = journal.entries(bodies=("reserved",))
    assert paid.body["statement"] == "SELECT COUNT(*) FROM people"
    with pytest.raises(LedgerError, match="was not read"):
        _ = told.body
    assert [entry.text for entry in journal.entries(bodies=())] == [None, None, None]
    assert list(journal.entries())[2].body == {"rows": [1]}


def test_what_was_measured_is_found_again_by_its_digest(journal: Journal) -> None:
    def measured(who: str, *digests: str) -> str:
        use = {"measured": list(digests), "mechanism": "laplace"}
        booking = Reservation(who, None, None, "SELECT 1", laplace(TENTH), use=use)
        return reserve(journal, booking, WIDE).receipt

    mine, table = measured("alice", "aa", "bb"), measured("carol", "release:cc")
    early = journal.account()
    for paid in (mine, table):
        assert not early.measured("alice", "aa")
        answered(journal, paid, {"rows": []})
    account = journal.account()
    assert account.measured("alice", "bb") == (mine,)
    assert account.measured("bob", "bb") == ()
    assert account.measured("bob", "release:cc") == (table,)
    assert early.measured("bob", "release:cc") == ()
    entry = journal.reservation(mine)
    assert entry is not None
    assert entry.body["use"]["mechanism"] == "laplace"


def test_a_free_repeat_refers_to_what_it_repeats_and_stores_nothing_else(opens: Opens) -> None:
    tight, journal = Budgets(Budget(TENTH)), opens()
    first = reserve(journal, asked(), tight)
    with pytest.raises(LedgerError, match="nobody was given"):
        repeated(journal, "alice", None, [first.receipt], tight)
    answered(journal, first.receipt, {"rows": [[41]]})
    again = repeated(journal, "alice", None, [first.receipt], tight)
    assert (again.receipt, again.repeats, again.repeated) == (first.receipt, (first.receipt,), True)
    assert again.remaining == first.remaining
    *_, last = opens().entries()
    assert (last.kind, last.text) == ("repeated", None)
    assert last.head == {"analyst": "alice", "receipts": [first.receipt]}
    free = repeated(journal, "alice", None, [], tight)  # the same whatever the data
    *_, last = opens().entries()
    assert (last.head["receipts"], last.text, receipt(last)) == ([], None, free.receipt)
    assert opens().account().count == 1
    assert journal.verify().ok


def test_statements_are_kept_without_comments_and_not_without_end(journal: Journal) -> None:
    def stored(statement: str) -> str:
        booking = Reservation("alice", None, None, statement, laplace(TENTH))
        entry = journal.reservation(reserve(journal, booking, WIDE).receipt)
        assert entry is not None
        return str(entry.body["statement"])

    assert stored("SELECT 1 -- of Ann's friends\n/* all */ , '--'") == "SELECT 1  \n  , '--'"
    assert stored("x" * 50_000) == "x" * 20_000 + " … (cut)"


def test_a_key_means_the_same_with_other_comments(journal: Journal) -> None:
    first = reserve(journal, asked(key="k"), WIDE)
    answered(journal, first.receipt, {"rows": [1]})
    said = "/* again */ SELECT COUNT(*) FROM people -- please"
    again = Reservation("alice", "s1", "k", said, laplace(TENTH))
    assert reserve(journal, again, WIDE).receipt == first.receipt


ALLOWED = {None: Budget(Fraction(2)), "bob": Budget(rho=TENTH)}


def test_a_budget_that_changes_is_an_entry_with_old_and_new_and_by_whom(journal: Journal) -> None:
    assert record_budgets(journal, ALLOWED, "ann") == 2
    assert record_budgets(journal, ALLOWED, "ben") == 0
    more = {None: Budget(Fraction(4)), "carol": Budget(TENTH, Fraction(1, 10**6))}
    assert record_budgets(journal, more, "ben") == 3
    heads = [dict(entry.head) for entry in journal.entries(after=3)]
    assert heads == [
        {"name": None, "old": {"epsilon": "2"}, "new": {"epsilon": "4"}, "by": "ben"},
        {"name": "bob", "old": {"rho": "1/10"}, "new": None, "by": "ben"},
        {
            "name": "carol",
            "old": None,
            "new": {"epsilon": "1/10", "delta": "1/1000000"},
            "by": "ben",
        },
    ]
    assert journal.account().budgets == {
        None: {"epsilon": "4"},
        "carol": {"epsilon": "1/10", "delta": "1/1000000"},
    }
    assert journal.verify().ok


@pytest.mark.parametrize("racers", [2, 8])
def test_those_who_open_an_edited_policy_at_once_record_it_once(opens: Opens, racers: int) -> None:
    journals = [opens() for _ in range(racers)]
    start = threading.Barrier(racers)

    def race(journal: Journal) -> int:
        start.wait()
        return record_budgets(journal, ALLOWED, "ann")

    with ThreadPoolExecutor(racers) as pool:
        assert sum(pool.map(race, journals)) == 2
    assert journals[0].account().number == 3


def test_many_entries_are_read_a_part_at_a_time(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adomnia.ledger.stores.stored_journal.CHUNK", 7)
    monkeypatch.setattr("adomnia.ledger.stores.stored_journal.HEAVY", 3)
    journal = opens()
    for step in range(30):
        journal.append(lambda account, step=step: [line(str(step))])
    again = opens()
    again.append(lambda account: [line("last")])
    assert again.account().total.epsilon == 31 * TENTH
    bodies = [entry.body.get("statement") for entry in opens().entries(after=1)]
    assert bodies == [*map(str, range(30)), "last"]
    assert [entry.number for entry in opens().entries(after=29, bodies=())] == [30, 31, 32]


FULL, HALF = Budget(Fraction(1)), Budget(Fraction(1, 2))


@pytest.mark.parametrize(
    ("budgets", "name"),
    [
        (Budgets(HALF, None, FULL), "data"),
        (Budgets(FULL, HALF, FULL), "analyst"),
        (Budgets(FULL, FULL, HALF), "session"),
    ],
)
def test_each_budget_binds_by_itself(journal: Journal, budgets: Budgets, name: str) -> None:
    granted = reserve(journal, asked(Fraction(2, 5)), budgets)
    assert granted.remaining[name] == {"epsilon": TENTH}
    with pytest.raises(BudgetError) as refused:
        reserve(journal, asked(Fraction(1, 5)), budgets)
    assert refused.value.exit_code == 3
    text = str(refused.value)
    assert f"the budget of the {name}" in text
    assert "epsilon = 1/5 (0.2)" in text
    assert "at most epsilon = 1/10 (0.1)" in text
    assert journal.account().number == 2
    assert reserve(journal, asked(TENTH), budgets).remaining[name] == {"epsilon": 0}


def test_who_has_a_budget_of_their_own_is_told_of_no_other(journal: Journal) -> None:
    """What is left of the data's would tell what others have spent."""
    budgets = Budgets(HALF, FULL, FULL)
    granted = reserve(journal, asked(Fraction(2, 5)), budgets)
    assert {*granted.remaining} == {"analyst", "session"}
    for more in (Fraction(1, 5), Fraction(3, 5)):
        with pytest.raises(BudgetError) as refused:
            reserve(journal, asked(more), budgets)
        assert str(refused.value) == "the budget of the data does not allow this\n  ask the curator"
    with pytest.raises(BudgetError, match="the budget of the analyst"):
        reserve(journal, asked(Fraction(4, 5)), budgets)
    assert journal.account().number == 2


def test_budgets_of_others_do_not_bind(journal: Journal) -> None:
    budgets = Budgets(FULL, Budget(TENTH), Budget(TENTH))
    reserve(journal, asked(), budgets)
    other = Reservation("bob", "s2", None, "SELECT 1", laplace(TENTH))
    reserve(journal, other, budgets)
    account = journal.account()
    assert left(account, Budgets(FULL), "carol") == {"data": {"epsilon": Fraction(4, 5)}}
    assert left(account, budgets, "carol", "s3") == {
        "analyst": {"epsilon": TENTH},
        "session": {"epsilon": TENTH},
    }
    assert left(account, budgets, "bob")["analyst"] == {"epsilon": 0}


def test_free_uses_are_recorded_and_cost_nothing(journal: Journal) -> None:
    tight = Budgets(Budget(TENTH))
    reserve(journal, asked(), tight)
    reserve(journal, Reservation("alice", None, None, "SELECT 1", Free()), tight)
    assert journal.account().number == 3
    assert journal.account().total == Loss.pure(TENTH)


@pytest.mark.parametrize(
    "event",
    [
        Gaussian(TENTH, Fraction(1)),
        PartitionSelection(TENTH, Fraction(1, 10**9), Fraction(1)),
        laplace(Fraction(10**9)),
        laplace(Fraction(10) ** 400),
    ],
)
def test_what_a_pure_budget_cannot_take_is_refused(journal: Journal, event: Event) -> None:
    with pytest.raises(BudgetError) as refused:
        reserve(journal, Reservation("alice", None, None, "SELECT 1", event), Budgets(FULL))
    assert refused.value.hint
    assert journal.account().number == 1


def test_strange_fractions_neither_slow_the_ledger_nor_escape_it(journal: Journal) -> None:
    strange = [Fraction(1, 10**190 + 7 * step + 1) for step in range(150)]
    for epsilon in strange:
        reserve(journal, asked(epsilon), WIDE)
    total = journal.account().total.epsilon
    assert sum(strange) <= total <= sum(strange) + Fraction(len(strange), 10**150)
    assert total.denominator <= 10**150


@pytest.mark.parametrize("racers", [2, 8])
def test_of_those_who_race_for_the_last_epsilon_one_wins(opens: Opens, racers: int) -> None:
    journals = [opens() for _ in range(racers)]
    start = threading.Barrier(racers)

    def race(journal: Journal) -> bool:
        start.wait()
        try:
            reserve(journal, asked(Fraction(1)), Budgets(FULL))
        except BudgetError:
            return False
        return True

    with ThreadPoolExecutor(racers) as pool:
        assert sum(pool.map(race, journals)) == 1
    assert journals[0].account().total.epsilon == 1


EPSILONS = st.fractions(Fraction(1, 50), Fraction(2, 3), max_denominator=50)
EVENTS = st.one_of(
    EPSILONS.map(laplace),
    EPSILONS.map(lambda epsilon: Composed((laplace(epsilon / 2), laplace(epsilon / 3)))),
    st.just(Free()),
)
ASKS = st.builds(
    Reservation,
    st.sampled_from(["alice", "bob"]),
    st.sampled_from([None, "s1", "s2"]),
    st.sampled_from([None, "k1", "k2"]),
    st.sampled_from(["SELECT 1", "SELECT 2"]),
    EVENTS,
)


@pytest.mark.parametrize("name", list(FACTORIES))
@given(asks=st.lists(st.tuples(ASKS, st.booleans()), max_size=25))
@settings(max_examples=40, deadline=None)
def test_no_sequence_passes_any_budget(name: str, asks: list[tuple[Reservation, bool]]) -> None:
    budgets = Budgets(Budget(Fraction(2)), Budget(Fraction(3, 2)), Budget(Fraction(1)))
    paid = Loss()
    with TemporaryDirectory() as folder:
        journal = FACTORIES[name](Path(folder))
        for reservation, finishes in asks:
            try:
                granted = reserve(journal, reservation, budgets)
            except (BudgetError, QuestionError):
                continue
            paid += Loss() if granted.repeated else cost(reservation.event)
            if finishes and not granted.repeated:
                answered(journal, granted.receipt, {"of": granted.receipt})
        account, verification = journal.account(), journal.verify()
        journal.close()
    assert verification.ok
    assert account.total == paid
    assert account.total.epsilon <= 2
    assert all(loss.epsilon <= Fraction(3, 2) for loss in account.analysts.values())
    assert all(loss.epsilon <= 1 for loss in account.sessions.values())
