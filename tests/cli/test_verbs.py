"""Each verb does what the design says: the shapes that programs read, and what people see."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import termios
import time
import tomllib
from fractions import Fraction

import pytest

from adomnia import formatting
from adomnia.cli.why import find_notes
from adomnia.policy.policy import read_policy

BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def command(*arguments, **more):
    """The real command in a process of its own."""
    program = [sys.executable, "-c", "from adomnia.cli.main import main; main()", *arguments]
    return subprocess.run(program, capture_output=True, text=True, timeout=120, check=False, **more)


# ask


def test_ask_as_json(house, run):
    found = run("ask", BY_SEX, "--epsilon", "0.1", "--analyst", "alice", "--format", "json").json
    assert found["columns"] == ["sex", "n"]
    assert [row[0] for row in found["rows"]] == ["F", "M"]
    assert [len(margins) for margins in found["margins"].values()] == [2]
    assert set(found["margins"]) == {"n"}
    assert found["confidence"] == 0.95
    assert found["spent"] == {"epsilon": "1/10"}
    assert found["remaining"] == {"epsilon": "9/10"}
    assert re.fullmatch(r"[0-9a-f]{32}", found["receipt"])


def test_ask_in_text_shows_margins_cost_and_receipt(house, run):
    out = run("ask", BY_SEX, "--epsilon", "0.1").out
    assert re.search(r"F +-?[\d,]+ ± 30\b", out)
    assert "paid epsilon 0.1; left epsilon 3.9; receipt " in out
    assert "95 % confidence" in out
    assert "\x1b" not in out


def test_ask_reads_standard_input(house, run):
    assert run("ask", "-", "--epsilon", "1/10", stdin=BY_SEX).code == 0


def test_ask_with_rho_and_with_delta(house, run):
    policy = (house / "adomnia.toml").read_text()
    (house / "adomnia.toml").write_text(policy.replace("4.0", "4.0\ndelta = 1e-6"))
    found = run("ask", BY_SEX, "--rho", "1/100", "--format", "json").json
    assert found["spent"]["rho"] == "1/100"
    keyed = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
    found = run("ask", keyed, "--epsilon", "1", "--delta", "1e-7", "--format", "json").json
    assert found["spent"]["delta"] == "1/10000000"


def test_a_key_is_paid_once(house, run):
    asked = ("ask", BY_SEX, "--epsilon", "0.1", "--key", "k1", "--format", "json")
    first, second = run(*asked).json, run(*asked).json
    assert first["rows"] == second["rows"]
    assert run("budget", "--format", "json").json["data"]["spent"] == "1/10"
    assert run("ask", BY_SEX, "--epsilon", "0.2", "--key", "k1").code == 2


def test_the_margin_of_a_quantile_counts_rows(house, run):
    out = run("ask", "SELECT MEDIAN(age) AS m, COUNT(*) AS n FROM people", "--epsilon", "1").out
    assert re.search(r"\d+ ± \d+ rows +[\d,]+ ± \d+ *\n", out)


def test_group_values_are_not_markup(house, run):
    choice = "CASE WHEN sex = 'F' THEN '[bold]x' ELSE 'y\x1b[31m' END"
    sql = f"SELECT {choice} AS g, COUNT(*) FROM people GROUP BY g"
    out = run("ask", sql, "--epsilon", "0.1").out
    assert "[bold]x" in out
    assert "\x1b" not in out


# plan


def test_plan_spends_nothing(house, run):
    found = run("plan", BY_SEX, "--epsilon", "0.1", "--format", "json").json
    assert found["epsilon"] == "1/10"
    assert found["mechanism"] == "laplace"
    assert {"value", "norm", "exact", "argument"} <= set(found["sensitivity"])
    assert (found["sensitivity"]["value"], found["sensitivity"]["norm"]) == ("1", "l1")
    assert found["margins"] == {"n": 30}
    assert found["confidence"] == 0.95
    assert run("budget", "--format", "json").json["data"]["spent"] == "0"
    entries = run("ledger", "--format", "json").json["entries"]
    assert [entry["kind"] for entry in entries] == ["opened", "edition"]
    assert "nothing was spent" in run("plan", BY_SEX, "--rho", "0.1").out


def test_plan_finds_the_epsilon_of_a_margin(house, run):
    found = run("plan", BY_SEX, "--margin", "50", "--confidence", "0.99", "--format", "json").json
    assert found["margins"]["n"] <= 50
    assert 0 < Fraction(found["epsilon"]) < Fraction(1, 5)


@pytest.mark.parametrize("given", [[], ["--epsilon", "1", "--margin", "5"], ["--margin", "nan"],
                                   ["--margin", "-1"], ["--margin", "inf"]])  # fmt: skip
def test_plan_takes_one_of_three(house, run, given):
    assert run("plan", BY_SEX, *given).code == 2


# budget and ledger


def test_budget_as_json(house, run):
    run("ask", BY_SEX, "--epsilon", "1/2", "--analyst", "alice")
    found = run("budget", "--format", "json").json
    assert found["data"]["spent"] == "1/2"
    assert found["data"]["remaining"] == "7/2"
    assert found["analysts"]["alice"]["spent"] == "1/2"
    assert found["analysts"]["alice"]["remaining"] == "1/2"
    assert re.search(r"alice +epsilon 0.5 +epsilon 0.5", run("budget").out)


def test_ledger_lists_every_event_without_numbers_of_the_answer(house, run):
    run("ask", BY_SEX, "--epsilon", "0.1", "--analyst", "alice")
    entries = run("ledger", "--format", "json").json["entries"]
    assert [entry["kind"] for entry in entries] == ["opened", "edition", "reserved", "answered"]
    assert entries[1]["number"] == 2
    assert entries[2]["cost"] == {"epsilon": "1/10"}
    assert entries[2]["statement"] == BY_SEX
    assert entries[3]["answers"] == 3
    assert "body" not in entries[3]
    out = run("ledger").out
    assert re.search(r"3 .* alice +laplace +epsilon 0.1 +SELECT sex", out)
    (house / "people.parquet").unlink()
    assert run("ledger").out == out


# init


CSV = """person_id,name,sex,joined,height,visits,smoker,odd näme.x,empty
"""


def _rows(count):
    for i in range(count):
        visits, height = (i % 4 if i % 5 else ""), 1.5 + i % 50 / 100
        texts = (f"n{i}-{i * 7919 % 10007}", "FM"[i % 2], f"2019-0{1 + i % 9}-11", f"{height:.2f}")
        yield ",".join(map(str, (i % 40, *texts, visits, i % 3 == 0, f"v{i % 3}", ""))) + "\n"


@pytest.fixture
def sheet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sheet.csv").write_text(CSV + "".join(_rows(400)))
    return tmp_path


def test_init_marks_what_it_took_and_answers_nothing(sheet, run):
    found = run("init", "sheet.csv", "--format", "json").json
    assert found["confirmed"] is False
    assert set(found["confirm"]) == {"sex", "joined", "height", "visits", "smoker", "odd näme.x"}
    assert set(found["undeclared"]) == {"person_id", "name", "empty"}
    assert found["units"] == ["person_id"]
    text = (sheet / "adomnia.toml").read_text()
    tree = tomllib.loads(text)
    assert tree["data"] == {"source": "sheet.csv", "table": "sheet"}
    assert tree["attributes"]["sex"] == {"values": ["F", "M"]}
    assert tree["attributes"]["visits"] == {"low": 0, "high": 3, "nullable": True}
    assert tree["attributes"]["height"] == {"low": 1.5, "high": 2.0, "step": 0.01}
    assert tree["attributes"]["joined"]["low"] == "2019-01-01"
    assert tree["attributes"]["odd näme.x"]["values"] == ["v0", "v1", "v2"]
    taken = [
        row for row in text.splitlines() if row.startswith(("low", "high", "values", "nullable"))
    ]
    assert all(row.partition("#")[2].startswith(" taken from the data: confirm") for row in taken)
    assert run("ask", "SELECT COUNT(*) FROM sheet", "--epsilon", "0.1").code == 2
    read_policy(sheet / "adomnia.toml")
    (sheet / "adomnia.toml").write_text(text.replace("confirmed = false", "confirmed = true"))
    assert run("ask", "SELECT sex, AVG(height) FROM sheet GROUP BY sex", "--epsilon", "1").code == 0


def test_init_does_not_overwrite(sheet, run):
    assert run("init", "sheet.csv").code == 0
    before = (sheet / "adomnia.toml").read_text()
    assert run("init", "sheet.csv", "--epsilon", "2").code == 2
    assert (sheet / "adomnia.toml").read_text() == before
    assert run("init", "sheet.csv", "--epsilon", "2", "--force").code == 0
    assert read_policy(sheet / "adomnia.toml").budget.epsilon == 2


def test_init_with_a_unit_and_another_name(sheet, run):
    (sheet / "sub").mkdir()
    ran = run("init", "sheet.csv", "--out", "sub/p.toml", "--unit", "person_id", "--max-rows", "3",
              "--table", "visits", "--epsilon", "1/3")  # fmt: skip
    assert ran.code == 0
    policy = read_policy("sub/p.toml")
    assert (policy.unit, policy.neighbors.rows, policy.table) == ("person_id", 3, "visits")
    assert policy.budget.epsilon == Fraction(1, 3)
    assert policy.source == "../sheet.csv"
    assert (
        run("init", "sheet.csv", "--out", "q.toml", "--unit", "nobody", "--max-rows", "3").code == 2
    )


@pytest.mark.parametrize("source", ["nothing.csv", "postgresql://x/y", "no/*.parquet"])
def test_init_of_nothing(sheet, run, source):
    ran = run("init", source)
    assert ran.code == 2
    assert not (sheet / "adomnia.toml").exists()


# why


def test_why_lists_the_notes_and_prints_each(run):
    listed = run("why").out
    notes = find_notes()
    assert {"laplace", "gaussian", "quantile", "composition", "ledger"} <= set(notes)
    for name, note in notes.items():
        assert re.search(rf"\b{name} ", listed)
        assert run("why", name).out == note.read_text("utf-8")
    assert run("why", "laplace", "--format", "json").json["title"] == "Integer Laplace noise"
    assert len(run("why", "--format", "json").json["notes"]) == len(notes)


def test_why_of_something_unknown_lists_what_there_is(run):
    ran = run("why", "magic")
    assert ran.code == 2
    assert "laplace" in ran.err


# demo


def test_demo_in_text_and_as_json(tmp_path, run):
    folder = tmp_path / "a b"
    out = run("demo", "--rows", "20000", "--folder", str(folder)).out
    assert out.count("receipt ") == 5
    assert "confirmed = true by itself" in out
    assert "paid nothing" in out
    assert re.search(r"the data +epsilon 1 +epsilon 3", out)
    assert run("demo", "--rows", "20000", "--folder", str(folder)).code == 2
    found = run("demo", "--rows", "20000", "--folder", str(tmp_path / "b"), "--format", "json").json
    assert len(found["questions"]) == 5
    assert found["questions"][4]["answer"]["spent"] == {"epsilon": "0"}
    assert found["budget"]["data"] == {"spent": "1", "remaining": "3", "unit": "epsilon"}
    assert run("ledger", "--verify", "--policy", str(folder / "adomnia.toml")).code == 0


# The real command


def test_help_teaches_every_verb(run):
    out = run("--help").out
    for verb in ("init", "ask", "plan", "budget", "ledger", "demo", "why"):
        assert re.search(rf"^  {verb} ", out, re.MULTILINE)
        page = run(verb, "--help").out
        assert page.count("\n    adomnia ") + page.count("| adomnia ") >= 2, verb
        assert {"--policy", "--format"} <= set(re.findall(r"--\w+", page)), verb
    assert run("--version").out.startswith("adomnia, version ")


def test_the_command_as_a_process(house):
    ran = command("ask", BY_SEX, "--epsilon", "0.1", "--format", "json")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["spent"] == {"epsilon": "1/10"}
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    assert command("ask", BY_SEX, "--epsilon", "0.1", env=env).returncode == 0
    assert command("ask", BY_SEX, "--epsilon", "9").returncode == 3


def unread(pipe):
    """How many bytes of what was written have not been read at the other end."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_ctrl_c_on_the_real_command(house):
    program = "from adomnia.cli.main import main; print('ready', flush=True); main()"
    child = subprocess.Popen(
        [sys.executable, "-c", program, "ask", "-", "--epsilon", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "ready\n"
    child.stdin.write("SELECT COUNT(*)")
    child.stdin.flush()
    while unread(child.stdin):  # when it has read this much it waits for the rest
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "Traceback" not in err
    assert "stays spent" in err


# Amounts


@pytest.mark.parametrize(("value", "text"), [
    (Fraction(1, 10), "0.1"), (Fraction(4), "4"), (Fraction(1, 3), "1/3"), (Fraction(0), "0"),
    (Fraction(1, 10**300), "1e-300"), (Fraction(123457, 10**10 + 1), "about 1.23457e-05"),
    (Fraction(10**400), "more than 10^308"),
])  # fmt: skip
def test_amounts_are_exact_or_say_that_they_are_not(value, text):
    assert formatting.amount(value) == text
