"""Bounds of the length of cycles in a block, each evaluated exactly (`cycles.md`).

A solver of linear programs proposes multipliers; whatever it proposes, the bound that is
computed from them in whole numbers holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adomnia.priors.solver.bound import Norm
from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.graphs.graph import GraphBlock
from adomnia.priors.solver.linear_programs import propose
from adomnia.priors.solver.reduction.element import Element, value
from adomnia.priors.solver.reduction.pairs import widest

__all__ = [
    "Floats",
    "Guided",
    "flow_bound",
    "heaviest_pairs",
    "largest",
    "matching_bound",
    "output_bounds",
    "outputs",
    "side_bound",
]

PARTS = 64
"""Multipliers are rounded to whole multiples of 1/64."""
LARGEST = 1 << 36
"""Below this, sums over all edges stay within 64 bits."""
ENTRIES = 2_000_000
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Guided:
    """A bound, and where its program looks for long cycles.

    `losses`: for each arc, forwards and backwards, what the program thinks it costs. `proposed`:
    which edges it takes, or which arcs.
    """

    upper: Fraction
    losses: Floats | None = None
    proposed: Floats | None = None


def heaviest_pairs(block: GraphBlock, weights: list[int]) -> Fraction:
    """Half the sum over nodes of the two heaviest edges there: a cycle has two at each node."""
    tops = [[0, 0] for _ in range(block.nodes)]
    for (tail, head), weight in zip(block.arcs, weights, strict=True):
        for node in (tail, head):
            pair = tops[node]
            if weight > pair[1]:
                pair[0], pair[1] = pair[1], weight
            elif weight > pair[0]:
                pair[0] = weight
    return Fraction(sum(sum(pair) for pair in tops) // 2)


def side_bound(block: GraphBlock) -> Fraction | None:
    """In norm 1: per node of one side the widest pair of edges there, whose signs are opposite."""
    if block.sides is None:
        return None
    found = []
    for side in block.sides:
        total = Fraction(0)
        for node in side:
            around = [(sign, block.elements[e]) for e, sign in block.neighbors[node].values()]
            total += widest(around, 1)[0]
        found.append(total)
    return min(found)


def output_bounds(block: GraphBlock) -> list[int] | None:
    """How far each output moves at most: per node of one side by two edges, of opposite signs.

    None where there are too many outputs, or no sides.
    """
    moved = outputs(block)
    if block.sides is None or len(moved) * len(block.arcs) > ENTRIES:
        return None
    gains = _all_gains(block.elements, moved)
    if any(abs(x) > LARGEST for part in gains for row in part for x in row):
        return None
    up, down = (np.array(part, np.int64) for part in gains)
    found = []
    for side in block.sides:
        total = np.zeros(len(moved), np.int64)
        for node in side:
            edges, signs = np.array(list(block.neighbors[node].values()), np.int64).T
            forwards = (signs > 0)[:, None]
            highs = np.where(forwards, up[edges], down[edges])
            lows = np.where(forwards, down[edges], up[edges])
            total += _best_two(highs, lows)
        found.append(total)
    least: list[int] = np.minimum(*found).tolist()
    return least


def _best_two(highs: Integers, lows: Integers) -> Integers:
    """In each column the most that entries of two different rows sum up to, one from each."""
    first, second = highs.argmax(axis=0), lows.argmax(axis=0)
    columns = np.arange(highs.shape[1])
    high, low = highs[first, columns], lows[second, columns]
    next_highs, next_lows = (np.sort(part, axis=0)[-2] for part in (highs, lows))
    same: Integers = np.maximum(high + next_lows, next_highs + low)
    return np.where(first == second, same, high + low)


def matching_bound(block: GraphBlock, weights: list[int], effort: Effort) -> Guided:
    """The most weight with at most two edges at each node, from a dual solution.

    For all p >= 0 a cycle weighs at most 2 sum p_v + sum max(0, w_e - p_u - p_v).
    """
    if max(weights) > LARGEST:
        return Guided(Fraction(sum(weights)))
    tails, heads = block.ends
    edges = np.arange(len(weights))
    ones = np.ones(2 * len(weights))
    entries = (np.concatenate([tails, heads]), np.concatenate([edges, edges]))
    degree = sparse.csr_array((ones, entries), shape=(block.nodes, len(weights)))
    most = np.full(block.nodes, 2.0)
    costs = -np.array(weights, float)
    found = propose(costs, effort, bounds=(0, 1), A_ub=degree, b_ub=most)
    if found is None:
        return Guided(Fraction(sum(weights)))
    price = _rounded(-found.ineqlin.marginals, least=0)
    left = PARTS * np.array(weights, np.int64) - price[tails] - price[heads]
    total = 2 * int(price.sum()) + int(np.maximum(left, 0).sum())
    loss = np.minimum(left, 0) / PARTS
    return Guided(Fraction(total // PARTS), np.concatenate([loss, loss]), found.x)


def outputs(block: GraphBlock) -> list[int]:
    """The outputs that the block's elements move."""
    return sorted(set().union(*(one.outputs for one in block.elements)))


def flow_bound(block: GraphBlock, output: int, effort: Effort) -> Guided:
    """The most that one output moves along disjoint cycles, from a dual solution.

    Arcs f, forwards and backwards, that enter each node once at most and leave it as often: for
    all y and z >= 0 the output moves by at most sum z_v + sum max(0, c_f - y_head + y_tail
    - z_head).
    """
    forwards, backwards = _gains(block.elements, output)
    if max(map(abs, forwards + backwards)) > LARGEST:
        return Guided(Fraction(sum(max(g, 0) for g in forwards + backwards)))
    gains = np.array(forwards + backwards, np.int64)
    tails, heads = np.concatenate([block.ends, block.ends[::-1]], axis=1)
    arcs = np.arange(len(gains))
    shape = (block.nodes, len(gains))
    ones = np.ones(len(gains))
    enter = sparse.csr_array((ones, (heads, arcs)), shape=shape)
    leave = sparse.csr_array((ones, (tails, arcs)), shape=shape)
    found = propose(
        -gains.astype(float),
        effort,
        bounds=(0, 1),
        A_ub=enter,
        b_ub=np.ones(block.nodes),
        A_eq=enter - leave,
        b_eq=np.zeros(block.nodes),
    )
    if found is None:
        return Guided(Fraction(sum(max(g, 0) for g in forwards + backwards)))
    level = _rounded(-found.eqlin.marginals)
    price = _rounded(-found.ineqlin.marginals, least=0)
    left = PARTS * gains - level[heads] + level[tails] - price[heads]
    total = int(price.sum()) + int(np.maximum(left, 0).sum())
    return Guided(Fraction(total // PARTS), np.minimum(left, 0) / PARTS, found.x)


def _gains(members: tuple[Element, ...], output: int) -> tuple[list[int], list[int]]:
    """The most that one unit of each element moves the output up, and down."""
    up, down = _all_gains(members, [output])
    return [gains[0] for gains in up], [gains[0] for gains in down]


def _all_gains(
    members: tuple[Element, ...], moved: list[int]
) -> tuple[list[list[int]], list[list[int]]]:
    """The same for several outputs: for each element a list over these."""
    up, down = [], []
    for one in members:
        highs, lows = dict.fromkeys(one.hidden, one.most), dict.fromkeys(one.hidden, -one.most)
        # whole numbers are not above their squares, so `most` serves in both norms
        first, *others = [choice.effect for choice in one.choices]
        for output in {o for effect in (first, *others) for o in effect}:
            moves = [effect.get(output, 0) for effect in (first, *others)]
            highs[output] = max(*moves, highs.get(output, moves[0]))
            lows[output] = min(*moves, lows.get(output, moves[0]))
        up.append([highs.get(output, 0) for output in moved])
        down.append([-lows.get(output, 0) for output in moved])
    return up, down


def _rounded(multipliers: Any, least: int | None = None) -> Integers:
    scaled = np.nan_to_num(np.asarray(multipliers, float) * PARTS, posinf=0, neginf=0)
    whole: Integers = np.rint(np.clip(scaled, -float(LARGEST), float(LARGEST))).astype(np.int64)
    return whole if least is None else np.maximum(whole, least, dtype=np.int64)


def largest(members: tuple[Element, ...], norm: Norm) -> list[int]:
    """For each element the most that one unit of it moves the question in this norm."""
    return [
        max(value(choice.effect, norm) for choice in one.choices) if one.complete else one.most
        for one in members
    ]
