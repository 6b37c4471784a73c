"""Mechanisms of other packages: only where the policy names them, paid like all, and named."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from test_promise_attempts import RELATIONS, RICH, priced_anew, total, use_all
from town import Town

import adomnia
from adomnia.cli.main import cli
from adomnia.errors import (
    BudgetError,
    MachineryError,
    NotAllowedError,
    PolicyError,
    QuestionError,
    ReusedKeyError,
)
from adomnia.mechanisms.registry import GROUP, registered
from adomnia.policy.policy import read_policy
from adomnia.testing import worlds
from tests.other_package import put_package

TOP = Path(__file__).parents[2]
DOC = (TOP / "docs/own-mechanism.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w+)(?: run)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMED = 'epsilon = 100\nmechanisms = ["noisy_rows"]'

MODULE = """
from dataclasses import dataclass
from fractions import Fraction
from adomnia.errors import QuestionError
from adomnia.mechanisms.sealed_noise import add_laplace
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.contribution import Tally
from adomnia.privacy.events import Outside
from adomnia.privacy.reads import CellTotals

ASKED = []

@dataclass(frozen=True)
class NoisyRows:
    reads: CellTotals
    sensitivity: Fraction
    epsilon: Fraction
    fails: str

    @property
    def event(self):
        ASKED.append("event")
        return Outside(self.epsilon, self.sensitivity)

    def release(self, sealed, bits):
        ASKED.append("release")
        if self.fails:
            secret = int(unseal(sealed).sum())
            class_of = {
                "value": ValueError, "exit": SystemExit, "refusal": QuestionError,
                "named": type(f"Error{secret}", (Exception,), {}), "stop": KeyboardInterrupt,
            }
            raise class_of[self.fails](f"there are {secret} rows")
        return int(add_laplace(sealed, self.sensitivity / self.epsilon, bits)[0, 0])

def noisy_rows(request, fails="", priced=None, times=1):
    if fails == "early":
        raise QuestionError("it does not like this option")
    reads = CellTotals(Tally((None,)))
    sensitivity = request.apart(reads).l1 if priced is None else Fraction(priced)
    return NoisyRows(reads, sensitivity, request.epsilon * times, fails)
"""


@pytest.fixture
def noisy_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The package `theirs`, with a mechanism; what is asked of it."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    monkeypatch.delitem(sys.modules, "theirs_noisy", raising=False)
    put_package(
        folder, monkeypatch, GROUP, "noisy_rows = theirs_noisy:noisy_rows", theirs_noisy=MODULE
    )
    asked: list[str] = []
    import theirs_noisy

    monkeypatch.setattr(theirs_noisy, "ASKED", asked)
    return asked


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a package on the path, that is not loaded yet."""

    def put(points: str, **modules: str) -> None:
        folder = tmp_path / "theirs"
        folder.mkdir()
        put_package(folder, monkeypatch, GROUP, points, **modules)

    return put


def kinds(database: adomnia.Database) -> list[str]:
    return [entry.kind for entry in database.ledger()]


def test_one_that_is_named_answers_and_is_named(town: Town, noisy_rows: list[str]) -> None:
    database = town.open(NAMED)
    answer = database.session().use("noisy_rows", epsilon=20)
    assert abs(answer.value - 1000) < 10
    assert (answer.spent, answer.remaining) == ({"epsilon": 20}, {"epsilon": 80})
    assert str(answer.mechanism) == "noisy_rows of theirs 1.0"
    assert kinds(database) == ["opened", "edition", "reserved", "answered"]
    assert database.budget()["data"]["spent"] == "20"
    entry = database.reservation(answer.receipt)
    assert entry is not None
    (part,) = entry.body["use"]["parts"]
    assert part["mechanism"] == {"name": "noisy_rows"}
    assert part["outside"] == {
        "package": "theirs", "version": "1.0", "options": {}, "where": None, "keys": [],
        "reads": {"tally": [None]},
    }  # fmt: skip
    assert part["event"]["event"] == "outside"
    assert entry.body["promise"]["mechanisms"] == ["noisy_rows"]
    assert entry.body["statement"].startswith("USE noisy_rows of theirs 1.0")
    assert noisy_rows == ["event", "release"]  # each once


def test_the_ledger_shows_whose_it_was(town: Town, noisy_rows: list[str]) -> None:
    database = town.open(NAMED)
    database.session().use("noisy_rows", epsilon=1, fails="")
    policy = str(town.folder / "adomnia.toml")
    shown = CliRunner().invoke(cli, ["ledger", "--policy", policy], terminal_width=200)
    assert "noisy_rows (theirs)" in shown.output.replace("\n", " ")
    written = CliRunner().invoke(cli, ["ledger", "--policy", policy, "--format", "json"])
    (paid,) = [one for one in json.loads(written.output)["entries"] if one["kind"] == "reserved"]
    assert paid["mechanisms"] == [{"name": "noisy_rows", "package": "theirs", "version": "1.0"}]
    assert database.verify().ok


def test_one_that_is_installed_and_not_named_is_refused_and_not_loaded(
    town: Town, theirs: Callable[..., None]
) -> None:
    theirs("unnamed = theirs_unnamed:make", theirs_unnamed="1 / 0\n")
    assert set(registered()) == {"unnamed"}
    database = town.open("epsilon = 100")
    with pytest.raises(NotAllowedError, match="does not name the mechanism 'unnamed'") as caught:
        database.session().use("unnamed", epsilon=1)
    assert 'mechanisms = ["unnamed"] in [privacy]' in caught.value.hint
    assert "theirs_unnamed" not in sys.modules
    assert kinds(database) == ["opened", "edition"]


def test_a_policy_that_names_what_nobody_registers_is_refused_where_it_says_so(
    town: Town, noisy_rows: list[str]
) -> None:
    with pytest.raises(PolicyError, match="no installed package registers") as caught:
        town.open('epsilon = 1\nmechanisms = ["noisy_row"]')
    assert caught.value.hint == "did you mean 'noisy_rows'?"
    text = (town.folder / "adomnia.toml").read_text().splitlines()
    assert text[(caught.value.line or 0) - 1].startswith("mechanisms")
    assert read_policy(town.folder / "adomnia.toml").mechanisms == ("noisy_row",)


def test_without_any_package_the_hint_is_to_install_it(town: Town) -> None:
    with pytest.raises(PolicyError) as caught:
        town.open('epsilon = 1\nmechanisms = ["noisy_rows"]')
    assert "install" in caught.value.hint


def test_a_name_that_two_packages_register_is_refused(
    town: Town, noisy_rows: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    info = other / "others-2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nnoisy_rows = elsewhere:make\n")
    monkeypatch.syspath_prepend(str(other))
    with pytest.raises(PolicyError, match=r"several packages register .*: others, theirs"):
        town.open(NAMED)


def test_free_lunch_and_exact_releases_have_none(town: Town, noisy_rows: list[str]) -> None:
    with pytest.raises(PolicyError, match="mechanisms does not go with free-lunch"):
        town.open(f'{NAMED}\nneighbors = "free-lunch"\nmost = 1000')
    database = town.open(NAMED)
    database.add_prior("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
    with pytest.raises(NotAllowedError, match="released exactly"):
        database.session().use("noisy_rows", epsilon=1)


@pytest.mark.parametrize("fails", ["value", "exit", "refusal", "named"])
def test_a_release_that_fails_stays_paid_and_tells_nothing(
    town: Town, noisy_rows: list[str], fails: str
) -> None:
    database = town.open(NAMED)
    with pytest.raises(MachineryError) as caught:
        database.session().use("noisy_rows", epsilon=1, fails=fails, key="once")
    error = caught.value
    assert str(error) == "noisy_rows of theirs 1.0 failed\n  what was reserved stays spent"
    assert error.__context__ is None
    assert error.__cause__ is None
    assert kinds(database) == ["opened", "edition", "reserved"]
    assert database.budget()["data"]["spent"] == "1"


def test_what_is_wrong_before_the_debit_is_told_and_costs_nothing(
    town: Town, noisy_rows: list[str]
) -> None:
    database = town.open(NAMED)
    session = database.session()
    with pytest.raises(QuestionError, match="does not like this option"):
        session.use("noisy_rows", epsilon=1, fails="early")
    with pytest.raises(QuestionError, match="cannot be made with these options") as caught:
        session.use("noisy_rows", epsilon=1, column="age")
    assert "column" in caught.value.hint
    with pytest.raises(QuestionError, match="options are numbers"):
        session.use("noisy_rows", epsilon=1, fails={1, 2})
    with pytest.raises(QuestionError, match="costs an epsilon"):
        session.use("noisy_rows", rho=1)
    with pytest.raises(QuestionError, match="an epsilon or a rho"):
        session.use("noisy_rows")
    with pytest.raises(MachineryError, match="more epsilon than was offered"):
        session.use("noisy_rows", epsilon=1, times=2)
    with pytest.raises(MachineryError, match="priced below what it costs"):
        session.use("noisy_rows", epsilon=1, priced="1/2")
    with pytest.raises(BudgetError):
        session.use("noisy_rows", epsilon=101)
    assert kinds(database) == ["opened", "edition"]
    assert "release" not in noisy_rows


def test_a_request_that_is_repeated_is_paid_once(town: Town, noisy_rows: list[str]) -> None:
    database = town.open(NAMED)
    session = database.session()
    first = session.use("noisy_rows", epsilon=1, key="once")
    again = session.use("noisy_rows", epsilon=1, key="once")
    assert (again.value, again.receipt) == (first.value, first.receipt)
    assert again.spent == {"epsilon": 0}
    assert noisy_rows.count("release") == 1
    with pytest.raises(ReusedKeyError):
        session.use("noisy_rows", epsilon=1, priced=5, key="once")
    assert database.budget()["data"]["spent"] == "1"


# Another promise


@pytest.mark.parametrize("privacy", [p for n, p in RELATIONS.items() if n != "free lunch"])
def test_naming_a_mechanism_is_noted_and_makes_nothing_dearer(
    town: Town, noisy_rows: list[str], privacy: str
) -> None:
    database = town.open(f"{RICH}\n{privacy}")
    use_all(database)
    before = total(database)
    named = town.open(f'{RICH}\n{privacy}\nmechanisms = ["noisy_rows"]')
    assert len(priced_anew(named)) == 1
    assert total(named) == before
    with pytest.raises(MachineryError, match="promises something else"):
        database.session().noisy_max(["age < 30"], 1)


def test_an_answer_is_priced_by_steps_of_its_promise_without_its_package(
    town: Town, noisy_rows: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = 'unit = "person_id"\nmax_rows = 4'
    town.open(f"{RICH}\n{unit}\nmechanisms = ['noisy_rows']").session().use("noisy_rows", epsilon=1)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if "theirs" not in place])
    assert registered() == {}
    assert total(town.open(f"{RICH}\n{unit}")).epsilon == 1
    assert total(town.open(f"{RICH}\n{unit}\ngroup = 3")).epsilon == 3
    assert total(town.open(f"{RICH}\n{unit}")).epsilon == 3  # nothing is refunded
    assert total(town.open(f'{RICH}\n{unit}\ngroup = 3\nneighbors = "bounded"')).epsilon == 6


def test_an_answer_about_rows_is_past_every_budget_once_units_are_promised(
    town: Town, noisy_rows: list[str]
) -> None:
    town.open(NAMED).session().use("noisy_rows", epsilon=Fraction(1, 10**6))
    with pytest.raises(BudgetError, match="promises now"):
        town.open('epsilon = 100\nunit = "person_id"\nmax_rows = 1')


def test_an_exact_release_makes_an_answer_dearer_by_the_rows_that_move(
    town: Town, noisy_rows: list[str]
) -> None:
    database = town.open(NAMED)
    database.session().use("noisy_rows", epsilon=1)
    database.add_prior("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", accept=True)
    assert total(database).epsilon >= 2


# The example of the documentation, and what is printed of it


@pytest.fixture
def documented(theirs: Callable[..., None]) -> dict[str, str]:
    """The package of the documentation, as it is written there; the blocks by their kind."""
    blocks = BLOCK.findall(DOC)
    module = next(text for kind, text in blocks if kind == "sh")
    points, policy = (text for kind, text in blocks if kind == "toml")
    header, entry = points.strip().splitlines()
    assert header == f'[project.entry-points."{GROUP}"]'
    code = module.split("<<'END'\n")[1].removesuffix("END\n")
    theirs(entry.replace('"', ""), winsorized=code)
    use = [text for kind, text in blocks if kind == "python"][-1]
    return {"policy": policy.split("\n", 1)[1].replace("confirmed = true\n", ""), "use": use}


def test_the_example_of_the_documentation_answers(
    town: Town, documented: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    database = town.open(documented["policy"])
    monkeypatch.chdir(town.folder)
    said: dict[str, Any] = {}
    exec(documented["use"], said)
    answer = said["answer"]
    assert 0 <= answer.value["low"] <= answer.value["mean"] <= answer.value["high"] <= 120
    assert answer.mechanism.name == "winsorized_mean"
    assert database.budget()["data"]["spent"] == "1"
    with pytest.raises(QuestionError, match="not a declared attribute"):
        database.session().use("winsorized_mean", epsilon=1, column="shoe")
    with pytest.raises(QuestionError, match="is not a number"):
        database.session().use("winsorized_mean", epsilon=1, column="sex")
    sharp = town.open("epsilon = 1e6\nmechanisms = ['winsorized_mean']").session()
    found = sharp.use("winsorized_mean", epsilon=10**5, column="age").value
    ages = np.sort(worlds.town().columns["age"])
    low, high = ages[len(ages) // 10], ages[len(ages) * 9 // 10]
    assert abs(found["low"] - low) <= 1
    assert abs(found["high"] - high) <= 1
    assert abs(found["mean"] - np.clip(ages, low, high).mean()) < 1


def test_the_trusted_base_of_a_policy_has_the_packages_that_it_names(
    town: Town, documented: dict[str, str]
) -> None:
    file = town.write('epsilon = 1\nmechanisms = ["winsorized_mean", "missing"]')
    program = [sys.executable, str(TOP / "tools/trusted.py"), "--policy", str(file)]
    places = {"PYTHONPATH": ":".join([str(TOP / "src"), str(town.folder / "theirs")])}
    ran = subprocess.run(program, capture_output=True, text=True, check=False, env=places)
    assert ran.returncode == 0, ran.stderr
    assert re.search(
        r"winsorized_mean of theirs 1\.0: \d\d lines\n +\d+  .*winsorized\.py", ran.stdout
    )
    assert "missing, which no installed package registers" in ran.stdout


def test_an_interrupt_of_its_own_has_no_text(town: Town, noisy_rows: list[str]) -> None:
    with pytest.raises(KeyboardInterrupt) as stopped:
        town.open(NAMED).session().use("noisy_rows", epsilon=1, fails="stop")
    assert stopped.value.args == ()
