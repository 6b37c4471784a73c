"""Re-pricing: what earlier uses cost among the tables that agree with all that is public now.

The noise is what it was; neighbours are further apart (`known.md`, claim 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from adomnia.curator.plan import shape_of
from adomnia.curator.policy import Policy
from adomnia.curator.root import keys_of, root_square
from adomnia.errors import AdomniaError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import Entry
from adomnia.priors.known import Known
from adomnia.priors.sensitivity import sensitivity
from adomnia.privacy import events
from adomnia.privacy.loss import Loss
from adomnia.privacy.sensitivity import Setting
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Counts, Distinct, Measurement
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


UNBOUNDED = _Growth.of(Fraction(10**9))
"""Of a use that cannot be read any more: past every budget."""


@dataclass(frozen=True)
class Repricing:
    """The policy's uses, priced with everything that is known `after` a release."""

    policy: Policy
    bind: Callable[[str], Question]
    after: Known

    def prices(self, account: Account) -> Iterator[tuple[str, events.Event]]:
        """What costs more now; what an answer gave away once is never refunded."""
        for receipt, entry in account.uses():
            event = events.from_json(entry.body["event"])
            if isinstance(event, events.Free):
                continue
            now = self._price(entry, event)
            if _exceeds(events.loss(now), account.price(receipt)):
                yield receipt, now

    def _price(self, entry: Entry, event: events.Event) -> events.Event:
        measured = entry.body.get("measured") or {}
        parts = event.parts if isinstance(event, events.Composed) else (event,)
        paid = [part for part in parts if isinstance(part, Priced)]
        grown = self._grown(str(entry.body["statement"]), measured, paid)
        priced = tuple(_scaled(part, more) for part, more in zip(paid, grown, strict=True))
        return priced[0] if len(priced) == 1 else events.Composed(priced)

    def _grown(
        self, statement: str, measured: Mapping[str, Any], parts: Sequence[Priced]
    ) -> list[_Growth]:
        try:
            if "root" in measured:
                return [self._root(measured, parts[0])]
            if "columns" in measured:
                rows = moves(self.policy, tuple(measured["columns"]), self.after)
                return [_Growth.of(Fraction(rows) / Fraction(measured["moves"]))] * len(parts)
            return self._measured(statement, measured, parts)
        except AdomniaError:
            return [self._by_rows()] * len(parts)

    def _by_rows(self) -> _Growth:
        """Every step of a move takes a row at least, and cost no more than what was paid."""
        try:
            return _Growth.of(self._all_moved() / self.policy.neighbors.group)
        except AdomniaError:
            return UNBOUNDED

    def _measured(
        self, statement: str, measured: Mapping[str, Any], parts: Sequence[Priced]
    ) -> list[_Growth]:
        """The growth of each paid measurement of a statement."""
        question = self.bind(statement)
        strategy = plan_measurements(question)
        if measured.get("shape") != shape_of(question, strategy.measurements):
            return [UNBOUNDED] * len(parts)  # the statement means something else by now
        if question.open:
            rows = self._in_the_open(question) / self.policy.neighbors.group
            return [_Growth.of(rows)] * len(parts)
        setting = Setting(question.where, question.keys, self.policy.unit)
        paid = measured.get("paid", range(len(strategy.measurements)))
        if len(paid) != len(parts):
            return [UNBOUNDED] * len(parts)
        return [
            self._one(strategy.measurements[i], setting, part, measured, str(i))
            for i, part in zip(paid, parts, strict=True)
        ]

    def _one(
        self,
        measurement: Measurement,
        setting: Setting,
        part: Priced,
        measured: Mapping[str, Any],
        place: str,
    ) -> _Growth:
        """Of all that was measured, and of the groups that were bounded apart."""
        outputs = measured.get("outputs", {}).get(place)
        grown = self._against(measurement, setting, outputs, part.sensitivity)
        for some, bound in measured.get("groups", {}).get(place, ()):
            apart = Fraction(bound) * self.policy.neighbors.group
            grown = grown.or_more(self._against(measurement, setting, some, apart))
        return grown

    def _against(
        self, measurement: Measurement, setting: Setting, outputs: Any, apart: Fraction
    ) -> _Growth:
        if outputs == "cells":  # other counts than the statement's: each moved row moves one
            return _Growth.of(self._all_moved() / apart)
        some = None if outputs is None else tuple(int(number) for number in outputs)
        found = sensitivity(measurement, setting, self.policy.neighbors, self.after, some)
        return _Growth(found.l1 / apart, found.l2_squared / apart**2)

    def _root(self, measured: Mapping[str, Any], part: Priced) -> _Growth:
        """Of the root of chi-squared, in steps of its lattice."""
        keys = keys_of(self.policy, tuple(measured["root"]))
        square = root_square(self.policy, self.after, keys, Fraction(measured["kappa"]))
        steps = math.isqrt(math.ceil(square * 4 ** int(measured["places"]))) + 1
        return _Growth.of(steps / part.sensitivity)

    def _in_the_open(self, question: Question) -> Fraction:
        """How many rows move in groups that are not public: each may be in one of its own."""
        shut = tuple(key for key in question.keys if count_cells(key.range) is not None)
        named = next(key for key in question.keys if count_cells(key.range) is None)
        setting = Setting(question.where, shut, self.policy.unit)
        return sensitivity(Distinct(named), setting, self.policy.neighbors, self.after).l1

    def _all_moved(self) -> Fraction:
        """How many rows come and go, wherever they are."""
        anything = Distinct(constant(1))
        return sensitivity(anything, Setting(), self.policy.neighbors, self.after).l1


def moves(policy: Policy, columns: tuple[str, ...], known: Known) -> int:
    """How many rows may come and go at once, as far as these columns can tell."""
    keys = tuple(Column(n, from_domain(policy.attributes[n].domain)) for n in columns)
    found = sensitivity(Counts((None,)), Setting(None, keys), policy.neighbors, known)
    return math.ceil(found.l1)


def _exceeds(now: Loss, before: Loss) -> bool:
    return any(getattr(now, name) > getattr(before, name) for name in vars(now))


def _scaled(event: Priced, grown: _Growth) -> Priced:
    """The same noise, priced by how far neighbours are apart now; never below what it was."""
    if isinstance(event, events.Gaussian):
        square = max(Fraction(1), grown.square)
        apart = event.sensitivity * Fraction(math.isqrt(math.ceil(square * 10**24)) + 1, 10**12)
        return events.Gaussian(event.rho * square, apart)
    factor = max(Fraction(1), grown.times)
    epsilon, apart = event.epsilon * factor, event.sensitivity * factor
    if isinstance(event, events.PartitionSelection | events.SmoothNoise):
        return type(event)(epsilon, _group_delta(event, factor), apart)
    return replace(event, epsilon=epsilon, sensitivity=apart)


def _group_delta(
    event: events.PartitionSelection | events.SmoothNoise, factor: Fraction
) -> Fraction:
    """Of so many steps at once: no more than m e^((m-1) epsilon) delta."""
    steps = math.ceil(factor)
    power = float((steps - 1) * event.epsilon)
    if power > 600:
        return Fraction(1)
    return min(Fraction(1), steps * event.delta * Fraction(math.exp(power) * (1 + 1e-9)))
