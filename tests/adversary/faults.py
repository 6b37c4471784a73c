"""Planted faults: the adversary is itself tested, and so is what is enforced.

Faults *inside* the kernel must be caught. Faults *outside* of it may make answers wrong, but no
pair of neighbours may be told apart by more than was paid: enforcement holds. Each names what it
patches, and statements that touch it.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from typing import Any

from tests.adversary import choices, graphs, priors, releases, seams, sql
from tests.adversary.pairs import Caught, Stretch, Tally

Patch = Callable[[Any], Any]
TRIES = 900
"""So many triples at most are tried for one fault."""


@dataclass(frozen=True)
class Fault:
    """A named patch, on which side of the kernel it lies, and what shows it.

    `statements` are those that touch it, or kinds of choices. `path` is `module:name`,
    `module:Class.name` or `module:TABLE[key]`.
    """

    name: str
    side: str
    path: str
    patch: Patch
    part: str = "sql"
    relation: str | None = None
    statements: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What came of a fault: whether it was reached, and what failed because of it."""

    fault: Fault
    reached: bool
    failure: str
    triples: int

    @property
    def word(self) -> str:
        """What the table says."""
        if not self.reached:
            return "not reached"
        if self.fault.side == "inside":
            return "caught" if self.failure else "NOT CAUGHT"
        return "BROKEN" if self.failure else "held"

    @property
    def is_good(self) -> bool:
        """Whether it is as it must be."""
        return self.word in ("caught", "held")


@contextmanager
def planted(fault: Fault) -> Iterator[list[int]]:
    """The fault in force while the block runs; how often it was reached."""
    reached = [0]
    room, _, name = fault.path.partition(":")
    module = import_module(room)
    if name.endswith("]"):
        table, _, key = name[:-1].partition("[")
        owner = getattr(module, table)
        original = owner[key]
        owner[key] = _counted(fault.patch(original), reached)
        try:
            yield reached
        finally:
            owner[key] = original
        return
    parts = name.split(".")
    if len(parts) == 2:
        owner = getattr(module, parts[0])
        original = vars(owner)[parts[1]]
        setattr(owner, parts[1], _counted(fault.patch(original), reached))
        try:
            yield reached
        finally:
            setattr(owner, parts[1], original)
        return
    original = getattr(module, name)
    places = seams.replace(original, _counted(fault.patch(original), reached))
    try:
        yield reached
    finally:
        for place, key in places:
            setattr(place, key, original)


def _counted(patched: Any, reached: list[int]) -> Any:
    if isinstance(patched, property):
        getter = patched.fget
        assert getter is not None
        return property(_counted(getter, reached))
    if not callable(patched):
        reached[0] += 1
        return patched

    def call(*args: Any, **named: Any) -> Any:
        reached[0] += 1
        return patched(*args, **named)

    return call


def tried(fault: Fault, seed: int) -> Verdict:
    """The verdict on one fault."""
    seams.install()
    stretch = Stretch(seed, TRIES, tally=Tally(stops=True))
    failure = ""
    with planted(fault) as reached:
        try:
            if fault.part == "sql":
                sql.run(stretch, fault.relation, fault.statements)
            elif fault.part == "choices":
                choices.run(stretch, fault.statements)
            else:
                RUNS[fault.part](stretch)
        except Caught as caught:
            failure = str(caught)
    return Verdict(fault, reached[0] > 0, failure, sum(stretch.tally.triples.values()))


RUNS = {
    "graphs": graphs.run,
    "priors": priors.run,
    "releases": releases.run,
}


def table(seed: int, jobs: int = 2) -> tuple[list[str], bool]:
    """All faults and what came of them, in lines; and whether one is not as it must be."""
    work = [(place, seed) for place in range(len(FAULTS))]
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=4) as pool:
        found = list(pool.imap(_by_place, work))
    lines = []
    for side in ("outside", "inside"):
        mine = [verdict for verdict in found if verdict.fault.side == side]
        good = sum(verdict.is_good for verdict in mine)
        lines.append(f"faults {side} the kernel: {good} of {len(mine)} as they must be")
        lines += [
            f"  {verdict.word:12} {verdict.fault.name} ({verdict.triples} triples) "
            f"{verdict.failure[:160]}"
            for verdict in mine
        ]
    return lines, not all(verdict.is_good for verdict in found)


def _by_place(task: tuple[int, int]) -> Any:
    place, seed = task
    verdict = tried(FAULTS[place], seed)
    return replace(verdict, fault=replace(verdict.fault, patch=str))  # a patch does not travel


# What is planted


def argument(place: int, name: str, change: Callable[[Any], Any]) -> Patch:
    """One argument changed, by place or by name."""

    def patch(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            if name in named:
                named[name] = change(named[name])
            else:
                args = (*args[:place], change(args[place]), *args[place + 1 :])
            return original(*args, **named)

        return call

    return patch


def result(change: Callable[[Any], Any]) -> Patch:
    """The result changed."""

    def patch(original: Any) -> Any:
        if isinstance(original, property):
            getter = original.fget
            assert getter is not None
            return property(lambda self: change(getter(self)))
        return lambda *args, **named: change(original(*args, **named))

    return patch


def _half(number: Any) -> Any:
    return number / 2


def _twice(number: Any) -> Any:
    return number * 2


def _smaller(bound: Any) -> Any:
    return replace(bound, l1=bound.l1 / 2, l2_squared=bound.l2_squared / 4)


def _narrow(spread: Any) -> Any:
    """The upper half of a range forgotten."""
    if not hasattr(spread, "low") or not isinstance(spread.low, int):
        return spread
    return replace(spread, high=(spread.low + spread.high) // 2)


def _derived(change: Callable[[Any], Any]) -> Patch:
    """The rule for ranges of an operation, changed."""
    return lambda operation: replace(
        operation, derive=lambda *ranges: change(operation.derive(*ranges))
    )


def _never_null(spread: Any) -> Any:
    return replace(spread, nullable=False)


def _cheaper(found: Any) -> Any:
    return replace(found, epsilon=found.epsilon / 2, rho=found.rho / 4, squares=found.squares / 4)


def _one_pattern(found: Any) -> Any:
    return None if found is None else frozenset(sorted(found)[:1])


SUMS = ("SELECT SUM(income) FROM people", "SELECT sex, SUM(age) FROM people GROUP BY sex")
COUNTS = ("SELECT COUNT(*) FROM people WHERE smoker", "SELECT ill, COUNT(*) FROM people GROUP BY 1")

FAULTS: tuple[Fault, ...] = (
    Fault("a bound halved", "inside", "adomnia.privacy.sensitivity:sensitivity",
          result(_smaller), statements=SUMS + COUNTS),
    Fault("Laplace noise at half its scale", "inside", "adomnia.mechanisms.mechanism:add_laplace",
          argument(1, "scale", _half), statements=COUNTS),
    Fault("Gaussian noise at half its variance", "inside",
          "adomnia.mechanisms.mechanism:add_gaussian", argument(1, "variance", _half),
          statements=COUNTS),
    Fault("a quantile's rate doubled", "inside", "adomnia.mechanisms.mechanism:choose_quantiles",
          argument(5, "eta", _twice), statements=("SELECT MEDIAN(age) FROM people",
                                                  "SELECT MAX(age) FROM people")),
    Fault("a mode's rate doubled", "inside", "adomnia.mechanisms.choosing:choose_modes",
          argument(3, "eta", _twice), statements=("SELECT MODE(sex) FROM people",
                                                  "SELECT MODE(zip) FROM people")),
    Fault("a threshold too low", "inside", "adomnia.mechanisms.selection:threshold",
          result(lambda _: 2), statements=("SELECT city, COUNT(*) FROM people GROUP BY city",)),
    Fault("one row of a unit too many", "inside", "adomnia.engines.units:bounded",
          argument(1, "table", lambda t: replace(t, max_rows=t.max_rows + 1)), relation="unit",
          statements=COUNTS),
    Fault("a clamp left out", "inside", "adomnia.engines.clean:_clamped",
          lambda _: lambda value, low, high: value, statements=SUMS),
    Fault("a debit of half", "inside", "adomnia.privacy.events:loss", result(_cheaper),
          statements=COUNTS),
    Fault("the ledger is not charged", "inside", "adomnia.ledger.reserve:reserve",
          argument(1, "reservation", lambda r: replace(
              r, event=import_module("adomnia.privacy.events").Free())), statements=COUNTS),
    Fault("epsilon not split among several", "inside", "adomnia.curator.steps:Asked.share",
          argument(1, "parts", lambda _: 1),
          statements=("SELECT COUNT(*), SUM(age), MEDIAN(income) FROM people WHERE smoker",)),
    Fault("the largest count at half its noise", "inside",
          "adomnia.mechanisms.choosing:choose_largest", argument(1, "eta", _twice),
          part="choices", statements=("noisy_max",)),
    Fault("answers above a bar at half their noise", "inside",
          "adomnia.mechanisms.sparse_vector:SparseVector.answer_scale", result(_half),
          part="choices", statements=("above",)),
    Fault("a price at half its noise", "inside", "adomnia.mechanisms.choosing:choose_price",
          argument(2, "epsilon", _twice), part="choices",
          statements=("auction",)),
    Fault("released tables at half their noise", "inside", "adomnia.mechanisms.linear:measure",
          argument(0, "jobs", lambda jobs: [replace(j, parameter=j.parameter / 2) for j in jobs]),
          part="releases"),
    Fault("a graph's bound halved", "inside", "adomnia.privacy.graphs:graph_sensitivity",
          result(_smaller), part="graphs"),
    Fault("a ladder at twice its rate", "inside", "adomnia.mechanisms.graph.ladder:draw",
          argument(2, "epsilon", _twice), part="graphs"),
    Fault("noise inside a lattice at half its scale", "inside",
          "adomnia.mechanisms.conditioned:add_conditioned", argument(2, "scale", _half),
          part="priors"),
    Fault("a table drawn at twice its rate", "inside",
          "adomnia.mechanisms.consistent:choose_table", argument(3, "epsilon", _twice),
          part="priors"),
    Fault("a column's range too narrow", "outside", "adomnia.queries.ranges:from_domain",
          result(_narrow), statements=SUMS),
    Fault("a product's range too narrow", "outside", "adomnia.queries.operations:OPERATIONS[mul]",
          _derived(_narrow), statements=("SELECT SUM(age * income) FROM people",)),
    Fault("a NULL forgotten", "outside", "adomnia.queries.operations:OPERATIONS[case]",
          _derived(_never_null), relation="bounded",
          statements=("SELECT SUM(CASE WHEN smoker THEN 100 + zip END) FROM people",)),
    Fault("a wrong set of patterns", "outside", "adomnia.queries.patterns:patterns",
          result(_one_pattern), statements=(
              "SELECT COUNT(*) FILTER (WHERE sex = 'F'), COUNT(*) FILTER (WHERE smoker), "
              "COUNT(*) FILTER (WHERE zip = 1) FROM people",)),
    Fault("a FILTER dropped", "outside", "adomnia.queries.sql.aggregates:_argument",
          argument(2, "test", lambda _: None),
          statements=("SELECT SUM(age) FILTER (WHERE smoker) FROM people",)),
    Fault("a bound beside exact releases too small", "outside",
          "adomnia.priors.sensitivity:bound",
          result(lambda b: replace(b, upper=b.upper / 2, lower=Fraction(0))), part="priors"),
)  # fmt: skip
