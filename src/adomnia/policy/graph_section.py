"""The section `[graph]` of a policy: where edges and nodes are, and what is promised about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from adomnia.policy.sections import GraphSection
from adomnia.policy.toml_reader import Reader
from adomnia.schema.domain import Categories
from adomnia.schema.graph import GRAPH_RELATIONS, GraphRelation

__all__ = ["GraphSource", "graph_source"]

_KEYS = frozenset({"values", "other", "column"})
Column = str | int


@dataclass(frozen=True)
class GraphSource:
    """The files of a graph and the promise about it; columns by name, or by place from 0.

    With edge neighbours, or a range of ids, it is public which nodes there are.
    """

    edges: str
    nodes: str | None = None
    ids: tuple[int, int] | None = None
    directed: bool = False
    neighbors: GraphRelation = "edge"
    degree_bound: int | None = None
    public_nodes: bool = True
    source: Column = 0
    target: Column = 1
    key: Column = 0
    attributes: Mapping[str, Categories] = field(default_factory=dict)
    columns: Mapping[str, Column] = field(default_factory=dict)


def graph_source(reader: Reader) -> GraphSource:
    """The graph that the policy declares."""

    part = reader.section(GraphSection, ("graph",))
    if not isinstance(part.edges, str):
        reader.fail("[graph] needs edges", 'for example edges = "friends.csv"', ("graph",))
    ids = _ids(reader, part)
    nodes = part.nodes
    if (ids is None) == (nodes is None) or not isinstance(nodes, str | None):
        reader.fail(
            "[graph] says which nodes there are: nodes or ids, one of them",
            'nodes = "people.csv", or ids = [0, 999]; they are public with edge neighbours',
            ("graph",),
        )
    relation = part.neighbors
    if not isinstance(relation, str) or relation not in GRAPH_RELATIONS:
        known = " or ".join(GRAPH_RELATIONS)
        reader.fail(f"neighbors of a graph is {known}", "", ("graph", "neighbors"))
    bound = part.degree_bound
    if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int) or bound < 1):
        hint = "a public bound, not the largest degree of the data"
        reader.fail("degree_bound is a whole number above 0", hint, ("graph", "degree_bound"))
    public = part.public_nodes or relation == "edge" or ids is not None
    attributes, columns = _attributes(reader, part)
    return GraphSource(
        edges=part.edges,
        nodes=nodes,
        ids=ids,
        directed=part.directed,
        neighbors=relation,
        degree_bound=bound,
        public_nodes=public,
        source=_column(reader, part, "source"),
        target=_column(reader, part, "target"),
        key=_column(reader, part, "key"),
        attributes=attributes,
        columns=columns,
    )


def _ids(reader: Reader, part: GraphSection) -> tuple[int, int] | None:
    given = part.ids
    if given is None:
        return None
    whole = isinstance(given, list) and all(type(end) is int for end in given)
    if not whole or len(given) != 2 or given[0] > given[1]:
        reader.fail("ids are the first and the last node", "ids = [0, 999]", ("graph", "ids"))
    return given[0], given[1]


def _column(reader: Reader, part: GraphSection, name: str) -> Column:
    value: Any = getattr(part, name)
    if isinstance(value, bool) or not isinstance(value, str | int) or value in ("", -1):
        reader.fail(f"{name} is a column: its name, or its place from 0", "", ("graph", name))
    return value


def _attributes(
    reader: Reader, part: GraphSection
) -> tuple[dict[str, Categories], dict[str, Column]]:
    """The groups of nodes that are public, and in which column of the nodes' file they are."""
    domains: dict[str, Categories] = {}
    columns: dict[str, Column] = {}
    for name, facts in (part.attributes or {}).items():
        path = ("graph", "attributes", name)
        if not isinstance(facts, dict) or not set(facts) <= _KEYS or "values" not in facts:
            known = ", ".join(sorted(_KEYS))
            reader.fail(f"[graph.attributes.{name}] takes {known}", "values are needed", path)
        listed = tuple(facts["values"]) if isinstance(facts["values"], list) else ()
        domains[name] = reader.guard(path, partial(Categories, listed, facts.get("other")))
        columns[name] = facts.get("column", name)
    if columns and part.nodes is None:
        reader.fail("attributes need a file of nodes", "", ("graph", "attributes"))
    return domains, columns
