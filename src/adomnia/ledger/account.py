"""The account: what has been spent, derived from the journal and never stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import ceil
from typing import Any

from adomnia.errors import LedgerError
from adomnia.ledger.entry import FORMAT, ROOT, Entry, receipt
from adomnia.privacy import events
from adomnia.privacy.loss import Loss

__all__ = ["Account"]

GRID = 10**150


@dataclass
class _Index:
    """Where things are in the journal. It only grows, so snapshots share it."""

    keys: dict[tuple[str, str], list[Entry]] = field(default_factory=dict)
    reserved: dict[str, Entry] = field(default_factory=dict)
    answered: dict[str, Entry] = field(default_factory=dict)
    answers: dict[str, list[Entry]] = field(default_factory=dict)
    prices: dict[str, list[tuple[int, Loss]]] = field(default_factory=dict)


class Account:
    """What the entries up to `number` add up to.

    `add` is for the journal that owns it; everyone else has a `snapshot`.
    """

    def __init__(self) -> None:
        self.number = 0
        self.digest = ROOT
        self.total = Loss()
        self._analysts: dict[str, Loss] = {}
        self._sessions: dict[str, Loss] = {}
        self._priors: tuple[Mapping[str, Any], ...] = ()
        self._promises: frozenset[str | None] = frozenset()
        self._index = _Index()

    @property
    def analysts(self) -> Mapping[str, Loss]:
        """What each analyst who ever reserved has spent."""
        return self._analysts

    @property
    def sessions(self) -> Mapping[str, Loss]:
        """What was spent in each session."""
        return self._sessions

    @property
    def priors(self) -> tuple[Mapping[str, Any], ...]:
        """What was registered as released exactly, in the order of registration."""
        return self._priors

    @property
    def promises(self) -> frozenset[str | None]:
        """The promises by which the uses are priced; one, after all of them were priced anew.

        None stands for uses of before promises were recorded. What has none later on is not
        about the table.
        """
        return self._promises

    def uses(self) -> Iterator[tuple[str, Entry]]:
        """(receipt, reservation) of every use so far."""
        for key, entry in list(self._index.reserved.items()):
            if entry.number <= self.number:
                yield key, entry

    def find(self, analyst: str, key: str | None) -> Entry | None:
        """The reservation under this key: the first that was answered, otherwise the latest.

        The first answered one, because its answer may have been seen: a repeated request must
        get that answer for ever, also when two requests with one key overlapped.
        """
        if key is None:
            return None
        entries = self._seen(self._index.keys.get((analyst, key), ()))
        done = (entry for entry in entries if self.answer(receipt(entry)) is not None)
        return next(done, entries[-1] if entries else None)

    def reservation(self, receipt: str) -> Entry | None:
        """The reservation with this receipt."""
        entry = self._index.reserved.get(receipt)
        return entry if entry is not None and entry.number <= self.number else None

    def answer(self, receipt: str) -> Mapping[str, Any] | None:
        """The body that was recorded as the answer to this receipt."""
        entry = self._index.answered.get(receipt)
        if entry is None or entry.number > self.number:
            return None
        body: Mapping[str, Any] = entry.body["body"]
        return body

    def answers(
        self, analyst: str, after: int = 0
    ) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
        """(receipt, body of the reservation, body of the answer), in the order of answering,
        without the first `after` of them."""
        for entry in islice(self._index.answers.get(analyst, ()), after, None):
            if entry.number > self.number:
                return
            key = str(entry.body["receipt"])
            yield key, self._index.reserved[key].body, entry.body["body"]

    def add(self, entry: Entry) -> None:
        """Take the next entry in; one that does not follow, or says nonsense, is refused."""
        if entry.number != self.number + 1:
            raise LedgerError(f"entry {self.number + 1} is missing")
        if entry.previous != self.digest:
            raise LedgerError(f"entry {entry.number}: it does not follow entry {self.number}")
        if (entry.kind == "opened") != (entry.number == 1):
            raise LedgerError(f"entry {entry.number}: a journal is opened once, by entry 1")
        try:
            _FOLDS[entry.kind](self, entry)
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
            raise LedgerError(f"entry {entry.number}: its body is not understood") from error
        self.number, self.digest = entry.number, entry.digest

    def snapshot(self) -> Account:
        """This account as it is now; later entries do not show in it."""
        copy = Account()
        copy.number, copy.digest, copy.total = self.number, self.digest, self.total
        copy._analysts, copy._sessions = dict(self._analysts), dict(self._sessions)
        copy._priors, copy._promises, copy._index = self._priors, self._promises, self._index
        return copy

    def repriced(self, prices: Mapping[str, Any]) -> Account:
        """This account, if the uses with these receipts cost what these events (JSON) cost."""
        copy = self.snapshot()
        copy._reprice({key: _loss(json.dumps(event)) for key, event in prices.items()})
        return copy

    def _opened(self, entry: Entry) -> None:
        if entry.body["format"] != FORMAT:
            raise LedgerError(
                "the journal has a format that this version does not know",
                hint="use the version that wrote it, or a newer one",
            )

    def _reserved(self, entry: Entry) -> None:
        analyst, key = entry.body["analyst"], entry.body["key"]
        self._charge(entry, _loss(json.dumps(entry.body["event"])))
        if key is not None:
            self._index.keys.setdefault((analyst, key), []).append(entry)
        self._index.reserved[receipt(entry)] = entry
        promise = entry.body.get("promise")
        if promise is not None:
            self._promises |= {str(promise["digest"])}
        elif not self._promises:
            self._promises = frozenset({None})

    def _answered(self, entry: Entry) -> None:
        key = entry.body["receipt"]
        reserved = self._index.reserved.get(key)
        if reserved is None or key in self._index.answered:
            raise LedgerError(f"entry {entry.number}: it answers no open reservation")
        entry.body["body"].keys()  # an answer is an object
        self._index.answered[key] = entry
        self._index.answers.setdefault(reserved.body["analyst"], []).append(entry)

    def _prior(self, entry: Entry) -> None:
        published = entry.body["published"]
        published.keys()  # a release is an object
        prices = {key: _loss(json.dumps(event)) for key, event in entry.body["prices"].items()}
        if not prices.keys() <= self._index.reserved.keys():
            raise LedgerError(f"entry {entry.number}: it prices what nobody reserved")
        self._reprice(prices)
        for key, loss in prices.items():
            self._index.prices.setdefault(key, []).append((entry.number, loss))
        if "promise" in published:
            self._promises = frozenset({str(published["promise"])})
        if published.keys() - {"promise"}:  # else nothing was released: the policy changed
            self._priors = (*self._priors, entry.body)

    def _reprice(self, prices: Mapping[str, Loss]) -> None:
        """Add everything up anew: what is public by now changes what earlier uses cost."""
        self.total, self._analysts, self._sessions = Loss(), {}, {}
        for key, entry in self.uses():
            self._charge(entry, prices.get(key) or self.price(key))

    def price(self, receipt: str) -> Loss:
        """What the use with this receipt costs, after all that was released exactly since."""
        later = (n for n in reversed(self._index.prices.get(receipt, ())) if n[0] <= self.number)
        found = next(later, None)
        return found[1] if found else _loss(json.dumps(self._index.reserved[receipt].body["event"]))

    def _charge(self, entry: Entry, loss: Loss) -> None:
        analyst, session = entry.body["analyst"], entry.body["session"]
        self.total = _short(self.total + loss)
        self._analysts[analyst] = _short(self._analysts.get(analyst, Loss()) + loss)
        if session is not None:
            self._sessions[session] = _short(self._sessions.get(session, Loss()) + loss)

    def _seen(self, entries: list[Entry] | tuple[()]) -> list[Entry]:
        """The entries that this account knows, of an index that may have grown since."""
        known = list(entries)
        while known and known[-1].number > self.number:
            known.pop()
        return known


@lru_cache(maxsize=4096)
def _loss(event: str) -> Loss:
    """What an event costs; remembered, because most questions cost what another one did."""
    return events.loss(events.from_json(json.loads(event)))


def _short(total: Loss) -> Loss:
    """The total itself; or, once its fractions are very long, rounded up to 150 decimals.

    Without it a few hundred epsilons like 1/(a large prime) would make every addition slow.
    """
    fields = (total.epsilon, total.rho, total.delta, total.squares)
    if max(field.denominator for field in fields) <= GRID:
        return total
    return Loss(*(Fraction(ceil(field * GRID), GRID) for field in fields))


_FOLDS: Mapping[str, Callable[[Account, Entry], None]] = {
    "opened": Account._opened,
    "reserved": Account._reserved,
    "answered": Account._answered,
    "prior": Account._prior,
}
