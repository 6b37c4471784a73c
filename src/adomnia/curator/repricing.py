"""Re-pricing: what earlier uses cost among the tables that agree with all that is public now.

The noise is what it was; neighbours are further apart (`known.md`, claim 5; `promise.md`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from adomnia.curator.plan import shape_of
from adomnia.curator.policy import Policy
from adomnia.curator.promise import Promise
from adomnia.curator.root import keys_of, root_square
from adomnia.errors import AdomniaError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import Entry
from adomnia.ledger.journal import Journal
from adomnia.priors.known import Known
from adomnia.priors.sensitivity import sensitivity
from adomnia.privacy import events
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.sensitivity import Setting
from adomnia.queries.expression import Column
from adomnia.queries.grouping import visible
from adomnia.queries.measurement import Counts, Distinct, Measurement, Quantile
from adomnia.queries.operations import constant
from adomnia.queries.question import Question
from adomnia.queries.ranges import count_cells, from_domain
from adomnia.queries.strategy import plan_measurements

__all__ = ["Repricing", "moves"]

Priced = (
    events.Laplace
    | events.Gaussian
    | events.Exponential
    | events.PartitionSelection
    | events.PermuteAndFlip
    | events.SmoothNoise
    | events.NoisyMax
    | events.AboveThreshold
    | events.Auction
)
Choice = events.NoisyMax | events.AboveThreshold | events.Auction


@dataclass(frozen=True)
class _Growth:
    """How many times further apart neighbours are than when it was paid; squared for squares."""

    times: Fraction
    square: Fraction

    @classmethod
    def of(cls, times: Fraction) -> _Growth:
        return cls(times, times**2)

    def or_more(self, other: _Growth) -> _Growth:
        return _Growth(max(self.times, other.times), max(self.square, other.square))


@dataclass(frozen=True)
class _Use:
    """A paid use: what was asked, what of it was paid, and what was promised then."""

    statement: str
    measured: Mapping[str, Any]
    parts: tuple[Priced, ...]
    promise: Promise | None

    @classmethod
    def of(cls, entry: Entry) -> _Use:
        event = events.from_json(entry.body["event"])
        parts = event.parts if isinstance(event, events.Composed) else (event,)
        return cls(
            str(entry.body["statement"]),
            entry.body.get("use") or {},
            tuple(part for part in parts if isinstance(part, Priced)),
            Promise.from_json(entry.body.get("promise")),
        )


UNBOUNDED = _Growth.of(Fraction(10**9))
"""Of a use that cannot be read any more: past every budget."""

GRAPH = "GRAPH "
"""How the statements about a graph begin; what a policy promises about its table is not theirs."""


@dataclass(frozen=True)
class Repricing:
    """The policy's uses, priced with everything that is known `after` a release."""

    policy: Policy
    bind: Callable[[str], Question]
    after: Known
    journal: Journal

    def prices(self, account: Account) -> Iterator[tuple[str, events.Event]]:
        """What costs more now; what an answer gave away once is never refunded."""
        for receipt, _ in account.uses():
            entry = self.journal.reservation(receipt)
            now = None if entry is None else self._price(entry)
            if now is not None and _exceeds(events.loss(now), account.price(receipt)):
                yield receipt, now

    def _price(self, entry: Entry) -> events.Event | None:
        """What a use costs now; None where it costs nothing, whatever is promised."""
        if not self.after and str(entry.body["statement"]).startswith(GRAPH):
            return None
        use = _Use.of(entry)
        if self._told_rows(use):
            return events.Laplace(UNBOUNDED.times, Fraction(1))
        if not use.parts:
            return None
        grown = self._grown(use)
        priced = tuple(_scaled(part, more) for part, more in zip(use.parts, grown, strict=True))
        return priced[0] if len(priced) == 1 else events.Composed(priced)

    def _told_rows(self, use: _Use) -> bool:
        """Whether the number of rows was told without noise, and is not public any more."""
        now, then = self.policy.neighbors, use.promise
        if now.replaces and now.rows is None:
            return False
        if then is None:  # with releases known, what is not paid may follow from them
            return "paid" in use.measured and not self.after
        told = use.measured.keys() & {"paid", "columns"}
        return bool(told) and then.neighbors.replaces and then.neighbors.rows is None

    def _grown(self, use: _Use) -> list[_Growth]:
        if not self._is_read_alike(use):
            return [self._by_steps(use)] * len(use.parts)
        try:
            if "root" in use.measured:
                return [self._root(use.measured, use.parts[0])]
            if "columns" in use.measured:
                rows = moves(self.policy, tuple(use.measured["columns"]), self.after)
                return [_Growth.of(rows / Fraction(use.measured["moves"]))] * len(use.parts)
            if isinstance(use.parts[0], Choice):
                return [self._chosen(use.parts[0])]
            return self._measured(use)
        except (AdomniaError, ValueError):
            return [self._by_rows(use)] * len(use.parts)

    def _is_read_alike(self, use: _Use) -> bool:
        """Whether the same rows were read as are read now, with the same columns protected."""
        then = use.promise  # None of before that was recorded
        return then is None or (then.bounds == self._promise.bounds and not self._was_shown(use))

    def _was_shown(self, use: _Use) -> bool:
        """Whether a release held tables of columns that need protection only now."""
        then = set() if use.promise is None else {*use.promise.public}
        return bool((then - {*self._promise.public}) & {*use.measured.get("columns", ())})

    def _by_steps(self, use: _Use) -> _Growth:
        """Of all the steps by the promise of then that make one by that of now."""
        steps = (use.promise or self._single).steps(self._promise)
        if steps is None or self.after or self._was_shown(use):
            return UNBOUNDED
        return _Growth.of(Fraction(steps))

    def _by_rows(self, use: _Use) -> _Growth:
        """Every step of a move takes a row at least, and cost no more than what was paid."""
        if not self.after:
            return self._by_steps(use)
        then, now = (use.promise or self._single).neighbors, self.policy.neighbors
        if then.relation not in ("unbounded", now.relation):
            return UNBOUNDED  # rows that come and go were never priced
        try:
            return _Growth.of(self._all_moved() / then.group)
        except AdomniaError:
            return UNBOUNDED

    @cached_property
    def _promise(self) -> Promise:
        return Promise.of(self.policy)

    @property
    def _single(self) -> Promise:
        """The least that a use of before promises were recorded can have been priced for."""
        return replace(self._promise, neighbors=replace(self.policy.neighbors, group=1))

    def _chosen(self, part: Choice) -> _Growth:
        """Choices were priced for so many single rows (`choosing.md`)."""
        now = self.policy.neighbors
        if self.after:
            return _Growth.of(self._all_moved() / part.sensitivity)
        rows = now.touched if isinstance(part, events.Auction) else now.moves
        return _Growth.of(rows / part.sensitivity)

    def _measured(self, use: _Use) -> list[_Growth]:
        """The growth of each paid measurement of a statement."""
        question = self.bind(use.statement)
        strategy = plan_measurements(question)
        paid = use.measured.get("paid", range(len(strategy.measurements)))
        same = use.measured.get("shape") == shape_of(question, strategy.measurements)
        if not same or len(paid) != len(use.parts):  # it means something else by now
            return [self._by_steps(use)] * len(use.parts)
        pairs = zip(paid, use.parts, strict=True)
        return [self._one(use, question, strategy.measurements[i], (i, part)) for i, part in pairs]

    def _one(
        self, use: _Use, question: Question, measurement: Measurement, paid: tuple[int, Priced]
    ) -> _Growth:
        """Of all that was measured, and of the groups that were bounded apart."""
        place, part = str(paid[0]), paid[1]
        if self.after and question.open:
            return self._in_the_open(question, measurement, part)
        if isinstance(part, events.SmoothNoise) and isinstance(measurement, Quantile):
            measurement = replace(measurement, edge="min")  # it was priced for so many rows
        setting = self._setting(question, measurement)
        outputs = use.measured.get("outputs", {}).get(place)
        grown = self._against(measurement, setting, outputs, part.sensitivity)
        group = (use.promise or self._single).neighbors.group
        for some, bound in use.measured.get("groups", {}).get(place, ()):
            apart = Fraction(bound) * group
            grown = grown.or_more(self._against(measurement, setting, some, apart))
        return grown

    def _setting(self, question: Question, measurement: Measurement) -> Setting:
        shown = None
        if isinstance(measurement, Distinct) and not question.open:
            shown = len(visible(question.keys, self.policy.attributes))
        return Setting(question.where, question.keys, self.policy.unit, shown)

    def _against(
        self, measurement: Measurement, setting: Setting, outputs: Any, apart: Fraction
    ) -> _Growth:
        if outputs == "cells":  # other counts than the statement's: each moved row moves one
            return _Growth.of(self._all_moved() / apart)
        some = None if outputs is None else tuple(int(number) for number in outputs)
        found = sensitivity(measurement, setting, self.policy.neighbors, self.after, some)
        return _Growth(found.l1 / apart, found.l2_squared / _squared(apart))

    def _root(self, measured: Mapping[str, Any], part: Priced) -> _Growth:
        """Of the root of chi-squared, in steps of its lattice."""
        keys = keys_of(self.policy, tuple(measured["root"]))
        square = root_square(self.policy, self.after, keys, Fraction(measured["kappa"]))
        steps = math.isqrt(math.ceil(square * 4 ** int(measured["places"]))) + 1
        return _Growth.of(steps / part.sensitivity)

    def _in_the_open(self, question: Question, measured: Measurement, part: Priced) -> _Growth:
        """Of rows that move in groups that are not public: each may be in one of its own."""
        shut = tuple(key for key in question.keys if count_cells(key.range) is not None)
        named = next(key for key in question.keys if count_cells(key.range) is None)
        setting = Setting(question.where, shut, self.policy.unit)
        rows = sensitivity(Distinct(named), setting, self.policy.neighbors, self.after).l1
        one = sensitivity(measured, self._setting(question, measured), Neighbors())
        apart, square = part.sensitivity, _squared(part.sensitivity)
        return _Growth(rows * one.l1 / apart, rows**2 * one.l2_squared / square)

    def _all_moved(self) -> Fraction:
        """How many rows come and go, wherever they are."""
        anything = Distinct(constant(1))
        return sensitivity(anything, Setting(), self.policy.neighbors, self.after).l1


def moves(policy: Policy, columns: tuple[str, ...], known: Known) -> int:
    """How many rows may come and go at once, as far as these columns can tell."""
    keys = tuple(Column(n, from_domain(policy.attributes[n].domain)) for n in columns)
    neighbors = replace(policy.neighbors, groups=None, each=None)  # releases know no groups
    found = sensitivity(Counts((None,)), Setting(None, keys), neighbors, known)
    return math.ceil(found.l1)


def _exceeds(now: Loss, before: Loss) -> bool:
    return any(getattr(now, name) > getattr(before, name) for name in vars(now))


def _squared(apart: Fraction) -> Fraction:
    """What was paid for, squared: where a root was rounded up, the noise is of what is below."""
    square = apart**2
    return min(square, square.limit_denominator(10**9))


def _scaled(event: Priced, grown: _Growth) -> Priced:
    """The same noise, priced by how far neighbours are apart now; never below what it was."""
    if isinstance(event, events.Gaussian):
        square = max(Fraction(1), grown.square)
        apart = event.sensitivity * Fraction(math.isqrt(math.ceil(square * 10**24)) + 1, 10**12)
        return events.Gaussian(_at_least(event.rho, grown) * square, apart)
    factor = max(Fraction(1), grown.times)
    epsilon, apart = _at_least(event.epsilon, grown) * factor, event.sensitivity * factor
    if isinstance(event, events.PartitionSelection | events.SmoothNoise):
        return type(event)(epsilon, _group_delta(event, factor), apart)
    return replace(event, epsilon=epsilon, sensitivity=apart)


def _at_least(amount: Fraction, grown: _Growth) -> Fraction:
    """What cannot be priced is past every budget also where it cost next to nothing."""
    return max(amount, Fraction(1)) if grown is UNBOUNDED else amount


def _group_delta(
    event: events.PartitionSelection | events.SmoothNoise, factor: Fraction
) -> Fraction:
    """Of so many steps at once: no more than m e^((m-1) epsilon) delta."""
    steps = math.ceil(factor)
    if steps == 1:
        return event.delta
    power = float((steps - 1) * event.epsilon)
    if power > 600:
        return Fraction(1)
    return min(Fraction(1), steps * event.delta * Fraction(math.exp(power) * (1 + 1e-9)))
