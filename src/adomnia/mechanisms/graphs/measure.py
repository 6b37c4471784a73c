"""A sealed graph in, noisy answers out; nothing else leaves.

Where neighbours differ by a known number, integer noise is added (`graphs.md`); the others are
drawn from a ladder (`ladder.md`). With node neighbours the degrees are bounded before.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.graphs.counts import count
from adomnia.mechanisms.graphs.degree_bound import add_edges, drop_nodes
from adomnia.mechanisms.graphs.kernels import common_neighbors, pool
from adomnia.mechanisms.graphs.ladder import Ladder, draw, height
from adomnia.mechanisms.graphs.rungs import (
    star_rung,
    triangle_base,
    triangle_rung,
    triangle_rungs,
    truncated_rungs,
)
from adomnia.mechanisms.margins.margin import Noise, margin
from adomnia.mechanisms.noise.laplace import sample
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.sealed_noise import add_gaussian, add_laplace
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.events import Composed, Event, Exponential, Gaussian, Laplace
from adomnia.privacy.graphs import GraphTerms, graph_event, is_rung
from adomnia.queries.graphs.subgraphs import (
    DegreeSequence,
    GraphQuestion,
    NodesByAttribute,
    Stars,
    labels,
)
from adomnia.schema.domain import Value
from adomnia.schema.graph import Graph
from adomnia.schema.sealed import Sealed

__all__ = ["NoisyGraphValues", "fit_ascending", "measure"]


@dataclass(frozen=True, eq=False)
class NoisyGraphValues:
    """Noisy whole numbers, what each is about, the law of their noise, and what they cost."""

    values: NDArray[Any]
    labels: tuple[tuple[Value | None, ...], ...]
    noise: Noise | Ladder
    event: Event

    def margin(self, confidence: float) -> float | None:
        """How far one number may be from the truth (node neighbours: from the bounded graph's).

        None where nobody may know it: triangles with node neighbours.
        """
        if isinstance(self.noise, Ladder):
            return self.noise.margin(confidence)
        return margin([(1.0, self.noise)], confidence)


def measure(
    sealed: Sealed[Graph], question: GraphQuestion, terms: GraphTerms, bits: Bits = SYSTEM
) -> NoisyGraphValues:
    """The noisy answer to one question; `graph_event` says what it costs before anything is read.

    Raises a QuestionError or PolicyError that depends on the schema alone.
    """
    graph = unseal(sealed)
    event = graph_event(question, graph.schema, terms)
    if is_rung(question, terms.neighbors):
        value, noise = _climb(graph, question, event, terms.degree_bound, bits)
        return NoisyGraphValues(np.array([value], object), ((),), noise, event)
    public = graph.nodes if isinstance(question, DegreeSequence) else 0
    bounded = _bounded(graph, question, terms)
    values, plain = _add_noise(Sealed(count(bounded, question)), event, bits)
    return NoisyGraphValues(values, labels(question, graph.schema, public), plain, event)


def _bounded(graph: Graph, question: GraphQuestion, terms: GraphTerms) -> Graph:
    if terms.neighbors == "edge" or isinstance(question, NodesByAttribute):
        return graph
    assert terms.degree_bound is not None
    return add_edges(graph, question, terms.degree_bound)


def _add_noise(exact: Sealed[NDArray[Any]], event: Event, bits: Bits) -> tuple[NDArray[Any], Noise]:
    """The numbers with the noise that the event names; none where no neighbour has others."""
    if isinstance(event, Gaussian):
        variance = event.sensitivity**2 / (2 * event.rho)
        return add_gaussian(exact, variance, bits), Noise("gaussian", variance)
    scale = event.sensitivity / event.epsilon if isinstance(event, Laplace) else Fraction(0)
    return add_laplace(exact, scale, bits), Noise("laplace", scale)


def _climb(
    graph: Graph, question: GraphQuestion, event: Event, bound: int | None, bits: Bits
) -> tuple[int, Ladder]:
    """A draw from the ladder of the question, and what may be known of its noise."""
    digits = 30 * (question.k + 1) if isinstance(question, Stars) else 60
    if isinstance(event, Exponential):
        assert bound is not None
        steps = height(event.epsilon, digits)
        truth = int(count(drop_nodes(graph, bound), question)[0])
        rungs = truncated_rungs(graph, bound, steps)
        return draw(truth, rungs, event.epsilon, digits, bits), Ladder(event.epsilon)
    assert isinstance(event, Composed)
    choice, named = event.parts
    assert isinstance(choice, Exponential)
    assert isinstance(named, Laplace)
    steps = height(choice.epsilon, digits)
    if isinstance(question, Stars):
        base, rung = int(graph.degrees().max(initial=0)), star_rung(graph.nodes, question.k)
        rungs = [rung(base + step) for step in range(steps)]
    else:
        best = common_neighbors(graph.nodes, graph.edges)
        base, rung = triangle_base(best), triangle_rung(graph.nodes)
        rungs = triangle_rungs(best, graph.nodes, steps)
    truth = int(count(graph, question)[0])
    value = draw(truth, rungs, choice.epsilon, digits, bits)
    scale = named.sensitivity / named.epsilon
    noisy_base = base + int(sample(scale, 1, bits)[0])
    return value, Ladder(choice.epsilon, rung, noisy_base, scale)


def fit_ascending(noisy: NDArray[Any], highest: int) -> NDArray[np.float64]:
    """The nearest ascending sequence (least squares), brought between 0 and `highest`.

    For degree sequences and cumulative degrees. It reads noisy numbers only, so it costs nothing,
    and takes most of the noise away where many of the numbers are the same.
    """
    fitted: NDArray[np.float64] = np.clip(pool(noisy.astype(np.float64)), 0, highest)
    return fitted
