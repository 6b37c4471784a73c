"""Attempts to get more out of a graph than was paid for: those that work are marked, with why."""

from __future__ import annotations

import gzip
import itertools
import math
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import adomnia
from adomnia.engines.edge_lists import EdgeList, NodeList, read_graph
from adomnia.errors import BudgetError, PolicyError, QuestionError
from adomnia.mechanisms.graphs import ladder, measure
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.events import Free, Laplace, from_json
from adomnia.privacy.graphs import GraphTerms, graph_event, graph_sensitivity
from adomnia.queries.graphs.graph_text import read_question
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
from adomnia.schema.graph import GraphSchema, build, id_keys
from adomnia.schema.sealed import Sealed

# Graphs of a few nodes, and what is told of them if the noise happens to be zero


def schema_of(directed=False, public=True):
    return GraphSchema(directed, {"party": Categories(("a", "b"))}, public)


class Few:
    """Graphs on a few nodes with given keys and groups; a graph is the set of its edges."""

    def __init__(self, schema, keys, codes):
        self.schema, self.keys, self.codes = schema, np.asarray(keys, np.uint64), np.asarray(codes)
        nodes = range(self.keys.size)
        joined = itertools.permutations if schema.directed else itertools.combinations
        self.places = list(joined(nodes, 2))

    def graph(self, edges, gone=None):
        nodes = [node for node in range(self.keys.size) if node != gone]
        number = {node: place for place, node in enumerate(nodes)}
        pairs = [(number[a], number[b]) for a, b in edges if gone not in (a, b)]
        return build(self.schema, self.keys[nodes], {"party": self.codes[nodes]}, pairs)

    def neighbors(self, edges, relation):
        if relation == "edge":
            return [self.graph(edges - {edge}) for edge in edges]
        if not self.schema.public_nodes:
            return [self.graph(edges, node) for node in range(self.keys.size)]
        nodes = range(self.keys.size)
        return [self.graph({e for e in edges if node not in e}) for node in nodes]

    def questions(self, relation):
        sides = ["in", "out"] if self.schema.directed and relation == "edge" else []
        asked = [Edges(), WithinBetween("party"), GroupEdges("party"), NodesByAttribute("party")]
        for side in ["total", *sides]:
            asked += [DegreeHistogram(k, side) for k in (1, 3)]
            asked += [CumulativeDegrees(k, side) for k in (1, 2, 5)]
            if self.schema.public_nodes:
                asked.append(DegreeSequence(side))
        return asked + [Stars(2)] * (relation == "node" and not self.schema.directed)


@pytest.fixture
def without_noise(monkeypatch):
    """The measurement as it runs, all noise zero."""
    monkeypatch.setattr(measure, "add_laplace", lambda exact, scale, bits: unseal(exact))
    monkeypatch.setattr(measure, "add_gaussian", lambda exact, variance, bits: unseal(exact))


def check_loss(few, edges, relation, bound):
    """No neighbour's vector is further away than the scale of the noise pays for."""
    terms = GraphTerms(relation, Fraction(1), None, bound)
    graph, others = few.graph(edges), few.neighbors(edges, relation)
    for question in few.questions(relation):
        event = graph_event(question, few.schema, terms)
        said = graph_sensitivity(question, few.schema, relation, bound)
        here = measure.measure(Sealed(graph), question, terms).values
        for other in others:
            there = measure.measure(Sealed(other), question, terms).values
            apart = np.abs((here - there).astype(np.int64))
            paid = Fraction(0) if isinstance(event, Free) else event.sensitivity
            assert apart.sum() <= paid, (question, edges)
            assert (apart * apart).sum() <= said.l2_squared, (question, edges)


SETTINGS = [("edge", True), ("node", True), ("node", False)]


@pytest.mark.parametrize(("relation", "public"), SETTINGS)
@pytest.mark.parametrize("tied", [False, True])
def test_all_graphs_of_four_nodes(without_noise, relation, public, tied):
    """Through the real measurement, also where every key ties with every other."""
    keys = np.zeros(4, np.uint64) if tied else id_keys(np.arange(4))
    few = Few(schema_of(public=public), keys, [0, 1, 0, -1])
    seen = 0
    for bits in range(1 << len(few.places)):
        edges = {e for place, e in enumerate(few.places) if bits >> place & 1}
        check_loss(few, edges, relation, 1 + bits % 2)
        seen += 1
    assert seen == 64


@pytest.mark.parametrize(("relation", "public"), SETTINGS)
@pytest.mark.parametrize("directed", [False, True])
def test_random_graphs_of_eight_nodes(without_noise, relation, public, directed):
    """Chains of edges that push each other out, with few different keys."""
    chance = np.random.default_rng(11)
    tried = 0
    for density in np.linspace(0.1, 0.9, 10):
        few = Few(schema_of(directed, public), chance.integers(0, 3, 8), chance.integers(-1, 2, 8))
        edges = {e for e in few.places if chance.random() < density}
        check_loss(few, edges, relation, int(chance.integers(1, 4)))
        tried += 1
    assert tried == 10


# Ladders: the law that is really drawn from, with the noisy base beside it


@pytest.fixture
def captured(monkeypatch):
    """What the ladder hands to the exponential mechanism: penalties, how many each, the rate."""
    seen = []

    def choose(penalties, counts, eta, bits):
        seen.append((penalties.tolist(), [int(c) for c in counts], eta))
        return 0

    monkeypatch.setattr(ladder, "choose", choose)
    return seen


class Zeros:
    """Bits that are all zero."""

    def below(self, n):
        return 0


def test_groups_of_candidates_are_those_of_the_definition(captured):
    """Every integer of the range is in the group of its penalty, the truth inside it or not."""
    digits, rungs = 4, [1, 2, 2, 5]
    for truth in (-40, -17, -16, -3, 0, 7, 16, 18, 90):
        captured.clear()
        ladder.draw(truth, rungs, Fraction(1), digits, Zeros())
        [(penalties, counts, eta)] = captured
        ends = np.cumsum([0, *rungs])
        law = np.searchsorted(ends, np.abs(np.arange(-16, 17) - truth), "left")
        expected = {int(p): int((law == p).sum()) for p in np.unique(law)}
        assert dict(zip(penalties, counts, strict=True)) == expected
        assert eta == Fraction(1, 2)


def test_an_answer_and_its_margin_lose_epsilon_together(captured, monkeypatch):
    """All graphs of four nodes, one edge apart: penalties, rate, and the base that is told."""
    bases = []
    monkeypatch.setattr(measure, "sample", lambda scale, n, bits: bases.append(scale) or [0])
    few = Few(schema_of(), id_keys(np.arange(4)), [0, 0, 1, 1])
    epsilon = Fraction(40)  # few rungs

    @cache
    def law(edges, question):
        captured.clear()
        found = measure.measure(Sealed(few.graph(edges)), question, GraphTerms("edge", epsilon))
        truth = int(measure.count(few.graph(edges), question)[0])
        penalties, counts, eta = captured[0]
        ends, near = np.cumsum(counts), np.arange(-60, 61)
        order = 2 * np.abs(near - truth)  # a rung holds as many above as below
        return np.array(penalties)[np.searchsorted(ends, order, "right")], eta, found.noise.base

    worst = 0
    for question in (Triangles(), Stars(2), Stars(3)):
        for size in range(7):
            for edges in map(frozenset, itertools.combinations(few.places, size)):
                for edge in edges:
                    mine, eta, base = law(edges, question)
                    theirs, _, other = law(edges - {edge}, question)
                    moved = int(np.abs(mine - theirs).max())
                    loss = 2 * eta * moved + Fraction(abs(base - other)) / bases[0]
                    worst = max(worst, loss)
    assert set(bases) == {5 / epsilon}
    assert worst <= epsilon
    assert worst > epsilon / 2


# The files: one line is one edge at most, whatever is in it

PLAIN = GraphSchema(public_nodes=True)
TEN = NodeList(ids=(0, 9))
GOOD = ["0 1", "1 2", "2 0", "9 3"]
ODD = ["", " ", "#", "# 4 5", "% 4 5", '"', '"4" "5', "4", "4 5 6 7", "4\t5", "4,5", "5 5", "1 0",
       "99999999999999999999 1", "-1 2", "1.0 2", "1e1 2", "from to", "id,party", "\x00", "4\r5",
       "4\x0b5", "x" * 200_000, '"' + "9" * 200_000 + '" 1', "\udcff\udcfe 1", "+4 05",
       "4 5 # 6"]  # fmt: skip


def edges_of(path, nodes=TEN, schema=PLAIN, columns=(0, 1)):
    found = unseal(read_graph(EdgeList(path, *columns), nodes, schema)).edges
    return {tuple(edge) for edge in found.tolist()}


@pytest.mark.parametrize("name", ["e.txt", "e.csv", "e.tsv", "e.txt.gz", "named.csv"])
def test_a_line_more_is_an_edge_more_at_most(tmp_path, name):
    """At the top, in the middle, at the end; nothing that a line holds is an error."""
    sign = {"csv": ",", "tsv": "\t"}.get(name.removesuffix(".gz").rpartition(".")[2], " ")
    good = [line.replace(" ", sign) for line in GOOD]
    head, columns = (["from,to"], ("from", "to")) if name == "named.csv" else ([], (0, 1))

    def read(lines):
        data = "\n".join(head + lines).encode("utf-8", "surrogateescape")
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        return edges_of(path, columns=columns)

    whole = read(good)
    assert len(whole) == 4
    for odd in [*ODD, *(line.replace(" ", sign) for line in ODD)]:
        for place in (0, 2, 4):
            found = read([*good[:place], odd, *good[place:]])
            assert found >= whole
            assert len(found) <= 5
    for place in range(4):
        assert whole - read(good[:place] + good[place + 1 :]) <= whole


def test_a_record_over_several_lines_is_several_rows(tmp_path):
    """By design, as a quote must not swallow the lines after it; so the unit is the line."""
    path = tmp_path / "e.csv"
    path.write_text('0,1,"a"\n2,3,"hello\n4,5\nbye"\n')
    assert edges_of(path) == {(0, 1), (2, 3), (4, 5)}


def test_typed_columns_with_odd_values(tmp_path):
    path = tmp_path / "e.parquet"
    whole = [1.0, float("nan"), float("inf"), 1e300, None, 2.5, -0.0]
    pq.write_table(pa.table({"s": whole, "t": pa.array(range(2, 9), pa.uint64())}), path)
    assert edges_of(path) == {(1, 2), (0, 8)}
    pq.write_table(pa.table({"s": pa.array([[1], None]), "t": pa.array([True, None])}), path)
    assert edges_of(path) == set()


def test_a_mark_in_the_second_line_does_not_wait_for_the_first_to_go(tmp_path):
    path = tmp_path / "e.txt"
    path.write_text("0 1\n\ufeff2 3\n4 5\n")
    whole = edges_of(path)
    path.write_text("\ufeff2 3\n4 5\n")
    assert whole ^ edges_of(path) <= {(0, 1)}


def strings(values):
    """A column of text that nobody checked."""
    raw = pa.array(values, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())


def test_text_of_parquet_that_is_no_text_is_left_out(tmp_path):
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"s": strings([b"0", b"1", b"\xff"]), "t": ["1", "2", "3"]}), path)
    assert edges_of(path) == {(0, 1), (1, 2)}


def test_a_date_of_one_node_that_python_does_not_know_is_of_no_group(tmp_path):
    edges, nodes = tmp_path / "e.txt", tmp_path / "n.parquet"
    edges.write_text("0 1\n")
    days = pa.array([1, 2, 2**31 - 1], pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"id": [0, 1, 2], "born": days}), nodes)
    schema = GraphSchema(False, {"born": Categories(("1970-01-02", "1970-01-03"))})
    listed = NodeList(path=nodes, key="id", attributes={"born": "born"})
    assert unseal(read_graph(EdgeList(edges), listed, schema)).codes["born"].tolist() == [0, 1, 2]


# The ledger


class Club:
    """Forty people, a few friendships, and a policy beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.opened = folder, []
        self.write("0 1\n1 2\n0 2\n2 3\n")
        people = "".join(f"{i},{'ab'[i % 2]}\n" for i in range(40))
        (folder / "people.csv").write_text("id,party\n" + people)

    def write(self, edges: str) -> None:
        (self.folder / "e.txt").write_text(edges)

    def policy(self, graph="", privacy="epsilon = 10", more="") -> Path:
        path = self.folder / "adomnia.toml"
        path.write_text(
            f"[privacy]\nconfirmed = true\n{privacy}\n{more}\n[graph]\nedges = 'e.txt'\n"
            f"nodes = 'people.csv'\nkey = 'id'\n{graph}\n"
            "[graph.attributes.party]\nvalues = ['a', 'b']\n"
        )
        return path

    def open(self, *parts, **named):
        network = adomnia.open_graph(self.policy(*parts, **named))
        self.opened.append(network)
        return network


@pytest.fixture
def club(tmp_path):
    made = Club(tmp_path)
    yield made
    for network in made.opened:
        network.close()


NODE = "neighbors = 'node'\ndegree_bound = 3"
TABLE = "[data]\nsource = 'people.csv'\n[attributes.party]\nvalues = ['a', 'b']"
BY_PARTY = "SELECT party, COUNT(*) AS n FROM people GROUP BY party"


def test_the_debit_is_there_before_the_files_are_read(club, monkeypatch):
    network = club.open()
    spent = []

    def read(*parts):
        spent.append(network.budget()["data"]["spent"])
        raise ValueError("0 1")

    monkeypatch.setattr("adomnia.curator.networks.graph_backend.read_graph", read)
    for _ in range(2):  # what was not answered is paid again
        with pytest.raises(adomnia.errors.MachineryError) as caught:
            network.session().ask("edges", 1)
        assert "0 1" not in str(caught.value)
        assert caught.value.__cause__ is None
    assert spent == ["1", "2"]


def test_two_requests_that_overlap_are_two_payments(club, monkeypatch):
    one, other = club.open(), club.open()
    real = measure.measure

    def slow(*parts):
        monkeypatch.setattr("adomnia.mechanisms.graphs.statistic.measure", real)
        other.session().ask("edges", 1)
        return real(*parts)

    monkeypatch.setattr("adomnia.mechanisms.graphs.statistic.measure", slow)
    one.session().ask("edges", 1)
    assert one.budget()["data"]["spent"] == "2"


RACE = """
import sys, adomnia
with adomnia.open_graph(sys.argv[1]) as network:
    session = network.session()
    for i in range(8):
        try:
            print(session.ask("edges", 1, key=f"{sys.argv[2]} {i}").spent["epsilon"])
        except adomnia.errors.BudgetError:
            print("refused")
"""


def test_two_processes_share_one_budget(club):
    path = club.policy(privacy="epsilon = 5")
    runs = [
        subprocess.Popen([sys.executable, "-c", RACE, str(path), name], stdout=subprocess.PIPE)
        for name in "ab"
    ]
    said = [line for run in runs for line in run.communicate(timeout=300)[0].split()]
    assert said.count(b"1") == 5
    assert said.count(b"refused") == 11


def test_nothing_of_an_answer_but_its_numbers_follows_the_nodes(club):
    """Node neighbours: with ten people less every answer has the same rows and margins."""
    shapes = []
    asked = ("edges", "degrees to 4", "cumulative degrees to 4", "nodes by party", "edges by party",
             "edges within party", "triangles", "2-stars")  # fmt: skip
    for people in (40, 30, 0):
        lines = "".join(f"{i},{'ab'[i % 2]}\n" for i in range(people))
        (club.folder / "people.csv").write_text("id,party\n" + lines)
        session = club.open(NODE, privacy="epsilon = 100").session()
        found = [session.ask(question, 1) for question in asked]
        shapes.append(
            [(a.columns, [row[:-1] for row in a.rows], a.margins, a.notes, a.spent) for a in found]
        )
        with pytest.raises(QuestionError):
            session.ask("degree sequence", 1)
    assert shapes[0] == shapes[1] == shapes[2]


def test_a_key_is_of_one_question_in_table_and_graph(club):
    network = club.open(NODE, more=TABLE)
    network.session().ask("edges", 1, key="k")
    with adomnia.open(club.folder / "adomnia.toml") as database:
        with pytest.raises(QuestionError, match="another question"):
            database.session().ask(BY_PARTY, 1, key="k")
        assert database.session().ask(BY_PARTY, 2).spent["epsilon"] == 2
    with pytest.raises(QuestionError, match="another question"):
        network.session().ask("edges", 2, key="k")
    assert network.budget()["data"]["spent"] == "3"


def test_an_analyst_cannot_spend_in_the_graph_what_the_table_took(club):
    network = club.open(NODE, more=TABLE + "\n[analysts.alice]\nepsilon = 1")
    with adomnia.open(club.folder / "adomnia.toml") as database:
        database.session("alice").ask(BY_PARTY, "1/2")
    with pytest.raises(BudgetError):
        network.session("alice").ask("edges", "3/4")
    assert network.session("alice").ask("edges", "1/2").remaining["epsilon"] == 0


def test_a_group_that_the_policy_protects_is_protected_in_the_graph(club):
    """`group = 3` hides any three together; noise for one edge gives three times as much away."""
    try:
        network = club.open(privacy="epsilon = 10\ngroup = 3")
    except PolicyError:
        return  # to refuse it is right too
    paid = network.session().ask("edges", 1).spent["epsilon"]
    used = next(entry for entry in network.ledger() if entry.kind == "reserved")
    event = from_json(used.body["event"])
    assert isinstance(event, Laplace)
    assert paid >= 3 * event.epsilon / event.sensitivity


@pytest.mark.parametrize("declared", [False, True])
def test_an_exact_release_costs_a_graph_the_same_before_and_after(club, declared):
    """The nodes are the rows of the table: with their numbers public, two of them move at once.

    LossRequest before the release, the question is re-priced to 2; asked after it, it costs 1.
    """
    prior = f'\n[[prior]]\nsql = "{BY_PARTY}"' if declared else ""
    path = club.policy(NODE, more=TABLE + prior)
    if not declared:
        with adomnia.open(path) as database:
            database.add_prior(BY_PARTY)
    try:
        network = club.open(NODE, more=TABLE + prior)
        network.session().ask("nodes by party", 1)
    except (PolicyError, QuestionError):
        return  # to refuse it is right too
    assert network.budget()["data"]["spent"] == "2"


def test_an_exact_release_reprices_what_was_asked_of_the_graph(club):
    network = club.open(NODE, more=TABLE)
    network.session().ask("nodes by party", 1)
    with adomnia.open(club.folder / "adomnia.toml") as database:
        database.add_prior(BY_PARTY)
    assert network.budget()["data"]["spent"] == "2"


@pytest.mark.parametrize("question", ["nodes by party", "degree sequence"])
def test_a_file_is_not_private_and_public_at_once(club, question):
    """What costs epsilon in SQL is exact, or counted out, in the graph."""
    try:
        network = club.open("neighbors = 'edge'", more=TABLE)
        rows = network.session().ask(question, "1/1000").rows
    except (PolicyError, QuestionError):
        return
    exact = len(rows) == 40 or rows[:2] == [("a", 20), ("b", 20)]
    assert not exact


def test_another_file_is_another_answer(club):
    network = club.open(privacy="epsilon = 1000")
    assert network.session().ask("edges", 200).rows == [(4,)]
    club.write("".join(f"{a} {b}\n" for a in range(4) for b in range(a)))
    assert network.session().ask("edges", 200).rows == [(6,)]


@pytest.mark.parametrize("question", ["degree sequence", "cumulative degrees to 3"])
def test_the_smallest_epsilon_is_answered_or_refused_before_it_is_paid(club, question):
    network = club.open()
    try:
        rows = network.session().ask(question, "1e-320").rows
    except QuestionError:
        assert network.budget()["data"]["spent"] == "0"
    else:
        assert all(math.isfinite(row[-1]) for row in rows)


def test_letters_that_look_like_others_are_no_question():
    for text in ("ın-degrees to 3", "İn-degrees to 3", "cumulative ın-degrees to 3"):
        with pytest.raises(QuestionError):
            read_question(text)
