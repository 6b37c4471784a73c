"""Searching long cycles in a block: quickly from below, or all of them where there are few."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adomnia.priors.solver.bound import Norm
from adomnia.priors.solver.graphs.fragments import Fragments, cut
from adomnia.priors.solver.graphs.graph import GraphBlock
from adomnia.priors.solver.graphs.matching import Guided
from adomnia.priors.solver.reduction.element import Element, UnitMove, Vector, add, evaluate

__all__ = ["Found", "all_cycles", "long_cycle", "standard_cycle"]

LOOKS = 800_000
TRIES = 60
STEPS = 150_000
DEEPEST = 60

Found = tuple[int, Vector | None]
"""The value of a cycle that was found, and its cells."""


def long_cycle(block: GraphBlock, norm: Norm, target: int, guide: Guided | None = None) -> Found:
    """A cycle of great value: greedy walks from many starts, closed where that is best.

    Deterministic. A guide says what a linear program likes, and its fragments are strung together.
    Stops when the target is reached.
    """
    chance = np.random.default_rng(len(block.arcs))
    scale = float(np.mean([one.most for one in block.elements])) or 1.0
    best: Found = (0, None)
    entries = sum(len(choice.effect) for one in block.elements for choice in one.choices)
    tries = max(1, min(TRIES, LOOKS // (len(block.arcs) + entries)))
    for number in range(tries):
        liking = chance.random(2 * len(block.arcs)) * scale * (0.1, 0.5, 1.0)[number % 3]
        fragments: Fragments = {}
        if guide is not None and guide.losses is not None and guide.proposed is not None:
            liking = liking * 0.1 + guide.losses
            fragments = cut(block, guide.proposed, chance) if number % 2 == 0 else {}
        walk = _PathWalk(block, norm, liking.tolist(), fragments)
        for cycle in [walk.run(number), *_rotated(block, walk.path, chance)]:
            if len(cycle) >= 3:
                best = max(best, evaluate(block.walk(cycle), norm), key=lambda found: found[0])
            if best[0] >= target:
                return best
    return best


class _PathWalk:
    """A path that goes on to where the question moves most, through whole fragments at a time."""

    def __init__(
        self, block: GraphBlock, norm: Norm, liking: list[float], fragments: Fragments
    ) -> None:
        self.block, self.norm, self.liking, self.fragments = block, norm, liking, fragments
        self.inside = {
            node for fragment in fragments.values() for node in fragment
        } - fragments.keys()
        self.path: list[int] = []
        self.total: Vector = {}
        self.now, self.best, self.length = 0, -1, 0

    def run(self, number: int) -> list[int]:
        """The best cycle that closing the path somewhere gives; starts are taken in turn."""
        starts = sorted(self.fragments) or range(self.block.nodes)
        start = starts[number % len(starts)]
        self.path = [start]
        visited = {start}
        for node in self.fragments.get(start, ()):
            self._go(node)
            visited.add(node)
        while True:
            options = [
                option
                for option in self.block.neighbors[self.path[-1]].items()
                if option[0] not in visited and option[0] not in self.inside
            ]
            if not options:
                return self.path[: self.length]
            chosen = max(options, key=self._score)[0]
            for node in (chosen, *self.fragments.get(chosen, ())):
                self._go(node)
                visited.add(node)

    def _go(self, node: int) -> None:
        """One step; remembers whether closing here is best."""
        elements, home = self.block.elements, self.block.neighbors[self.path[0]]
        edge, sign = self.block.neighbors[self.path[-1]][node]
        gain, effect = self._gain(elements[edge], sign)
        for output, x in effect.items():
            self.total[output] = self.total.get(output, 0) + sign * x
        self.now += gain
        self.path.append(node)
        if node in home and len(self.path) >= 3:
            back, sign = home[node]
            closed = self.now + self._gain(elements[back], -sign)[0]
            if closed > self.best:
                self.best, self.length = closed, len(self.path)

    def _score(self, option: tuple[int, tuple[int, int]]) -> float:
        edge, sign = option[1]
        backwards = 0 if sign > 0 else len(self.block.arcs)
        return self._gain(self.block.elements[edge], sign)[0] + self.liking[edge + backwards]

    def _gain(self, one: Element, sign: int) -> tuple[int, Vector]:
        """How much more the question moves, with the choice for which that is most."""
        best, picked = None, one.choices[0].effect
        for choice in one.choices:
            gain = 0
            for output, x in choice.effect.items():
                old = self.total.get(output, 0)
                new = old + sign * x
                gain += abs(new) - abs(old) if self.norm == 1 else new * new - old * old
            if best is None or gain > best:
                best, picked = gain, choice.effect
        assert best is not None
        return best, picked


def _rotated(
    block: GraphBlock, path: Sequence[int], chance: np.random.Generator
) -> list[list[int]]:
    """Cycles from rotations of a path that got stuck (Pósa): its end is turned round, extended."""
    near = block.neighbors
    path = list(path)
    rest = set(range(block.nodes)) - set(path)
    closed: list[int] = []
    for _ in range(min(4 * block.nodes, 200)):
        options = [i for i, node in enumerate(path[:-2]) if node in near[path[-1]]]
        if not options:
            break
        turn = options[int(chance.integers(len(options)))]
        path = path[: turn + 1] + path[:turn:-1]
        while rest and (more := sorted(rest & near[path[-1]].keys())):
            path.append(more[0])
            rest.discard(more[0])
        if path[0] in near[path[-1]] and len(path) > len(closed):
            closed = list(path)
    return [closed] if closed else []


def all_cycles(
    block: GraphBlock, norm: Norm, least: int, adds_up: bool
) -> tuple[int, Found] | None:
    """The greatest value of a cycle if it is above `least`, else `least`, and what reaches it.

    None where there are too many cycles, or not all choices of the elements are listed.
    """
    if block.nodes > DEEPEST or not all(one.complete for one in block.elements):
        return None
    search = _Search(block, norm, least, adds_up)
    for root in range(block.nodes - 2):
        search.root = root
        if not search.extend([root], 0, sum(search.pairs[root + 1 :])):
            return None
    return search.best, (search.best if search.cells else 0, search.cells)


class _Search:
    """Depth first over all simple cycles, by their least node; cut where too little can follow."""

    def __init__(self, block: GraphBlock, norm: Norm, least: int, adds_up: bool) -> None:
        self.near, self.elements = block.neighbors, block.elements
        self.norm, self.adds_up, self.best = norm, adds_up, least
        self.cells: Vector | None = None
        self.total: Vector = {}
        self.passed: list[tuple[int, UnitMove]] = []
        self.steps = STEPS
        self.root = 0
        tops = [
            sorted((block.elements[e].most for e, _ in edges.values()), reverse=True)[:2]
            for edges in self.near
        ]
        self.pairs = [sum(top) for top in tops]
        self.heaviest = [top[0] for top in tops]

    def extend(self, path: list[int], now: int, rest: int) -> bool:
        """Follows the path everywhere; false when there was too much to look at.

        `now` is the value of the path, `rest` twice what the nodes not yet on it may add.
        """
        self.steps -= 1
        if self.steps < 0:
            return False
        end = path[-1]
        if self.adds_up:
            most = now + (rest + self.heaviest[end] + self.heaviest[self.root]) // 2
            if most <= self.best:
                return True
        for node, (edge, sign) in self.near[end].items():
            closes = node == self.root and len(path) >= 3 and path[1] < end
            if not closes and (node <= self.root or node in path):
                continue
            for choice in self.elements[edge].choices:
                after = now + self._step(sign, choice)
                if closes:
                    self._close(after)
                    done = True
                else:
                    done = self.extend([*path, node], after, rest - self.pairs[node])
                self._undo()
                if not done:
                    return False
        return True

    def _close(self, value: int) -> None:
        if value > self.best:
            self.best, self.cells = value, {}
            for sign, choice in self.passed:
                self.cells = add(self.cells, choice.cells, sign)

    def _step(self, sign: int, choice: UnitMove) -> int:
        """Goes along an edge; says how much is gained by it."""
        self.passed.append((sign, choice))
        self.steps -= len(choice.effect) // 4
        before = after = 0
        for output, x in choice.effect.items():
            old = self.total.get(output, 0)
            new = old + sign * x
            self.total[output] = new
            before += abs(old) if self.norm == 1 else old * old
            after += abs(new) if self.norm == 1 else new * new
        return after - before

    def _undo(self) -> None:
        """Goes back along the last edge."""
        sign, choice = self.passed.pop()
        for output, x in choice.effect.items():
            self.total[output] -= sign * x


def standard_cycle(block: GraphBlock) -> list[int]:
    """A cycle through as many nodes of both sides of a complete block as there are of the fewer."""
    assert block.sides is not None
    left, right = block.sides
    return [node for pair in zip(left, right, strict=False) for node in pair]
