"""The account: what has been spent, derived from the journal's heads and never stored."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from adomnia.errors import LedgerError
from adomnia.ledger.block_totals import BlockTotals
from adomnia.ledger.entry import FORMAT, ROOT, Amounts, Entry, Row, heads, read_loss, short
from adomnia.privacy.loss import Loss
from adomnia.queries.blocks import Block

__all__ = ["RELEASED", "Account", "PaidUse", "promise_kind"]

RELEASED = "release:"
"""How the digests of tables begin that were published: everybody may use them."""

Head = Mapping[str, Any]
Spender = tuple[str, str]
"""Whose budget: `data`, or an `analyst` or a `session` with a name."""


@dataclass(slots=True)
class PaidUse:
    """What the head of a reservation says, and where its answer is (0 where there is none).

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     answer = database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
    ...     use = database.account().use(answer.receipt)
    >>> use.analyst, use.loss.epsilon, use.number
    ('curator', Fraction(1, 1), 3)
    """

    receipt: str
    number: int
    analyst: str
    session: str | None
    loss: Loss
    request: str | None
    promise: str | None
    measured: tuple[str, ...]
    blocks: tuple[Block, ...] | None = None
    answered: int = 0


@dataclass
class _Index:
    """Where things are in the journal. It only grows, so snapshots share it."""

    keys: dict[tuple[str, str], list[PaidUse]] = field(default_factory=dict)
    uses: dict[str, PaidUse] = field(default_factory=dict)
    answered: dict[str, list[PaidUse]] = field(default_factory=dict)
    measured: dict[tuple[str | None, str], list[PaidUse]] = field(default_factory=dict)
    prices: dict[str, list[tuple[int, Loss]]] = field(default_factory=dict)


class Account:
    """What the entries up to `number` add up to.

    `add` and `replay` are for the journal that owns it; everyone else has a `snapshot`.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     answer = database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
    ...     account = database.account()
    >>> account.count, account.total.epsilon, account.is_answered(answer.receipt)
    (1, Fraction(1, 1), True)
    """

    def __init__(self) -> None:
        self.number = 0
        self.digest = ROOT
        self.dataset: Mapping[str, str] | None = None
        self.salt: str | None = None
        self.count = 0
        self._spent: dict[Spender, BlockTotals] = {}
        self._waiting: dict[tuple[Any, ...], tuple[PaidUse, Loss, int]] = {}
        self._dealt: tuple[tuple[int, Head], ...] = ()
        self._repriced = False
        self._priors: tuple[Head, ...] = ()
        self._promises: frozenset[str | None] = frozenset()
        self._budgets: Mapping[str | None, Amounts] = {}
        self._editions: Mapping[int, Head] = {}
        self._index = _Index()

    @property
    def total(self) -> Loss:
        """What everybody has spent; with blocks, what a row has lost at most."""
        return self.spent().most

    @property
    def analysts(self) -> Mapping[str, Loss]:
        """What each analyst who ever reserved has spent; with blocks, the most of any."""
        self._settle()
        return {name: spent.most for (of, name), spent in self._spent.items() if of == "analyst"}

    @property
    def sessions(self) -> Mapping[str, Loss]:
        """What was spent in each session; with blocks, the most of any."""
        self._settle()
        return {name: spent.most for (of, name), spent in self._spent.items() if of == "session"}

    def spent(self, of: str = "data", name: str = "") -> BlockTotals:
        """What was spent by block: of the data's budget, of an analyst's or a session's."""
        self._settle()
        return self._spent.get((of, name), BlockTotals())

    @property
    def dealt(self) -> Head | None:
        """By what rule rows were last dealt out to blocks, and to which; None where never."""
        return self._dealt[-1][1] if self._dealt else None

    @property
    def priors(self) -> tuple[Head, ...]:
        """What was registered as released exactly, in the order of registration."""
        return self._priors

    @property
    def promises(self) -> frozenset[str | None]:
        """The promises by which the uses are priced; one, after all of them were priced anew.

        None stands for uses that are not about the table.
        """
        return self._promises

    @property
    def budgets(self) -> Mapping[str | None, Amounts]:
        """The budgets that were last recorded: None has that of the data, names those of analysts.

        What may be spent is what the policy says; this is what it said when it was last opened.
        """
        return self._budgets

    @property
    def editions(self) -> Mapping[int, Head]:
        """The editions of the data that were ever in force, by their numbers."""
        return self._editions

    def uses(self) -> Iterator[tuple[str, PaidUse]]:
        """(receipt, what its head says) of every use so far."""
        for use in islice(list(self._index.uses.values()), self.count):
            yield use.receipt, use

    def use(self, receipt: str) -> PaidUse | None:
        """The use with this receipt."""
        use = self._index.uses.get(receipt)
        return use if use is not None and use.number <= self.number else None

    def find(self, analyst: str, key: str | None) -> PaidUse | None:
        """The use under this key: the first that was answered, otherwise the latest.

        The first answered one, because its answer may have been seen: a repeated request must
        get that answer for ever, also when two requests with one key overlapped.
        """
        if key is None:
            return None
        known = self._index.keys.get((analyst, key), ())
        uses = [use for use in known if use.number <= self.number]
        done = (use for use in uses if self.is_answered(use.receipt))
        return next(done, uses[-1] if uses else None)

    def is_answered(self, receipt: str) -> bool:
        """Whether an answer to this receipt was recorded."""
        use = self._index.uses.get(receipt)
        return use is not None and 0 < use.answered <= self.number

    def answered(self, analyst: str, after: int = 0) -> Iterator[str]:
        """The receipts of an analyst that were answered, in the order of answering, without the
        first `after` of them."""
        for use in islice(list(self._index.answered.get(analyst, ())), after, None):
            if use.answered > self.number:
                return
            yield use.receipt

    def measured(self, analyst: str, digest: str) -> tuple[str, ...]:
        """The receipts under which this was measured and answered: to the analyst, or, where it
        was published, to anybody."""
        whose = None if digest.startswith(RELEASED) else analyst
        found = list(self._index.measured.get((whose, digest), ()))
        return tuple(use.receipt for use in found if use.answered <= self.number)

    def price(self, receipt: str) -> Loss:
        """What the use with this receipt costs, after all that was released exactly since."""
        later = (n for n in reversed(self._index.prices.get(receipt, ())) if n[0] <= self.number)
        found = next(later, None)
        return found[1] if found else self._index.uses[receipt].loss

    def add(self, entry: Entry) -> None:
        """Take the next entry in; one that does not follow, or says nonsense, is a LedgerError."""
        if entry.number != self.number + 1:
            raise LedgerError(f"entry {self.number + 1} is missing")
        if entry.previous != self.digest:
            raise LedgerError(f"entry {entry.number}: it does not follow entry {self.number}")
        self._take(entry.number, entry.kind, entry.head, entry.digest)

    def replay(self, rows: Iterable[Row]) -> None:
        """Take stored rows in, each checked to follow the one before; bodies are not needed."""
        with _without_collection():
            for row, head in heads(rows, self.number, self.digest):
                self._take(row[0], row[2], head, row[5])

    def snapshot(self) -> Account:
        """This account as it is now; later entries do not show in it."""
        self._settle()
        copy = Account()
        copy.number, copy.digest, copy.count = self.number, self.digest, self.count
        copy.dataset, copy.salt = self.dataset, self.salt
        copy._budgets, copy._editions = self._budgets, self._editions
        copy._spent, copy._dealt = dict(self._spent), self._dealt
        copy._priors, copy._promises, copy._index = self._priors, self._promises, self._index
        return copy

    def repriced(self, prices: Mapping[str, Loss]) -> Account:
        """This account, if the uses with these receipts had these prices."""
        copy = self.snapshot()
        copy._add_up(prices)
        return copy

    def _take(self, number: int, kind: str, head: Head, digest: bytes) -> None:
        if (kind == "opened") != (number == 1):
            raise LedgerError(f"entry {number}: a journal is opened once, by entry 1")
        try:
            _FOLDS[kind](self, number, head, digest)
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
            raise LedgerError(f"entry {number}: its head is not understood") from error
        self.number, self.digest = number, digest

    def _opened(self, number: int, head: Head, digest: bytes) -> None:
        if head["format"] != FORMAT:
            raise LedgerError(
                "the journal has a format that this version does not know",
                hint="use the version that wrote it, or a newer one",
            )
        self.dataset, self.salt = head.get("dataset"), head.get("salt")
        self._budgets = dict(head.get("budgets", ()))

    def _reserved(self, number: int, head: Head, digest: bytes) -> None:
        analyst, key, promise = head["analyst"], head.get("key"), head.get("promise")
        use = PaidUse(
            short(digest),
            number,
            analyst,
            head.get("session"),
            read_loss(head["loss"]),
            head.get("request"),
            promise,
            tuple(head.get("measured", ())),
            tuple(head["blocks"]) if "blocks" in head else None,
        )
        if key is not None:
            self._index.keys.setdefault((analyst, key), []).append(use)
        self._index.uses[use.receipt] = use
        self.count += 1
        self._charge(use, use.loss)
        if promise is not None:
            if promise not in self._promises:
                self._promises |= {str(promise)}
        elif not self._promises:
            self._promises = frozenset({None})

    def _answered(self, number: int, head: Head, digest: bytes) -> None:
        use = self._index.uses.get(head["receipt"])
        if use is None or use.answered:
            raise LedgerError(f"entry {number}: it answers no open reservation")
        use.answered = number
        self._index.answered.setdefault(use.analyst, []).append(use)
        for digest_of in use.measured:
            whose = None if digest_of.startswith(RELEASED) else use.analyst
            self._index.measured.setdefault((whose, digest_of), []).append(use)

    def _repeated(self, number: int, head: Head, digest: bytes) -> None:
        """Nothing is kept of it: it cost nothing, and what was told is where it was paid for."""
        if not all(self._index.uses[receipt].answered for receipt in head["receipts"]):
            raise LedgerError(f"entry {number}: it repeats what was not answered")

    def _prior(self, number: int, head: Head, digest: bytes) -> None:
        published = head["published"]
        prices = {receipt: read_loss(loss) for receipt, loss in head["prices"].items()}
        if not prices.keys() <= self._index.uses.keys():
            raise LedgerError(f"entry {number}: it prices what nobody reserved")
        for receipt, loss in prices.items():
            self._index.prices.setdefault(receipt, []).append((number, loss))
        self._repriced = self._repriced or bool(prices)
        if "promise" in published:
            name = str(published["promise"])
            others = (p for p in self._promises if promise_kind(p) != promise_kind(name))
            self._promises = frozenset({name, *others})
        if published.keys() - {"promise"}:  # else nothing was released: the policy changed
            self._priors = (*self._priors, head)

    def _budget(self, number: int, head: Head, digest: bytes) -> None:
        budgets = dict(self._budgets)
        if budgets.pop(head["name"], None) != head["old"]:
            raise LedgerError(f"entry {number}: it changes a budget that was another one")
        if head["new"] is not None:
            budgets[head["name"]] = dict(head["new"])
        self._budgets = budgets

    def _edition(self, number: int, head: Head, digest: bytes) -> None:
        if head["number"] != len(self._editions) + 1:
            raise LedgerError(f"entry {number}: editions are numbered one by one")
        self._editions = {**self._editions, head["number"]: head}

    def _blocks(self, number: int, head: Head, digest: bytes) -> None:
        if not isinstance(head["names"], list) or len({*head["names"]}) != len(head["names"]):
            raise LedgerError(f"entry {number}: a block has a name of its own")
        self._settle()
        self._deal(self.dealt, head)
        self._dealt = (*self._dealt, (number, head))

    def _deal(self, before: Head | None, head: Head) -> None:
        """Take in that rows are dealt out anew."""
        names, same = head["names"], before is not None and before["by"] == head["by"]
        old = before["names"] if before is not None else ()
        for who, spent in self._spent.items():
            self._spent[who] = spent.redealt(old, names, same)

    def _charge(self, use: PaidUse, loss: Loss) -> None:
        """Note a loss; equal ones of one analyst and session are added up at once, later."""
        place = (use.analyst, use.session, use.blocks, id(loss))
        times = self._waiting[place][2] if place in self._waiting else 0
        self._waiting[place] = (use, loss, times + 1)

    def _settle(self) -> None:
        if self._repriced:
            self._add_up({})
        waiting, self._waiting = self._waiting, {}
        for use, loss, times in waiting.values():
            more = loss if times == 1 else Loss(*(part * times for part in vars(loss).values()))
            for who in _spenders(use):
                spent = self._spent.get(who, BlockTotals())
                self._spent[who] = spent.plus(more, use.blocks)

    def _add_up(self, prices: Mapping[str, Loss]) -> None:
        """Add everything up anew: what is public by now changes what earlier uses cost."""
        self._repriced = False
        self._spent, self._waiting, before = {}, {}, None
        dealt = list(self._dealt)
        for receipt, use in self.uses():
            while dealt and dealt[0][0] < use.number:
                self._settle()
                self._deal(before, dealt[0][1])
                before = dealt.pop(0)[1]
            self._charge(use, prices.get(receipt) or self.price(receipt))
        self._settle()
        for _, head in dealt:
            self._deal(before, head)
            before = head


def _spenders(use: PaidUse) -> Iterator[Spender]:
    """Of whose budgets a use is paid."""
    yield "data", ""
    yield "analyst", use.analyst
    if use.session is not None:
        yield "session", use.session


def promise_kind(digest: str | None) -> str:
    """What a promise is about, by its digest: a word before it, or nothing for the table."""
    return (digest or "").rpartition(" ")[0]


@contextmanager
def _without_collection() -> Iterator[None]:
    """Make many small objects without looking for cycles among them, which takes a fifth."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


_FOLDS: Mapping[str, Callable[[Account, int, Head, bytes], None]] = {
    "opened": Account._opened,
    "reserved": Account._reserved,
    "answered": Account._answered,
    "repeated": Account._repeated,
    "prior": Account._prior,
    "budget": Account._budget,
    "edition": Account._edition,
    "blocks": Account._blocks,
}
