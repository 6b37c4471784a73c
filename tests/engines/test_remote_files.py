"""Parquet at an address: read by ranges, of one state of the file, and without telling who asks."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import adomnia
from adomnia.curator.ledger_view import dataset_of
from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.web_ranges import WebFile
from adomnia.errors import AdomniaError, MachineryError, PolicyError
from adomnia.review.drafts.draft import draft_policy
from adomnia.storage.file_address import shown_file_address
from tests.engines.web_server import serving

SECRET = "s3cr3tPassw0rd"


@pytest.fixture
def shelf():
    with serving() as made:
        yield made


def people(rows=5000, groups=5):
    """A Parquet file of several groups of rows, as bytes."""
    table = pa.table({
        "sex": np.array(["F", "M"])[np.arange(rows) % 2],
        "age": np.arange(rows) % 90,
        "note": [f"n{i}" * 5 for i in range(rows)],
    })  # fmt: skip
    out = io.BytesIO()
    pq.write_table(table, out, row_group_size=rows // groups, compression="none")
    return out.getvalue()


def rows_of(url):
    engine = DuckDB(url, "people", {})
    try:
        return engine._connection.execute("SELECT * FROM copied.adomnia_rows").fetchall()
    finally:
        engine.close()


def test_a_file_is_read_as_if_it_were_here(shelf, tmp_path):
    content = people()
    (tmp_path / "people.parquet").write_bytes(content)
    url = shelf.put("/year=2020/people.parquet", content)
    here = rows_of(tmp_path / "people.parquet")
    assert rows_of(url) == [(*row, "2020") for row in here]
    assert all("Range" in headers for _, headers in shelf.asked)
    assert len(shelf.asked) < 40


def test_a_policy_loads_it_and_is_asked(shelf, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shelf.password = f"me:{SECRET}"
    place = shelf.put("/people.parquet", people(400, 1)).replace("http://", f"http://me:{SECRET}@")
    made = draft_policy(f"{place}?token={SECRET}", "adomnia.toml")
    assert made.table == "people"
    (tmp_path / "adomnia.toml").write_text(made.text.replace("confirmed = false",
                                                             "confirmed = true"))  # fmt: skip
    with adomnia.open("adomnia.toml") as database:
        answer = database.session().ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex",
                                        epsilon=1)  # fmt: skip
        assert SECRET not in str(dataset_of(database.policy))
    assert {row[0] for row in answer.rows} == {"F", "M"}
    asked = len(shelf.asked)
    with adomnia.open("adomnia.toml") as database:  # an edition is there: nothing is read anew
        database.session().ask("SELECT COUNT(*) FROM people", epsilon="0.1")
    assert len(shelf.asked) == asked
    kept = b"".join(
        f.read_bytes() for f in tmp_path.rglob("*") if f.is_file() and f.suffix != ".toml"
    )
    assert SECRET.encode() not in kept


def test_a_file_that_changes_while_it_is_read_is_not_taken(shelf):
    url = shelf.put("/people.parquet", people())
    rows_of(url)
    for after in range(2, len(shelf.asked)):
        shelf.files["/people.parquet"], shelf.asked[:] = people(), []
        shelf.change_after = after
        with pytest.raises(MachineryError, match="changed while it was read"):
            rows_of(url)
        shelf.change_after = None


def test_a_changed_size_is_seen_without_a_tag(shelf):
    shelf.tags = False
    url = shelf.put("/people.parquet", people())
    with WebFile(url) as opened:
        opened.read(10)
        shelf.files["/people.parquet"] += b"x"
        with pytest.raises(MachineryError, match="changed"):
            opened.read(10)


@pytest.mark.parametrize("way", ["nothing", "ranges", "password", "unreachable", "no parquet"])
def test_what_cannot_be_read_is_told_without_a_secret(shelf, way):
    place = shelf.put("/people.parquet", people(100, 1) if way != "no parquet" else b"x" * 500)
    shelf.ranges = way != "ranges"
    shelf.password = "somebody:else" if way == "password" else None
    place = place.replace("people", "nobody") if way == "nothing" else place
    place = "http://127.0.0.1:1/people.parquet" if way == "unreachable" else place
    url = place.replace("http://", f"http://me:{SECRET}@") + f"?sig={SECRET}"
    with pytest.raises(AdomniaError) as caught:
        rows_of(url)
    told = f"{caught.value} {caught.value.__context__!r} {caught.value.__cause__!r}"
    assert SECRET not in told
    assert "secret" not in told
    known = {"nothing": "404", "ranges": "no parts", "password": "401",
             "unreachable": "cannot be reached", "no parquet": "cannot be read"}  # fmt: skip
    assert known[way] in str(caught.value)


def test_a_connection_that_breaks_is_made_anew(shelf):
    url = shelf.put("/people.parquet", people(100, 1))
    with WebFile(url) as opened:
        shelf.broken = 2
        assert opened.read(4) == b"PAR1"
        shelf.broken = 9
        with pytest.raises(MachineryError, match="cannot be reached"):
            opened.read(4)


def test_who_asks_is_not_told_to_another_host(shelf):
    with serving() as other:
        shelf.moved["/people.parquet"] = other.put("/there.parquet", people(100, 1))
        url = f"{shelf.url}/people.parquet".replace("http://", f"http://me:{SECRET}@")
        assert len(rows_of(url)) == 100
        assert all("Authorization" in headers for _, headers in shelf.asked)
        assert all("Authorization" not in headers for _, headers in other.asked)


def test_it_is_not_sent_on_for_ever_or_to_a_file(shelf):
    shelf.moved["/a.parquet"] = "/a.parquet"
    shelf.moved["/b.parquet"] = "file:///etc/passwd"
    for name in ("a", "b"):
        with pytest.raises(PolicyError, match="sent on"):
            rows_of(f"{shelf.url}/{name}.parquet")


def test_only_parquet_is_read_at_an_address(shelf):
    with pytest.raises(PolicyError, match="no Parquet file"):
        rows_of(shelf.put("/people.csv", b"a\n1\n"))


def test_an_object_store_is_read_by_arrow(shelf, monkeypatch):
    shelf.put("/bucket/people.parquet", people(300, 2))
    place = shelf.url.partition("://")[2]
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    url = f"s3://key:{SECRET}@bucket/people.parquet?scheme=http&endpoint_override={place}&region=x"
    assert len(rows_of(url)) == 300
    with pytest.raises(AdomniaError) as caught:
        rows_of(url.replace("people", "nobody"))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(("url", "shown"), [
    ("https://h.example/a/b.parquet?x=1#y", "https://h.example/a/b.parquet"),
    ("https://a:b@h.example:8443/p.parquet", "https://h.example:8443/p.parquet"),
    ("https://a:b/c@h/p.parquet", "https://…"), ("https://a b/p.parquet", "https://…"),
    ("https://[::1]:80/p.parquet", "https://[::1]:80/p.parquet"),
    ("https://[::1/p.parquet", "https://…"), ("HTTPS://H/p", "https://H/p"),
    ("s3://k:s@bucket/p.parquet", "s3://bucket/p.parquet"), ("https://", "https://…"),
    ("https://h/p@q.parquet", "https://…"), ("https://a:#b@h/p.parquet", "https://…"),
])  # fmt: skip
def test_what_is_shown_of_an_address(url, shown):
    assert shown_file_address(url) == shown
