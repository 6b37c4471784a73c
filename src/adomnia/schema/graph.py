"""Graphs: nodes with public ids and attributes, edges as pairs, directed or not.

What a list of edges may hold that a graph does not have a defined end: an edge to a node that is
not declared is dropped, a self loop is dropped, equal edges are merged. Each rule looks at one pair
alone, so one edge more or less in the list is at most one edge more or less in the graph, and a
node taken out takes nothing with it but its own edges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.schema.domain import Categories, Value

__all__ = ["GRAPH_RELATIONS", "Graph", "GraphRelation", "GraphSchema", "build", "id_keys"]

GraphRelation = Literal["edge", "node"]
"""In what neighbouring graphs differ: an edge, or a node with all its edges."""
GRAPH_RELATIONS: tuple[GraphRelation, ...] = get_args(GraphRelation)
Integers = NDArray[np.int64]
Keys = NDArray[np.uint64]


@dataclass(frozen=True)
class GraphSchema:
    """What is public about a graph: whether edges have a direction, and the nodes' attributes.

    With `public_nodes` it is also public which nodes there are and in which groups they lie; a
    node that is taken out then stays, without edges.
    """

    directed: bool = False
    attributes: Mapping[str, Categories] = field(default_factory=dict)
    public_nodes: bool = False

    def groups(self, attribute: str) -> tuple[Value | None, ...]:
        """The groups of an attribute in their order; None, last, is for values of no group."""
        domain = self.attributes.get(attribute)
        if domain is None:
            known = ", ".join(self.attributes) or "none"
            raise QuestionError(
                f"the nodes have no attribute {attribute[:80]!r}", f"attributes: {known}"
            )
        return domain.members if domain.other is not None else (*domain.members, None)

    def fallback(self, attribute: str) -> int:
        """The place of the group that takes whatever is in no other."""
        return self.groups(attribute).index(self.attributes[attribute].other)


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph as arrays; nodes are numbered in the order of their ids.

    `keys`: one number per node that depends on its id alone. `codes`: for each attribute the
    place of every node's group. `edges`: rows (from, to), sorted and without duplicates; without
    direction the smaller number comes first.
    """

    schema: GraphSchema
    keys: Keys
    codes: Mapping[str, Integers]
    edges: Integers

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return int(self.keys.size)

    def degrees(self, direction: str = "total") -> Integers:
        """The degree of every node: edges `out` of it, `in` to it, or in `total`."""
        ends = {"out": self.edges[:, 0], "in": self.edges[:, 1], "total": self.edges.reshape(-1)}
        return np.bincount(ends[direction], minlength=self.nodes).astype(np.int64)


def build(schema: GraphSchema, keys: Keys, codes: Mapping[str, Any], pairs: Any) -> Graph:
    """The graph of a list of pairs of node numbers, by the rules above.

    A number outside 0..nodes-1 stands for a node that is not declared; a code outside its groups
    falls to `other`, or to None.
    """
    nodes = int(keys.size)
    ends = np.asarray(pairs, np.int64).reshape(-1, 2)
    ends = ends[((ends >= 0) & (ends < nodes)).all(axis=1) & (ends[:, 0] != ends[:, 1])]
    if not schema.directed:
        ends = np.sort(ends, axis=1)
    found = np.sort(ends[:, 0] * max(nodes, 1) + ends[:, 1])
    fresh = np.append(True, found[1:] != found[:-1])[: found.size]
    edges = np.stack(np.divmod(found[fresh], max(nodes, 1)), axis=1)
    placed = {name: _place(schema, name, codes, nodes) for name in schema.attributes}
    return Graph(schema, keys, placed, edges)


def _place(schema: GraphSchema, name: str, codes: Mapping[str, Any], nodes: int) -> Integers:
    groups, fallback = len(schema.groups(name)), schema.fallback(name)
    given = np.asarray(codes.get(name, np.full(nodes, fallback)), np.int64)
    if given.shape != (nodes,):
        raise ValueError("an attribute has one code for every node")
    return np.where((given >= 0) & (given < groups), given, fallback)


def id_keys(ids: Any) -> Keys:
    """A key for every whole number: its bits mixed (the finisher of splitmix64), none twice."""
    x: Keys = np.asarray(ids, np.int64).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ x >> np.uint64(shift)) * np.uint64(factor)
    return x ^ x >> np.uint64(31)
