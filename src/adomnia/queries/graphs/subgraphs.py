"""What may be asked of a graph: edges, groups, degrees, triangles and stars."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal, get_args

from adomnia.errors import QuestionError
from adomnia.limits import MAX_DEGREES, MAX_STARS
from adomnia.schema.domain import Value
from adomnia.schema.graph import GraphSchema

__all__ = [
    "DIRECTIONS",
    "CumulativeDegrees",
    "DegreeHistogram",
    "DegreeSequence",
    "Direction",
    "Edges",
    "GraphQuestion",
    "GroupEdges",
    "NodesByAttribute",
    "Stars",
    "Triangles",
    "WithinBetween",
    "check_question",
    "labels",
]

Direction = Literal["total", "out", "in"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
Label = tuple[Value | None, ...]


@dataclass(frozen=True)
class Edges:
    """The number of edges."""


@dataclass(frozen=True)
class WithinBetween:
    """Edges within the groups of an attribute, and between them (two numbers)."""

    attribute: str


@dataclass(frozen=True)
class GroupEdges:
    """Edges for every two groups of an attribute; pairs are ordered if edges have a direction."""

    attribute: str


@dataclass(frozen=True)
class _UpTo:
    """Degrees of one direction, up to the highest that is told apart."""

    highest: int
    direction: Direction = "total"

    def __post_init__(self) -> None:
        _check_direction(self.direction)
        _check_highest(self.highest)


@dataclass(frozen=True)
class DegreeHistogram(_UpTo):
    """How many nodes have degree 0, 1, …, `highest`; the last one stands for `highest` or more."""


@dataclass(frozen=True)
class CumulativeDegrees(_UpTo):
    """How many nodes have degree at most 0, 1, …; the last number, at `highest`, is of all nodes.

    It takes half the noise of a histogram, which is the differences of its fit.
    """


@dataclass(frozen=True)
class DegreeSequence:
    """The degrees of all nodes in ascending order."""

    direction: Direction = "total"

    def __post_init__(self) -> None:
        _check_direction(self.direction)


@dataclass(frozen=True)
class Triangles:
    """The number of triangles (edges without direction)."""


@dataclass(frozen=True)
class Stars:
    """The number of k-stars: a node and k of its neighbours (edges without direction)."""

    k: int

    def __post_init__(self) -> None:
        if not _is_whole(self.k) or not 1 <= self.k <= MAX_STARS:
            raise QuestionError(f"the k of a k-star is a whole number from 1 to {MAX_STARS}")


@dataclass(frozen=True)
class NodesByAttribute:
    """The number of nodes in each group of an attribute."""

    attribute: str


GraphQuestion = (
    Edges
    | WithinBetween
    | GroupEdges
    | DegreeHistogram
    | CumulativeDegrees
    | DegreeSequence
    | Triangles
    | Stars
    | NodesByAttribute
)


def check_question(question: GraphQuestion, schema: GraphSchema) -> None:
    """Refuse what the graph, as it is declared, cannot be asked."""
    if isinstance(question, WithinBetween | GroupEdges | NodesByAttribute):
        schema.groups(question.attribute)
    if isinstance(question, Triangles | Stars) and schema.directed:
        raise QuestionError(
            "triangles and stars are counted in graphs without direction",
            "declare the graph undirected: an edge either way then joins two nodes",
        )
    if isinstance(question, DegreeHistogram | CumulativeDegrees | DegreeSequence) and (
        question.direction != "total" and not schema.directed
    ):
        raise QuestionError("edges have no direction here", "ask for the total degree")


def labels(question: GraphQuestion, schema: GraphSchema, nodes: int) -> tuple[Label, ...]:
    """What each number of the answer is about; `nodes` matters for a degree sequence only."""
    if isinstance(question, WithinBetween):
        return (("within",), ("between",))
    if isinstance(question, NodesByAttribute):
        return tuple((group,) for group in schema.groups(question.attribute))
    if isinstance(question, GroupEdges):
        groups = schema.groups(question.attribute)
        unordered = itertools.combinations_with_replacement(groups, 2)
        return tuple(itertools.product(groups, repeat=2) if schema.directed else unordered)
    if isinstance(question, DegreeHistogram | CumulativeDegrees | DegreeSequence):
        size = nodes if isinstance(question, DegreeSequence) else question.highest + 1
        return tuple((place,) for place in range(size))
    return ((),)


def _check_direction(direction: Direction) -> None:
    if direction not in DIRECTIONS:
        raise QuestionError(f"a direction is one of {', '.join(DIRECTIONS)}")


def _check_highest(highest: int) -> None:
    if not _is_whole(highest) or not 1 <= highest <= MAX_DEGREES:
        raise QuestionError(f"the highest degree is a whole number from 1 to {MAX_DEGREES}")


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)
