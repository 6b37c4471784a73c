"""Choices among counts: the largest of several, those above a threshold, a price to ask.

Each is paid for in the ledger before the data is read, and tells nothing but the choice
(`choosing.md`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from adomnia.curator.access import confidence_of
from adomnia.curator.policy_lines import refuse_several
from adomnia.curator.spend import Paid, Payer, Use, spend
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import NotAllowedError, QuestionError
from adomnia.limits import MAX_CONDITIONS
from adomnia.mechanisms.choices.auction import revenue, revenue_margin
from adomnia.mechanisms.choices.choice_mechanisms import AboveBar, AuctionPrice, LargestCount
from adomnia.mechanisms.choices.noisy_max import noisy_max_margin
from adomnia.privacy.events import cost_of
from adomnia.privacy.loss import Amount, exact
from adomnia.queries.expression import Column, Expr
from adomnia.queries.measurement import Counts, number
from adomnia.queries.operations import call, constant
from adomnia.queries.ranges import Number, from_domain

__all__ = ["Above", "Chosen", "above", "auction", "noisy_max"]

_Bill = tuple[Mapping[str, Fraction], Mapping[str, Fraction], str]
LARGEST = 10**15
"""No count is larger, and no price in steps of its column need be."""
PAID = (Fraction(1, 10**12), Fraction(10**12))
"""What a choice may cost: less chooses by chance, and more is no promise."""


@dataclass(frozen=True)
class Chosen:
    """What was chosen, and its place in the list.

    With the given confidence it falls short of the best by no more than `margin`: in rows for
    the largest count, in the unit of the price for the revenue.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     chosen = database.session().noisy_max(["sex = 'F'", "sex = 'M'"], epsilon=1)
    >>> chosen.place in (0, 1), chosen.margin > 0
    (True, True)
    """

    value: Any
    place: int
    margin: float
    confidence: float
    spent: Mapping[str, Fraction]
    remaining: Mapping[str, Fraction]
    receipt: str


@dataclass(frozen=True)
class Above:
    """For each condition in turn whether its count is above the threshold.

    The list ends where as many are above as were asked for. With the given confidence every
    verdict is right, up to counts within `margin` of the threshold.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     found = database.session().above(25, ["age > 100"], epsilon=100)
    >>> found.verdicts, found.spent["epsilon"]
    ((False,), Fraction(100, 1))
    """

    verdicts: tuple[bool, ...]
    margin: int
    confidence: float
    spent: Mapping[str, Fraction]
    remaining: Mapping[str, Fraction]
    receipt: str


def noisy_max(
    backend: TableBackend,
    payer: Payer,
    conditions: Sequence[str],
    epsilon: Amount,
    confidence: float = 0.95,
) -> Chosen:
    """The condition that (nearly) the most rows meet, for epsilon."""
    counts, paid, sure = _counts(backend, conditions), _paid(epsilon), confidence_of(confidence)
    neighbors = backend.policy.neighbors
    mechanism = LargestCount(counts, paid, neighbors.moves, neighbors.most)
    margin = noisy_max_margin(len(conditions), mechanism.eta, sure)
    place, bill = _pay(backend, payer, f"NOISY MAX OF {'; '.join(conditions)}", mechanism)
    return Chosen(conditions[place], place, margin, sure, *bill)


def above(  # noqa: PLR0913, PLR0917 (what may be said at the session is said here)
    backend: TableBackend,
    payer: Payer,
    threshold: int,
    conditions: Sequence[str],
    epsilon: Amount,
    cutoff: int = 1,
    confidence: float = 0.95,
) -> Above:
    """Which conditions more rows meet than the threshold, in turn, until `cutoff` are found."""
    counts, paid, sure = _counts(backend, conditions), _paid(epsilon), confidence_of(confidence)
    bar = _whole(threshold, "threshold", -LARGEST, LARGEST)
    most = _whole(cutoff, "cutoff", 1, MAX_CONDITIONS)
    neighbors = backend.policy.neighbors
    mechanism = AboveBar(counts, paid, neighbors.moves, neighbors.most, bar=bar, cutoff=most)
    margin = mechanism.plan.margin(len(conditions), sure)
    said = f"UP TO {most} ABOVE {bar} OF {'; '.join(conditions)}"
    found, bill = _pay(backend, payer, said, mechanism)
    return Above(tuple(found), margin, sure, *bill)


def auction(
    backend: TableBackend,
    payer: Payer,
    column: str,
    prices: Sequence[Amount],
    epsilon: Amount,
    confidence: float = 0.95,
) -> Chosen:
    """A price that (nearly) brings the most: it is asked of every row that bids as much."""
    bids = _bids(backend, column)
    step, ladder = number(bids).step, _ladder(number(bids).step, prices)
    counts = Counts(tuple(call("ge", bids, constant(price, step)) for price in ladder))
    paid, sure, neighbors = _paid(epsilon), confidence_of(confidence), backend.policy.neighbors
    mechanism = AuctionPrice(counts, paid, neighbors.touched, neighbors.most, prices=tuple(ladder))
    margin = float(revenue_margin(ladder, mechanism.eta, sure) * step)
    said = f"AUCTION OF {column} AT {', '.join(str(price * step) for price in ladder)}"
    price, bill = _pay(backend, payer, said, mechanism)
    place = ladder.index(price)
    return Chosen(prices[place], place, margin, sure, *bill)


def _pay(
    backend: TableBackend,
    payer: Payer,
    statement: str,
    mechanism: LargestCount | AboveBar | AuctionPrice,
) -> tuple[Any, _Bill]:
    """The choice, after its event is on disk, and what it cost."""
    priors, known = backend.public()
    if known:
        raise NotAllowedError(
            "choices are not made where something was released exactly: "
            "how many rows go together is not known",
            "ask for the counts themselves: SELECT COUNT(*) FILTER (WHERE …)",
        )
    promise, version = backend.knowledge.promise, backend.version()
    use = Use(statement, (mechanism,), promise, version, priors=priors, what="choice")
    paid: Paid = spend(backend, payer, use)
    spent = cost_of(mechanism.event)
    return paid.released[0].value, (spent, paid.remaining, paid.receipt)


COUNTED = "ask for the counts themselves: SELECT COUNT(*) FILTER (WHERE …) FROM … JOIN …"
"""What works for several tables in the place of a choice."""


def _counts(backend: TableBackend, conditions: Sequence[str]) -> Counts:
    """The conditions, bound to the table; what is wrong with them is said before it is paid."""
    refuse_several(backend.policy, "choices are made of one table", COUNTED)
    if isinstance(conditions, str) or not 1 <= len(conditions) <= MAX_CONDITIONS:
        raise QuestionError(
            f"a list of 1 to {MAX_CONDITIONS:,} conditions is needed", "for example ['age < 18']"
        )
    return Counts(tuple(_condition(backend, condition) for condition in conditions))


def _condition(backend: TableBackend, condition: str) -> Expr | None:
    """The condition alone: a statement that says more than it is refused."""
    every = f'SELECT COUNT(*) FROM "{backend.policy.table}"'  # noqa: S608 (bound, not run)
    question = backend.bind(f"{every} WHERE ({condition}\n)")
    if replace(question, where=None, never=False) != backend.bind(every):
        raise QuestionError("each entry must be one condition", "for example age < 18")
    return question.where


def _bids(backend: TableBackend, column: str) -> Column:
    """The column, if it is a declared number."""
    refuse_several(backend.policy, "choices are made of one table", COUNTED)
    attribute = backend.policy.attributes.get(column)
    if attribute is None:
        raise QuestionError(f"{str(column)[:80]!r} is not a declared attribute", "see the policy")
    spread = from_domain(attribute.domain)
    if not isinstance(spread, Number):
        raise QuestionError(f"{column} is not a number", "bids are a column of numbers")
    return Column(column, spread)


def _ladder(step: Fraction, prices: Sequence[Amount]) -> list[int]:
    """The prices in steps of the column."""
    if isinstance(prices, str) or len(prices) > MAX_CONDITIONS:
        raise QuestionError(f"a list of up to {MAX_CONDITIONS:,} prices is needed", "say [5, 10]")
    steps = [exact(price, "price") / step for price in prices]
    if any(price.denominator != 1 for price in steps):
        raise QuestionError(f"prices are multiples of {step}, the step of the column")
    if max(steps, default=0) > LARGEST:
        raise QuestionError("a price is out of all proportion", f"at most {LARGEST * step}")
    ladder = [int(price) for price in steps]
    revenue(np.zeros(0, np.int64), ladder)  # a list that is empty or does not rise is refused
    return ladder


def _paid(epsilon: Amount) -> Fraction:
    paid, (least_of_all, most) = exact(epsilon), PAID
    if not least_of_all <= paid <= most:
        raise QuestionError(
            "epsilon is out of all proportion for a choice", f"from {float(least_of_all)} to {most}"
        )
    return paid


def _whole(value: object, name: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise QuestionError(f"{name} must be a whole number", f"for example {name} = 100")
    if not low <= value <= high:
        raise QuestionError(f"{name} is out of range", f"from {low:,} to {high:,}")
    return value
