"""Cycles: how far a question moves along the simple cycles of a block (`cycles.md`)."""

from __future__ import annotations

from fractions import Fraction

from adomnia.priors.solver.bound import Bound, Norm
from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.graphs.cycle_search import Found, all_cycles, long_cycle, standard_cycle
from adomnia.priors.solver.graphs.graph import GraphBlock
from adomnia.priors.solver.graphs.matching import (
    Guided,
    flow_bound,
    heaviest_pairs,
    largest,
    matching_bound,
    output_bounds,
    outputs,
    side_bound,
)
from adomnia.priors.solver.reduction.element import evaluate, is_orthogonal

__all__ = ["longest_cycle"]

OUTPUTS = 40
"""Flows are bounded output by output where there are no more than this many."""
WALKED = 50_000_000
"""Searches of cycles count their own looks; each is taken for so many steps."""


def longest_cycle(block: GraphBlock, norm: Norm, effort: Effort) -> Bound:
    """Bounds of the greatest value of a cycle, with a cycle that reaches the lower one.

    Bounds come in order of their cost, and the first that a cycle reaches ends the search.
    """
    adds_up = norm == 1 or is_orthogonal(block.elements)
    work = _BlockWork(block, norm, adds_up)
    steps = (_complete, _cheap, _walks, _linear, _guided_walks, _all)
    for step in steps:
        if step is not _complete and effort.is_spent and work.upper is not None:
            break
        step(work, effort)
        if work.is_done:
            break
    assert work.upper is not None
    return Bound(work.upper, Fraction(work.lower[0]), work.argument, work.lower[1])


class _BlockWork:
    """What is known about a block so far."""

    def __init__(self, block: GraphBlock, norm: Norm, adds_up: bool) -> None:
        self.block, self.norm, self.adds_up = block, norm, adds_up
        self.upper: Fraction | None = None
        self.lower: Found = (0, None)
        self.argument = ""
        self.one_norm: Fraction | None = None
        self.guides: list[Guided] = []

    @property
    def is_done(self) -> bool:
        return self.upper is not None and self.upper <= self.lower[0]

    @property
    def size(self) -> str:
        return f"a graph of {self.block.nodes} rows and {len(self.block.arcs)} cells"

    def bound(self, upper: Fraction, argument: str) -> None:
        if self.upper is None or upper < self.upper:
            self.upper, self.argument = upper, argument

    def reach(self, found: Found) -> None:
        if found[0] > self.lower[0]:
            self.lower = found


def _complete(work: _BlockWork, effort: Effort) -> None:
    """Row and column sums of a complete table with equal weights: the closed form."""
    block = work.block
    weights = {one.most for one in block.elements}
    if block.sides is None or len(weights) > 1:
        return
    rows, columns = sorted(len(side) for side in block.sides)
    if rows * columns != len(block.arcs):
        return
    work.reach(evaluate(block.walk(standard_cycle(block)), work.norm))
    if work.adds_up:
        upper = Fraction(2 * rows * weights.pop())
        say = f"row and column sums of a complete {rows} x {columns} table (Lemma 4.1)"
        work.bound(upper, say)


def _cheap(work: _BlockWork, effort: Effort) -> None:
    """Bounds at the nodes, without a linear program."""
    block = work.block
    one_norm = heaviest_pairs(block, largest(block.elements, 1))
    sides = side_bound(block)
    if sides is not None:
        one_norm = min(one_norm, sides)
    alone = None if work.adds_up and work.norm == 2 else output_bounds(block)
    if alone is not None:
        one_norm = min(one_norm, Fraction(sum(alone)))
    work.one_norm = one_norm
    if work.norm == 1:
        work.bound(one_norm, f"two edges at each node of {work.size}")
    elif work.adds_up:
        weights = [one.most for one in block.elements]
        work.bound(heaviest_pairs(block, weights), f"two edges at each node of {work.size}")
    else:
        work.bound(one_norm * one_norm, f"the square of the L1 bound of {work.size}")
        if alone is not None:
            most = min(one_norm * max(alone, default=0), Fraction(sum(x * x for x in alone)))
            work.bound(most, f"two edges at each node of {work.size}, output by output")


def _walks(work: _BlockWork, effort: Effort) -> None:
    """Cycles found by walking greedily."""
    assert work.upper is not None
    effort.spend(WALKED)
    work.reach(long_cycle(work.block, work.norm, int(work.upper)))


def _linear(work: _BlockWork, effort: Effort) -> None:
    """Bounds by duality."""
    block = work.block
    if work.adds_up:
        guide = matching_bound(block, [one.most for one in block.elements], effort)
        work.guides.append(guide)
        work.bound(guide.upper, f"the heaviest 2-matching of {work.size}")
    moved = outputs(block)
    if len(moved) > OUTPUTS or (work.adds_up and work.norm == 2):
        return
    flows = [
        flow_bound(block, output, effort.part(len(moved) - done))
        for done, output in enumerate(moved)
    ]
    work.guides += flows[:1] if len(flows) == 1 else []
    total = sum((flow.upper for flow in flows), Fraction(0))
    if work.norm == 1:
        work.bound(total, f"the greatest flow in {work.size}")
        return
    assert work.one_norm is not None
    squares = sum((flow.upper**2 for flow in flows), Fraction(0))
    work.bound(squares, f"the greatest flows in {work.size}")
    most = min(total, work.one_norm) * max(flow.upper for flow in flows)
    work.bound(most, f"the greatest flows in {work.size}")


def _guided_walks(work: _BlockWork, effort: Effort) -> None:
    """Cycles found by walking where a linear program loses little."""
    assert work.upper is not None
    for guide in work.guides:
        if not work.is_done:
            effort.spend(WALKED)
            work.reach(long_cycle(work.block, work.norm, int(work.upper), guide))


def _all(work: _BlockWork, effort: Effort) -> None:
    """All cycles, where they are few."""
    effort.spend(WALKED)
    found = all_cycles(work.block, work.norm, work.lower[0], work.adds_up)
    if found is None:
        return
    work.reach(found[1])
    work.bound(Fraction(found[0]), f"all cycles of {work.size}")
