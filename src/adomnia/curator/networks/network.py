"""A network behind its promise: questions about a graph, paid for and answered like any other."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from adomnia.curator.access import Closing, analyst_of, confidence_of, key_of
from adomnia.curator.answers.answer import Answer
from adomnia.curator.ledger_view import state_of
from adomnia.curator.networks.graph_backend import GraphBackend, refuse_priors
from adomnia.curator.spend import Paid, Payer, Use, spend
from adomnia.errors import PolicyError, QuestionError
from adomnia.ledger.entry import Entry, EntryKind
from adomnia.ledger.reserve import Budgets, least, left
from adomnia.mechanisms.graphs.measure import NoisyGraphValues, fit_ascending
from adomnia.mechanisms.graphs.statistic import GraphAnswer, GraphStatistic
from adomnia.mechanisms.margins.margin import Noise, margin
from adomnia.policy.graph_section import GraphSource
from adomnia.policy.policy import Policy, read_policy
from adomnia.privacy.events import Event, Free, Gaussian, Laplace, cost_of, loss
from adomnia.privacy.graphs import GraphTerms, graph_sensitivity
from adomnia.privacy.loss import Amount, exact
from adomnia.queries.canonical import digest
from adomnia.queries.graphs.graph_text import read_question, write_question
from adomnia.queries.graphs.subgraphs import (
    CumulativeDegrees,
    DegreeHistogram,
    DegreeSequence,
    GraphQuestion,
    GroupEdges,
    NodesByAttribute,
    WithinBetween,
)

__all__ = ["GraphSession", "Network", "open_graph"]

LEAST = Fraction(1, 10**12)


class Network(Closing):
    """A graph behind its promise. Close it, or use it in a `with` statement.

    >>> from adomnia.testing import circle
    >>> with circle(nodes=10).open() as network:
    ...     answer = network.session().ask("triangles", epsilon=1)
    ...     network.budget()["data"]["spent"]
    '1'
    """

    def __init__(self, policy: Policy, source: GraphSource, accept: bool = False) -> None:
        self._backend = GraphBackend(policy, source, accept)
        self.policy = policy

    def session(self, analyst: str | None = None) -> GraphSession:
        """A session of an analyst; the curator's where nobody is named.

        Raises a NotAllowedError where the policy names analysts and not this one.
        """
        return GraphSession(self._backend, analyst_of(self.policy, analyst))

    def budget(self) -> dict[str, Any]:
        """What is spent and left: of the data, and of every analyst."""
        return state_of(self.policy, self._backend.journal.account())

    def ledger(self, bodies: Collection[EntryKind] | None = None) -> list[Entry]:
        """Every entry of the ledger, in order; with all bodies, or those of these kinds."""
        return list(self._backend.journal.entries(bodies=bodies))

    def close(self) -> None:
        """Let go of the ledger."""
        self._backend.close()


@dataclass(frozen=True)
class GraphSession:
    """One analyst, asking about the graph.

    >>> from adomnia.testing import circle
    >>> with circle(nodes=10).open() as network:
    ...     answer = network.session().ask("degrees to 3", epsilon=1)
    >>> answer.columns, len(answer.rows)
    (('degree', 'n'), 4)
    """

    _backend: GraphBackend
    analyst: str

    def ask(
        self,
        question: str | GraphQuestion,
        epsilon: Amount | None = None,
        *,
        rho: Amount | None = None,
        confidence: float = 0.95,
        key: str | None = None,
    ) -> Answer:
        """A private answer, paid from the ledger; the same again gets the same answer for free.

        The question is in words, as "edges" or "degrees to 10" (docs/graphs.md has all), or a value
        of `adomnia.queries.graphs.subgraphs`; the loss is an `epsilon` or a `rho`. A request that
        is repeated with the same `key` is paid once. Returns rows with their margins, what they
        cost and what is left. Raises a QuestionError where the question or the loss is wrong, a
        PolicyError where the promise does not allow it, and a BudgetError where a budget does not.
        """
        asked = read_question(question) if isinstance(question, str) else question
        confidence = confidence_of(confidence)
        backend, terms = self._backend, self._terms(epsilon, rho)
        if backend.journal.account().priors:
            refuse_priors(backend.policy)
        mechanism = GraphStatistic(asked, backend.schema, terms, partial(_tell, asked, confidence))
        version, said = backend.version, write_question(asked)
        request = json.dumps([*_told(terms), confidence, version])
        use = Use(
            statement=f"GRAPH {said}",
            mechanisms=(mechanism,),
            promise=backend.promise.to_json(),
            version=version,
            request=request,
        )
        named = key_of(key) or f"graph {digest([said, request])}"
        payer = Payer(self.analyst, self._budgets, None, named)
        return _answer(spend(backend, payer, use), mechanism.event)

    def plan(
        self,
        question: str | GraphQuestion,
        epsilon: Amount | None = None,
        *,
        rho: Amount | None = None,
        confidence: float = 0.95,
    ) -> dict[str, Any]:
        """What an answer would cost and how far off it would be; spends nothing.

        Arguments are those of `ask`. Returns plain values: the loss, the mechanism, the sensitivity
        and its argument, and the margin, which is None where it depends on the graph. Raises a
        QuestionError where the question or the loss is wrong.
        """
        asked = read_question(question) if isinstance(question, str) else question
        terms = self._terms(epsilon, rho)
        schema = self._backend.schema
        mechanism = GraphStatistic(asked, schema, terms, partial(_tell, asked, confidence))
        event = mechanism.event
        bound = graph_sensitivity(asked, schema, terms.neighbors, terms.degree_bound)
        spent = loss(event)
        gaussian = terms.rho is not None
        value = bound.l2_squared if gaussian else bound.l1
        return {
            **{name: str(amount) for name, amount in spent.amounts.items()},
            "mechanism": mechanism.name,
            "sensitivity": {
                "value": str(value),
                "norm": "l2 squared" if gaussian else "l1",
                "exact": bound.exact,
                "argument": bound.argument,
            },
            "margins": {"n": _margin(event, confidence_of(confidence))},
            "margin_units": {"n": "value"},
            "confidence": confidence,
        }

    def remaining(self) -> Mapping[str, Fraction]:
        """What this analyst can still spend, by currency."""
        account = self._backend.journal.account()
        return least(left(account, self._budgets, self.analyst))

    @property
    def _budgets(self) -> Budgets:
        """Every budget that binds this session."""
        return self._backend.budgets(self.analyst)

    def _terms(self, epsilon: Amount | None, rho: Amount | None) -> GraphTerms:
        if (epsilon is None) == (rho is None):
            raise QuestionError("an answer costs an epsilon or a rho", "for example epsilon = 0.1")
        source = self._backend.source
        pure = None if epsilon is None else exact(epsilon)
        concentrated = None if rho is None else exact(rho, "rho")
        if (pure or concentrated or LEAST) < LEAST:
            raise QuestionError("this is too little for any answer", f"at least {LEAST}")
        return GraphTerms(source.neighbors, pure, concentrated, source.degree_bound)


def _told(terms: GraphTerms) -> list[str]:
    """What is offered and promised, as text."""
    parts = (terms.neighbors, terms.epsilon, terms.rho, terms.degree_bound)
    return [str(part) for part in parts]


def open_graph(policy: str | Path = "adomnia.toml", *, accept: bool = False) -> Network:
    """The graph that a policy file describes.

    With `accept`, a policy that promises more than it did is taken even where what was answered
    before then costs more than the budget. Returns a `Network`, to be closed. Raises a PolicyError
    where the policy is wrong, has no graph or is not confirmed, a BudgetError where what it
    promises now costs more than it allows, and a MachineryError where the ledger cannot be read.

    >>> import tempfile
    >>> from adomnia.testing import circle
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_graph(circle(nodes=10).write(folder)) as network:
    ...         network.session().plan("edges", epsilon=1)["sensitivity"]["value"]
    '1'
    """
    read = read_policy(policy)
    if read.graph is None:
        raise PolicyError(
            "this policy has no graph", "declare one: [graph] with edges, and nodes or ids",
            str(read.file),
        )  # fmt: skip
    if not read.confirmed:
        raise PolicyError(
            "the policy is not confirmed", "read it, then set confirmed = true in [privacy]",
            str(read.file),
        )  # fmt: skip
    return Network(read, read.graph, accept)


def _tell(asked: GraphQuestion, confidence: float, noisy: NoisyGraphValues) -> GraphAnswer:
    """The answer of noisy numbers: rows of labels and a number, and their margin."""
    values: list[float] = [int(value) for value in noisy.values]
    notes = []
    if isinstance(asked, DegreeSequence | CumulativeDegrees):
        most = len(values) - 1 if isinstance(asked, DegreeSequence) else max(values)
        fitted = fit_ascending(noisy.values, max(0, int(most)))
        values = [round(float(value), 3) for value in fitted]
        notes.append("fitted to an ascending sequence; margins are those of the noise before that")
    off = noisy.margin(confidence)
    if off is None:
        notes.append("the noise depends on the graph, so its margin is not public")
    rows = tuple((*label, value) for label, value in zip(noisy.labels, values, strict=True))
    return GraphAnswer(tuple(_columns(asked)), rows, off, confidence, tuple(notes))


def _columns(asked: GraphQuestion) -> list[str]:
    if isinstance(asked, WithinBetween):
        return ["edges", "n"]
    if isinstance(asked, GroupEdges):
        return [asked.attribute, f"{asked.attribute} (other end)", "n"]
    if isinstance(asked, NodesByAttribute):
        return [asked.attribute, "n"]
    if isinstance(asked, DegreeHistogram | CumulativeDegrees):
        return ["degree", "n"]
    return ["place", "degree"] if isinstance(asked, DegreeSequence) else ["n"]


def _answer(paid: Paid, event: Event) -> Answer:
    told: GraphAnswer = paid.released[0]
    again = ("this was paid and answered before; it is the same answer",)
    return Answer(
        told.columns,
        list(told.rows),
        {told.columns[-1]: [told.margin] * len(told.rows)},
        told.confidence,
        cost_of(Free() if paid.repeated else event),
        paid.remaining,
        paid.receipt,
        (*told.notes, *(again if paid.repeated else ())),
        {told.columns[-1]: "value"},
    )


def _margin(event: Event, confidence: float) -> float | None:
    if isinstance(event, Free):
        return 0
    if isinstance(event, Laplace):
        return margin([(1.0, Noise("laplace", event.sensitivity / event.epsilon))], confidence)
    if isinstance(event, Gaussian):
        variance = event.sensitivity**2 / (2 * event.rho)
        return margin([(1.0, Noise("gaussian", variance))], confidence)
    return None  # it comes with the answer
