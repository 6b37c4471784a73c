"""Graphs from files: every form, everything that can be wrong with a row, and silence about it."""

from __future__ import annotations

import gzip
import time
import traceback

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.engines.edge_lists import EdgeList, NodeList, read_graph
from adomnia.errors import PolicyError, QuestionError
from adomnia.mechanisms.unseal import unseal
from adomnia.schema.domain import Categories
from adomnia.schema.graph import GraphSchema

SECRET = "Xq7SECRETz"
PLAIN = GraphSchema(public_nodes=True)
PARTY = GraphSchema(False, {"party": Categories((0, 1)), "town": Categories(("Ulm",), other="o")})
TEN = NodeList(ids=(0, 9))
PAIRS = [[0, 1], [0, 2], [1, 2], [3, 9]]


def write(path, text):
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def edges_of(edges, nodes=TEN, schema=PLAIN):
    return unseal(read_graph(edges, nodes, schema)).edges.tolist()


TEXT = "# a comment\n0 1\n1\t2\n% another\n2   0\n\n 9 3 17.5\n"
FORMS = {
    "snap.txt": TEXT,
    "snap.edges.gz": TEXT,
    "rows.csv": "0,1\n1,2\n2,0\n9,3,more\n",
    "rows.tsv.gz": "0\t1\n1\t2\n2\t0\n9\t3\n",
    "windows.txt": TEXT.replace("\n", "\r\n"),
    "marked.csv": "\ufeff0,1\n1,2\n2,0\n9,3",
    "quoted.csv": '"0","1"\n1,"2"\n"2",0\n9,3\n',
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_without_names(name, tmp_path):
    assert edges_of(EdgeList(write(tmp_path / name, FORMS[name]))) == PAIRS


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_named_columns(sign, tmp_path):
    lines = ["w,from,to", "5,0,1", "5,1,2", "5,2,0", "5,9,3"]
    path = write(tmp_path / "e.csv", "\n".join(lines).replace(",", sign))
    assert edges_of(EdgeList(path, "from", "to")) == PAIRS


@pytest.mark.parametrize("kind", [pa.int64(), pa.int32(), pa.string(), pa.float64()], ids=str)
def test_parquet(kind, tmp_path):
    source = pa.array([0, 1, 2, 9, None], pa.int64()).cast(pa.float64()).cast(pa.int64())
    table = pa.table({"from": source.cast(kind), "to": pa.array([1, 2, 0, 3, 4]).cast(kind)})
    path = tmp_path / "e.parquet"
    pq.write_table(table, path)
    assert edges_of(EdgeList(path, "from", "to")) == PAIRS
    assert edges_of(EdgeList(path)) == PAIRS


def test_rows_that_are_no_edges_are_left_out(tmp_path):
    rows = ["0 1", "0 0", "1 0", "5", "-1 2", "3 10", "x 1", "1_0 2", "07 +8", "1e1 2", "٣ 4",
            "99999999999999999999 1", f"{SECRET} {SECRET}", '"unclosed 3', "\x00 1"]  # fmt: skip
    path = write(tmp_path / "e.txt", "\n".join(rows).encode() + b"\n\xff\xfe 1\n")
    assert edges_of(EdgeList(path)) == [[0, 1], [7, 8]]
    directed = edges_of(EdgeList(path), schema=GraphSchema(True, public_nodes=True))
    assert directed == [[0, 1], [1, 0], [7, 8]]


def test_a_row_changes_no_other(tmp_path):
    """Whatever one row holds, the others are the edges that they were."""
    good = ["0,1", "1,2", "2,0", "9,3"]
    for bad in ('"', '"0,5\n', "\xff", "5," + "x" * 200_000, '4,"5' + "y" * 200_000, "#", ",,,,"):
        text = "\n".join([*good[:2], bad, *good[2:]]).encode("latin-1")
        assert edges_of(EdgeList(write(tmp_path / "e.csv", text))) == PAIRS


def test_negative_ids_may_be_declared(tmp_path):
    path = write(tmp_path / "e.txt", "-2 -1\n-3 0\n0 -2\n")
    assert edges_of(EdgeList(path), NodeList(ids=(-2, 0))) == [[0, 1], [0, 2]]


def test_nodes_with_attributes(tmp_path):
    nodes = write(
        tmp_path / "n.csv", "id,town,party\n7,Ulm,0\nb,Bonn,1\n007,Ulm,1\nc,,9\nd\n,Ulm,0\n"
    )
    path = write(tmp_path / "e.txt", "7 b\nb c\nc zz\n07 d\n")
    listed = NodeList(path=nodes, key="id", attributes={"party": "party", "town": "town"})
    graph = unseal(read_graph(EdgeList(path), listed, PARTY))
    assert graph.nodes == 4
    assert graph.edges.tolist() == [[0, 1], [0, 3], [1, 2]]
    assert graph.codes["party"].tolist() == [0, 1, 2, 2]
    assert graph.codes["town"].tolist() == [0, 1, 1, 1]
    assert len(set(graph.keys.tolist())) == 4


def test_a_node_less_leaves_the_keys_of_others(tmp_path):
    """What the order of edges rests on with node neighbours."""
    path = write(tmp_path / "e.txt", "a b\nb c\n")

    def keys(names):
        nodes = write(tmp_path / "n.txt", "\n".join(names))
        return unseal(read_graph(EdgeList(path), NodeList(path=nodes), PLAIN)).keys.tolist()

    whole = keys(["a", "b", "c", "d"])
    assert keys(["d", "c", "a"]) == [whole[0], whole[2], whole[3]]


def test_truth_values(tmp_path):
    schema = GraphSchema(False, {"new": Categories((False, True))})
    nodes = write(tmp_path / "n.txt", "1 true\n2 False\n3 no\n")
    listed = NodeList(path=nodes, attributes={"new": 1})
    graph = unseal(read_graph(EdgeList(write(tmp_path / "e.txt", "")), listed, schema))
    assert graph.codes["new"].tolist() == [1, 0, 2]
    assert graph.edges.shape == (0, 2)


def test_empty_files(tmp_path):
    for name in ("e.txt", "e.csv", "e.txt.gz"):
        assert edges_of(EdgeList(write(tmp_path / name, ""))) == []
    nothing = unseal(read_graph(EdgeList(tmp_path / "e.txt"), NodeList(ids=(0, -1)), PLAIN))
    assert nothing.nodes == 0


def silent(error, capfd):
    assert error.__cause__ is None
    assert error.__context__ is None
    said = "".join(traceback.format_exception(error)) + "".join(capfd.readouterr())
    assert SECRET not in said


BROKEN = {
    "e.txt.gz": f"0 1\n{SECRET}",  # said to be compressed, and is not
    "e.parquet": f"PAR1{SECRET}PAR1",
    "e.pq": SECRET,
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_read_says_nothing(name, tmp_path, capfd):
    path = tmp_path / name
    path.write_text(BROKEN[name])
    with pytest.raises(PolicyError) as caught:
        read_graph(EdgeList(path), TEN, PLAIN)
    silent(caught.value, capfd)


def test_wrong_declarations(tmp_path, capfd):
    path = write(tmp_path / "e.csv", f"from,to\n{SECRET},1\n")
    wrong = [
        lambda: read_graph(EdgeList(tmp_path / "none.csv"), TEN, PLAIN),
        lambda: read_graph(EdgeList(tmp_path), TEN, PLAIN),
        lambda: read_graph(EdgeList(path, "from", "nowhere"), TEN, PLAIN),
        lambda: read_graph(EdgeList(path, "from", 1), TEN, PLAIN),
        lambda: read_graph(EdgeList(path, -1, 0), TEN, PLAIN),
        lambda: read_graph(EdgeList(path), TEN, GraphSchema()),
        NodeList,
        lambda: NodeList(ids=(0, 3), path=path),
        lambda: NodeList(ids=(5, 0)),
        lambda: NodeList(ids=(0, 10**12)),
        lambda: NodeList(ids=(10**30, 10**30 + 1)),
    ]
    for declare in wrong:
        with pytest.raises(PolicyError) as caught:
            declare()
        silent(caught.value, capfd)
    with pytest.raises(QuestionError, match="no attribute"):
        read_graph(EdgeList(path), NodeList(path=path, attributes={"age": 1}), PLAIN)


def test_many_edges_are_read_quickly(tmp_path):
    pairs = np.random.default_rng(1).integers(0, 10**4, (10**5, 2))
    path = tmp_path / "e.txt"
    path.write_text("\n".join(f"{left} {right}" for left, right in pairs.tolist()))
    begun = time.process_time()
    graph = unseal(read_graph(EdgeList(path), NodeList(ids=(0, 10**4 - 1)), PLAIN))
    assert time.process_time() - begun < 60
    expected = {tuple(sorted(pair)) for pair in pairs.tolist() if pair[0] != pair[1]}
    assert {*map(tuple, graph.edges.tolist())} == expected
