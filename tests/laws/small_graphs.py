"""All graphs of a few nodes, by the set of their nodes and the bits of their edges."""

from __future__ import annotations

import itertools

import numpy as np

from adomnia.schema.domain import Categories
from adomnia.schema.graph import GraphSchema, build, id_keys

PARTY = Categories(("a", "b"), other="c")


def places(size, directed):
    """The pairs of nodes that may be joined, one per bit."""
    if directed:
        return list(itertools.permutations(range(size), 2))
    return list(itertools.combinations(range(size), 2))


class World:
    """Graphs on the nodes 0..size-1; `offset` changes their ids, and so the order of edges."""

    def __init__(self, size, directed=False, offset=0, codes=None, public=False):
        self.size = size
        self.schema = GraphSchema(directed, {"party": PARTY}, public)
        self.places = places(size, directed)
        self.offset = offset
        self.codes = np.arange(size) % 3 if codes is None else np.asarray(codes)
        self.masks = range(1 << len(self.places))

    def graph(self, mask, nodes=None):
        """The graph with the edges of the mask, on all nodes or on some."""
        nodes = range(self.size) if nodes is None else nodes
        number = {node: place for place, node in enumerate(nodes)}
        pairs = [
            (number[left], number[right])
            for bit, (left, right) in enumerate(self.places)
            if mask >> bit & 1 and left in number and right in number
        ]
        ids = np.array(list(nodes), np.int64) + self.offset
        codes = {"party": self.codes[list(nodes)]}
        return build(self.schema, id_keys(ids), codes, pairs)

    def without(self, mask, node):
        """The mask without the edges of one node."""
        for bit, ends in enumerate(self.places):
            if node in ends:
                mask &= ~(1 << bit)
        return mask

    def edge_neighbors(self):
        """All pairs of masks that differ in one edge, the smaller first."""
        for mask in self.masks:
            for bit in range(len(self.places)):
                if not mask >> bit & 1:
                    yield mask, mask | 1 << bit

    def isolated_neighbors(self):
        """All pairs of masks: a graph, and the same without the edges of one node."""
        for mask in self.masks:
            for node in range(self.size):
                yield mask, self.without(mask, node)

    def node_neighbors(self):
        """All pairs: a graph as (mask, nodes), and the same without one of its nodes."""
        for count in range(1, self.size + 1):
            for nodes in itertools.combinations(range(self.size), count):
                outside = [node for node in range(self.size) if node not in nodes]
                for mask in self.masks:
                    if any(self.without(mask, node) != mask for node in outside):
                        continue
                    for node in nodes:
                        rest = tuple(other for other in nodes if other != node)
                        yield (mask, nodes), (self.without(mask, node), rest)
