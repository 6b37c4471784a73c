"""Faults outside the kernel, in strategies and in what is proposed that a row may add."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any

from tests.adversary.planting import Fault, Patch, always, result
from tests.adversary.probes import (
    COUNTS,
    DISTINCT,
    FILTERS,
    MODES,
    MOMENTS,
    OPEN,
    RANKS,
    SEVERAL,
    SUMS,
)


def _room(name: str) -> Any:
    return import_module(f"adomnia.{name}")


def _proposed(kind: str, **change: Any) -> Patch:
    """Contributions of a kind with other fields; a function of the contribution gives them."""

    def changed(contribution: Any) -> Any:
        if type(contribution).__name__ != kind:
            return contribution
        fields = {k: v(contribution) if callable(v) else v for k, v in change.items()}
        return replace(contribution, **fields)

    return result(changed)


def _other(kind: str, make: Callable[[Any, Any], Any]) -> Patch:
    """Contributions of a kind that become something else."""

    def changed(found: Any) -> Any:
        room = _room("privacy.contribution")
        return make(room, found) if type(found).__name__ == kind else found

    return result(changed)


def _one_pattern(found: Any) -> Any:
    return None if found is None else frozenset(sorted(found)[:1])


def _no_pattern(found: Any) -> Any:
    return None if found is None else frozenset({tuple(False for _ in next(iter(found)))})


def _first_source(strategy: Any) -> Any:
    return replace(strategy, source=dict.fromkeys(strategy.source, 0))


PROPOSED = "privacy.proposal:contribution_of"
PROPOSALS = (
    Fault("patterns forgotten but for one", "outside", "queries.patterns:patterns",
          result(_one_pattern), FILTERS),
    Fault("patterns that no row has", "outside", "queries.patterns:patterns",
          result(_no_pattern), FILTERS),
    Fault("no patterns at all", "outside", "queries.patterns:patterns", always(None), FILTERS),
    Fault("patterns emptied", "outside", PROPOSED, _proposed("Tally", patterns=()), FILTERS),
    Fault("all patterns but the heaviest", "outside", PROPOSED, _proposed(
        "Tally", patterns=lambda t: None if t.patterns is None else t.patterns[:-1]), FILTERS),
    Fault("a row said to meet one condition", "outside", PROPOSED,
          _proposed("Tally", patterns=None, most=1), FILTERS),
    Fault("a row said to meet none", "outside", PROPOSED,
          _proposed("Tally", patterns=None, most=0), (*FILTERS, *COUNTS)),
    Fault("half the range proposed", "outside", PROPOSED,
          _proposed("Clamped", high=lambda c: (c.low + c.high) // 2), SUMS),
    Fault("no range proposed", "outside", PROPOSED, _proposed("Clamped", low=0, high=0), SUMS),
    Fault("a range upside down", "outside", PROPOSED,
          _proposed("Clamped", low=lambda c: c.high, high=lambda c: c.low), SUMS),
    Fault("a range beyond 64 bits", "outside", PROPOSED,
          _proposed("Clamped", high=10**25), SUMS),
    Fault("said to be always there", "outside", PROPOSED, _proposed("Clamped", always=True),
          (*SUMS, "SELECT SUM(CASE WHEN smoker THEN 100 + zip END) FROM people"), "bounded"),
    Fault("said to be always there among units", "outside", PROPOSED,
          _proposed("Clamped", always=True), SUMS, "bounded unit"),
    Fault("one bit said to move by one", "outside", PROPOSED, _proposed("Clamped", bit=1), SUMS,
          "bit"),
    Fault("a bit of what is no column", "outside", PROPOSED, _proposed("Clamped", bit=1),
          ("SELECT SUM(age * 3) FROM people", "SELECT SUM(age + income) FROM people"), "bit"),
    Fault("a degree too low", "outside", PROPOSED, _proposed("Bernstein", degree=1), MOMENTS),
    Fault("moments of half the range", "outside", PROPOSED,
          _proposed("Bernstein", high=lambda b: (b.low + b.high) // 2), MOMENTS),
    Fault("moments without the rest", "outside", PROPOSED, _proposed("Bernstein", rest=False),
          MOMENTS),
    Fault("one different value proposed", "outside", PROPOSED,
          _proposed("DistinctValues", most=1), DISTINCT),
    Fault("units counted where rows are protected", "outside", PROPOSED,
          _other("DistinctValues", lambda room, _: room.DistinctUnits(
              _room("queries.unit_counts").TRUE)), DISTINCT),
    Fault("different values in the place of units", "outside", PROPOSED,
          _other("DistinctUnits", lambda room, _: room.DistinctValues(
              _room("queries.expression").Column("age", None), 1)),
          ("SELECT COUNT(DISTINCT pid) FROM people",
           "SELECT sex, COUNT(DISTINCT pid) FROM people GROUP BY 1"), "unit"),
    Fault("every unit taken as present", "outside", "queries.unit_counts:present",
          lambda _: lambda expr, unit: _room("queries.unit_counts").TRUE,
          ("SELECT COUNT(DISTINCT pid) FROM people", *DISTINCT), "unit"),
    Fault("ranks in half the range", "outside", PROPOSED,
          _proposed("Ranked", high=lambda r: (r.low + r.high) // 2), RANKS),
    Fault("ranks of an extreme proposed for a share", "outside", PROPOSED,
          _proposed("Ranked", edge="max"), RANKS),
    Fault("ranks of another share", "outside", PROPOSED,
          _proposed("Ranked", share=Fraction(1, 2), edge=None), RANKS),
    Fault("rows in the place of sums", "outside", PROPOSED,
          _other("Clamped", lambda room, _: room.ROWS), SUMS),
    Fault("a sum in the place of rows", "outside", PROPOSED,
          _other("Tally", lambda room, found: room.Clamped(
              _room("queries.expression").Column("income", None), 0, 0)), (*COUNTS, *OPEN)),
    Fault("three conditions in the place of one", "outside", PROPOSED,
          _proposed("Tally", conditions=lambda t: t.conditions * 3), (*COUNTS, *OPEN)),
    Fault("a mode of something else", "outside", PROPOSED,
          _proposed("Listed", argument=lambda _: _room("queries.operations").constant(1)), MODES),
    Fault("one measurement for all statistics", "outside",
          "queries.strategy:plan_measurements", result(_first_source), SEVERAL),
    Fault("a sum measured for every moment", "outside", "queries.strategy:_of_numbers",
          lambda _: lambda argument, kinds, rest: _room("queries.measurement").Sum(argument),
          MOMENTS),
)  # fmt: skip
