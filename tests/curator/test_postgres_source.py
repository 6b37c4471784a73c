"""The whole way on PostgreSQL, read in place: answers, exit codes, and a debit that stays."""

from __future__ import annotations

import io
import json
import sys
import threading
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from people_policy import people_policy

sys.path.insert(0, str(Path(__file__).parents[1]))

from adomnia.cli.main import main
from adomnia.curator.data.sources import engine_of
from adomnia.errors import PolicyError
from tests import postgres_server

PASSWORD = "pw7SECRETz"
COUNT = "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY sex"


@pytest.fixture(scope="module")
def database():
    """A database of its own, with a role that may only read one table."""
    server, name = postgres_server.shared(), f"people_{uuid4().hex}"
    server.execute(f"CREATE DATABASE {name}")
    server.execute(
        f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'; REVOKE ALL ON SCHEMA public FROM PUBLIC;"
        "CREATE TABLE people (sex text, age smallint, note text);"
        "INSERT INTO people SELECT (ARRAY['F', 'M'])[1 + i % 2], i % 100, 'x' "
        "FROM generate_series(1, 1000) i;"
        "CREATE VIEW slow AS SELECT * FROM people WHERE pg_sleep(0.05) IS NOT NULL;"
        f"GRANT USAGE ON SCHEMA public TO {name}; GRANT SELECT ON people, slow TO {name}",
        name,
    )
    yield name
    server.execute(f"DROP DATABASE {name} WITH (FORCE); DROP ROLE {name}")


@pytest.fixture
def ask(database, tmp_path, monkeypatch):
    """Writes a policy and runs a verb as a person would; nothing shows the password."""
    monkeypatch.chdir(tmp_path)

    def asking(*words, table="people", url=None):
        url = url or postgres_server.shared().url(database, database, PASSWORD)
        written = people_policy(url, table=table, data="in_place = true", privacy="epsilon = 100")
        Path("adomnia.toml").write_text(written, "utf-8")
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code = main([*words, "--format", "json"]) or 0
            except SystemExit as end:
                code = int(end.code or 0)
        ledger = b"".join(file.read_bytes() for file in tmp_path.glob("*.ledger*"))
        said = out.getvalue() + err.getvalue()
        assert PASSWORD not in said
        assert PASSWORD.encode() not in ledger
        return code, json.loads(out.getvalue()) if code == 0 else said

    return asking


def spent(ask):
    return ask("budget")[1]["data"]["spent"]


def test_a_question_is_answered(ask):
    code, answer = ask("ask", COUNT, "--epsilon", "50")
    assert code == 0
    assert [row[0] for row in answer["rows"]] == ["F", "M"]
    assert all(abs(row[1] - 500) < 5 and 48 < row[2] < 51 for row in answer["rows"])
    assert spent(ask) == "50"
    again = ask("ask", COUNT, "--epsilon", "50")
    assert again[1]["rows"] == answer["rows"]
    assert spent(ask) == "50"


@pytest.mark.parametrize(
    ("words", "told", "code"),
    [
        (("ask", "SELECT COUNT(*) FROM nowhere", "--epsilon", "1"), {}, 2),
        (("ask", "SELECT COUNT(*) FROM people WHERE height > 1", "--epsilon", "1"), {}, 2),
        (("ask", "SELECT COUNT(*) FROM people", "--epsilon", "1"), {"table": "none"}, 2),
        (("ask", "SELECT COUNT(*) FROM people", "--epsilon", "1000"), {}, 3),
        (("ask", "SELECT COUNT(*) FROM people", "--epsilon", "1"),
         {"url": f"postgresql://x:{PASSWORD}@127.0.0.1:1/x"}, 5),
        (("ask", "SELECT COUNT(*) FROM people", "--epsilon", "1"),
         {"url": f"mysql://x:{PASSWORD}@127.0.0.1/x"}, 2),
    ],
)  # fmt: skip
def test_exit_codes(ask, words, told, code):
    assert ask(*words, **told)[0] == code


def test_a_lost_connection_is_paid_and_the_next_question_works(ask, database):
    ended = []

    def end():
        running = (
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}' "
            "AND wait_event = 'PgSleep'"
        )
        with psycopg.connect(postgres_server.shared().url(), autocommit=True) as owner:
            limit = time.monotonic() + 60
            while not ended and time.monotonic() < limit:
                ended.extend(owner.execute(running).fetchall())
                time.sleep(0.05)

    ending = threading.Thread(target=end)
    ending.start()
    code, said = ask("ask", "SELECT COUNT(*) AS n FROM slow", "--epsilon", "3", table="slow")
    ending.join()
    assert ended
    assert code == 5, said
    assert ask("budget", table="slow")[1]["data"]["spent"] == "3"
    for file in Path().glob("adomnia.ledger*"):
        file.unlink()  # it belongs to the other table
    code, answer = ask("ask", "SELECT COUNT(*) AS n FROM people", "--epsilon", "10")
    assert code == 0
    assert abs(answer["rows"][0][0] - 1000) < 10
    assert spent(ask) == "10"


def test_what_cannot_be_a_source_is_said():
    with pytest.raises(PolicyError, match="a dict cannot be a source"):
        engine_of({}, "people", {})
    with pytest.raises(PolicyError, match="mysql:// is not supported"):
        engine_of("mysql://h/d", "people", {})
