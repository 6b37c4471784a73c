"""Questions about a graph through the ledger, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import adomnia
from adomnia.errors import BudgetError, NotAllowedError, PolicyError, QuestionError
from adomnia.policy.policy import read_policy

NODES = "id,party\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(40))
GRAPH = '[graph]\nedges = "edges.txt"\nnodes = "nodes.csv"\nkey = "id"\n'
PARTY = '[graph.attributes.party]\nvalues = ["a", "b"]\n'


class Club:
    """Forty people, their friendships, and a policy."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        chance = np.random.default_rng(3)
        pairs = {tuple(sorted(pair)) for pair in chance.integers(0, 40, (200, 2)).tolist()}
        self.edges = sorted(pair for pair in pairs if pair[0] != pair[1])
        self.write([*self.edges, (3, 3), self.edges[0], (5, 4000), (-7, 2)])
        (folder / "nodes.csv").write_text(NODES)
        self.opened: list[adomnia.curator.networks.network.Network] = []

    def write(self, edges: list[tuple[int, int]]) -> None:
        lines = "".join(f"{a} {b}\n" for a, b in edges)
        (self.folder / "edges.txt").write_text("# friends\n" + lines)

    def open(self, graph: str = GRAPH + PARTY, privacy: str = "epsilon = 1000"):
        text = f"[privacy]\nconfirmed = true\n{privacy}\n{graph}"
        (self.folder / "adomnia.toml").write_text(text)
        network = adomnia.open_graph(self.folder / "adomnia.toml")
        self.opened.append(network)
        return network


@pytest.fixture
def club(tmp_path: Path):
    made = Club(tmp_path)
    yield made
    for network in made.opened:
        network.close()


def test_every_question_is_answered_and_paid(club: Club) -> None:
    session = club.open().session()
    within = sum(a % 2 == b % 2 for a, b in club.edges)
    many = 50
    assert abs(session.ask("edges", many).rows[0][0] - len(club.edges)) <= 2
    rows = dict(session.ask("edges within party", many).rows)
    assert abs(rows["within"] - within) <= 2
    assert abs(rows["between"] - (len(club.edges) - within)) <= 2
    assert len(session.ask("edges by party", many).rows) == 6
    assert session.ask("nodes by party", many).rows[:2] == [("a", 20), ("b", 20)]
    degrees = np.bincount(np.array(club.edges).reshape(-1), minlength=40)
    histogram = dict(session.ask("degrees to 12", many).rows)
    assert abs(histogram[10] - (degrees == 10).sum()) <= 2
    below = dict(session.ask("cumulative degrees to 12", many).rows)
    assert abs(below[10] - (degrees <= 10).sum()) <= 2
    sequence = [row[1] for row in session.ask("degree sequence", many).rows]
    assert sequence == sorted(sequence)
    assert np.abs(np.array(sequence) - np.sort(degrees)).max() <= 2
    stars = sum(d * (d - 1) // 2 for d in degrees.tolist())
    assert session.ask("2-stars", many).rows[0][0] == pytest.approx(stars, rel=0.05)
    assert session.ask("triangles", many).margins["n"][0] is not None
    assert session.remaining() == {"epsilon": 1000 - 8 * many}


def test_the_same_again_is_the_same_and_free(club: Club) -> None:
    session = club.open(privacy="epsilon = 1").session()
    first = session.ask("triangles", "1/2")
    again = session.ask("triangles", "1/2")
    assert again.rows == first.rows
    assert again.spent == {"epsilon": 0}
    assert session.remaining() == {"epsilon": Fraction(1, 2)}
    club.write(club.edges[1:])
    with pytest.raises(BudgetError):
        session.ask("triangles", "3/4")  # other data, another answer


def test_node_neighbours(club: Club) -> None:
    session = club.open(f'{GRAPH}neighbors = "node"\ndegree_bound = 20\n{PARTY}').session()
    assert session.plan("edges", 1)["sensitivity"]["value"] == "20"
    assert session.ask("nodes by party", 1).margins["n"][0] > 0
    assert session.ask("triangles", 10).margins["n"] == [None]
    with pytest.raises(QuestionError, match="histogram"):
        session.ask("degree sequence", 1)
    bare = club.open(f'{GRAPH}neighbors = "node"\n{PARTY}').session()
    with pytest.raises(PolicyError, match="bound"):
        bare.ask("edges", 1)


def test_rho_and_plans(club: Club) -> None:
    session = club.open(privacy="rho = 1").session()
    plan = session.plan("degrees to 5", rho="1/2")
    assert plan["mechanism"] == "gaussian"
    assert plan["margins"]["n"] > 0
    assert session.ask("degrees to 5", rho="1/2").spent["rho"] == Fraction(1, 2)
    assert session.plan("nodes by party", rho=1)["margins"]["n"] == 0
    with pytest.raises(QuestionError):
        session.ask("triangles", rho="1/4")


@pytest.mark.parametrize(
    "wrong", ["", "wedges", "0-stars", "edges within nothing", "degrees to 0", "in-degrees to 3"]
)
def test_what_cannot_be_asked_costs_nothing(club: Club, wrong: str) -> None:
    session = club.open().session()
    with pytest.raises(QuestionError):
        session.ask(wrong, 1)
    with pytest.raises(QuestionError):
        session.ask("edges")
    with pytest.raises(QuestionError):
        session.ask("edges", 1, confidence=2)
    assert session.remaining() == {"epsilon": 1000}


@pytest.mark.parametrize(
    ("graph", "word"),
    [
        ("[graph]\nnodes = 'n.csv'\n", "edges"),
        ("[graph]\nedges = 'e.csv'\n", "nodes or ids"),
        ("[graph]\nedges = 'e.csv'\nids = [5, 1]\n", "ids"),
        ("[graph]\nedges = 'e.csv'\nids = [0, 9]\nneighbors = 'friend'\n", "neighbors"),
        ("[graph]\nedges = 'e.csv'\nids = [0, 9]\ndegree_bound = 0\n", "degree_bound"),
        ("[graph]\nedges = 'e.csv'\nids = [0, 9]\ndirected = 1\n", "directed"),
        ("[graph]\nedges = 'e.csv'\nids = [0, 9]\nsource = true\n", "source"),
        ("[graph]\nedges = 'e.csv'\nids = [0, 9]\nweights = 1\n", "weights"),
        (GRAPH + "[graph.attributes.party]\ncolumn = 1\n", "values"),
        ("[graph]\nedges = 'e.csv'\nids = [0, 9]\n" + PARTY, "file of nodes"),
    ],
)
def test_policies_that_are_wrong(club: Club, graph: str, word: str) -> None:
    with pytest.raises(PolicyError, match=word):
        club.open(graph)


def test_files_that_are_not_there_are_missed_before_anything_is_paid(club: Club) -> None:
    with pytest.raises(PolicyError, match="no file"):
        club.open('[graph]\nedges = "nowhere.csv"\nids = [0, 9]\n')


def test_a_range_of_ids_and_an_empty_graph(club: Club) -> None:
    club.write([])
    session = club.open('[graph]\nedges = "edges.txt"\nids = [0, 39]\n').session()
    assert abs(session.ask("edges", 50).rows[0][0]) <= 2
    assert abs(session.ask("triangles", 50).rows[0][0]) <= 5


def test_analysts_and_the_door_for_tables(club: Club) -> None:
    network = club.open(GRAPH + PARTY + "[analysts.alice]\nepsilon = 1\n")
    with pytest.raises(NotAllowedError):
        network.session("mallory")
    with pytest.raises(BudgetError):
        network.session("alice").ask("edges", 2)
    with pytest.raises(PolicyError, match="no table"):
        adomnia.open(club.folder / "adomnia.toml")
    assert read_policy(club.folder / "adomnia.toml").graph is not None
    assert network.budget()["data"]["spent"] == "0"


@pytest.mark.parametrize(
    "source",
    [
        "nodes.csv",
        "*.csv",
        "./no?es.[ct]sv",
        ".",
        "**/*.csv",
        "linked.csv",
        "hard.csv",
        "away",
        "away/here/nodes.csv",
        "aw*",
        "spark://local[1]?path={folder}/*.csv",
        "spark://local[1]?path=file://{folder}/nodes.csv",
    ],
)
def test_rows_of_the_table_are_not_public_nodes_by_any_name(tmp_path, source):
    """A pattern, a folder, a link: what is compared is where the bytes lie."""
    (tmp_path / "edges.txt").write_text("1 2\n")
    (tmp_path / "nodes.csv").write_text("id,party\n1,a\n2,b\n")
    (tmp_path / "linked.csv").symlink_to("nodes.csv")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "nodes.csv")
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "here").symlink_to(tmp_path)
    named = source.format(folder=tmp_path)
    data = f'[data]\nsource = "{named}"\ntable = "people"\n'
    attributes = '[attributes.party]\nvalues = ["a", "b"]\n'
    graph = GRAPH + '[graph.attributes.party]\nvalues = ["a", "b"]\n'
    policy = tmp_path / "adomnia.toml"
    policy.write_text(data + "[privacy]\nepsilon = 1\nconfirmed = true\n" + attributes + graph)
    with pytest.raises(PolicyError, match="they would be public"):
        adomnia.open_graph(policy)


def test_other_files_beside_the_table_may_be_public_nodes(tmp_path):
    (tmp_path / "edges.txt").write_text("1 2\n")
    (tmp_path / "nodes.csv").write_text("id,party\n1,a\n2,b\n")
    (tmp_path / "people").mkdir()
    (tmp_path / "people" / "one.csv").write_text("id,party\n1,a\n2,b\n")
    for source in ("people", "people/*.csv", "people/one.csv", "postgresql://nobody@there/x"):
        data = f'[data]\nsource = "{source}"\ntable = "people"\n'
        attributes = '[attributes.party]\nvalues = ["a", "b"]\n'
        policy = tmp_path / "adomnia.toml"
        privacy = "[privacy]\nepsilon = 1\nconfirmed = true\n"
        policy.write_text(data + privacy + attributes + GRAPH)
        for file in tmp_path.glob("adomnia.ledger*"):
            file.unlink()  # it belongs to the source before
        adomnia.open_graph(policy).close()
