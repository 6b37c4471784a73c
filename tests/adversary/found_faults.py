"""Faults in bounds that are found and in rows of two units: inside the kernel, and outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from tests.adversary.planting import Fault, Patch, always, argument, instead, result

CONTACTS = {"tables": ("people", "visits", "contacts"), "group": 1}
VISITS = {"tables": ("people", "visits"), "group": 1, "max_groups": None, "each": None}
SALES = {"tables": ("customers", "suppliers", "sales", "reviews"), "group": 1}
MET = ("SELECT COUNT(*) FROM contacts", "SELECT SUM(minutes) FROM contacts")
SOLD = ("SELECT COUNT(*) FROM sales", "SELECT SUM(price + 1) FROM sales")
APART = (
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward",
    "SELECT COUNT(*) FROM visits v JOIN people p ON v.zip = p.zip",
)
TABLES = (
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
    "SELECT ward, paid, COUNT(*) FROM visits GROUP BY 1, 2",
    "SELECT zip, SUM(cost) FROM visits GROUP BY zip",
)
CHECK = ("curator.planning.pricing:check_prices", lambda _: lambda *args, **named: None)
SCANNED = ("mechanisms.joins.clamped_totals:SHARE", instead(Fraction(9, 10)))
"""Nearly all of the loss finds the bound."""


def _fault(
    side: str, name: str, path: str, patch: Patch, statements: tuple[str, ...], **more: Any
) -> Fault:
    return Fault(name, side, path, patch, statements, part="found", **more)


# Inside


def _above_by_rows(_: Any) -> Any:
    def above(self: Any, grid: Any) -> list[int]:
        each = self.totals[self.units]
        return [int(np.count_nonzero(each > bound)) for bound in grid]

    return above


def _rounded(up: bool) -> Patch:
    """Vectors of units scaled to the nearest whole numbers, or away from 0."""

    def scaled(amounts: Any, totals: Any, bound: int) -> Any:
        found = amounts.astype(object)
        for row in np.flatnonzero(totals > bound):
            amount, total = abs(int(amounts[row])), int(totals[row])
            more = total - 1 if up else total // 2
            found[row] = int(np.sign(amounts[row])) * ((amount * bound + more) // total)
        return found

    return lambda _: scaled


def _one_room(_: Any) -> Any:
    """Water-filling in which the second unit of a row has room without end."""

    def filled(pairs: Any, bound: int) -> int:
        near, room, total = pairs.in_order(), [bound] * (pairs.units + 1), 0
        for first, amount in zip(near.first.tolist(), near.amounts.tolist(), strict=True):
            took = min(amount, room[first])
            room[first], total = room[first] - took, total + took
        return total

    return filled


def _by_number(original: Callable[..., Any]) -> Callable[..., Any]:
    def in_order(self: Any) -> Any:
        order = np.empty(self.first.size, np.int64)
        order[np.lexsort((self.keys[1], self.keys[0]))] = np.arange(self.first.size)
        return original(replace(self, order=order))

    return in_order


def _heads(pairs: Any, bound: int, cap: int) -> int:
    return min(cap, 100 * int(np.count_nonzero(pairs.totals > bound)))


PLAN = "mechanisms.choices.threshold_scan:ScanPlan"
CUT = "mechanisms.joins.clamped_totals"
FOUND_INSIDE = (
    _fault("inside", "a unit above a bound counted for each of its cells",
           "mechanisms.joins.unit_scaling:UnitVectors.above", _above_by_rows, TABLES,
           setting=VISITS),
    _fault("inside", "vectors of units scaled to the nearest",
           "mechanisms.joins.unit_scaling:scaled", _rounded(up=False), TABLES, setting=VISITS),
    _fault("inside", "vectors of units scaled away from 0",
           "mechanisms.joins.unit_scaling:scaled", _rounded(up=True), TABLES, setting=VISITS),
    _fault("inside", "vectors of units not scaled", "mechanisms.joins.unit_scaling:scaled",
           lambda _: lambda amounts, totals, bound: amounts, TABLES, setting=VISITS),
    _fault("inside", "a vector in another's place taken as one that comes",
           f"{CUT}:ClampedTotals.apart", argument(1, "replaced", lambda _: False), TABLES,
           relation="bounded", setting=VISITS),
    _fault("inside", "pairs taken by the numbers of units",
           "mechanisms.joins.indexed_pairs:IndexedPairs.in_order", _by_number,
           (*APART, *MET), setting=CONTACTS),
    _fault("inside", "one room for a row of two units",
           "mechanisms.joins.water_filling:water_filling", _one_room, (*MET, *APART),
           setting=CONTACTS),
    _fault("inside", "a total of pairs counted twice",
           "mechanisms.joins.water_filling:water_filling", result(lambda total: 2 * total),
           SOLD, setting=SALES),
    _fault("inside", "a row of two units measured as of one", "queries.rows:unit_tables",
           result(lambda units: units[:1]), (*MET, *APART), setting=CONTACTS),
    _fault("inside", "units of one table told apart by their side",
           "queries.derived_table:derived_table",
           result(lambda table: replace(table, alike=False)), MET, setting=CONTACTS),
    _fault("inside", "units above a bound counted in the place of those that must go",
           "mechanisms.joins.removal_distance:removal_distance", instead(_heads), (*APART, *MET),
           setting=CONTACTS, more=(SCANNED,)),
    _fault("inside", "distances told three times",
           "mechanisms.joins.removal_distance:removal_distance", result(lambda found: 3 * found),
           (*MET, *APART), setting=CONTACTS, more=(SCANNED,)),
    _fault("inside", "a scan for pairs at a third of its noise", f"{PLAN}.each",
           result(lambda rate: rate * 3), MET, setting=CONTACTS, more=(CHECK, SCANNED)),
    _fault("inside", "noise for half the bound", f"{CUT}:_Clamped.noise",
           argument(1, "bound", lambda bound: Fraction(bound, 2)), (*TABLES, *APART),
           setting=VISITS, more=(CHECK,)),
)  # fmt: skip


# Outside


def _found(**change: Callable[[Any], Any]) -> Patch:
    """The mechanism that is planned with other values."""
    return result(lambda made: replace(made, found=replace(
        made.found, **{name: value(getattr(made.found, name)) for name, value in change.items()
                       if hasattr(made.found, name)})))  # fmt: skip


def _cheaper(made: Any) -> Any:
    event = replace(made.found, epsilon=made.found.epsilon / 2, rho=made.found.rho / 4).event
    return replace(made, event=event)


def _one_cell(reads: Any) -> Any:
    return replace(reads, cells=1) if hasattr(reads, "cells") else reads


def _forged(original: Callable[..., Any]) -> Callable[..., Any]:
    """What a solver says is anything; it is asked once more where nothing is proven by that."""

    def proposals(near: Any, over: Any, bound: int) -> Iterator[Any]:
        for number, honest in enumerate(original(near, over, bound)):
            draw = np.random.default_rng([number, bound])
            wrong = [draw.normal(0.5, 3, part.size) for part in (honest.removed, honest.units)]
            yield replace(honest, removed=wrong[0], units=wrong[1])
            yield honest

    return proposals


def _narrow(spread: Any) -> Any:
    if not hasattr(spread, "step") or not hasattr(spread, "low"):
        return spread
    return replace(spread, high=(spread.low + spread.high) // 2)


BOUND, SELECT = "curator.planning.found_bounds", "queries.sql.several.joins:Join"
EVERY = (*MET, *APART, *TABLES)
BY_GROUP = (
    "SELECT ward, COUNT(*) FROM contacts GROUP BY ward",
    "SELECT AVG(minutes) FROM contacts",
    "SELECT SUM(minutes - 5) FROM contacts",
)
FOUND_OUTSIDE = (
    _fault("outside", "no bound looked for", f"{BOUND}:needs_bound", always(False), EVERY,
           setting=CONTACTS),
    _fault("outside", "a unit said to add up to one", f"{BOUND}:_most", always(1), EVERY,
           setting=CONTACTS),
    _fault("outside", "a unit said to add up to anything", f"{BOUND}:_most", always(10**9),
           EVERY, setting=CONTACTS),
    _fault("outside", "groups, averages and debts of two units", f"{BOUND}:_check_pairs",
           lambda _: lambda *args: None, BY_GROUP, setting=CONTACTS),
    _fault("outside", "a found bound at half its price", f"{BOUND}:found_bound",
           result(_cheaper), EVERY, setting=CONTACTS),
    _fault("outside", "found bounds for one of a group", f"{BOUND}:found_bound",
           _found(units=lambda _: 1), EVERY, setting=CONTACTS | {"group": 2}),
    _fault("outside", "units in others' place taken as ones that come", f"{BOUND}:found_bound",
           _found(replaced=lambda _: False), EVERY, relation="bounded", setting=CONTACTS),
    _fault("outside", "amounts said not to be negative", f"{BOUND}:found_bound",
           _found(signed=lambda _: False),
           ("SELECT SUM(cost - 20) FROM visits", "SELECT ward, SUM(-cost) FROM visits GROUP BY 1"),
           setting=VISITS),
    _fault("outside", "one cell of a table said to be all", f"{BOUND}:found_bound",
           _found(reads=_one_cell), TABLES, setting=VISITS),
    _fault("outside", "numbers that a solver did not say",
           "mechanisms.joins.removal_program:proposals", _forged, (*MET, *APART),
           setting=CONTACTS),
    _fault("outside", "pairs of columns joined twice", f"{SELECT}._pairs",
           result(lambda found: (found[0] * 2, *found[1:])),
           (*APART, "SELECT COUNT(*) FROM contacts c JOIN people p ON c.person = p.id"),
           setting=CONTACTS),
    _fault("outside", "sums of two units in too narrow a range", "queries.ranges:from_domain",
           result(_narrow), (*SOLD, "SELECT SUM(r.stars * c.age) FROM reviews r "
                             "JOIN customers c ON r.zip = c.zip"), setting=SALES),
    _fault("outside", "three units said to be two", f"{SELECT}._may_be_apart", always(True),
           ("SELECT COUNT(*) FROM sales s JOIN reviews r ON s.ward = r.ward",), setting=SALES),
)  # fmt: skip
