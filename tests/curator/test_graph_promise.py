"""Answers about a graph carry what was promised, and are priced anew when that changes."""

from __future__ import annotations

from pathlib import Path

import pytest

import adomnia
from adomnia.curator.networks.graph_promise import GraphPromise
from adomnia.errors import BudgetError
from adomnia.privacy.growth import UNBOUNDED

POLICY = """
[privacy]
confirmed = true
epsilon = 10
[graph]
edges = "friends.csv"
ids = [0, 9]
neighbors = "{}"
degree_bound = 5
"""


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    edges = "\n".join(f"{a},{(a + 1) % 10}" for a in range(10))
    (tmp_path / "friends.csv").write_text(f"a,b\n{edges}\n")
    return tmp_path


def opened(folder: Path, neighbors: str, accept: bool = False) -> adomnia.Network:
    file = folder / "adomnia.toml"
    file.write_text(POLICY.format(neighbors))
    return adomnia.open_graph(file, accept=accept)


def spent(network: adomnia.Network) -> str:
    return str(network.budget()["data"]["spent"])


def test_a_stronger_promise_is_refused_where_answers_are_out(graph: Path) -> None:
    with opened(graph, "edge") as network:
        network.session().ask("edges", 2)
    with pytest.raises(BudgetError, match="promises now"):
        opened(graph, "node")
    with opened(graph, "node", accept=True) as network:
        assert float(spent(network)) > 10**9 - 1
        kinds = [entry.kind for entry in network.ledger()]
    with opened(graph, "node") as network:  # it is priced once
        assert [entry.kind for entry in network.ledger()] == kinds


def test_a_weaker_promise_costs_two_steps_at_most(graph: Path) -> None:
    with opened(graph, "node") as network:
        network.session().ask("edges", 2)
    with opened(graph, "edge") as network:
        assert spent(network) in {"2", "4"}


def test_the_same_promise_costs_the_same(graph: Path) -> None:
    for _ in range(2):
        with opened(graph, "edge") as network:
            network.session().ask("edges", 2)
            assert spent(network) == "2"


@pytest.mark.parametrize(
    ("then", "now", "steps"),
    [
        (("edge", True), ("edge", True), 1),
        (("edge", True), ("node", True), None),
        (("node", False), ("edge", True), 2),
        (("node", True), ("edge", True), 1),
        (("node", False), ("node", True), 2),
        (("node", True), ("node", False), None),
    ],
)
def test_steps(then: tuple[str, bool], now: tuple[str, bool], steps: int | None) -> None:
    grown = GraphPromise(*then).growth(GraphPromise(*now))
    assert grown == (UNBOUNDED if steps is None else grown.of(grown.times))
    assert steps is None or grown.times == steps
