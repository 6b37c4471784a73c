"""Graphs: blocks, bounds that hold whatever a solver says, and cycles that are there."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from oracles import graver

from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.graphs import cycles, matching
from adomnia.priors.solver.graphs.cycle_search import all_cycles, long_cycle
from adomnia.priors.solver.graphs.cycles import longest_cycle
from adomnia.priors.solver.graphs.fragments import cut
from adomnia.priors.solver.graphs.graph import blocks, orient
from adomnia.priors.solver.graphs.matching import (
    flow_bound,
    heaviest_pairs,
    matching_bound,
    output_bounds,
    outputs,
    side_bound,
)
from adomnia.priors.solver.reduction.element import is_orthogonal
from adomnia.priors.solver.reduction.series_parallel import components, dense, elements, reduce
from adomnia.priors.solver.shapes import margins
from adomnia.priors.solver.system import whole


def made(rows, asked, norm=1):
    """The blocks that are left of a system after the reductions."""
    left, _ = reduce(elements(whole(rows), whole(asked), norm), norm)
    found = []
    for part in components(left):
        arcs = orient(part)
        assert arcs is not None
        found += blocks(part, arcs)
    return found


def random_block(seed, outputs_wanted=None, norm=1):
    """The largest block of a table with holes and a question with weights; no element is merged
    from parallel cells."""
    chance = np.random.default_rng(seed)
    while True:
        rows = margins((4, 5), [(0,), (1,)]).toarray()[:, chance.random(20) < 0.8]
        asked = np.diag(chance.integers(0, 5, rows.shape[1]))
        if outputs_wanted is not None:
            asked = chance.integers(-2, 3, (outputs_wanted, rows.shape[1]))
        for block in sorted(made(rows, asked, norm), key=lambda block: -len(block.arcs)):
            if all(len(one.choices) == 1 for one in block.elements):
                return block


def truth(block, norm):
    """The greatest value over all cycles, by listing the moves of the block's own rows."""
    best = 0
    for move in graver(dense(block.elements)):
        total = {}
        for units, one in zip(move.tolist(), block.elements, strict=True):
            for output, x in one.choices[0].effect.items():
                total[output] = total.get(output, 0) + units * x
        best = max(best, sum(abs(x) ** norm for x in total.values()))
    return best


def test_two_triangles_at_one_node_are_two_blocks():
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2), (4, 5)]
    rows = np.zeros((6, 7), int)
    for number, (tail, head) in enumerate(edges):
        rows[tail, number], rows[head, number] = 1, -1
    members = elements(whole(rows), whole(np.eye(7, dtype=int)), 1)
    arcs = orient(members)
    found = blocks(members, arcs)
    assert sorted(sorted(c for e in b.elements for c in e.choices[0].cells) for b in found) == [
        [0, 1, 2],
        [3, 4, 5],
    ]


def test_odd_signs_are_no_graph():
    rows = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]])
    assert orient(elements(whole(rows), whole(np.eye(3)), 1)) is None
    assert orient(elements(whole(2 * np.eye(3)), whole(np.eye(3)), 1)) is None


@pytest.mark.parametrize("seed", range(12))
def test_bounds_hold_and_cycles_are_there(seed):
    block = random_block(seed)
    true = truth(block, 1)
    weights = [one.most for one in block.elements]
    assert heaviest_pairs(block, weights) >= true
    assert (side_bound(block) or true) >= true
    assert matching_bound(block, weights, Effort()).upper >= true
    assert long_cycle(block, 1, true)[0] <= true
    assert all_cycles(block, 1, 0, True)[0] == true
    found = longest_cycle(block, 1, Effort())
    assert found.upper == found.lower == true


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_questions_that_share_outputs(seed, norm):
    block = random_block(seed, outputs_wanted=2, norm=norm)
    true = truth(block, norm)
    found = longest_cycle(block, norm, Effort())
    assert found.lower <= true <= found.upper
    assert all_cycles(block, norm, 0, norm == 1)[0] == true
    bounds = output_bounds(block) or [10**9] * 2
    for place, output in enumerate(outputs(block)):
        alone = max(
            abs(
                sum(
                    u * e.choices[0].effect.get(output, 0)
                    for u, e in zip(move, block.elements, strict=True)
                )
            )
            for move in graver(dense(block.elements)).tolist()
        )
        assert flow_bound(block, output, Effort()).upper >= alone
        assert bounds[place] >= alone


@pytest.mark.parametrize("lie", ["nothing", "noise", "no numbers", "huge"])
def test_a_solver_that_lies_cannot_lower_a_bound(lie, monkeypatch):
    chance = np.random.default_rng(8)

    def proposed(costs, rows):
        wild = {
            "nothing": np.zeros(rows),
            "noise": -chance.random(rows) * 9,
            "no numbers": np.full(rows, np.nan),
            "huge": np.full(rows, -1e300),
        }[lie]
        side = SimpleNamespace(marginals=wild)
        return SimpleNamespace(status=0, x=np.ones(len(costs)), ineqlin=side, eqlin=side)

    monkeypatch.setattr(
        matching, "propose", lambda costs, _, **others: proposed(costs, len(others["b_ub"]))
    )
    for seed in range(6):
        block = random_block(seed)
        true = truth(block, 1)
        assert matching_bound(block, [one.most for one in block.elements], Effort()).upper >= true
        for output in outputs(block):
            most = max(one.choices[0].effect.get(output, 0) for one in block.elements)
            assert flow_bound(block, output, Effort()).upper >= most


def test_without_a_solver_there_still_is_a_bound(monkeypatch):
    monkeypatch.setattr(matching, "propose", lambda costs, _, **others: None)
    block = random_block(3)
    found = longest_cycle(block, 1, Effort())
    assert found.upper >= truth(block, 1)


def test_choices_are_looked_at_too():
    rows = margins((2, 3, 3, 2), [(0, 1), (0, 2)])
    asked = np.random.default_rng(2).integers(-3, 4, (2, 36))
    for block in made(rows, asked):
        assert any(len(one.choices) > 1 for one in block.elements)
        found = all_cycles(block, 1, 0, True)
        assert found is not None
        assert longest_cycle(block, 1, Effort()).upper == found[0]


@pytest.mark.parametrize("norm", [1, 2])
def test_complete_tables_are_a_closed_form(norm, monkeypatch):
    monkeypatch.setattr(cycles, "_cheap", None)
    rows = margins((6, 9), [(0,), (1,)])
    (block,) = made(rows, 3 * np.eye(54, dtype=int), norm)
    assert is_orthogonal(block.elements)
    found = longest_cycle(block, norm, Effort())
    assert found.upper == found.lower == 12 * 3**norm
    assert "6 x 9 table (Lemma 4.1)" in found.argument


def test_pieces_are_disjoint_paths_of_the_graph():
    block = random_block(1)
    chance = np.random.default_rng(0)
    weights = [one.most for one in block.elements]
    guide = matching_bound(block, weights, Effort())
    pieces = cut(block, guide.proposed, chance)
    assert pieces
    for first, others in pieces.items():
        path = [first, *others]
        assert all(b in block.neighbors[a] for a, b in itertools.pairwise(path))
        assert pieces[path[-1]] == path[-2::-1]
    starts = {min(first, others[-1]) for first, others in pieces.items()}
    nodes = [node for first in starts for node in (first, *pieces[first])]
    assert len(nodes) == len(set(nodes))


def test_too_many_cycles_are_not_listed():
    (block,) = made(margins((9, 9), [(0,), (1,)]), np.diag(np.arange(81)))
    assert all_cycles(block, 2, 0, False) is None
