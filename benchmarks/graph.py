"""Private statistics of real graphs: the error against the truth, and the time of a large graph.

    python benchmarks/graph.py [--data ../shared/data/graphs] [--repeats 15] [--bound 64]

For each graph and question the median of the absolute error over the repeats, in per cent of the
truth where the answer is one number. With node neighbours it holds what bounding the degrees
loses. Of histograms it is the mean error of a bin, of sequences and cumulative degrees that of a
fitted number. The margin is the median of those that are published, for 95 %.
"""

from __future__ import annotations

import argparse
import statistics
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

from adomnia.engines.edge_lists import EdgeList, NodeList, read_graph
from adomnia.errors import QuestionError
from adomnia.mechanisms.graphs.counts import count
from adomnia.mechanisms.graphs.measure import fit_ascending, measure
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.graphs import GraphTerms
from adomnia.queries.graphs.subgraphs import (
    CumulativeDegrees,
    DegreeHistogram,
    DegreeSequence,
    Edges,
    GroupEdges,
    NodesByAttribute,
    Stars,
    Triangles,
    WithinBetween,
)
from adomnia.schema.domain import Categories
from adomnia.schema.graph import Graph, GraphSchema, build, id_keys
from adomnia.schema.sealed import Sealed

TOP = Path(__file__).parents[1]
LISTED = GraphSchema(False, {"group": Categories((0,), other=1)})
SCHEMA = GraphSchema(False, LISTED.attributes, public_nodes=True)
QUESTIONS = {
    "edges": Edges(),
    "within, between": WithinBetween("group"),
    "group by group": GroupEdges("group"),
    "histogram to 50": DegreeHistogram(50),
    "cumulative": CumulativeDegrees(50),
    "degree sequence": DegreeSequence(),
    "triangles": Triangles(),
    "2-stars": Stars(2),
    "3-stars": Stars(3),
    "nodes by group": NodesByAttribute("group"),
}


def load(data: Path, name: str) -> Graph:
    """A graph of the folder; groups from its labels, or even and odd ids where it has none."""
    edges, labels = EdgeList(data / f"{name}.edges.gz"), data / f"{name}.labels.gz"
    if labels.exists():
        nodes = NodeList(path=labels, attributes={"group": 2})
        return unseal(read_graph(edges, nodes, LISTED))
    plain = unseal(read_graph(edges, NodeList(ids=(0, 10_000)), GraphSchema(public_nodes=True)))
    last = int(plain.edges.max()) + 1  # the graphs are public: their last id may be looked up
    ids = np.arange(last)
    return build(SCHEMA, id_keys(ids), {"group": ids % 2}, plain.edges)


def made_up(nodes: int, edges: int, seed: int = 1) -> Graph:
    """A graph with a heavy tail of degrees: ends drawn with weights that fall as a power."""
    chance = np.random.default_rng(seed)
    weights = (np.arange(nodes) + 10.0) ** -0.5
    pairs = chance.choice(nodes, (edges * 5 // 4, 2), p=weights / weights.sum())
    ids = np.arange(nodes)
    graph = build(SCHEMA, id_keys(ids), {"group": ids % 2}, pairs)
    kept = chance.permutation(len(graph.edges))[:edges]
    return build(SCHEMA, id_keys(ids), {"group": ids % 2}, graph.edges[kept])


def error(graph: Graph, question: object, terms: GraphTerms) -> tuple[float, float | None]:
    """The error of one answer, and its margin."""
    noisy = measure(Sealed(graph), question, terms)
    values = noisy.values.astype(float)
    if isinstance(question, DegreeSequence | CumulativeDegrees):
        values = fit_ascending(noisy.values, 10**9)
    return float(np.abs(values - count(graph, question).astype(float)).mean()), noisy.margin(0.95)


def cell(graph: Graph, question: object, terms: GraphTerms, repeats: int) -> str:
    """Error and margin, in per cent of the truth where it is one number."""
    try:
        drawn = [error(graph, question, terms) for _ in range(repeats)]
    except QuestionError:
        return f"{'refused':>21}"
    middle = statistics.median(wrong for wrong, _ in drawn)
    margins = [margin for _, margin in drawn if margin is not None]
    margin = statistics.median(margins) if margins else None
    truth = count(graph, question)
    unit = 100 / float(truth[0]) if truth.size == 1 and truth[0] else 1.0
    sign = "%" if truth.size == 1 and truth[0] else " "
    bound = f"{margin * unit:9.4g}{sign}" if margin is not None else f"{'none ':>10}"
    return f"{middle * unit:9.4g}{sign} {bound}"


def compare(name: str, graph: Graph, bound: int, repeats: int) -> None:
    """The table of one graph."""
    highest = int(graph.degrees().max(initial=0))
    print(f"\n{name}: {graph.nodes} nodes, {len(graph.edges)} edges, highest degree {highest}")
    heads = [f"{kind} e={text}" for kind in ("edge", "node") for text in ("0.1", "1")]
    print(f"{'':16} {'truth':>12} " + " ".join(f"{head + ': error, margin':>21}" for head in heads))
    for label, question in QUESTIONS.items():
        truth = count(graph, question)
        shown = str(truth[0]) if truth.size == 1 else f"{truth.size} numbers"
        cells = [
            cell(graph, question, GraphTerms(kind, epsilon=epsilon, degree_bound=bound), repeats)
            for kind in ("edge", "node")
            for epsilon in (Fraction(1, 10), Fraction(1))
        ]
        print(f"{label:16} {shown:>12} " + " ".join(cells))


def clock(graph: Graph, bound: int) -> None:
    """How long each question takes on a large graph, the loops being compiled."""
    print(f"\nmade up: {graph.nodes} nodes, {len(graph.edges)} edges; seconds")
    print(f"{'':16} {'exact':>8} {'edge':>8} {'node':>8}")
    for label, question in QUESTIONS.items():
        row = []
        begun = time.perf_counter()
        count(graph, question)
        row.append(f"{time.perf_counter() - begun:8.3f}")
        for kind in ("edge", "node"):
            begun = time.perf_counter()
            try:
                measure(
                    Sealed(graph),
                    question,
                    GraphTerms(kind, epsilon=Fraction(1), degree_bound=bound),
                )
                row.append(f"{time.perf_counter() - begun:8.3f}")
            except QuestionError:
                row.append(f"{'refused':>8}")
        print(f"{label:16} " + " ".join(row))


def main() -> None:
    """Print all tables."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--data", type=Path, default=TOP.parent / "shared/data/graphs")
    options.add_argument("--repeats", type=int, default=15)
    options.add_argument("--bound", type=int, default=64, help="of degrees, for node neighbours")
    asked = options.parse_args()
    for file in sorted(asked.data.glob("*.edges.gz")):
        name = file.name.removesuffix(".edges.gz")
        compare(name, load(asked.data, name), asked.bound, asked.repeats)
    clock(made_up(200_000, 1_000_000), asked.bound)


if __name__ == "__main__":
    main()
