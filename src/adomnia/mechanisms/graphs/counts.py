"""Exact answers of a graph, as whole numbers; only mechanisms call this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.graphs.kernels import count_triangles
from adomnia.queries.graphs.subgraphs import (
    CumulativeDegrees,
    DegreeHistogram,
    DegreeSequence,
    Edges,
    GraphQuestion,
    GroupEdges,
    NodesByAttribute,
    Stars,
    Triangles,
    WithinBetween,
)
from adomnia.schema.graph import Graph

__all__ = ["count"]


def count(graph: Graph, question: GraphQuestion) -> NDArray[Any]:
    """The numbers asked for, in the order of their labels; Python integers where they are long."""
    return _COUNTS[type(question)](graph, question)


def _edges(graph: Graph, question: Edges) -> NDArray[Any]:
    return np.array([len(graph.edges)], np.int64)


def _within_between(graph: Graph, question: WithinBetween) -> NDArray[Any]:
    codes = graph.codes[question.attribute][graph.edges]
    within = int((codes[:, 0] == codes[:, 1]).sum())
    return np.array([within, len(codes) - within], np.int64)


def _group_edges(graph: Graph, question: GroupEdges) -> NDArray[Any]:
    groups = len(graph.schema.groups(question.attribute))
    codes = graph.codes[question.attribute][graph.edges]
    if not graph.schema.directed:
        codes = np.sort(codes, axis=1)
    cells = np.bincount(codes[:, 0] * groups + codes[:, 1], minlength=groups * groups)
    if graph.schema.directed:
        return cells.astype(np.int64)
    table: NDArray[np.int64] = cells.astype(np.int64).reshape(groups, groups)
    return table[np.triu_indices(groups)]


def _histogram(graph: Graph, question: DegreeHistogram | CumulativeDegrees) -> NDArray[Any]:
    degrees = np.minimum(graph.degrees(question.direction), question.highest)
    return np.bincount(degrees, minlength=question.highest + 1).astype(np.int64)


def _cumulative(graph: Graph, question: CumulativeDegrees) -> NDArray[Any]:
    return np.cumsum(_histogram(graph, question))


def _sequence(graph: Graph, question: DegreeSequence) -> NDArray[Any]:
    return np.sort(graph.degrees(question.direction))


def _triangles(graph: Graph, question: Triangles) -> NDArray[Any]:
    return np.array([count_triangles(graph.nodes, graph.edges)], object)


def _stars(graph: Graph, question: Stars) -> NDArray[Any]:
    many = enumerate(np.bincount(graph.degrees()).tolist())
    return np.array([sum(times * comb(degree, question.k) for degree, times in many)], object)


def _nodes(graph: Graph, question: NodesByAttribute) -> NDArray[Any]:
    groups = len(graph.schema.groups(question.attribute))
    return np.bincount(graph.codes[question.attribute], minlength=groups).astype(np.int64)


_COUNTS: Mapping[type[Any], Callable[[Graph, Any], NDArray[Any]]] = {
    Edges: _edges,
    WithinBetween: _within_between,
    GroupEdges: _group_edges,
    DegreeHistogram: _histogram,
    CumulativeDegrees: _cumulative,
    DegreeSequence: _sequence,
    Triangles: _triangles,
    Stars: _stars,
    NodesByAttribute: _nodes,
}
