"""Re-pricing: what earlier uses cost among the tables that agree with all that is public now.

The noise is what it was; neighbours are further apart (`prior_knowledge.md`, claim 5;
`promise.md`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from adomnia.curator.planning.chi_squared_root import keys_of, root_square
from adomnia.errors import AdomniaError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import Entry
from adomnia.ledger.journal import Journal
from adomnia.policy.policy import Policy
from adomnia.policy.promise import Promise
from adomnia.priors.prior_knowledge import PriorKnowledge
from adomnia.priors.sensitivity import sensitivity
from adomnia.privacy import events
from adomnia.privacy.contribution import Ranked
from adomnia.privacy.contribution_record import contribution_from
from adomnia.privacy.growth import UNBOUNDED, Growth, repriced
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.premises import RowsStay
from adomnia.privacy.sensitivity import Setting
from adomnia.privacy.sensitivity import sensitivity as plain
from adomnia.queries.canonical import expression_from, measurement_from
from adomnia.queries.expression import Column, Expr
from adomnia.queries.grouping import visible
from adomnia.queries.measurement import Counts, Distinct, Measurement, Quantile
from adomnia.queries.operations import constant
from adomnia.queries.ranges import count_cells, from_domain
from adomnia.schema.domain import Open

__all__ = ["Repricing", "moves"]


@dataclass(frozen=True)
class _Part:
    """One paid part of a use: its record, the event, and the rows and cells it was taken of."""

    record: Mapping[str, Any]
    event: Any
    where: Expr | None
    keys: tuple[Expr, ...]

    @property
    def open(self) -> bool:
        """Whether the values of a key were not public."""
        return any(count_cells(key.range) is None for key in self.keys)

    @property
    def apart(self) -> Fraction:
        """How far neighbours were taken to be apart; all choices of one part alike."""
        listed: tuple[Any, ...] = (self.event,)
        if isinstance(self.event, events.Composed):
            listed = self.event.parts
        return min(Fraction(one.sensitivity) for one in listed)


@dataclass(frozen=True)
class _Use:
    """A use as the ledger records it: its parts that cost something, and what was promised."""

    parts: tuple[_Part, ...]
    promise: Promise
    premises: frozenset[str]
    derived: bool = False
    """Whether rows were joined or computed for each unit first: they have bounds of their own."""

    @classmethod
    def of(cls, entry: Entry) -> _Use:
        """What a reservation says; the statement is not read."""
        record, promise = entry.body["use"], Promise.from_json(entry.body["promise"])
        where = expression_from(record.get("where"))
        keys = tuple(key for k in record.get("keys", ()) if (key := expression_from(k)) is not None)
        listed = [inner for part in record["parts"] for inner in part.get("parts", (part,))]
        found = ((part, events.from_json(part["event"])) for part in listed)
        parts = tuple(
            _Part(part, event, where, keys)
            for part, event in found
            if not isinstance(event, events.Free)
        )
        return cls(parts, promise, frozenset(record["premises"]), "rows" in record)

    @property
    def columns(self) -> frozenset[str]:
        """The columns of the tables that were released."""
        return frozenset(name for part in self.parts for name in part.record.get("tables", ()))


@dataclass(frozen=True)
class Repricing:
    """The policy's uses, priced with everything that is known `after` a release."""

    policy: Policy
    after: PriorKnowledge
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
        if not Promise.is_of_table(entry.body["promise"]):
            return self._of_graph(entry)
        use = _Use.of(entry)
        if RowsStay.name in use.premises and not self._rows_stay:
            return events.Laplace(UNBOUNDED.times, Fraction(1))
        if not use.parts:
            return None
        grown = self._grown(use)
        return events.composed(
            repriced(part.event, more) for part, more in zip(use.parts, grown, strict=True)
        )

    def _of_graph(self, entry: Entry) -> events.Event | None:
        """What a policy promises about its table is not a graph's; what is public is for both."""
        if not self.after:
            return None
        try:
            grown = Growth.of(self._all_moved())
        except AdomniaError:
            grown = UNBOUNDED
        return repriced(events.from_json(entry.body["event"]), grown)

    @property
    def _rows_stay(self) -> bool:
        """Whether all neighbours have as many rows, by what is promised now."""
        return self.policy.neighbors.replaces and self.policy.neighbors.rows is None

    def _grown(self, use: _Use) -> list[Growth]:
        if not self._is_read_alike(use):
            return [self._by_steps(use)] * len(use.parts)
        try:
            return [self._one(use, part) for part in use.parts]
        except (AdomniaError, ValueError):
            return [self._by_rows(use)] * len(use.parts)

    def _one(self, use: _Use, part: _Part) -> Growth:
        """The growth of one part, by what its record is about."""
        kind = next(kind for kind in _ABOUT if kind in part.record)
        return _ABOUT[kind](self, use, part)

    def _is_read_alike(self, use: _Use) -> bool:
        """Whether the same rows were read as are read now, with the same columns protected."""
        alike = use.promise.bounds == self._promise.bounds and not use.derived
        return alike and not self._was_shown(use)

    def _was_shown(self, use: _Use) -> bool:
        """Whether a release held tables of columns that need protection only now."""
        return bool(({*use.promise.public} - {*self._promise.public}) & use.columns)

    def _by_steps(self, use: _Use) -> Growth:
        """Of all the steps by the promise of then that make one by that of now."""
        steps = use.promise.steps(self._promise)
        if steps is None or self.after or self._was_shown(use):
            return UNBOUNDED
        return Growth.of(Fraction(steps))

    def _by_rows(self, use: _Use) -> Growth:
        """Every step of a move takes a row at least, and cost no more than what was paid."""
        if not self.after:
            return self._by_steps(use)
        then, now = use.promise.neighbors, self.policy.neighbors
        if then.relation not in ("unbounded", now.relation):
            return UNBOUNDED  # rows that come and go were never priced
        try:
            return Growth.of(self._all_moved() / then.group)
        except AdomniaError:
            return UNBOUNDED

    @cached_property
    def _promise(self) -> Promise:
        return Promise.of(self.policy)

    def _chosen(self, use: _Use, part: _Part) -> Growth:
        """Choices were priced for so many single rows (`choosing.md`)."""
        now, paid = self.policy.neighbors, part.event.sensitivity
        if self.after:
            return Growth.of(self._all_moved() / paid)
        rows = now.touched if isinstance(part.event, events.Auction) else now.moves
        return Growth.of(rows / paid)

    def _scanned(self, use: _Use, part: _Part) -> Growth:
        """Scans were priced for so many units, which come, go or are replaced; a row that comes or
        goes makes no larger difference than its unit (`threshold_scan.md`)."""
        now, paid = self.policy.neighbors, part.event.sensitivity
        if self.after:
            return Growth.of(self._all_moved() / paid)
        return UNBOUNDED if now.most is not None else Growth.of(now.group / paid)

    def _tables(self, use: _Use, part: _Part) -> Growth:
        """Releases were priced for so many rows that come and go.

        They were read with rows that have no listed value, which are in no table now. Where as many
        rows as leave the tables become such, and stay, those were measured as well
        (`prior_knowledge.md`, claim 7).
        """
        from adomnia.priors.release_rows import counts_rows  # noqa: PLC0415 (needs SciPy)

        rows = moves(self.policy, tuple(part.record["tables"]), self.after)
        leave = self.after.listed and counts_rows(self.after.within_universe())
        return Growth.of((2 if leave else 1) * rows / Fraction(part.record["moves"]))

    def _measured(self, use: _Use, part: _Part) -> Growth:
        """Of all that was measured, and of the groups that were bounded apart."""
        if not self.after:
            return self._enforced(part)
        measurement = measurement_from(part.record["measurement"])
        if part.open:
            return self._in_the_open(part, measurement)
        if isinstance(part.event, events.SmoothNoise) and isinstance(measurement, Quantile):
            measurement = replace(measurement, edge="min")  # it was priced for so many rows
        setting, noise = self._setting(part, measurement), part.record["mechanism"]
        grown = self._against(measurement, setting, noise.get("outputs"), part.apart)
        group = use.promise.neighbors.group
        for some, bound in noise.get("groups", ()):
            apart = Fraction(bound) * group
            grown = grown.or_more(self._against(measurement, setting, some, apart))
        return grown

    def _enforced(self, part: _Part) -> Growth:
        """Of what the statement enforced then, among the neighbours of now."""
        contribution = contribution_from(part.record["contribution"])
        if isinstance(part.event, events.SmoothNoise) and isinstance(contribution, Ranked):
            contribution = replace(contribution, edge="min")  # it was priced for so many rows
        measurement = measurement_from(part.record["measurement"])
        neighbors = self.policy.neighbors.among(part.record["mechanism"].get("holders", 1))
        found = plain(contribution, self._setting(part, measurement), neighbors)
        apart = part.apart
        return Growth(found.l1 / apart, found.l2_squared / _squared(apart))

    def _setting(self, part: _Part, measurement: Measurement) -> Setting:
        shown = None
        if isinstance(measurement, Distinct) and not part.open:
            shown = len(visible(part.keys, self.policy.attributes))
        return Setting(part.where, part.keys, self.policy.unit, shown, self.policy.rows_stay)

    def _against(
        self, measurement: Measurement, setting: Setting, outputs: Any, apart: Fraction
    ) -> Growth:
        if outputs == "cells":  # other counts than the statement's: each moved row moves one
            return Growth.of(self._all_moved() / apart)
        some = None if outputs is None else tuple(int(number) for number in outputs)
        found = sensitivity(measurement, setting, self.policy.neighbors, self.after, some)
        return Growth(found.l1 / apart, found.l2_squared / _squared(apart))

    def _outside(self, use: _Use, part: _Part) -> Growth:
        """Of another package's noise nothing is known but what it costs for one step."""
        return self._by_rows(use)

    def _root(self, use: _Use, part: _Part) -> Growth:
        """Of the root of chi-squared, in steps of its lattice."""
        lattice = part.record["mechanism"]
        keys = keys_of(self.policy, tuple(part.record["root"]))
        square = root_square(self.policy, self.after, keys, Fraction(lattice["kappa"]))
        steps = math.isqrt(math.ceil(square * 4 ** int(lattice["places"]))) + 1
        return Growth.of(steps / part.event.sensitivity)

    def _in_the_open(self, part: _Part, measured: Measurement) -> Growth:
        """Of rows that move in groups that are not public: each may be in one of its own."""
        shut = tuple(key for key in part.keys if count_cells(key.range) is not None)
        named = next(key for key in part.keys if count_cells(key.range) is None)
        setting = Setting(part.where, shut, self.policy.unit)
        rows = sensitivity(Distinct(named), setting, self.policy.neighbors, self.after).l1
        contribution = contribution_from(part.record["contribution"])
        one = plain(contribution, self._setting(part, measured), Neighbors())
        apart, square = part.event.sensitivity, _squared(part.event.sensitivity)
        return Growth(rows * one.l1 / apart, rows**2 * one.l2_squared / square)

    def _all_moved(self) -> Fraction:
        """How many rows come and go, wherever they are."""
        anything = Distinct(constant(1))
        return sensitivity(anything, Setting(), self.policy.neighbors, self.after).l1


_ABOUT: Mapping[str, Callable[[Repricing, _Use, _Part], Growth]] = {
    "measurement": Repricing._measured,
    "choice": Repricing._chosen,
    "scan": Repricing._scanned,
    "tables": Repricing._tables,
    "root": Repricing._root,
    "outside": Repricing._outside,
}
"""What a part's record may be about, and how it is priced anew."""


def moves(policy: Policy, columns: tuple[str, ...], known: PriorKnowledge) -> int:
    """How many rows may come and go at once, as far as these columns can tell."""
    declared = {name: attribute.domain for name, attribute in policy.attributes.items()}
    keys = tuple(Column(n, from_domain(declared.get(n, Open()))) for n in columns)
    neighbors = replace(policy.neighbors, groups=None, each=None)  # releases know no groups
    found = sensitivity(Counts((None,)), Setting(None, keys), neighbors, known)
    return math.ceil(found.l1)


def _exceeds(now: Loss, before: Loss) -> bool:
    return any(getattr(now, name) > getattr(before, name) for name in vars(now))


def _squared(apart: Fraction) -> Fraction:
    """What was paid for, squared: where a root was rounded up, the noise is of what is below."""
    square = apart**2
    return min(square, square.limit_denominator(10**9))
