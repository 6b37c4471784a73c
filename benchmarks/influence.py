"""Forest fires a second: ours, and the same model written plainly on networkx, in one run.

    python benchmarks/influence.py [--runs 1000000] [--plain 300] [--reading literal] [--readme]

A pair is one network grown to 50 nodes with Bob's edge and one without it. Ours runs on two
threads and is compiled beforehand; networkx runs on one core, as it would.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import time

import networkx as nx

from adomnia.audit.networks.growth.models import MODELS
from adomnia.audit.networks.influence import influence


def begin(chance: random.Random, start: int, links: int) -> nx.DiGraph:
    """Two communities, random outlinks within each."""
    graph = nx.DiGraph()
    for node in range(start):
        graph.add_node(node, community=int(node >= start // 2))
    for node in range(start):
        community = graph.nodes[node]["community"]
        others = [n for n in graph if n != node and graph.nodes[n]["community"] == community]
        graph.add_edges_from((node, other) for other in chance.sample(others, links))
    return graph


def geometric(chance: random.Random, p: float) -> int:
    """Successes before the first failure."""
    many = 0
    while chance.random() < p:
        many += 1
    return many


def arrive(chance: random.Random, graph: nx.DiGraph, rates: tuple, least: int, fresh: bool) -> None:
    """One new node, as the paper tells it; `least` and `fresh` are the reading."""
    forward, backward, q = rates
    new = graph.number_of_nodes()
    ambassador = chance.randrange(new)
    graph.add_node(new, community=graph.nodes[ambassador]["community"])
    graph.add_edge(new, ambassador)
    queue = [ambassador]
    while queue:
        node = queue.pop(0)
        ways = ((graph.successors, forward, 0), (graph.predecessors, backward, least))
        for links, p, extra in ways:
            met = [n for n in links(node) if n != new and not (fresh and graph.has_edge(new, n))]
            many = min(extra + geometric(chance, p), len(met))
            for other in chance.sample(met, many):
                if not graph.has_edge(new, other):
                    graph.add_edge(new, other)
                    queue.append(other)
    if chance.random() < q:
        graph.add_edge(new, chance.randrange(new))


def plain_forest_fire(
    chance: random.Random,
    edge: bool,
    sizes: tuple[int, int, int] = (50, 10, 3),
    rates: tuple[float, float, float] = (0.37, 0.32, 0.1),
    reading: str = "literal",
) -> int:
    """Edges between the communities when the network has grown."""
    nodes, start, links = sizes
    least, fresh = MODELS["forest-fire"].readings[reading]
    graph = begin(chance, start, links)
    if edge:
        graph.add_edge(0, start // 2)
    while graph.number_of_nodes() < nodes:
        arrive(chance, graph, rates, least, fresh)
    community = graph.nodes(data="community")
    return sum(community[one] != community[other] for one, other in graph.edges)


def shown(values: list[int]) -> str:
    """A mean and its standard error."""
    error = statistics.stdev(values) / math.sqrt(len(values))
    return f"{statistics.fmean(values):.1f} ± {error:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--plain", type=int, default=300)
    parser.add_argument("--reading", default="literal")
    parser.add_argument(
        "--readme", action="store_true", help="put the figures into docs/benchmarks.md"
    )
    options = parser.parse_args()
    chance = random.Random(1)
    begun, worked = time.perf_counter(), time.process_time()
    worlds = [
        [plain_forest_fire(chance, edge, reading=options.reading) for _ in range(options.plain)]
        for edge in (False, True)
    ]
    plain = (time.perf_counter() - begun) / options.plain
    plain_work = (time.process_time() - worked) / options.plain
    influence("forest-fire", runs=1000, seed=2, reading=options.reading)  # compiled by this
    begun, worked = time.perf_counter(), time.process_time()
    report = influence("forest-fire", runs=options.runs, seed=1, reading=options.reading)
    ours, work = time.perf_counter() - begun, time.process_time() - worked
    print(f"forest fire, reading {options.reading}; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"networkx {1 / plain:10,.0f} pairs/s   {' and '.join(map(shown, worlds))}")
    print(
        f"ours     {options.runs / ours:10,.0f} pairs/s   {report.without.mean:.1f} and"
        f" {report.with_edge.mean:.1f}   {report.runs:,} pairs in {ours:.1f} s"
        f" ({work:.1f} s of processor time)"
    )
    print(f"ratio    {plain * options.runs / ours:10.0f}x on the clock")
    print(f"         {plain_work * options.runs / work:10.0f}x in processor time, core for core")
    if options.readme:
        import readme  # beside this file, where the tests do not look

        readme.put(
            "influence",
            f"Forest fires to 50 nodes with and without one early edge ({report.runs:,} pairs, two "
            f"cores): {ours:.0f} s, {plain * options.runs / ours:.0f} times the same model on "
            f"networkx in the same run. The edge changes the edges between communities from "
            f"{report.without.mean:.1f} to {report.with_edge.mean:.1f}.",
        )


if __name__ == "__main__":
    main()
