"""A policy whose ledger is in PostgreSQL: the same verbs, and no password in what they say."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from adomnia.cli.main import main
from adomnia.curator.database import PrivateDatabase
from adomnia.curator.ledger_view import copy_ledger, list_entries, spending, verify_ledger
from adomnia.errors import BudgetError, LedgerError, PolicyError
from adomnia.ledger.stores.sqlite_journal import SqliteJournal
from adomnia.policy.policy import Policy, read_policy
from tests.postgres_server import shared

SECRET = "sesame"
POLICY = """[data]
source = "people.csv"

[privacy]
epsilon = 1.0
confirmed = true

[attributes.sex]
values = ["F", "M"]

[ledger]
url = "{url}"
"""
COUNT = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture
def url() -> str:
    """The address of a ledger that nobody has made yet, with a password in it."""
    role = f"r{uuid.uuid4().hex}"
    with psycopg.connect(shared().url(), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN SUPERUSER PASSWORD '{SECRET}'")
    return f"{shared().url(role=role, password=SECRET)}?adomnia_unsafe=1&ledger={role}"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Policy]:
    """Writes the policy with this ledger into the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("sex\n" + "F\nM\n" * 50)

    def written(url: str) -> Policy:
        (tmp_path / "adomnia.toml").write_text(POLICY.format(url=url))
        return read_policy(tmp_path / "adomnia.toml")

    return written


@pytest.fixture
def policy(write: Callable[[str], Policy], url: str) -> Policy:
    return write(url)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """How a run of the command ended, and all that it said."""
    with pytest.raises(SystemExit) as left:
        main(arguments)
    said = "".join(capsys.readouterr())
    assert SECRET not in said
    assert "Traceback" not in said
    return int(left.value.code or 0), said


def test_the_verbs_work_as_with_a_file(policy: Policy, capsys: pytest.CaptureFixture[str]) -> None:
    as_json = ("--format", "json")
    assert run(capsys, "budget")[0] == 0
    assert run(capsys, "ledger", "--verify")[0] == 5
    code, said = run(capsys, "ask", COUNT, "--epsilon", "1/4", *as_json)
    assert code == 0
    assert json.loads(run(capsys, "budget", *as_json)[1])["data"]["remaining"] == "3/4"
    assert run(capsys, "ledger", "--verify")[0] == 0
    assert json.loads(said)["receipt"] in run(capsys, "ledger", *as_json)[1]
    assert run(capsys, "ask", COUNT, "--epsilon", "9/10")[0] == 3
    assert list(Path().glob("*.ledger*")) == []


def test_nothing_asked_is_nothing_spent(policy: Policy) -> None:
    assert spending(policy)["data"]["spent"] == "0"
    assert list_entries(policy) == []
    (problem,) = verify_ledger(policy).problems
    assert problem.startswith("there is no ledger at postgresql://127.0.0.1:")
    assert SECRET not in problem


def test_databases_share_one_budget(policy: Policy) -> None:
    def ask(more: str) -> bool:
        with PrivateDatabase(policy) as database:
            try:
                database.session().ask(f"{COUNT} {more}", epsilon="2/5")
            except BudgetError:
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        asked = ["", "WHERE sex = 'F'", "WHERE sex = 'M'", "WHERE sex IS NULL"]
        assert sum(pool.map(ask, asked)) == 2
    assert spending(policy)["data"] == {"spent": "4/5", "remaining": "1/5", "unit": "epsilon"}
    assert verify_ledger(policy).ok


def test_a_copy_holds_the_same_entries(policy: Policy, tmp_path: Path) -> None:
    copy_ledger(policy, tmp_path / "none")
    assert not (tmp_path / "none").exists()
    with PrivateDatabase(policy) as database:
        database.session().ask(COUNT, epsilon="1/5")
    copy_ledger(policy, tmp_path / "copy")
    with SqliteJournal(tmp_path / "copy", create=False) as copy:
        assert list(copy.entries()) == list_entries(policy)
        assert copy.verify().ok


@pytest.mark.parametrize(
    "place",
    [
        f"mysql://u:{SECRET}@h/d",
        f"postgresql://u:{SECRET}@h/d?ledger=a%20b",
        f"postgresql://u:{SECRET}/@h/d",
    ],
)
def test_a_place_that_is_none_is_an_error_of_the_policy(
    write: Callable[[str], Policy], place: str
) -> None:
    policy = write(place)
    with pytest.raises(PolicyError) as refused:
        spending(policy)
    assert refused.value.line == POLICY.splitlines().index('url = "{url}"') + 1
    assert SECRET not in str(refused.value)


def test_a_server_that_is_not_there_is_an_error_of_the_machinery(
    write: Callable[[str], Policy], capsys: pytest.CaptureFixture[str]
) -> None:
    write(f"postgresql://u:{SECRET}@127.0.0.1:1/d")
    code, said = run(capsys, "ask", COUNT, "--epsilon", "1/4")
    assert code == 5
    assert "postgresql://127.0.0.1:1/d?ledger=adomnia" in said


def test_an_anchor_is_found_from_where_the_policy_is(
    write: Callable[[str], Policy], url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = write(f"{url}&anchor=people.anchor")
    monkeypatch.chdir("/")
    with PrivateDatabase(policy) as database:
        database.session().ask(COUNT, epsilon="1/5")
    # what opens the ledger, the edition, the answer
    assert int((tmp_path / "people.anchor").read_text().split()[0]) == 3
    with psycopg.connect(shared().url(), autocommit=True) as connection:
        for table in ("adomnia_journal", "adomnia_head"):
            connection.execute(
                f"DELETE FROM {table} WHERE ledger = %s", (url.rpartition("ledger=")[2],)
            )
    with pytest.raises(LedgerError, match="is gone"):
        spending(policy)
