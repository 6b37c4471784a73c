"""`adomnia account`: secrets and keys are shown once, and a person reads what to do next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lodge import command, write_people

from adomnia.policy.policy import read_policy
from adomnia.server.accounts import Person, open_accounts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_people(tmp_path)
    return tmp_path


def test_a_secret_is_made_and_shown_once(folder: Path) -> None:
    ran = command("account", "add", "alice", "--role", "analyst", folder=folder)
    assert ran.returncode == 0
    secret = ran.stdout.splitlines()[1].strip()
    with open_accounts(read_policy(folder / "adomnia.toml")) as accounts:
        assert accounts.check("alice", secret) == Person("alice", "analyst")
    assert (folder / "adomnia.accounts").exists()
    listed = command("account", "list", folder=folder)
    assert "alice" in listed.stdout
    assert secret not in listed.stdout


def test_a_given_secret_is_not_repeated(folder: Path) -> None:
    words = ("account", "add", "carol", "--role", "curator", "--secret-stdin")
    ran = command(*words, folder=folder, stdin="a good secret\n")
    assert ran.returncode == 0
    assert "a good secret" not in ran.stdout + ran.stderr
    with open_accounts(read_policy(folder / "adomnia.toml")) as accounts:
        assert accounts.check("carol", "a good secret") == Person("carol", "curator")
    short = command("account", "add", "bob", "--role", "analyst", "--secret-stdin", folder=folder)
    assert short.returncode == 2
    assert "printable ASCII" in short.stderr


def test_programs_read_json(folder: Path) -> None:
    as_json = ("--format", "json")
    added = command("account", "add", "alice", "--role", "analyst", *as_json, folder=folder)
    assert set(json.loads(added.stdout)) == {"name", "role", "secret", "note"}
    made = command("account", "key", "alice", "--label", "nb", *as_json, folder=folder)
    key = json.loads(made.stdout)["key"]
    listed = json.loads(command("account", "list", *as_json, folder=folder).stdout)
    ((shown,),) = [part["keys"] for part in listed["accounts"]]
    assert (shown["identity"], shown["label"]) == (key.split("_")[1], "nb")
    assert key not in json.dumps(listed)
    gone = command("account", "key", "--revoke", shown["identity"], *as_json, folder=folder)
    assert json.loads(gone.stdout) == {"name": "alice", "revoked": shown["identity"]}
    removed = command("account", "remove", "alice", *as_json, folder=folder)
    assert json.loads(removed.stdout) == {"removed": "alice"}
    assert json.loads(command("account", "list", *as_json, folder=folder).stdout) == {
        "accounts": []
    }


def test_people_read_lines(folder: Path) -> None:
    assert "nobody can come in yet" in command("account", "list", folder=folder).stdout
    unknown = command("account", "add", "dave", "--role", "analyst", folder=folder)
    assert "add [analysts.dave]" in unknown.stdout
    made = command("account", "key", "dave", folder=folder).stdout.splitlines()[1].strip()
    revoked = command("account", "key", "--revoke", made.split("_")[1], folder=folder)
    assert "opens nothing any more" in revoked.stdout
    assert "cannot come in" in command("account", "remove", "dave", folder=folder).stdout


@pytest.mark.parametrize(
    "words",
    [
        ("add", "alice"),
        ("add", "a b", "--role", "analyst"),
        ("add", "alice", "--role", "admin"),
        ("add", "curator", "--role", "analyst"),
        ("remove", "nobody"),
        ("key", "nobody"),
        ("key",),
        ("key", "--revoke", "nothing"),
        ("key", "nobody", "--revoke", "nothing"),
    ],
)
def test_what_makes_no_sense_is_refused(folder: Path, words: tuple[str, ...]) -> None:
    ran = command("account", *words, folder=folder)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("adomnia: ")


def test_help_teaches(folder: Path) -> None:
    for verb in ("add", "list", "remove", "key"):
        text = command("account", verb, "--help", folder=folder).stdout
        assert "Example" in text
        assert f"adomnia account {verb}" in text
