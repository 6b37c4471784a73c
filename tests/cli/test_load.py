"""`adomnia load`: when a source is read, what is kept of it, and who is told what."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

COUNT = "SELECT COUNT(*) AS n FROM people"
POLICY = """[data]
source = "people.parquet"
table = "people"
{data}
[privacy]
epsilon = 10000
confirmed = true
[attributes.age]
low = 0
high = 120
"""


def write(folder: Path, ages: list[int]) -> None:
    """The source, put there at once."""
    parquet.write_table(pa.table({"age": ages}), folder / "new")
    os.replace(folder / "new", folder / "people.parquet")


def declare(folder: Path, data: str = "") -> None:
    (folder / "adomnia.toml").write_text(POLICY.format(data=data))


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, [30] * 10)
    declare(tmp_path)
    return tmp_path


def editions(folder: Path, name: str = "adomnia.editions") -> list[int]:
    return sorted(int(path.name[:6]) for path in (folder / name).iterdir() if path.is_dir())


def count(run, *more: str) -> tuple[int, int]:
    """The number of rows, nearly without noise, and the edition."""
    found = run("ask", COUNT, "--epsilon", "60", "--format", "json", *more).json
    return found["rows"][0][0], found["edition"]


def test_the_first_question_loads_and_later_ones_do_not(run, town):
    assert count(run) == (10, 1)
    write(town, [30] * 20)
    assert count(run) == (10, 1)
    os.remove(town / "people.parquet")
    assert count(run) == (10, 1)
    kinds = [e["kind"] for e in run("ledger", "--format", "json").json["entries"]]
    assert kinds.count("edition") == 1


def test_load_makes_the_next_edition_and_says_so(run, town):
    first = run("load", "--format", "json").json
    assert (first["edition"], len(first["digest"])) == (1, 64)
    assert first["at"].endswith("+00:00")
    assert first["seconds"] >= 0
    same = run("load", "--format", "json").json
    assert (same["edition"], same["digest"]) == (2, first["digest"])
    write(town, [30] * 11)
    other = run("load", "--format", "json").json
    assert (other["edition"], other["digest"] == first["digest"]) == (3, False)
    assert count(run) == (11, 3)
    assert "edition 4 of " in run("load").out


def test_two_are_kept_and_recorded_answers_stay(run, town):
    first = run("ask", COUNT, "--epsilon", "60", "--format", "json").json
    for many in (11, 12):
        write(town, [30] * many)
        assert run("load").code == 0
    assert editions(town) == [2, 3]
    assert count(run) == (12, 3)
    entries = run("ledger", "--format", "json").json["entries"]
    paid = [entry for entry in entries if entry["kind"] == "reserved"]
    assert [entry["edition"] for entry in paid] == [1, 3]
    assert paid[0]["receipt"] == first["receipt"]
    assert run("ledger", "--verify").code == 0


def test_how_many_and_where_they_are_kept_is_in_the_policy(run, town):
    declare(town, 'keep = 1\neditions = "elsewhere"')
    for _ in range(3):
        assert run("load").code == 0
    assert editions(town, "elsewhere") == [3]
    assert not (town / "adomnia.editions").exists()


def test_nobody_else_may_read_them(run, town):
    before = os.umask(0)
    try:
        assert run("load").code == 0
    finally:
        os.umask(before)
    paths = [town / "adomnia.editions", *(town / "adomnia.editions").rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in paths if path.name != "lock"} == {
        0
    }


def test_a_source_that_cannot_be_read_leaves_the_last_edition(run, town):
    assert count(run) == (10, 1)
    (town / "people.parquet").write_bytes(b"PAR1 and nothing else")
    assert run("load").code in (2, 5)
    assert editions(town) == [1]
    assert count(run) == (10, 1)


def test_where_there_is_no_ledger_none_is_left_by_a_failed_load(run, town):
    (town / "people.parquet").write_bytes(b"PAR1 and nothing else")
    assert run("load").code in (2, 5)
    assert not (town / "adomnia.ledger").exists()


KILLED = """
import os, signal, sys
from adomnia.cli.main import main
from adomnia.curator.data import editions
from adomnia.engines.duckdb import edition_store
end = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
{fault}
sys.argv = ["adomnia", "load"]
main()
"""
FAULTS = {
    "while it is written": "edition_store._write_durably = end",
    "before its number": "editions.Editions.publish = end",
    "after its number": "edition_store.Path.replace = end",
    "before old ones are erased": "edition_store._FolderWriter.erase = end",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_load_that_is_killed_leaves_an_edition_that_is_whole(run, town, fault):
    """Which one, says the ledger together with the folder; the next load is not disturbed."""
    assert count(run) == (10, 1)
    write(town, [30] * 20)
    ran = subprocess.run([sys.executable, "-c", KILLED.format(fault=FAULTS[fault])], check=False,
                         capture_output=True, cwd=town)  # fmt: skip
    assert ran.returncode == -signal.SIGKILL
    is_new = fault == "before old ones are erased"
    assert count(run) == ((20, 2) if is_new else (10, 1))
    made = run("load", "--format", "json").json
    assert count(run) == (20, made["edition"])
    assert not list((town / "adomnia.editions").glob("unfinished-*"))
    assert len(editions(town)) == 2
    assert run("ledger", "--verify").code == 0


def test_a_new_ledger_does_not_take_the_editions_of_another(run, town):
    assert count(run) == (10, 1)
    for path in town.glob("adomnia.ledger*"):
        path.unlink()
    write(town, [30] * 20)
    assert count(run) == (20, 1)
    assert editions(town) == [1]


def test_another_policy_needs_another_edition(run, town):
    assert count(run) == (10, 1)
    file = town / "adomnia.toml"
    file.write_text(file.read_text().replace("high = 120", "high = 100"))
    assert count(run)[1] == 2
    file.write_text(file.read_text().replace("epsilon = 10000", "epsilon = 9000"))
    assert count(run)[1] == 2  # a budget is nothing that rows are read by


def test_in_place_there_is_nothing_to_load(run, town):
    declare(town, "in_place = true")
    assert count(run) == (10, None)
    ran = run("load")
    assert ran.code == 2
    assert "in_place" in ran.err
    assert not (town / "adomnia.editions").exists()


def test_the_digest_is_told_where_it_is_made_and_nowhere_else(run, town):
    digest = run("load", "--format", "json").json["digest"]
    told = [
        run("ask", COUNT, "--epsilon", "1", "--format", "json").out,
        run("ask", COUNT, "--epsilon", "1").out,
        run("plan", COUNT, "--epsilon", "1", "--format", "json").out,
        run("prior", "add", COUNT, "--format", "json").out,
        run("prior", "list", "--format", "json").out,
        run("budget", "--format", "json").out,
    ]
    assert (
        run(
            "release", "--marginals", "age / 10 AS decade", "--epsilon", "1", "--out", "tables"
        ).code
        == 0
    )
    told += [
        path.read_text()
        for path in (town / "tables").rglob("*")
        if path.suffix in (".json", ".html", ".csv")
    ]
    assert not [text for text in told if digest[:16] in text]
    facts = json.loads((town / "tables" / "release.json").read_text())
    assert facts["edition"] == 1
    assert "edition 1 of the data" in (town / "tables" / "index.html").read_text()
    assert "; edition 1\n" in told[1]
