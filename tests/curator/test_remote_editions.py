"""The whole way on servers: a load, what changes after it, what fails, what is read in place."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from uuid import uuid4

import duckdb
import psycopg
import pytest
from people_policy import people_policy

sys.path.insert(0, str(Path(__file__).parents[1]))

import adomnia
from adomnia.cli.main import main
from adomnia.curator.data.editions import Editions
from adomnia.policy.policy import read_policy
from adomnia.review.rehearsal import rehearsal
from tests import postgres_server, spark_session

COUNT = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
ROWS = "SELECT CASE WHEN i % 4 = 0 THEN 'F' ELSE 'M' END AS sex, i AS age, 'x' AS note FROM"


class Server:
    """A table in a database of its own."""

    def __init__(self, folder):
        self.server, self.name = postgres_server.shared(), f"people_{uuid4().hex}"
        self.server.execute(f"CREATE DATABASE {self.name}")
        self.server.execute(
            f"CREATE ROLE {self.name} LOGIN; CREATE TABLE people (sex text, age int, note text);"
            f"GRANT SELECT ON people TO {self.name};"
            f"CREATE SCHEMA adomnia_editions AUTHORIZATION {self.name}",
            self.name,
        )
        self.source = self.server.url(self.name, self.name)

    def fill(self, rows):
        self.server.execute(
            f"TRUNCATE people; INSERT INTO people {ROWS} generate_series(0, {rows} - 1) t(i)",
            self.name,
        )

    def kept(self):
        """The numbers of the editions that are there."""
        with psycopg.connect(self.server.url(self.name)) as owner:
            found = owner.execute(
                "SELECT relname FROM pg_class WHERE relkind = 'r' "
                "AND relnamespace = 'adomnia_editions'::regnamespace"
            ).fetchall()
        return sorted({int(name.split("_")[0]) for (name,) in found})

    def close(self):
        self.server.execute(f"DROP DATABASE {self.name} WITH (FORCE); DROP ROLE {self.name}")


class Cluster:
    """A Parquet file that Spark reads."""

    def __init__(self, folder):
        spark_session.shared()
        self.folder, self.path = folder, folder / "people.parquet"
        self.source = f"{spark_session.ADDRESS}?path={self.path}"

    def fill(self, rows):
        duckdb.execute(f"COPY ({ROWS} range({rows}) t(i)) TO '{self.path}' (FORMAT parquet)")

    def kept(self):
        names = os.listdir(self.folder / "adomnia.editions")
        return sorted(int(name.split("_")[0]) for name in names if name != "lock")

    def close(self):
        pass


@pytest.fixture(params=[Server, Cluster], ids=["postgres", "spark"])
def place(request, tmp_path, monkeypatch):
    """A source of 40 rows."""
    monkeypatch.chdir(tmp_path)
    made = request.param(tmp_path)
    made.fill(40)
    write(made)
    yield made
    made.close()


def write(place, more=""):
    Path("adomnia.toml").write_text(people_policy(place.source, data=more), "utf-8")


def run(*words):
    """What a verb says to a program, and its exit code."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main([*words, "--format", "json"]) or 0
        except SystemExit as end:
            code = int(end.code or 0)
    return code, json.loads(out.getvalue()) if code == 0 else out.getvalue() + err.getvalue()


def test_an_edition_answers_until_the_next_load(place):
    with adomnia.open("adomnia.toml") as db:
        alice = db.session()
        first = alice.ask(COUNT, epsilon=50)
        assert (first.rows, first.edition) == ([("F", 10), ("M", 30)], 1)
        place.fill(80)
        assert alice.ask(COUNT, epsilon=50).spent["epsilon"] == 0  # the same data, and answer
        code, loaded = run("load")  # by somebody else
        assert (code, loaded["edition"]) == (0, 2)
        later = alice.ask(COUNT, epsilon=50)
        assert (later.rows, later.edition) == ([("F", 20), ("M", 60)], 2)
        assert db.load().number == 3
        assert place.kept() == [2, 3]
    with adomnia.open("adomnia.toml") as db:
        assert db.edition.number == 3
        assert db.edition.digest == db.load().digest


def test_a_load_that_ends_in_the_middle_leaves_the_last_edition(place, monkeypatch):
    with adomnia.open("adomnia.toml") as db:
        db.session().ask(COUNT, epsilon=50)
    place.fill(80)

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Editions, "publish", crash)
        assert run("load")[0] == 130
    with adomnia.open("adomnia.toml") as db:
        assert db.edition.number == 1
        assert db.session().ask(COUNT, epsilon=50).spent["epsilon"] == 0
    assert place.kept() == [1]


def test_an_edition_that_the_ledger_has_and_the_store_has_not_is_passed_over(place, monkeypatch):
    with adomnia.open("adomnia.toml"):
        pass
    editions = Editions(read_policy("adomnia.toml"))
    with editions.alone() as writer:
        broken = type(writer)
    place.fill(80)

    def lose(*_):
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(broken, "publish", lose)
        assert run("load")[0] != 0
    assert place.kept() == [1]
    with adomnia.open("adomnia.toml") as db:
        assert db.edition.number == 1
        assert db.load().number == 3


def test_a_rehearsal_asks_the_edition_and_writes_nothing(place):
    policy = read_policy("adomnia.toml")
    with rehearsal(policy) as copy:  # nothing was loaded yet
        assert copy.edition is None
        assert copy.session().ask(COUNT, epsilon=50).rows == [("F", 10), ("M", 30)]
    with adomnia.open("adomnia.toml"):
        place.fill(80)
    with rehearsal(policy) as copy:
        assert copy.edition.number == 1
        assert copy.session().ask(COUNT, epsilon=50).rows == [("F", 10), ("M", 30)]
    assert place.kept() == [1]


def test_in_place_the_source_is_read_as_it_is(place):
    write(place, "in_place = true")
    with adomnia.open("adomnia.toml") as db:
        alice = db.session()
        assert db.edition is None
        assert alice.ask(COUNT, epsilon=50).rows == [("F", 10), ("M", 30)]
        place.fill(80)
        assert alice.ask(COUNT, epsilon=60).rows == [("F", 20), ("M", 60)]
    code, said = run("load")
    assert code == 2
    assert "read in place" in said


def test_a_role_that_may_not_create_is_refused_and_not_served_less(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = Server(tmp_path)
    try:
        place.fill(40)
        place.server.execute("ALTER SCHEMA adomnia_editions OWNER TO postgres", place.name)
        write(place)
        for words in (("load",), ("ask", COUNT, "--epsilon", "50")):
            code, said = run(*words)
            assert code == 2
            assert "the role may not make tables in the schema" in said
            assert "in_place = true" in said
        assert not [*tmp_path.glob("*.ledger")]
        write(place, "in_place = true")
        assert run("ask", COUNT, "--epsilon", "50")[1]["rows"] == [["F", 10], ["M", 30]]
    finally:
        place.close()


def test_two_policies_share_a_schema(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = Server(tmp_path)
    try:
        place.fill(40)
        write(place, 'editions = "adomnia_editions"')
        with adomnia.open("adomnia.toml") as db:
            assert db.edition.number == 1
        Path("adomnia.toml").rename("second.toml")
        place.fill(80)
        with adomnia.open("second.toml") as db:
            assert db.session().ask(COUNT, epsilon=50).rows == [("F", 20), ("M", 60)]
        write(place, 'editions = "adomnia_editions"')
        with adomnia.open("adomnia.toml") as db:
            assert db.session().ask(COUNT, epsilon=50).rows == [("F", 10), ("M", 30)]
    finally:
        place.close()


def test_what_was_checked_is_what_is_loaded(place):
    with Path("adomnia.toml").open("a") as policy:
        policy.write("\n[check]\nleft_out = 0.01\n")
    code, loaded = run("load", "--check")
    assert (code, loaded["edition"]) == (0, 1)
    place.fill(400)  # of which many are older than 120
    assert run("load", "--check")[0] == 6
    assert place.kept() == [1]
    editions = Editions(read_policy("adomnia.toml"))
    with editions.alone() as writer:
        version = writer.source_version()
    place.fill(40)
    with adomnia.open("adomnia.toml") as db, pytest.raises(adomnia.MachineryError, match="changed"):
        db.load(checked=version)
    assert place.kept() == [1]


def test_of_a_view_nobody_knows_when_it_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = Server(tmp_path)
    try:
        place.fill(40)
        seen = f"CREATE VIEW seen AS SELECT * FROM people; GRANT SELECT ON seen TO {place.name}"
        place.server.execute(seen, place.name)
        write(place)
        text = Path("adomnia.toml").read_text("utf-8")
        limit = text.replace('table = "people"', 'table = "seen"') + "\n[check]\nleft_out = 0.5\n"
        Path("adomnia.toml").write_text(limit, "utf-8")
        assert run("load", "--check")[1]["edition"] == 1
    finally:
        place.close()
