"""Planted faults: the adversary is itself tested, and so is what is enforced.

Faults *inside* the kernel must be caught. Faults *outside* of it may make answers wrong, but no
pair of neighbours may be told apart by more than was paid: enforcement holds. Where something
fails, the same worlds are tried without the fault: whatever is caught is caught because of it.
"""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.adversary import choices, found, graphs, priors, releases, seams, sql, tables
from tests.adversary.found_faults import FOUND_INSIDE, FOUND_OUTSIDE
from tests.adversary.inside import INSIDE
from tests.adversary.outside import OUTSIDE
from tests.adversary.pairs import Caught, Stretch, Tally
from tests.adversary.planting import Fault, planted
from tests.adversary.table_faults import TABLES_INSIDE, TABLES_OUTSIDE

FAULTS: tuple[Fault, ...] = (
    *(*OUTSIDE, *TABLES_OUTSIDE, *FOUND_OUTSIDE),
    *(*INSIDE, *TABLES_INSIDE, *FOUND_INSIDE),
)
WORLDS = {"outside": 4, "inside": 60}
"""In so many worlds a fault outside is tried; one inside must be caught before as many."""
CLEARLY = 0.02
"""What is caught by its ratio is above 1 by more than this."""
HANDY = ("sql", "choices", "tables", "found")
"""Parts whose faults are tried in every run of the tests, a few of them."""
RUNS = {"graphs": graphs.run, "priors": priors.run, "releases": releases.run}


@dataclass(frozen=True)
class Verdict:
    """What came of a fault: whether it was reached, what failed because of it, in how many
    triples and refusals, and what failed in the same worlds without it."""

    fault: Fault
    reached: bool
    failure: str
    triples: int
    refused: int = 0
    without: str = ""
    seconds: float = 0.0

    @property
    def word(self) -> str:
        """What the table says."""
        if self.without:
            return "FAILS WITHOUT"
        if not self.reached or not self.triples + self.refused:
            return "NOT REACHED"
        if self.fault.side == "inside":
            return "caught" if self.failure else "NOT CAUGHT"
        if self.failure:
            return "BROKEN"
        return "held" if self.triples else "refused"

    @property
    def is_good(self) -> bool:
        """Whether it is as it must be."""
        return self.word in ("caught", "held", "refused")

    @property
    def line(self) -> str:
        """The verdict in a line."""
        count = f"{self.triples} triples, {self.refused} refused, {self.seconds:.1f} s"
        told = self.without or self.failure
        return f"  {self.word:13} {self.fault.name} ({count}) {told[:160]}"


def tried(fault: Fault, seed: int) -> Verdict:
    """The verdict on one fault."""
    seams.install()
    start = time.process_time()
    lenient = fault.side == "outside"
    tally = Tally(stops=True, lenient=lenient, slack=1e-7 if lenient else CLEARLY)
    with planted(fault) as reached:
        failure, last = _run(fault, seed, tally, WORLDS[fault.side])
    without = _run(fault, seed, Tally(stops=True), last + 1)[0] if failure else ""
    count = sum(tally.triples.values()), sum(tally.refused.values())
    took = time.process_time() - start
    return Verdict(fault, reached[0] > 0, failure, *count, without, took)


def _run(fault: Fault, seed: int, tally: Tally, worlds: int) -> tuple[str, int]:
    """What failed first in so many worlds, and in which of them."""
    stretch = Stretch(seed, 10**9, tally=tally, most=worlds, each=8)
    aim = sql.Aim(fault.statements, fault.relation, fault.setting, fault.currency, fault.form)
    failure = ""
    try:
        if fault.part == "sql":
            sql.run(stretch, aim)
        elif fault.part == "tables":
            tables.run(stretch, aim)
        elif fault.part == "found":
            found.run(stretch, aim)
        elif fault.part == "choices":
            choices.run(stretch, aim)
        else:
            RUNS[fault.part](stretch)
    except Caught as caught:
        failure = str(caught)
    return failure, int(tally.where.rpartition(" ")[2])


def table(seed: int, jobs: int = 2) -> Iterator[Verdict]:
    """The verdicts on all faults, in their order, those outside the kernel first."""
    work = [(place, seed) for place in range(len(FAULTS))]
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=16) as pool:
        yield from pool.imap(_by_place, work)


def counted(found: Sequence[Verdict]) -> list[str]:
    """How many of each side are as they must be, in lines."""
    lines = []
    for side in ("outside", "inside"):
        mine = [verdict for verdict in found if verdict.fault.side == side]
        good = sum(verdict.is_good for verdict in mine)
        lines.append(f"faults {side} the kernel: {good} of {len(mine)} as they must be")
    return lines


def handful(seed: int, side: str, count: int) -> list[Fault]:
    """A few faults of one side, drawn by the seed."""
    mine = [fault for fault in FAULTS if fault.side == side and fault.part in HANDY]
    return random.Random(f"{seed} {side}").sample(mine, count)


def _by_place(task: tuple[int, int]) -> Any:
    place, seed = task
    verdict = tried(FAULTS[place], seed)
    return replace(verdict, fault=replace(verdict.fault, patch=str, more=()))  # patches stay here
