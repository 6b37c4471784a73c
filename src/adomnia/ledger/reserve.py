"""Reserving: the debit that is on disk before any data is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any

from adomnia.errors import BudgetError, LedgerError, MachineryError, ReusedKeyError
from adomnia.ledger.account import Account, PaidUse, promise_kind
from adomnia.ledger.entry import Record, canonical, receipt, write_loss
from adomnia.ledger.journal import Journal
from adomnia.ledger.statement import kept, without_comments
from adomnia.privacy import events
from adomnia.privacy.composition import Budget
from adomnia.privacy.loss import Loss
from adomnia.queries.blocks import Block, Touched, block_name

__all__ = [
    "Budgets",
    "Granted",
    "Reservation",
    "amounts",
    "answered",
    "least",
    "left",
    "repeated",
    "reserve",
]


NONE = Loss()


@dataclass(frozen=True)
class Reservation:
    """Who wants to do what. The key makes a repeated request recognisable.

    `request` is what must be equal beside the statement for a key to mean the same request
    (epsilon, confidence, in the caller's spelling). `priors` says how many exact releases the
    event was priced with. `use` is the record of what is measured, by which mechanism and with
    which parameters: all that anybody needs later to price this use anew or to use its answer
    again. Its `measured`, a list of short digests, is how such answers are found. `promise` is
    what the policy promised, with its digest.
    """

    analyst: str
    session: str | None
    key: str | None
    statement: str
    event: events.Event
    request: str | None = None
    priors: int | None = None
    use: Mapping[str, Any] | None = None
    promise: Mapping[str, Any] | None = None
    blocks: Touched | None = None
    """The blocks of rows that it can read; None is all, also those that are not declared yet."""


@dataclass(frozen=True)
class Budgets:
    """What may be spent on the data by everyone, by one analyst, and in one session.

    An analyst with a budget of their own is told nothing of the data's: what is left of that
    would tell what others have spent.
    """

    data: Budget
    analyst: Budget | None = None
    session: Budget | None = None

    def tells(self, name: str) -> bool:
        """Whether whoever is bound by these may know what is left of the budget of this name."""
        return name != "data" or self.analyst is None


@dataclass(frozen=True)
class Granted:
    """A reservation that is on disk, and what each budget that may be told has left after it.

    `number` is that of its entry. `answer` is the recorded answer of an earlier request with the
    same key, and None when the question is still to be answered, or was answered under the
    receipts that this `repeats`.
    """

    receipt: str
    number: int
    remaining: Mapping[str, Mapping[str, Fraction]]
    answer: Mapping[str, Any] | None = None
    repeats: tuple[str, ...] = ()

    @property
    def repeated(self) -> bool:
        """Whether this was paid and answered before."""
        return self.answer is not None or bool(self.repeats)


def reserve(journal: Journal, reservation: Reservation, budgets: Budgets) -> Granted:
    """The debit on disk, or the earlier one of the same key; refused if a budget would be passed.

    A reservation that was never answered stays spent: whether its answer was seen before the
    crash is not known, so the repeated request pays again.
    """
    loss = events.loss(reservation.event)
    for _, budget, _, _ in _bound(Account(), reservation, budgets):
        budget.allows(loss)  # the accountant takes a second to load: before, not under, the lock
    record = _record(reservation, loss)
    known: list[PaidUse] = []
    after: dict[str, Mapping[str, Fraction]] = {}

    def decide(account: Account) -> Sequence[Record]:
        known[:] = _repeated(account, reservation)
        if not known:
            _refuse_stale(account, reservation)
        after.update(_left(account, reservation, budgets, Loss() if known else loss))
        return [] if known else [record]

    written = journal.append(decide)
    if known:
        paid = known[0].receipt
        return Granted(paid, known[0].number, after, journal.answer(paid))
    return Granted(receipt(written[0]), written[0].number, after)


def repeated(
    journal: Journal, analyst: str, session: str | None, receipts: Sequence[str], budgets: Budgets
) -> Granted:
    """A note that what was answered under these receipts was told again, which costs nothing;
    without any, that something was told which is the same whatever the data.

    Neither statement nor answer is stored, and the account keeps nothing of it. Not durable
    against a loss of power.
    """
    who = Reservation(analyst, session, None, "", events.Free())
    after: dict[str, Mapping[str, Fraction]] = {}

    def decide(account: Account) -> Sequence[Record]:
        if not all(map(account.is_answered, receipts)):
            raise LedgerError("an answer was to be repeated that nobody was given")
        after.update(_left(account, who, budgets, Loss()))
        return [Record("repeated", {"analyst": analyst, "receipts": list(receipts)})]

    (written,) = journal.append(decide, durable=False)
    named = receipts[0] if receipts else receipt(written)
    return Granted(named, written.number, after, repeats=tuple(receipts))


def _refuse_stale(account: Account, reservation: Reservation) -> None:
    """Refuse an event that was priced before something else became public, or was promised."""
    if reservation.priors not in (None, len(account.priors)):
        raise MachineryError(
            "more was released exactly while this was planned", "ask again: it is priced anew"
        )
    if reservation.blocks is not None and reservation.blocks.dealt != account.dealt:
        raise MachineryError(
            "rows were dealt out to other blocks since",
            "open the database again, with the policy as it is now",
        )
    promise = reservation.promise
    kind = "" if promise is None else promise_kind(promise["digest"])
    others = {name for name in account.promises if promise_kind(name) == kind}
    if promise is not None and others - {None, promise["digest"]}:
        raise MachineryError(
            "the ledger was priced anew for a policy that promises something else",
            "open the database again, with the policy as it is now",
        )


def answered(journal: Journal, receipt: str, body: Mapping[str, Any]) -> None:
    """Record the answer to a receipt, so that a repeated request gets the same one.

    Not durable against a loss of power: then the repeated request pays again.
    """

    def decide(account: Account) -> Sequence[Record]:
        if account.use(receipt) is None:
            raise LedgerError("an answer was to be recorded that nobody paid for")
        if account.is_answered(receipt):
            raise LedgerError("an answer was to be recorded twice")
        return [Record("answered", {"receipt": receipt}, body)]

    journal.append(decide, durable=False)


def left(
    account: Account, budgets: Budgets, analyst: str, session: str | None = None, loss: Loss = NONE
) -> dict[str, Mapping[str, Fraction]]:
    """What is left of each budget that binds this analyst and may be told them, by its name; after
    a loss, if one is given, which is refused where a budget would be passed."""
    who = Reservation(analyst, session, None, "", events.Free())
    return _left(account, who, budgets, loss)


def least(remaining: Mapping[str, Mapping[str, Fraction]]) -> dict[str, Fraction]:
    """What can still be spent: of each currency the least that any of these budgets leaves."""
    out: dict[str, Fraction] = {}
    for amounts in remaining.values():
        for name, value in amounts.items():
            out[name] = min(value, out.get(name, value))
    return out


def _record(reservation: Reservation, loss: Loss) -> Record:
    use, promise = reservation.use or {}, reservation.promise
    head = {
        "analyst": reservation.analyst,
        "session": reservation.session,
        "key": reservation.key,
        "loss": write_loss(loss),
        "measured": list(use.get("measured", ())),
        "request": _request(reservation),
        "promise": None if promise is None else promise["digest"],
        "blocks": None if reservation.blocks is None else list(reservation.blocks.blocks),
    }
    body = {
        "statement": kept(reservation.statement),
        "event": events.to_json(reservation.event),
        "request": reservation.request,
        "use": reservation.use,
        "promise": promise,
    }
    return Record("reserved", _said(head), _said(body))


def _said(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What is there of the fields: most entries have no key, session or promise."""
    return {name: value for name, value in fields.items() if value not in (None, [])}


def _request(reservation: Reservation) -> str | None:
    """A digest of what must be equal for a key to mean the same request; none without a key."""
    if reservation.key is None:
        return None
    said = canonical([without_comments(reservation.statement), reservation.request])
    return sha256(said.encode()).hexdigest()[:32]


def _repeated(account: Account, reservation: Reservation) -> list[PaidUse]:
    """The earlier request with the same key, if it was answered."""
    use = account.find(reservation.analyst, reservation.key)
    if use is None:
        return []
    if use.request != _request(reservation):
        raise ReusedKeyError(
            "this key was used for another question",
            hint="repeat the question as it was, or use a new key",
        )
    return [use] if account.is_answered(use.receipt) else []


def _bound(
    account: Account, reservation: Reservation, budgets: Budgets
) -> Iterator[tuple[str, Budget, Block, Loss]]:
    """Every budget that binds this reservation: its name, itself, and what was spent of it in a
    block that is touched.

    The data's comes last: whoever passes their own learns nothing of what others have spent.
    """
    touched, bound = reservation.blocks, {("data", ""): budgets.data}
    if budgets.session is not None and reservation.session is not None:
        bound = {("session", reservation.session): budgets.session, **bound}
    if budgets.analyst is not None:
        bound = {("analyst", reservation.analyst): budgets.analyst, **bound}
    for (name, who), budget in bound.items():
        blocks = None if touched is None else touched.blocks
        for block, loss in account.spent(name, who).among(blocks):
            yield name, budget, block, loss


def _left(
    account: Account, reservation: Reservation, budgets: Budgets, loss: Loss
) -> dict[str, Mapping[str, Fraction]]:
    """What each budget that may be told has left after the loss, where it has least; refused if one
    would be passed.

    What costs nothing is never refused, also where a budget was lowered below what is spent.
    """
    after: dict[str, Mapping[str, Fraction]] = {}
    for name, budget, block, spent in _bound(account, reservation, budgets):
        told, total = budgets.tells(name), spent if loss == Loss() else spent + loss
        if total is not spent and not budget.allows(total):
            where = name if reservation.blocks is None else f"{name} for {block_name(block)}"
            raise _refusal(where, budget, spent, loss) if told else _untold(budget, loss)
        if told:
            here = budget.remaining(total)
            after[name] = least({"before": after.get(name, here), "now": here})
    return after


def _refusal(name: str, budget: Budget, spent: Loss, loss: Loss) -> BudgetError:
    asked, room = loss.amounts, budget.room(spent)
    fits = {kind: room[kind] for kind in asked if room.get(kind)}
    return BudgetError(
        f"the budget of the {name} does not allow this: it asks for {amounts(asked)}, "
        f"and {amounts(budget.remaining(spent))} is left",
        hint=_foreign(room, loss) or _advice(fits),
    )


def _untold(budget: Budget, loss: Loss) -> BudgetError:
    """The refusal by the data's budget, for one who must not learn what others have spent."""
    hint = _foreign(budget.room(Loss()), loss) or "ask the curator"
    return BudgetError("the budget of the data does not allow this", hint)


def _foreign(room: Mapping[str, Fraction], loss: Loss) -> str:
    """What a budget never takes, however much is left of it; a fact of the policy."""
    kinds = [kind for kind in loss.amounts if kind not in room]
    return f"this budget takes no uses that cost {' or '.join(kinds)}" if kinds else ""


def _advice(fits: Mapping[str, Fraction]) -> str:
    if not fits:
        return "nothing more can be asked; what was answered before can be asked again for free"
    return f"at most {amounts(fits)} would fit"


def amounts(some: Mapping[str, Fraction]) -> str:
    """Amounts with their names, exact and as decimals."""
    return ", ".join(f"{kind} = {_amount(value)}" for kind, value in some.items())


def _amount(value: Fraction) -> str:
    """The exact fraction and, where that is another text, its decimals: `1/10 (0.1)`."""
    if value.denominator == 1 and value < 10**15:
        return str(value)
    text = str(value)
    return f"{text} ({_decimal(value)})" if len(text) <= 60 else f"about {_decimal(value)}"


def _decimal(value: Fraction) -> str:
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return "more than 10^308"
