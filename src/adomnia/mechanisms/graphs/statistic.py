"""The mechanism of a question about a graph: integer noise, or a draw from a ladder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from adomnia.mechanisms.graphs.measure import NoisyGraphValues, measure
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.privacy import events
from adomnia.privacy.events import Event, Free, Gaussian, Laplace
from adomnia.privacy.graphs import GraphTerms, graph_event
from adomnia.privacy.premises import Premise
from adomnia.privacy.reads import WholeGraph
from adomnia.queries.graphs.graph_text import write_question
from adomnia.queries.graphs.subgraphs import GraphQuestion
from adomnia.schema.graph import GraphSchema
from adomnia.schema.sealed import Sealed

__all__ = ["GraphAnswer", "GraphStatistic"]


@dataclass(frozen=True)
class GraphAnswer:
    """Rows of labels and a number, the margin of all numbers, and what to say beside them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    margin: float | None
    confidence: float
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The answer as the ledger keeps it."""
        return {
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "margin": self.margin,
            "confidence": self.confidence,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class GraphStatistic:
    """A noisy answer to one question, told by `tell`, which reads noisy numbers alone."""

    question: GraphQuestion
    schema: GraphSchema
    terms: GraphTerms
    tell: Callable[[NoisyGraphValues], GraphAnswer] = field(compare=False, repr=False)
    premises: tuple[Premise, ...] = ()
    reads: WholeGraph = field(default_factory=WholeGraph)

    @property
    def name(self) -> str:
        """The mechanism in a few words."""
        event = self.event
        if isinstance(event, Free):
            return "none: it is public"
        if isinstance(event, Laplace | Gaussian):
            return "laplace" if isinstance(event, Laplace) else "gaussian"
        return "exponential (a ladder)"

    @property
    def event(self) -> Event:
        """What it costs."""
        return graph_event(self.question, self.schema, self.terms)

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> GraphAnswer:
        """The noisy answer."""
        assert sealed is not None
        return self.tell(measure(sealed, self.question, self.terms, bits))

    def recalled(self, body: Mapping[str, Any]) -> GraphAnswer:
        """What was answered before, from the ledger."""
        rows = tuple(tuple(row) for row in body["rows"])
        return GraphAnswer(
            tuple(body["columns"]), rows, body["margin"], body["confidence"], tuple(body["notes"])
        )

    def record(self) -> dict[str, Any]:
        """The question as a person writes it, and what it costs."""
        return {
            "graph": write_question(self.question),
            "mechanism": {"name": self.name, "degree_bound": self.terms.degree_bound},
            "event": events.to_json(self.event),
        }
