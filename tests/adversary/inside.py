"""Faults inside the kernel: each must be caught.

Some of what is enforced shows only where planning errs, for otherwise nothing is left to clamp:
such a fault comes with one of planning, which alone does no harm (`outside.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any

from tests.adversary import outside_plans as plans
from tests.adversary import outside_proposals as proposals
from tests.adversary import outside_queries as queries
from tests.adversary.planting import Fault, Patch, always, argument, result
from tests.adversary.probes import (
    CHOICES,
    COUNTS,
    FILTERS,
    GROUPS,
    MODES,
    MOMENTS,
    RANKS,
    SEVERAL,
    SUMS,
)


def _room(name: str) -> Any:
    return import_module(f"adomnia.{name}")


def _half(number: Any) -> Any:
    return number / 2


def _twice(number: Any) -> Any:
    return number * 2


def _and(*names: str) -> tuple[tuple[str, Patch], ...]:
    """The patches of faults in planning, by their names."""
    known = {
        fault.name: (fault.path, fault.patch)
        for part in (
            queries.RANGES,
            proposals.PROPOSALS,
            plans.PRICES,
            plans.SETTINGS,
            plans.CHOSEN,
        )
        for fault in part
    }
    return tuple(known[name] for name in names)


# How far neighbours are apart


def _smaller(bound: Any) -> Any:
    return replace(bound, l1=bound.l1 / 2, l2_squared=bound.l2_squared / 4)


def _without_zero(_: Any) -> Any:
    return lambda clamped, setting, relation: max(1, clamped.high - clamped.low)


def _setting(**change: Any) -> Patch:
    def patch(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            changed = [
                replace(arg, **change) if type(arg).__name__ == "Setting" else arg for arg in args
            ]
            return original(*changed)

        return call

    return patch


def _alone(original: Callable[..., Any]) -> Callable[..., Any]:
    """Neighbours of one step in the place of a group."""

    def call(*args: Any) -> Any:
        changed = [
            replace(arg, group=1) if type(arg).__name__ == "Neighbors" else arg for arg in args
        ]
        return original(*changed)

    return call


ONE_UNIT = {"max_rows": 3, "max_groups": None, "each": None}
DISTANCES = (
    Fault("a bound halved", "inside", "privacy.sensitivity:sensitivity", result(_smaller),
          SUMS + COUNTS),
    Fault("a row that comes moves by half", "inside", "privacy.sensitivity:_comes",
          result(lambda size: (max(1, size[0] // 2), max(1, size[1] // 4))), SUMS, "unbounded"),
    Fault("a row that changes moves as one that comes", "inside", "privacy.sensitivity:_changes",
          lambda _: lambda one, setting, relation: _room("privacy.sensitivity")._comes(one),
          ("SELECT SUM(income - 50) FROM people", *FILTERS), "bounded"),
    Fault("a 0 forgotten", "inside", "privacy.sensitivity:_apart", _without_zero,
          ("SELECT SUM(income + 1000) FROM people WHERE smoker",
           "SELECT SUM(income + 1000) FROM people"), "bounded"),
    Fault("a row said to meet one condition", "inside", "privacy.sensitivity:_most", always(1),
          FILTERS, "unbounded"),
    Fault("a changed row said to turn one condition", "inside", "privacy.sensitivity:_turned",
          always(1), FILTERS, "bounded"),
    Fault("a value said to be read once", "inside", "privacy.sensitivity:_read_together",
          always(1), ("SELECT COUNT(*) FILTER (WHERE age > 3), COUNT(*) FILTER (WHERE age > 2), "
                      "COUNT(*) FILTER (WHERE income > age) FROM people",), "attribute"),
    Fault("a changed row said to stay in its cell", "inside", "privacy.sensitivity:_moved",
          _setting(keys=()), ("SELECT sex, COUNT(*) FROM people GROUP BY 1",
                              "SELECT ill, SUM(age) FROM people GROUP BY 1"), "bounded"),
    Fault("a group taken as one", "inside", "privacy.sensitivity:_moved", _alone, COUNTS,
          "unbounded", {"group": 3}),
    Fault("a unit taken as one row", "inside", "privacy.sensitivity:_held",
          lambda _: lambda setting, neighbors: _room("privacy.neighbors").UnitBounds(1, 1, 1),
          COUNTS, "unit", ONE_UNIT),
    Fault("a unit's groups taken as one", "inside", "privacy.sensitivity:_units",
          lambda _: lambda setting, neighbors: (1, 1),
          ("SELECT sex, COUNT(DISTINCT pid) FROM people GROUP BY 1",
           "SELECT zip, COUNT(DISTINCT pid) FROM people GROUP BY 1"), "unit", ONE_UNIT),
    Fault("a new value taken as none", "inside", "privacy.sensitivity:_values",
          lambda _: lambda distinct, setting, neighbors, held: (1, 1),
          ("SELECT COUNT(DISTINCT income) FROM people",
           "SELECT sex, COUNT(DISTINCT age) FROM people GROUP BY 1"), "unit", ONE_UNIT),
    Fault("a unit's rows squared one by one", "inside",
          "privacy.neighbors:UnitBounds.squares", lambda _: property(lambda self: self.rows),
          COUNTS, "unit", ONE_UNIT, currency="rho"),
    Fault("any table taken as one row", "inside", "privacy.sensitivity:_any_two",
          argument(2, "most", lambda _: 1), (*COUNTS, *SUMS), "free-lunch"),
    Fault("one bit of a sum taken as one step", "inside", "curator.planning.pricing:_by_domain",
          lambda _: lambda contribution, table: contribution, SUMS, "bit",
          more=(("privacy.proposal:contribution_of", proposals._proposed("Clamped", bit=1)),
                ("engines.sql.components:_bit", always(0)))),
    Fault("a rank that moves by one", "inside", "privacy.sensitivity:sensitivity",
          result(lambda b: replace(b, l1=Fraction(1), l2_squared=Fraction(1))),
          ("SELECT QUANTILE(age, 0.9) FROM people", "SELECT QUANTILE(income, 0.25) FROM people")),
    Fault("rows that change taken as rows that come", "inside",
          "privacy.neighbors:Neighbors.replaces", always(False), (*FILTERS, *GROUPS), "bounded"),
    Fault("rows that change counted once", "inside", "privacy.neighbors:Neighbors.moves",
          lambda _: property(lambda self: self.touched), ("noisy_max", "above"), "bounded",
          part="choices"),
    Fault("the policy's group not read", "inside", "policy.policy:_neighbors",
          result(lambda found: replace(found, group=1)), COUNTS, "unbounded", {"group": 3}),
    Fault("the policy's neighbours not read", "inside", "policy.policy:_neighbors",
          result(lambda found: replace(found, relation="attribute")), (*FILTERS, *GROUPS),
          "bounded"),
)  # fmt: skip


# What the statement enforces


def _plain_text(_: Any) -> Any:
    return lambda clamped, texts, cleaned: texts.within(clamped.argument, clamped.low, clamped.high)


def _two_clamps(_: Any) -> Any:
    """The number of a moment clamped, its square not."""

    def moments(bernstein: Any, texts: Any, cleaned: Any) -> Any:
        room = _room("engines.sql.components")
        text, low = texts.of(bernstein.argument), bernstein.low
        above = f"({text} - CAST({low} AS BIGINT))"
        found = [room.Aggregate(f"COUNT({text})"), room._total(above, cleaned)]
        if bernstein.degree == 2:
            found.append(room._total(f"{above} * {above}", cleaned))
        return (*found, room.Aggregate("COUNT(*)")) if bernstein.rest else tuple(found)

    return moments


def _by_rows(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(contribution: Any, texts: Any, cleaned: Any) -> Any:
        found = original(contribution, texts, cleaned)
        if type(contribution).__name__ != "DistinctUnits":
            return found
        return (_room("engines.sql.components").Aggregate("COUNT(*)"),)

    return call


def _table(**change: Any) -> Patch:
    return argument(1, "table", lambda table: replace(table, **change))


def _unlimited(original: Any) -> Any:
    return classmethod(lambda cls, table, keys: cls(None, None))


def _tests(_: Any) -> Any:
    """Every condition counted as such, whatever patterns or numbers were priced."""

    def tally(tally: Any, texts: Any) -> Any:
        room = _room("engines.sql.components")
        tests = (None if test is None else texts.where(test) for test in tally.conditions)
        return tuple(map(room._filtered, tests))

    return tally


def _doubled(counts: Any) -> Any:
    return {cell: (values, many * 2) for cell, (values, many) in counts.items()}


UNCLAMPED = "engines.sql.translation:_within"
ENFORCED = (
    Fault("a clamp left out of a sum", "inside", UNCLAMPED,
          lambda _: lambda text, extent, low, high, once: text, SUMS,
          more=_and("half the range proposed")),
    Fault("a clamp left out of moments", "inside", UNCLAMPED,
          lambda _: lambda text, extent, low, high, once: text, MOMENTS,
          more=_and("moments of half the range")),
    Fault("a clamp left out of a column", "inside", "engines.sql.coding:clamped",
          lambda _: lambda value, low, high: value, SUMS),
    Fault("numbers outside let through", "inside", "engines.sql.coding:_grid",
          lambda _: lambda column, grid, kind, dialect: f"TRY_CAST({column} AS BIGINT)", SUMS),
    Fault("an extent too narrow", "inside", "engines.sql.extent:extent_of", always((0, 0)),
          ("SELECT SUM(age + income) FROM people", "SELECT SUM(income * 3) FROM people"),
          more=_and("half the range proposed")),
    Fault("nothing in the place of what is always there", "inside",
          "engines.sql.components:_clamped", _plain_text,
          ("SELECT SUM(income + 1000) FROM people",
           "SELECT SUM(CASE WHEN smoker THEN 100 + zip END) FROM people"), "bounded",
          more=_and("said to be always there")),
    Fault("patterns not enforced", "inside", "engines.sql.components:_tally", _tests, FILTERS,
          more=_and("patterns forgotten but for one")),
    Fault("a number of conditions not enforced", "inside", "engines.sql.components:_tally", _tests,
          FILTERS, more=_and("a row said to meet one condition")),
    Fault("moments of two clamps", "inside", "engines.sql.components:_moments", _two_clamps,
          MOMENTS, more=_and("moments of half the range")),
    Fault("more different values than were priced", "inside", "engines.sql.components:components",
          argument(0, "contribution", lambda c: replace(c, most=None)
                   if type(c).__name__ == "DistinctValues" else c),
          ("SELECT COUNT(DISTINCT income) FROM people",), "unit", ONE_UNIT,
          more=_and("one different value proposed")),
    Fault("units counted by rows", "inside", "engines.sql.components:aggregates_of", _by_rows,
          ("SELECT sex, COUNT(DISTINCT pid) FROM people GROUP BY 1",
           "SELECT COUNT(DISTINCT pid) FROM people WHERE age > 0"), "unit", ONE_UNIT),
    Fault("one row of a unit too many", "inside", "engines.sql.statement:kept_rows",
          argument(1, "table", lambda t: replace(t, max_rows=t.max_rows + 1)), COUNTS, "unit"),
    Fault("all rows of a unit kept", "inside", "engines.sql.statement:kept_rows",
          _table(max_rows=10**6), COUNTS, "unit"),
    Fault("all rows of a unit of the first rank", "inside", "engines.sql.units:ranked",
          result(lambda text: text.replace("ROW_NUMBER() ", "1 + 0 * ROW_NUMBER() ")),
          ("SELECT COUNT(*) FROM people",), "unit"),
    Fault("ranks by the order of the rows", "inside", "engines.sql.units:_order",
          lambda _: lambda columns, dialect: "random()", COUNTS, "unit", ONE_UNIT),
    Fault("all groups of a unit kept", "inside", "engines.sql.units:ChosenGroups.of", _unlimited,
          ("SELECT zip, COUNT(DISTINCT pid) FROM people GROUP BY 1",
           "SELECT ill, COUNT(DISTINCT pid) FROM people GROUP BY 1"), "unit",
          {"max_rows": 5, "max_groups": 1, "each": None}),
    Fault("all rows of a group kept", "inside", "engines.sql.units:ChosenGroups.of", _unlimited,
          ("SELECT sex, COUNT(*) FROM people GROUP BY 1",
           "SELECT smoker, SUM(age) FROM people GROUP BY 1"), "unit",
          {"max_rows": 5, "max_groups": 2, "each": 1}),
    Fault("cells counted twice", "inside", "engines.sql.sql_engine:lay_out", result(_twice),
          (*COUNTS, *SUMS)),
    Fault("ranks counted twice", "inside", "engines.sql.sql_engine:split", result(_doubled),
          ("SELECT MEDIAN(age) FROM people", "SELECT MAX(income) FROM people")),
    Fault("sums squared", "inside", "engines.sql.sql_engine:exact",
          argument(0, "values", lambda values: [value * value for value in values]),
          (*COUNTS, *SUMS)),
    Fault("an operation on all rows let through", "inside",
          "engines.sql.translation:_TEMPLATES[add]",
          lambda _: lambda call, args, say: f"({args[0]} + (SELECT COUNT(*) FROM adomnia_data))",
          ("SELECT SUM(age + 1) FROM people WHERE smoker", "SELECT AVG(income + 1) FROM people")),
    Fault("rows without conditions counted three times", "inside",
          "engines.sql.components:_filtered",
          result(lambda found: replace(found, text=f"(3 * {found.text})")), COUNTS),
)  # fmt: skip


# Noise and what it costs


def _cheaper(found: Any) -> Any:
    return replace(found, epsilon=found.epsilon / 2, rho=found.rho / 4, squares=found.squares / 4)


def _no_check(_: Any) -> Any:
    return lambda *args, **named: None


def _event(change: Callable[[Any], Any]) -> Patch:
    return argument(1, "reservation", lambda r: replace(r, event=change(r.event)))


SMOOTH = ("SELECT MEDIAN(age) FROM people", "SELECT MEDIAN(income) FROM people",
          "SELECT MAX(age) FROM people")  # fmt: skip
CHECK = "curator.planning.pricing:check_prices"
CITY = ("SELECT city, COUNT(*) FROM people GROUP BY city",)
INTERVALS = ("curator.access:error_of", always("interval"))
"""Every quantile is asked with an interval."""
NOISE = (
    Fault("Laplace noise at half its scale", "inside", "mechanisms.sealed_noise:add_laplace",
          argument(1, "scale", _half), COUNTS, currency="epsilon"),
    Fault("Gaussian noise at half its variance", "inside", "mechanisms.sealed_noise:add_gaussian",
          argument(1, "variance", _half), COUNTS, currency="rho"),
    Fault("noise of open keys at half its scale", "inside", "mechanisms.counts.keyed:_draw",
          argument(0, "noise", lambda n: replace(n, parameter=n.parameter / 2)),
          ("SELECT city, SUM(income), COUNT(*) FROM people GROUP BY city",), currency="epsilon"),
    Fault("keys selected at half the noise", "inside", "mechanisms.sealed_noise:select_keys",
          argument(1, "scale", _half), CITY, currency="epsilon"),
    Fault("a threshold too low", "inside", "mechanisms.counts.selection:threshold", always(2), CITY,
          currency="epsilon"),
    Fault("a threshold for one key of several", "inside", "mechanisms.counts.selection:threshold",
          lambda original: lambda scale, delta, rows, keys: original(scale, delta, 1, 1), CITY,
          "unit", ONE_UNIT, currency="epsilon"),
    Fault("a quantile's rate doubled", "inside", "mechanisms.sealed_noise:choose_quantiles",
          argument(5, "eta", _twice), RANKS),
    Fault("a quantile's penalties doubled", "inside", "mechanisms.quantiles.quantile:penalties",
          result(_twice), RANKS),
    Fault("an interval's ends at eight times their rate", "inside",
          "mechanisms.quantiles.value_margin:near", argument(3, "eta", lambda eta: 8 * eta),
          ("SELECT MEDIAN(age) FROM people", "SELECT QUANTILE(income, 0.9) FROM people"),
          more=(INTERVALS,)),
    Fault("a mode's rate doubled", "inside", "mechanisms.choices.choosing:choose_modes",
          argument(3, "eta", _twice), MODES),
    Fault("a mode's counts doubled", "inside", "mechanisms.choices.select:lattice",
          result(lambda found: (found[0] * 2, found[1])), MODES),
    Fault("noise that follows the data far too small", "inside",
          "mechanisms.noise.admissible:SmoothWaring.scale", result(lambda scale: scale / 1000),
          SMOOTH, "unbounded", {"group": 1}, more=(plans.FOLLOWS,)),
    Fault("a sensitivity that is not smooth", "inside",
          "mechanisms.quantiles.smooth:smooth_sensitivity",
          result(lambda found: found / 1000), SMOOTH, "unbounded", {"group": 1},
          more=(plans.FOLLOWS,)),
    Fault("the largest count at half its noise", "inside",
          "mechanisms.choices.choosing:choose_largest",
          argument(1, "eta", _twice), ("noisy_max",), part="choices"),
    Fault("answers above a bar at half their noise", "inside",
          "mechanisms.choices.sparse_vector:SparseVector.answer_scale", result(_half), ("above",),
          part="choices"),
    Fault("a bar at a tenth of its noise", "inside",
          "mechanisms.choices.sparse_vector:SparseVector.threshold_scale", result(lambda s: s / 10),
          ("above",), part="choices"),
    Fault("a scan at a third of its noise at each bound", "inside",
          "mechanisms.choices.threshold_scan:ScanPlan.each", result(lambda rate: rate * 3),
          ("bounds", "quality"), part="choices"),
    Fault("a scan at a third of the noise that it draws once", "inside",
          "mechanisms.choices.threshold_scan:ScanPlan.once", result(lambda rate: rate * 3),
          ("bounds", "quality"), part="choices"),
    Fault("rows up to a bound at half their noise", "inside",
          "mechanisms.choices.scan_mechanisms:ExcessRows._scale", result(_half), ("quality",),
          "unit", part="choices"),
    Fault("a price at half its noise", "inside", "mechanisms.choices.choosing:choose_price",
          argument(2, "epsilon", _twice), ("auction",), part="choices"),
    Fault("a price for the lowest bid", "inside", "mechanisms.choices.select:rate",
          argument(0, "sensitivity", lambda _: 1), ("auction",), part="choices"),
)  # fmt: skip
PAID = (
    Fault("a debit of half", "inside", "privacy.events:loss", result(_cheaper), COUNTS,
          more=((CHECK, _no_check),)),
    Fault("a Laplace event at half its price", "inside", "privacy.events:_LOSSES[Laplace]",
          result(_cheaper), COUNTS, currency="epsilon", more=((CHECK, _no_check),)),
    Fault("a Gaussian event at half its price", "inside", "privacy.events:_LOSSES[Gaussian]",
          result(_cheaper), COUNTS, currency="rho", more=((CHECK, _no_check),)),
    Fault("a delta that is not charged", "inside", "privacy.events:_LOSSES[PartitionSelection]",
          result(lambda loss: replace(loss, delta=loss.delta / 10**6)), CITY, currency="epsilon",
          more=((CHECK, _no_check),)),
    Fault("several uses charged as one", "inside", "privacy.events:_LOSSES[Composed]",
          lambda _: lambda event: _room("privacy.events").loss(event.parts[0]), SEVERAL),
    Fault("several uses recorded as one", "inside", "privacy.events:composed",
          lambda original: lambda events: original(list(events)[:1]), SEVERAL),
    Fault("losses that do not add up", "inside", "privacy.loss:Loss.__add__",
          lambda original: lambda a, b: b if not a.amounts else a, SEVERAL),
    Fault("the ledger is not charged", "inside", "ledger.reserve:reserve",
          _event(lambda _: _room("privacy.events").Free()), COUNTS),
    Fault("the ledger writes half", "inside", "ledger.entry:write_loss",
          argument(0, "loss", _cheaper), COUNTS),
    Fault("the ledger reads half", "inside", "ledger.entry:read_loss", result(_cheaper), COUNTS),
    Fault("prices not checked, and noise halved", "inside", CHECK, _no_check, COUNTS,
          more=_and("noise halved in planning")),
    Fault("prices not checked, and no noise", "inside", CHECK, _no_check, COUNTS,
          more=_and("no noise planned")),
    Fault("prices not checked, and rows in the place of units", "inside", CHECK, _no_check,
          COUNTS, "unit", {"max_rows": 3}, more=_and("rows in the place of units")),
    Fault("prices not checked, and a threshold too low", "inside", CHECK, _no_check, CITY,
          currency="epsilon", more=_and("a threshold too low")),
    Fault("prices not checked, and no group", "inside", CHECK, _no_check, COUNTS, "unbounded",
          {"group": 3}, more=_and("one in the place of a group")),
    Fault("prices not checked, and choices for one row", "inside", CHECK, _no_check, CHOICES,
          "unit", {"max_rows": 3}, "choices", more=_and("choices priced for one row of a unit")),
    Fault("prices not checked, and rates doubled", "inside", CHECK, _no_check, RANKS,
          more=_and("a rate doubled in planning")),
    Fault("noise not held against its price", "inside",
          "mechanisms.measurement_mechanisms:AddedNoise.covers", always(True), COUNTS,
          more=_and("a bound halved in planning")),
    Fault("a choice not held against its price", "inside",
          "mechanisms.measurement_mechanisms:PermutedMode.covers", always(True), MODES,
          more=_and("a rate doubled in planning")),
)  # fmt: skip


# What is trusted whole

WHOLE = (
    Fault("released tables at half their noise", "inside", "mechanisms.tables.linear:measure",
          argument(0, "jobs", lambda jobs: [replace(j, parameter=j.parameter / 2) for j in jobs]),
          part="releases"),
    Fault("released sums at half their reach", "inside", "curator.releases.magnitudes:neighbors_of",
          result(lambda n: replace(n, group=max(1, n.group // 2))), part="releases"),
    Fault("tables chosen at twenty times their rate", "inside",
          "mechanisms.tables.farthest:farthest", argument(2, "eta", lambda eta: 20 * eta),
          part="releases"),
    Fault("a graph's bound halved", "inside", "privacy.graphs:graph_sensitivity",
          result(_smaller), part="graphs"),
    Fault("a ladder at twice its rate", "inside", "mechanisms.graphs.ladder:draw",
          argument(2, "epsilon", _twice), part="graphs"),
    Fault("noise inside a lattice at half its scale", "inside",
          "mechanisms.noise.conditioned:add_conditioned", argument(2, "scale", _half),
          part="priors"),
    Fault("a table drawn at twice its rate", "inside", "mechanisms.tables.consistent:choose_table",
          argument(3, "epsilon", _twice), part="priors"),
    Fault("a bound beside exact releases too small", "inside", "priors.sensitivity:bound",
          result(lambda b: replace(b, upper=b.upper / 2, lower=Fraction(0))), part="priors"),
)  # fmt: skip

INSIDE: tuple[Fault, ...] = (*DISTANCES, *ENFORCED, *NOISE, *PAID, *WHOLE)
