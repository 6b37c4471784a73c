"""Small graphs, with a neighbour that lacks an edge or a node."""

from __future__ import annotations

import itertools
import random
from contextlib import ExitStack
from pathlib import Path

import adomnia
from tests.adversary import sources
from tests.adversary.pairs import Bench, Stretch, Tally

QUESTIONS = (
    "edges", "edges within party", "edges by party", "nodes by party", "degrees to 3",
    "cumulative degrees to 4", "degree sequence", "triangles", "2-stars", "3-stars",
    "in-degrees to 2", "out-degrees to 2",
)  # fmt: skip
Edges = frozenset[tuple[int, int]]
Graph = tuple[tuple[tuple[int, str], ...], Edges]


def run(stretch: Stretch) -> None:
    """Every question about small graphs."""
    for chance in stretch.worlds():
        _world(stretch.tally, chance)


def _world(tally: Tally, chance: random.Random) -> None:
    kind = chance.choice(["edge", "node", "node public"])
    directed = chance.random() < 0.3
    graph = _graph(chance, directed)
    graphs = [graph, *(_neighbour(graph, kind, directed, chance) for _ in range(5))]
    lines = f'neighbors = "{kind.split()[0]}"\ndirected = {str(directed).lower()}\n'
    if kind != "edge":
        lines += f"degree_bound = {chance.choice([1, 2, 3])}\n"
        lines += f"public_nodes = {str(kind == 'node public').lower()}\n"
    currency = chance.choice(["epsilon", "epsilon", "rho"])
    with ExitStack() as stack:
        folder = Path(stack.enter_context(sources.room()))
        files = [_write(folder / str(i), graph, lines, currency) for i, graph in enumerate(graphs)]
        networks = [stack.enter_context(adomnia.open_graph(file)) for file in files]
        bench = Bench(tally, "graphs", f"graph {kind}", networks)
        for place, question in enumerate(QUESTIONS):
            terms = {currency: f"{chance.choice([1, 4])}.{place:02d}1"}
            bench.compare(
                lambda network, question=question, terms=terms: network.session().ask(
                    question, **terms
                ),
                f"{question} -- {terms}",
            )


def _graph(chance: random.Random, directed: bool) -> Graph:
    size = chance.randrange(3, 8)
    nodes = tuple((i, chance.choice(["red", "blue", "x"])) for i in range(size))
    pairs = itertools.permutations(range(size), 2) if directed else itertools.combinations(
        range(size), 2
    )  # fmt: skip
    share = chance.random()
    return nodes, frozenset(pair for pair in pairs if chance.random() < share)


def _neighbour(graph: Graph, kind: str, directed: bool, chance: random.Random) -> Graph:
    nodes, edges = graph
    names = [node for node, _ in nodes]
    if kind == "edge":
        one, other = chance.sample(names, 2)
        edge = (one, other) if directed else (min(one, other), max(one, other))
        return nodes, edges ^ {edge}
    if kind == "node" and chance.random() < 0.5:
        fresh = max(names) + 1
        more = {(other, fresh) for other in names if chance.random() < 0.6}
        return (*nodes, (fresh, chance.choice(["red", "blue"]))), edges | more
    gone = chance.choice(names)
    left = frozenset(edge for edge in edges if gone not in edge)
    if kind == "node":
        return tuple(node for node in nodes if node[0] != gone), left
    return nodes, left


def _write(folder: Path, graph: Graph, lines: str, currency: str) -> Path:
    folder.mkdir()
    nodes, edges = graph
    (folder / "nodes.csv").write_text(
        "id,party\n" + "".join(f"{node},{party}\n" for node, party in nodes)
    )
    (folder / "edges.csv").write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in sorted(edges)))
    policy = folder / "adomnia.toml"
    policy.write_text(
        f"[privacy]\nconfirmed = true\n{currency} = 1000000000\n"
        f'[graph]\nedges = "edges.csv"\nnodes = "nodes.csv"\nkey = "id"\n{lines}'
        '[graph.attributes.party]\nvalues = ["red", "blue"]\n'
    )
    return policy
