"""The registry: our own attacks, those of other packages, and what happens to broken ones."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import click
import pytest

from adomnia.audit import CheckedOptions, attack_named, attack_names, option, options_of
from adomnia.audit.registry import GROUP, OWN, registered
from adomnia.cli.main import cli
from adomnia.errors import MachineryError, QuestionError
from tests.other_package import put_package

DOC = Path(__file__).parents[2] / "docs/own-attack.md"
BLOCK = re.compile(r"^```(\w+)(?: run)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Puts a package on the path, with modules and an entry point for each attack."""

    def put(points: str, **modules: str) -> Path:
        put_package(tmp_path, monkeypatch, GROUP, points, **modules)
        return tmp_path

    return put


@pytest.fixture
def documented(install, monkeypatch):
    """The package of the documentation, as it is written there."""
    blocks = BLOCK.findall(DOC.read_text("utf-8"))
    module = next(text for kind, text in blocks if kind == "sh" and "subtraction.py" in text)
    (points,) = [text for kind, text in blocks if kind == "toml"]
    header, entry = points.strip().splitlines()
    assert header == f'[project.entry-points."{GROUP}"]'
    code = module.split("<<'END'\n")[1].removesuffix("END\n")
    folder = install(entry.replace('"', ""), subtraction=code)
    monkeypatch.chdir(folder)
    last = [text for kind, text in blocks if kind == "sh"][-1]
    rows, command = last.split("<<'END'\n")[1].split("END\n")
    (folder / "printed.csv").write_text(rows)
    return command.split()[1:]


def run(arguments: list[str]) -> str:
    with click.Context(cli).scope():
        group = cli.get_command(None, "attack")
        return group.main(arguments, standalone_mode=False)


def test_our_own_attacks_are_the_verbs_of_the_command_line():
    verbs = set(cli.get_command(None, "attack").commands)
    assert verbs == set(OWN)
    for name in OWN:
        attack = attack_named(name)
        assert attack.name == name
        assert attack.sentence == cli.get_command(None, "attack").commands[name].short_help


def test_a_name_that_nobody_has_is_refused():
    with pytest.raises(QuestionError, match="no attack 'nothing'"):
        attack_named("nothing")


def test_the_documented_attack_is_listed_and_runs(documented, capsys):
    assert "subtraction" in attack_names()
    assert attack_named("subtraction").sentence.startswith("Counts that were left out")
    group = cli.get_command(None, "attack")
    context = click.Context(group)
    assert "subtraction" in group.list_commands(context)
    assert "Counts that were left out, from printed totals." in group.get_help(context)
    assert documented[:2] == ["attack", "subtraction"]
    run([*documented[1:], "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert found["success"]["value"] == 1
    assert found["baseline"] == 0.25
    run([*documented[1:-2]])
    assert "1 of 1 counts" in capsys.readouterr().out
    with pytest.raises(click.BadParameter):
        run(["subtraction", "printed.csv", "--least", "1"])


def test_files_that_its_reader_cannot_take_are_told(documented):
    with pytest.raises(QuestionError, match=r"'subtraction' cannot read gone.csv: No such file"):
        run(["subtraction", "gone.csv"])
    Path("other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(QuestionError, match=r"what is in these files \(KeyError: 'group'\)"):
        run(["subtraction", "other.csv"])


def test_nobody_takes_the_name_of_one_of_ours(install):
    install("averaging = theirs:Attack", theirs="class Attack: ...")
    assert "averaging" not in registered()
    assert attack_names().count("averaging") == 1
    assert attack_named("averaging").__module__.startswith("adomnia.")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise RuntimeError('a secret')", "cannot be loaded (RuntimeError)"),
        ("class Attack: ...", "does not keep the protocol"),
    ],
)
def test_a_broken_attack_says_so_and_harms_no_other(install, code, words):
    install("broken = brokenmodule:Attack", brokenmodule=code)
    with pytest.raises(MachineryError) as refused:
        attack_named("broken")
    assert words in refused.value.message
    assert "secret" not in str(refused.value)
    group = cli.get_command(None, "attack")
    assert "broken" in group.get_help(click.Context(group))
    with pytest.raises(MachineryError):
        run(["broken"])
    assert attack_named("tracker").name == "tracker"


@dataclass(frozen=True)
class Varied(CheckedOptions):
    """Options of every kind."""

    name: ClassVar[str] = "varied"
    sentence: ClassVar[str] = "Options of every kind."

    wanted: str
    listed: tuple[str, ...] = ()
    often: int | None = option(None, "How often.", 1, 5)
    share: float = option(0.5, "A share.", 0, 1)
    way: Literal["this", "that"] = "this"
    quick: bool = False

    def run(self, published, truth=None): ...


def test_options_are_the_fields_with_their_types():
    found = {one.name: one for one in options_of(Varied)}
    assert list(found) == ["wanted", "often", "share", "way", "quick"]
    assert found["wanted"].required
    assert not found["wanted"].optional
    assert (found["often"].kind, found["often"].low, found["often"].high) == (int, 1, 5)
    assert found["often"].optional
    assert found["way"].choices == ("this", "that")
    assert found["share"].about == "A share."


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"wanted": 3}, "wanted must be a text"),
        ({"often": 6}, "often must be a whole number from 1 to 5"),
        ({"often": 1.5}, "often must be a whole number"),
        ({"share": "much"}, "share must be a number"),
        ({"share": float("nan")}, "share must be a number from 0 to 1"),
        ({"way": "there"}, "way must be one of this, that"),
        ({"quick": 1}, "quick must be true or false"),
    ],
)
def test_wrong_options_are_refused_with_their_range(given, words):
    with pytest.raises(QuestionError) as refused:
        Varied(**{"wanted": "x", **given})
    assert refused.value.message == words
