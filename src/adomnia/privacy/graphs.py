"""Graphs that must look alike, and how far an answer differs between them (`graphs.md`).

`edge`: one edge more or less; nodes and their attributes are public. `node`: a node with all its
edges more or less (where nodes are public: its edges alone), and answers are taken from a graph
whose degrees were brought below a public bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, isqrt

from adomnia.errors import PolicyError, QuestionError
from adomnia.limits import MAX_DEGREE_BOUND
from adomnia.privacy.events import Composed, Event, Exponential, Free, Gaussian, Laplace
from adomnia.privacy.sensitivity import Sensitivity
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
    check_question,
)
from adomnia.schema.graph import GRAPH_RELATIONS, GraphRelation, GraphSchema

__all__ = [
    "BASE_SHARE",
    "GraphTerms",
    "graph_event",
    "graph_sensitivity",
    "is_rung",
]

BASE_SHARE = Fraction(1, 5)
"""The part of epsilon that buys the margin of an answer whose noise depends on the graph."""
SMALLEST = Fraction(1, 1000)
"""Below this epsilon a ladder would have too many rungs to list."""


@dataclass(frozen=True)
class GraphTerms:
    """What is promised for one question: the relation, the loss, and a public bound of degrees."""

    neighbors: GraphRelation
    epsilon: Fraction | None = None
    rho: Fraction | None = None
    degree_bound: int | None = None

    def __post_init__(self) -> None:
        if self.neighbors not in GRAPH_RELATIONS:
            raise PolicyError(f"neighbors of graphs is one of {', '.join(GRAPH_RELATIONS)}")
        loss = self.epsilon if self.epsilon is not None else self.rho
        if (self.epsilon is None) == (self.rho is None) or loss is None or loss <= 0:
            raise QuestionError("a question costs an epsilon or a rho above zero, not both")
        _check_bound(self.degree_bound)


def _check_bound(bound: int | None) -> None:
    whole = isinstance(bound, int) and not isinstance(bound, bool)
    if bound is not None and not (whole and 1 <= bound <= MAX_DEGREE_BOUND):
        raise PolicyError(f"degree_bound is a whole number from 1 to {MAX_DEGREE_BOUND}")


def is_rung(question: GraphQuestion, neighbors: GraphRelation) -> bool:
    """Whether the answer is drawn from a ladder, its noise depending on the graph (`ladder.md`)."""
    return isinstance(question, Triangles) or (isinstance(question, Stars) and neighbors == "edge")


def graph_sensitivity(
    question: GraphQuestion,
    schema: GraphSchema,
    neighbors: GraphRelation,
    degree_bound: int | None = None,
) -> Sensitivity:
    """How far the answer differs between neighbours (`graphs.md`).

    Of a ladder it is the change of a candidate's penalty: one.
    """
    check_question(question, schema)
    _check_bound(degree_bound)
    if neighbors not in GRAPH_RELATIONS:
        raise PolicyError(f"neighbors of graphs is one of {', '.join(GRAPH_RELATIONS)}")
    if isinstance(question, NodesByAttribute):
        public = neighbors == "edge" or schema.public_nodes
        return _size(0, 0, "nodes are public") if public else _size(1, 1, "a node is in one group")
    if neighbors == "edge":
        return _edge(question)
    if degree_bound is None:
        raise PolicyError(
            "with node neighbours a graph needs a public bound of degrees",
            "set degree_bound; it is not to be read off the data",
        )
    return _node(question, schema, degree_bound)


def _edge(question: GraphQuestion) -> Sensitivity:
    """One edge more or less."""
    if isinstance(question, DegreeSequence | DegreeHistogram | CumulativeDegrees):
        return _edge_degrees(question, 2 if question.direction == "total" else 1)
    if isinstance(question, Triangles | Stars):
        return Sensitivity(Fraction(1), Fraction(1), False, "rungs of a ladder")
    return _size(1, 1, "an edge counts once")


def _edge_degrees(
    question: DegreeSequence | DegreeHistogram | CumulativeDegrees, ends: int
) -> Sensitivity:
    """One edge more or less, which so many of its ends count."""
    if isinstance(question, DegreeSequence):
        return _size(ends, ends, "an edge counts in one degree for each end")
    if isinstance(question, CumulativeDegrees):
        return _size(ends, ends * ends, "each end passes one degree")
    return _size(2 * ends, 2 * ends * ends, "each end moves to the next degree")


def _node(question: GraphQuestion, schema: GraphSchema, bound: int) -> Sensitivity:
    """A node with its edges more or less, degrees bounded (`degree_bound.md`)."""
    if isinstance(question, Edges):
        return _size(bound, bound**2, "a node has at most the bound of edges")
    if isinstance(question, WithinBetween | GroupEdges):
        cells = _touched(question, schema)
        return _size(cells * bound, cells * bound**2, "the bound in each cell a node can be in")
    if isinstance(question, Triangles):
        return Sensitivity(Fraction(1), Fraction(1), False, "rungs of a ladder")
    if isinstance(question, Stars):
        most = max(1, (question.k + 1) * comb(bound, question.k))
        return _size(most, most**2, "its own stars, and one edge at as many nodes as the bound")
    if isinstance(question, DegreeHistogram | CumulativeDegrees | DegreeSequence):
        _check_degrees(question, schema)
        return (_isolated if schema.public_nodes else _gone)(question, bound)
    raise TypeError("not a question of graphs")


Degrees = DegreeHistogram | CumulativeDegrees | DegreeSequence


def _check_degrees(question: Degrees, schema: GraphSchema) -> None:
    if question.direction != "total":
        raise QuestionError(
            "with node neighbours only total degrees have a proven bound",
            "ask for the total degree, or declare the graph undirected",
        )
    if isinstance(question, DegreeSequence) and not schema.public_nodes:
        raise QuestionError(
            "with node neighbours the number of nodes is private, and so is a list as long",
            "ask for cumulative degrees, or for the histogram",
        )


def _gone(question: Degrees, bound: int) -> Sensitivity:
    """A node comes with its edges; at most the bound of others change their degree by one."""
    if isinstance(question, CumulativeDegrees):
        longer = max(question.highest - bound, 0) + 1
        return _size(bound + longer, bound**2 + longer, "the bound of nodes pass one degree")
    square = (bound + 1) ** 2 + bound**2
    return _size(2 * bound + 1, square, "one node comes, as many as the bound move")


def _isolated(question: Degrees, bound: int) -> Sensitivity:
    """A node gets its edges, and was there before."""
    if isinstance(question, DegreeSequence):
        l1, square = 2 * bound, 2 * bound**2
    elif isinstance(question, CumulativeDegrees):
        lower = min(bound, question.highest)
        l1, square = bound + lower, (bound + 1) ** 2 + lower - 1
    else:
        l1, square = 2 * bound + 2, 2 * (bound + 1) ** 2
    return Sensitivity(Fraction(l1), Fraction(square), False, "one node gets all its edges")


def _touched(question: WithinBetween | GroupEdges, schema: GraphSchema) -> int:
    """How many cells the edges of one node can lie in."""
    if isinstance(question, WithinBetween):
        return 2
    groups = len(schema.groups(question.attribute))
    return 2 * groups - 1 if schema.directed else groups


def _size(l1: int, l2_squared: int, argument: str) -> Sensitivity:
    return Sensitivity(Fraction(l1), Fraction(l2_squared), True, argument)


def graph_event(question: GraphQuestion, schema: GraphSchema, terms: GraphTerms) -> Event:
    """What asking costs; it depends on nothing in the graph."""
    bound = graph_sensitivity(question, schema, terms.neighbors, terms.degree_bound)
    if is_rung(question, terms.neighbors):
        return _rung_event(terms)
    if bound.l1 == 0:
        return Free()
    if terms.rho is not None:
        return Gaussian(terms.rho, _root_above(bound.l2_squared))
    assert terms.epsilon is not None
    return Laplace(terms.epsilon, bound.l1)


def _rung_event(terms: GraphTerms) -> Event:
    """One choice among candidates and, where it bounds the rungs, a noisy number for the margin."""
    if terms.epsilon is None:
        raise QuestionError("this is answered by the exponential mechanism", "give an epsilon")
    if terms.epsilon < SMALLEST:
        raise QuestionError("this epsilon is too small for this question", "give 1/1000 or more")
    if terms.neighbors == "node":
        return Exponential(terms.epsilon, Fraction(1))
    share = terms.epsilon * BASE_SHARE
    return Composed((Exponential(terms.epsilon - share, Fraction(1)), Laplace(share, Fraction(1))))


def _root_above(square: Fraction) -> Fraction:
    """The square root of a whole number, rounded up at the thirtieth decimal unless it is whole."""
    whole = isqrt(int(square))
    if whole * whole == square:
        return Fraction(whole)
    return Fraction(isqrt(int(square) * 10**60) + 1, 10**30)
