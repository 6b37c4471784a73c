"""Questions about a graph as a person writes them: `triangles`, `edges within party`, `2-stars`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from adomnia.errors import QuestionError
from adomnia.queries.graphs.subgraphs import (
    CumulativeDegrees,
    DegreeHistogram,
    DegreeSequence,
    Direction,
    Edges,
    GraphQuestion,
    GroupEdges,
    NodesByAttribute,
    Stars,
    Triangles,
    WithinBetween,
)

__all__ = ["FORMS", "read_question", "write_question"]

FORMS: dict[str, str] = {
    "edges": "how many edges there are",
    "edges within ATTRIBUTE": "edges within groups, and between them",
    "edges by ATTRIBUTE": "edges for every two groups",
    "nodes by ATTRIBUTE": "nodes of every group",
    "degrees to K": "nodes of degree 0, 1, … K or more (also in-degrees, out-degrees)",
    "cumulative degrees to K": "nodes of degree at most 0, 1, … K: half the noise",
    "degree sequence": "the degrees in ascending order",
    "triangles": "how many triangles there are",
    "K-stars": "a node and K of its neighbours, such as 2-stars",
}

_SIDE: dict[str, Direction] = {"": "total", "in-": "in", "out-": "out"}
_NAME = r"(?P<name>\S.*?)"
_RULES: tuple[tuple[str, Callable[[re.Match[str]], GraphQuestion]], ...] = (
    (r"edges", lambda m: Edges()),
    (rf"edges within {_NAME}", lambda m: WithinBetween(m["name"])),
    (rf"edges by {_NAME}", lambda m: GroupEdges(m["name"])),
    (rf"nodes by {_NAME}", lambda m: NodesByAttribute(m["name"])),
    (
        r"(?P<side>in-|out-|)degrees to (?P<k>[0-9]{1,9})",
        lambda m: DegreeHistogram(int(m["k"]), _SIDE[m["side"].lower()]),
    ),
    (
        r"cumulative (?P<side>in-|out-|)degrees to (?P<k>[0-9]{1,9})",
        lambda m: CumulativeDegrees(int(m["k"]), _SIDE[m["side"].lower()]),
    ),
    (
        r"(?P<side>in-|out-|)degree sequence",
        lambda m: DegreeSequence(_SIDE[m["side"].lower()]),
    ),
    (r"triangles", lambda m: Triangles()),
    (r"(?P<k>[0-9]{1,9})-stars", lambda m: Stars(int(m["k"]))),
)


def read_question(text: str) -> GraphQuestion:
    """The question that a text asks; one that is not understood is refused with what there is."""
    said = " ".join(text.split())
    for pattern, make in _RULES:
        found = re.fullmatch(pattern, said, re.IGNORECASE | re.ASCII)
        if found is not None:
            return make(found)
    raise QuestionError(
        f"this is no question about a graph: {said[:80]!r}", "ask one of: " + ", ".join(FORMS)
    )


_SAID = {direction: side for side, direction in _SIDE.items()}


def write_question(question: GraphQuestion) -> str:
    """The question as a person writes it; `read_question` reads it back.

    >>> write_question(DegreeHistogram(5, "in"))
    'in-degrees to 5'
    """
    return _WRITTEN[type(question)](question)


_WRITTEN: Mapping[type[Any], Callable[[Any], str]] = {
    Edges: lambda q: "edges",
    WithinBetween: lambda q: f"edges within {q.attribute}",
    GroupEdges: lambda q: f"edges by {q.attribute}",
    NodesByAttribute: lambda q: f"nodes by {q.attribute}",
    DegreeHistogram: lambda q: f"{_SAID[q.direction]}degrees to {q.highest}",
    CumulativeDegrees: lambda q: f"cumulative {_SAID[q.direction]}degrees to {q.highest}",
    DegreeSequence: lambda q: f"{_SAID[q.direction]}degree sequence",
    Triangles: lambda q: "triangles",
    Stars: lambda q: f"{q.k}-stars",
}
