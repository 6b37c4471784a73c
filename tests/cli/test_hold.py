"""`adomnia hold`: keys, three holders in processes of their own, and an asker at a terminal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import adomnia
from adomnia.cli.main import cli
from adomnia.errors import PolicyError
from adomnia.federation.holders_file import read_holders, read_party
from tests.free_port import free_port

NAMES = ("north", "south", "west")
POLICY = """
[data]
source = "people.csv"
table = "people"
[privacy]
confirmed = true
epsilon = 10
[attributes.sex]
values = ["F", "M"]
[analysts.alice]
epsilon = 10
"""


def run(*arguments: str) -> str:
    found = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.output


@pytest.fixture
def company(tmp_path: Path):
    lines = []
    for name in (*NAMES, "alice"):
        (tmp_path / name).mkdir()
        public = run("hold", "key", "--out", str(tmp_path / f"{name}.key")).strip()
        lines += [f"[{'askers' if name == 'alice' else 'holders'}.{name}]", f'key = "{public}"']
        lines += [f'address = "127.0.0.1:{free_port()}"'] if name != "alice" else []
        (tmp_path / name / "adomnia.toml").write_text(POLICY)
        (tmp_path / name / "people.csv").write_text("sex\n" + "F\n" * 200 + "M\n" * 100)
    file = tmp_path / "holders.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.fixture
def holders(company: Path):
    started = []
    for name in NAMES:
        place = company.parent / name
        command = [str(Path(sys.executable).with_name("adomnia")), "hold", "serve", "--as", name]
        command += ["--secret", str(company.parent / f"{name}.key"), "--holders", str(company)]
        command += ["--policy", str(place / "adomnia.toml"), "--format", "json"]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    for process in started:
        assert json.loads(process.stdout.readline())["holder"] in NAMES
    yield started
    for process in started:
        process.kill()
        process.communicate()


def test_an_asker_gets_the_sum_and_a_lost_holder_costs_a_round(company: Path, holders) -> None:
    folder = company.parent
    said = ["hold", "ask", "SELECT COUNT(*) AS n FROM people", "--epsilon", "1", "--as", "alice"]
    said += ["--secret", str(folder / "alice.key"), "--holders", str(company), "--format", "json"]
    said += ["--policy", str(folder / "north/adomnia.toml"), "--confidence", "0.999999"]
    whole = json.loads(run(*said))
    assert abs(whole["rows"][0][0] - 900) <= 2 * whole["margins"]["n"][0]
    holders[2].kill()
    holders[2].wait()
    rest = json.loads(run(*said))
    assert abs(rest["rows"][0][0] - 600) <= 2 * rest["margins"]["n"][0]
    assert any("west" in note and "not in the sum" in note for note in rest["notes"])


def test_open_takes_several_holders(company: Path, holders) -> None:
    folder = company.parent
    me, known = read_party("alice", folder / "alice.key"), read_holders(company)
    group = adomnia.open(list(known.holders), me=me, domains=folder / "north/adomnia.toml")
    answer = group.ask("SELECT COUNT(*) AS n FROM people", epsilon=1, confidence=0.999999)
    assert abs(answer.rows[0][0] - 900) <= 2 * answer.margins["n"][0]


def test_a_secret_key_is_for_its_owner_and_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "one.key"
    run("hold", "key", "--out", str(file))
    assert file.stat().st_mode & 0o077 == 0
    found = CliRunner().invoke(cli, ["hold", "key", "--out", str(file)])
    assert isinstance(found.exception, PolicyError)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[holders.a]\nkey = 'x'\naddress = '127.0.0.1:1'", "not a public key"),
        (f"[holders.a]\nkey = '{'0' * 64}'\naddress = 'nowhere'", "is not an address"),
        (f"[holders.a]\nkey = '{'0' * 64}'", "lacks 'address'"),
        (f"[holders.a]\nkey = '{'0' * 64}'\naddress = '127.0.0.1:1'", "two or more"),
        ("[strangers.a]\nkey = 'x'", "unknown section"),
        ("holders = 3", "write \\[holders.NAME\\]"),
        ("not toml", "cannot be read"),
    ],
)
def test_a_mistake_in_the_file_of_holders_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "holders.toml"
    file.write_text(text)
    with pytest.raises(PolicyError, match=message):
        read_holders(file)
