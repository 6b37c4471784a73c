"""The books of a policy: whose data they are about, where they lie, and what was allowed when."""

from __future__ import annotations

import getpass
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import adomnia
from adomnia.cli.main import main
from adomnia.curator.ledger_view import dataset_of, open_journal, spending
from adomnia.errors import PolicyError
from adomnia.policy.policy import read_policy

POLICY = """[data]
source = "{source}"

[privacy]
epsilon = {epsilon}
confirmed = true

[attributes.sex]
values = ["F", "M"]
{more}"""
COUNT = "SELECT COUNT(*) AS n FROM {}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("people", "staff"):
        (tmp_path / f"{name}.csv").write_text("sex\n" + "F\nM\n" * 20)
    return tmp_path


def write(folder: Path, name: str, epsilon: int = 2, more: str = "") -> Path:
    file = folder / f"{name}.toml"
    file.write_text(POLICY.format(source=f"{name}.csv", epsilon=epsilon, more=more))
    return file


def ask(file: Path, epsilon: str = "1") -> None:
    with adomnia.open(file) as database:
        database.session().ask(COUNT.format(file.stem), epsilon)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit):
        main(arguments)
    return "".join(capsys.readouterr())


def test_policies_of_one_folder_have_ledgers_and_budgets_of_their_own(folder: Path) -> None:
    people, staff = write(folder, "people"), write(folder, "staff")
    ask(people, "2")
    ask(staff, "2")
    assert {file.name for file in folder.glob("*.ledger")} == {"people.ledger", "staff.ledger"}
    for file in (people, staff):
        assert spending(read_policy(file))["data"]["remaining"] == "0"


def test_a_ledger_of_other_data_is_refused_by_name(folder: Path) -> None:
    shared = '[ledger]\nurl = "books"\n'
    ask(write(folder, "people", more=shared))
    staff = write(folder, "staff", more=shared)
    for use in (adomnia.open, lambda file: spending(read_policy(file))):
        with pytest.raises(PolicyError, match=r"belongs to other data: .*people\.csv") as refused:
            use(staff)
        assert "staff.csv" in str(refused.value)
        assert refused.value.line is not None


def test_a_folder_may_be_moved(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    ask(write(folder, "people"))
    moved = folder.rename(tmp_path_factory.mktemp("elsewhere") / "moved")
    ask(moved / "people.toml", "1/2")  # known from before
    assert spending(read_policy(moved / "people.toml"))["data"]["spent"] == "1"


def test_what_tells_data_apart_holds_no_password(folder: Path) -> None:
    policy = read_policy(write(folder, "people"))
    assert dataset_of(policy) == {"table": "people", "source": "people.csv"}
    assert dataset_of(replace(policy, source="/srv/people.csv")) == dataset_of(policy)
    far = replace(policy, source="postgresql://ann:sesame@db.example:5432/town?sslmode=require")
    assert dataset_of(far)["source"] == "postgresql://db.example:5432/town"


def test_a_graph_may_join_the_table_it_lies_beside(folder: Path) -> None:
    ask(write(folder, "people"))
    graph = '[graph]\nedges = "friends.csv"\nids = [0, 9]\n'
    policy = read_policy(write(folder, "people", more=graph))
    assert {*dataset_of(policy)} == {"table", "source", "graph"}
    open_journal(policy).close()
    alone = replace(policy, source="")
    with pytest.raises(PolicyError, match="other data"):
        open_journal(alone)


def test_an_edited_budget_is_an_entry_with_who_opened_the_policy(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(folder, "people", 2)
    ask(file)
    listed = said(capsys, "ledger", "--policy", str(file), "--format", "json")
    assert "budget" not in [entry["kind"] for entry in json.loads(listed)["entries"]]
    write(folder, "people", 4, "[analysts.bob]\nepsilon = 1\n")
    for _ in range(2):
        adomnia.open(file).close()
    listed = said(capsys, "ledger", "--policy", str(file), "--format", "json")
    changed = [entry for entry in json.loads(listed)["entries"] if entry["kind"] == "budget"]
    facts = [(entry["name"], entry["old"], entry["new"], entry["by"]) for entry in changed]
    assert facts == [
        (None, {"epsilon": "2"}, {"epsilon": "4"}, getpass.getuser()),
        ("bob", None, {"epsilon": "1"}, getpass.getuser()),
    ]
    shown = said(capsys, "ledger", "--policy", str(file))
    assert "of the data: epsilon 2 → epsilon 4" in shown
    assert "of bob: none → epsilon 1" in shown


def test_an_account_that_opens_it_is_named(folder: Path) -> None:
    open_journal(read_policy(write(folder, "people", 2))).close()
    with open_journal(read_policy(write(folder, "people", 1)), by="carol") as journal:
        *_, last = journal.entries()
    assert (last.kind, last.head["by"]) == ("budget", "carol")


def test_many_who_open_an_edited_policy_record_it_once(folder: Path) -> None:
    open_journal(read_policy(write(folder, "people", 2))).close()
    policy = read_policy(write(folder, "people", 3))
    with ThreadPoolExecutor(4) as pool:
        for journal in pool.map(lambda _: open_journal(policy), range(4)):
            journal.close()
    with open_journal(policy) as journal:
        assert [entry.kind for entry in journal.entries()] == ["opened", "budget"]
