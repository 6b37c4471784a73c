"""A network behind its promise: questions about a graph, paid for and answered like any other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from adomnia.curator.access import Closing, analyst_of, confidence_of
from adomnia.curator.answers.answer import Answer
from adomnia.curator.ledger_view import open_journal, state_of
from adomnia.curator.networks.graph_promise import GraphPromise, check_graph_promise
from adomnia.curator.query_plan import cost_of
from adomnia.curator.spend import Paid, Payer, Use, spend
from adomnia.engines.edge_lists import EdgeList, NodeList, read_graph
from adomnia.engines.source_files import holds
from adomnia.errors import PolicyError, QuestionError
from adomnia.ledger.reserve import Budgets, least, left
from adomnia.mechanisms.graphs.measure import NoisyGraphValues, fit_ascending
from adomnia.mechanisms.graphs.statistic import GraphAnswer, GraphStatistic
from adomnia.mechanisms.margins.margin import Noise, margin
from adomnia.mechanisms.mechanism import Mechanism
from adomnia.policy.graph_section import GraphSource
from adomnia.policy.policy import Policy, line_of, read_policy
from adomnia.privacy.events import Event, Free, Gaussian, Laplace, loss
from adomnia.privacy.graphs import GraphTerms, graph_sensitivity
from adomnia.privacy.loss import Amount, exact
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.premises import Facts
from adomnia.privacy.reads import Reads
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
from adomnia.schema.graph import Graph, GraphSchema
from adomnia.schema.sealed import Sealed

__all__ = ["GraphSession", "Network", "open_graph"]

LEAST = Fraction(1, 10**12)


class Network(Closing):
    """A graph behind its promise. Close it, or use it in a `with` statement."""

    def __init__(self, policy: Policy, source: GraphSource, accept: bool = False) -> None:
        self.policy, self.source = policy, source
        for key, name in (("edges", source.edges), ("nodes", source.nodes)):
            if name is not None and _stat(Path(policy.beside(name))) is None:
                raise PolicyError(
                    f"there is no file {name!r}", "paths are found from where the policy lies",
                    str(policy.file), line_of(policy, ("graph", key)),
                )  # fmt: skip
        _refuse_other_promises(policy, source)
        nodes = None if source.nodes is None else Path(policy.beside(source.nodes))
        edges = Path(policy.beside(source.edges))
        self._edges = EdgeList(edges, source.source, source.target)
        self._nodes = NodeList(source.ids, nodes, source.key, source.columns)
        self.schema = GraphSchema(source.directed, source.attributes, source.public_nodes)
        self._read: tuple[str, Sealed[Graph]] | None = None
        self.promise = GraphPromise.of(source)
        self.journal = open_journal(policy)
        try:
            check_graph_promise(policy, self.promise, self.journal, accept)
        except BaseException:
            self.close()
            raise

    def session(self, analyst: str | None = None) -> GraphSession:
        """A session of an analyst; the curator's where nobody is named."""
        return GraphSession(self, analyst_of(self.policy, analyst))

    def budget(self) -> dict[str, Any]:
        """What is spent and left: of the data, and of every analyst."""
        return state_of(self.policy, self.journal.account())

    @property
    def version(self) -> str:
        """A digest that changes when the files do."""
        names = [self.source.edges, self.source.nodes]
        files = [Path(self.policy.beside(name)) for name in names if name is not None]
        facts = [[str(f), s.st_size, s.st_mtime_ns] for f in files if (s := _stat(f)) is not None]
        text = json.dumps([self.policy.digest, facts])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def graph(self) -> Sealed[Graph]:
        """The graph as the files have it now."""
        version = self.version
        if self._read is None or self._read[0] != version:
            self._read = (version, read_graph(self._edges, self._nodes, self.schema))
        return self._read[1]

    def budgets(self, analyst: str) -> Budgets:
        """The budgets of the data and of an analyst, as the policy says."""
        return Budgets(self.policy.budget, self.policy.analysts.get(analyst))

    def check(self, mechanisms: Sequence[Mechanism[Any]]) -> None:
        """Nothing: what a question about a graph costs is worked out by its mechanism itself."""

    def ready(self, wanted: Sequence[Reads]) -> None:
        """Nothing: the files are read once what is asked of them is paid."""

    def facts(self) -> Facts:
        """What is the same on all neighbours: which state of the files."""
        return Facts(self.version)

    def read(self, wanted: Sequence[Reads]) -> list[Sealed[Any]]:
        """The graph, sealed, for each who needs it."""
        return [self.graph() for _ in wanted]

    def close(self) -> None:
        """Let go of the ledger."""
        self.journal.close()


@dataclass(frozen=True)
class GraphSession:
    """One analyst, asking about the graph."""

    network: Network
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
        """A private answer, paid from the ledger; the same again gets the same answer for free."""
        asked = read_question(question) if isinstance(question, str) else question
        confidence = confidence_of(confidence)
        network, terms = self.network, self._terms(epsilon, rho)
        if network.journal.account().priors:
            raise _no_priors(network.policy)
        mechanism = GraphStatistic(asked, network.schema, terms, partial(_tell, asked, confidence))
        version, said = network.version, write_question(asked)
        request = json.dumps([*_told(terms), confidence, version])
        use = Use(
            statement=f"GRAPH {said}",
            mechanisms=(mechanism,),
            promise=network.promise.to_json(),
            version=version,
            request=request,
        )
        payer = Payer(self.analyst, self.budgets, None, key or f"graph {digest([said, request])}")
        return _answer(spend(network, payer, use), mechanism.event)

    def plan(
        self,
        question: str | GraphQuestion,
        epsilon: Amount | None = None,
        *,
        rho: Amount | None = None,
        confidence: float = 0.95,
    ) -> dict[str, Any]:
        """What an answer would cost and how far off it would be; spends nothing."""
        asked = read_question(question) if isinstance(question, str) else question
        terms = self._terms(epsilon, rho)
        schema = self.network.schema
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
        """What this analyst can still spend."""
        account = self.network.journal.account()
        return least(left(account, self.budgets, self.analyst))

    @property
    def budgets(self) -> Budgets:
        """Every budget that binds this session."""
        return self.network.budgets(self.analyst)

    def _terms(self, epsilon: Amount | None, rho: Amount | None) -> GraphTerms:
        if (epsilon is None) == (rho is None):
            raise QuestionError("an answer costs an epsilon or a rho", "for example epsilon = 0.1")
        source = self.network.source
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
    before then costs more than the budget.
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


def _refuse_other_promises(policy: Policy, source: GraphSource) -> None:
    """Refuse what the promise about a graph does not cover."""
    if policy.priors:
        raise _no_priors(policy)
    if policy.neighbors.group > 1 or (not policy.source and policy.neighbors != Neighbors()):
        raise PolicyError(
            "neighbors, unit and group of [privacy] are about tables",
            "say what is promised about the graph in [graph]: neighbors, degree_bound",
            str(policy.file),
        )
    if source.nodes is None or not source.public_nodes or not policy.source:
        return
    if holds(_path_of(policy.beside(policy.source)), Path(policy.beside(source.nodes))):
        raise PolicyError(
            "the table's rows are private, and as nodes of the graph they would be public",
            'name a public file of nodes, or hide nodes: neighbors = "node"',
            str(policy.file),
        )


def _path_of(source: str) -> str:
    """The path of a source, also one that an address of Spark names; empty where there is none."""
    if "://" not in source:
        return source
    said = dict(parse_qsl(source.partition("?")[2]))
    return said.get("path", "").removeprefix("file://")


def _no_priors(policy: Policy) -> PolicyError:
    return PolicyError(
        "exact releases are registered, and what they mean for a graph is not worked out",
        "keep the graph in a policy and a ledger of its own",
        str(policy.file),
    )


def _stat(file: Path) -> Any:
    try:
        return file.stat()
    except OSError:
        return None  # reading it will say so


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
