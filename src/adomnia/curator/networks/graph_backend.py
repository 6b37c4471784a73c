"""Where a graph is: its files, the promise about it, and its ledger."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from adomnia.curator.ledger_view import open_journal
from adomnia.curator.networks.graph_promise import GraphPromise, check_graph_promise
from adomnia.engines.edge_lists import EdgeList, NodeList, read_graph
from adomnia.engines.source_files import holds
from adomnia.errors import PolicyError
from adomnia.ledger.reserve import Budgets
from adomnia.mechanisms.mechanism import Mechanism
from adomnia.policy.graph_section import GraphSource
from adomnia.policy.policy import Policy, line_of
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.premises import Facts
from adomnia.privacy.reads import Reads
from adomnia.queries.blocks import Touched
from adomnia.schema.graph import Graph, GraphSchema
from adomnia.schema.sealed import Sealed

__all__ = ["GraphBackend", "refuse_priors"]


class GraphBackend:
    """The files of a graph, the promise about it, and its ledger."""

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

    @property
    def derived(self) -> Mapping[str, Any]:
        """A graph is asked as it is."""
        return {}

    def touched(self, wanted: Sequence[Reads]) -> Touched | None:
        """A graph has no blocks."""
        return None

    def facts(self, version: str) -> Facts:
        """What is the same on all neighbours: which state of the files."""
        return Facts(self.version)

    def read(self, wanted: Sequence[Reads], version: str) -> list[Sealed[Any]]:
        """The graph, sealed, for each who needs it."""
        return [self.graph() for _ in wanted]

    def close(self) -> None:
        """Let go of the ledger."""
        self.journal.close()


def _refuse_other_promises(policy: Policy, source: GraphSource) -> None:
    """Refuse what the promise about a graph does not cover."""
    if policy.priors:
        refuse_priors(policy)
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


def refuse_priors(policy: Policy) -> NoReturn:
    """Refuse a graph where something was released exactly."""
    raise PolicyError(
        "exact releases are registered, and what they mean for a graph is not worked out",
        "keep the graph in a policy and a ledger of its own",
        str(policy.file),
    )


def _stat(file: Path) -> Any:
    try:
        return file.stat()
    except OSError:
        return None  # reading it will say so
