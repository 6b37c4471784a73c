"""A graph with its degrees brought below a public bound, stably (`degree_bound.md`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.graphs.kernels import fill
from adomnia.queries.graphs.subgraphs import GraphQuestion, GroupEdges, WithinBetween
from adomnia.schema.graph import Graph, id_keys

__all__ = ["add_edges", "drop_nodes"]

Integers = NDArray[np.int64]
MANY_SLOTS = 1 << 26


def add_edges(graph: Graph, question: GraphQuestion, bound: int) -> Graph:
    """Edges added one by one in an order that knows only their ends, while both ends have room.

    A node has room for `bound` edges; where edges are counted in cells, for as many in each cell.
    """
    edges = graph.edges[_order(graph)]
    slots, left, right = _slots(graph, edges, question)
    kept = edges[fill(slots, left, right, bound)]
    return replace(graph, edges=kept)


def drop_nodes(graph: Graph, bound: int) -> Graph:
    """The graph without the edges of nodes whose degree is above the bound."""
    low = graph.degrees() <= bound
    return replace(graph, edges=graph.edges[low[graph.edges].all(axis=1)])


def _order(graph: Graph) -> Integers:
    """Edges by a mixture of their ends' keys; ties stay in the order of the ids."""
    source, target = graph.keys[graph.edges[:, 0]], graph.keys[graph.edges[:, 1]]
    mixed = id_keys((source ^ id_keys(target.view(np.int64))).view(np.int64))
    return np.argsort(mixed, kind="stable")


def _slots(
    graph: Graph, edges: Integers, question: GraphQuestion
) -> tuple[int, Integers, Integers]:
    """How many slots there are, and the slots that each edge takes at its two ends."""
    source, target = edges[:, 0], edges[:, 1]
    if not isinstance(question, WithinBetween | GroupEdges):
        return graph.nodes, source, target
    codes = graph.codes[question.attribute]
    if isinstance(question, WithinBetween):
        between = (codes[source] != codes[target]).astype(np.int64)
        return 2 * graph.nodes, 2 * source + between, 2 * target + between
    groups = len(graph.schema.groups(question.attribute))
    left, right = source * groups + codes[target], target * groups + codes[source]
    if graph.schema.directed:  # a cell is an ordered pair: out of a node and into it are two
        into = (codes[source] != codes[target]).astype(np.int64)
        left, right = 2 * left, 2 * right + into
    slots = 2 * groups * graph.nodes
    if slots <= MANY_SLOTS:
        return slots, left, right
    used, places = np.unique(np.concatenate([left, right]), return_inverse=True)
    return used.size, places[: left.size], places[left.size :]
