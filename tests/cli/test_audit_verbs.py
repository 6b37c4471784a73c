"""`adomnia audit disclosure`, `influence` and `claim`, as a person types them."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from pyarrow import csv, parquet

from adomnia.cli.main import cli
from tests.chance.seeded import seed_system

TOP = Path(__file__).parents[2]
DATA = Path(os.environ.get("ADOMNIA_DATA", TOP.parent / "shared/data"))
MORE = """
[attributes.region]
values = ["Ardmoor", "Belcastra", "Corvale", "Dunmere"]
other = "elsewhere"

[attributes.education]
values = ["none", "primary", "secondary", "vocational", "bachelor", "master", "doctorate"]

[attributes.occupation]
values = ["care", "crafts", "management", "office", "pupil", "retired", "science", "teaching"]
other = "other"
"""
GROUPS = ("--public", "sex,region,education", "--sensitive", "occupation")


@pytest.fixture
def town(house: Path) -> Path:
    """The house, with attributes that can be disclosed."""
    (house / "adomnia.toml").write_text((house / "adomnia.toml").read_text() + MORE)
    return house


def test_disclosures_of_the_policys_own_data(run, town):
    told = run("audit", "disclosure", *GROUPS, "--epsilon", "20,2,0.02", "--format", "json").json
    assert set(told["readings"]) == {"pair", "all"}
    pair = told["readings"]["pair"]
    assert [level["epsilon"] for level in pair] == ["20", "2", "0.02"]
    assert pair[0]["disclosures"] > pair[1]["disclosures"] > pair[2]["disclosures"] == 0
    assert pair[2]["overall_error"] == pytest.approx(1000 * pair[0]["overall_error"])
    assert told["rows"] == 3000
    assert told["neighbors"] == "unbounded"  # as the policy says
    assert "found" not in told
    assert not (town / "adomnia.ledger").exists()  # it is looked at, not used


def test_groups_are_named_only_on_request(run, town):
    quiet = run("audit", "disclosure", *GROUPS, "--epsilon", "20")
    assert "doctorate" not in quiet.out
    assert "--names" in quiet.out
    loud = run("audit", "disclosure", *GROUPS, "--epsilon", "20", "--names")
    assert "EXACT DATA" in loud.out
    assert "education" in loud.out.split("EXACT DATA")[1]
    listed = run("audit", "disclosure", *GROUPS, "--epsilon", "20", "--names", "--format", "json")
    first = listed.json["found"]["pair"]["20"][0]
    assert set(first) == {"group", "value", "j", "closeness"}


def test_csv_gz_and_parquet_say_the_same(run, town):
    table = parquet.read_table("people.parquet")
    csv.write_csv(table, "people.csv")
    with gzip.open("people.csv.gz", "wb") as out:
        out.write(Path("people.csv").read_bytes())
    told = [
        run("audit", "disclosure", "--data", file, *GROUPS, "--format", "json").json["readings"]
        for file in ("people.parquet", "people.csv", "people.csv.gz")
    ]
    assert told[0] == told[1] == told[2]


def test_a_plot_marks_the_chosen_epsilon(run, town):
    ran = run("audit", "disclosure", *GROUPS, "--epsilon", "2,1/2", "--chosen", "0.5", "--plot",
              "groups.svg")  # fmt: skip
    assert ran.code == 0
    drawn = (town / "groups.svg").read_text()
    assert drawn.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert drawn.count('class="ring"') == 2  # one for each reading
    assert "ε 1/2" in drawn


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--public", "sex,region"), "sensitive"),
        (("--public", "sex", "--sensitive", "age"), "two public"),
        (("--public", "sex,age", "--sensitive", "age"), "both public and sensitive"),
        (("--public", "sex,nothing", "--sensitive", "age"), "declared"),
        ((*GROUPS, "--epsilon", "0"), "above zero"),
        ((*GROUPS, "--tau", "2"), "tau"),
        ((*GROUPS, "--plot", "x.png"), "SVG"),
        (("--data", "nowhere.csv", *GROUPS), "no file"),
        (("--data", "adomnia.toml", *GROUPS), "no known kind"),
        (("--data", "people.parquet", "--public", "sex,nothing", "--sensitive", "age"),
         "no column 'nothing'"),
        (("--data", "empty.csv", "--public", "sex,region", "--sensitive", "age"), "no rows"),
    ],
)  # fmt: skip
def test_wrong_input_exits_with_2_and_a_next_step(run, town, options, words):
    Path("empty.csv").write_text("sex,region,age\n")
    ran = run("audit", "disclosure", *options, "--format", "json")
    assert ran.code == 2
    assert words in ran.error["message"] + ran.error["hint"]


@pytest.mark.skipif(not (DATA / "census").exists(), reason="the census data is not here")
@pytest.mark.parametrize(
    ("sensitive", "others", "pair", "all_"),
    [
        ("education", "gender,marital,race,occupation", [138, 85, 45, 12, 0], [62, 30, 11, 1, 0]),
        ("occupation", "gender,marital,race,education", [151, 105, 67, 24, 0],
         [176, 103, 57, 12, 0]),
    ],
)  # fmt: skip
def test_the_census_gives_the_known_counts(run, sensitive, others, pair, all_):
    file = str(DATA / "census/edu_occ.parquet")
    told = run("audit", "disclosure", "--data", file, "--public", others, "--sensitive", sensitive,
               "--format", "json").json["readings"]  # fmt: skip
    assert [level["disclosures"] for level in told["pair"]] == pair
    assert [level["disclosures"] for level in told["all"]] == all_


def test_influence_has_the_promised_shape(run):
    pytest.importorskip("numba")
    ran = run("audit", "influence", "--model", "forest-fire", "--runs", "200", "--seed", "1",
              "--format", "json")  # fmt: skip
    assert ran.json["runs"] == 200
    for part in ("without", "with", "difference"):
        assert set(ran.json[part]) >= {"mean", "se"}
    assert ran.json["with"]["mean"] > ran.json["without"]["mean"]
    again = run("audit", "influence", "--runs", "200", "--seed", "1", "--workers", "1",
                "--format", "json")  # fmt: skip
    assert again.json["with"] == ran.json["with"]
    assert run("audit", "influence", "--model", "nothing").code == 2
    assert run("audit", "influence", "--set", "nodes").code == 2


def test_a_true_claim_stands_and_a_false_one_exits_with_5(run, monkeypatch):
    seed_system(monkeypatch.setattr)  # a true claim falls once in a hundred times
    ran = run("audit", "claim", "--mechanism", "laplace", "--samples", "4000", "--format", "json")
    assert ran.code == 0
    assert ran.json["details"]["verdict"] == "not refuted"
    ran = run(
        "audit", "claim", "--mechanism", "half_noise", "--samples", "8000", "--format", "json"
    )
    assert ran.code == 5
    assert ran.json["details"]["verdict"] == "violated"
    ran = run("audit", "claim", "--mechanism", "nothing")
    assert ran.code == 2
    assert "laplace" in ran.err


def test_ones_own_function_can_be_audited(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("def answer(count):\n    return count\n")
    told = ("--epsilon", "1", "--samples", "400", "--data", "10", "--neighbour", "11")
    assert run("audit", "claim", "--mechanism", "mine.py:answer", *told).code == 5
    assert run("audit", "claim", "--mechanism", "mine.py:nothing", *told).code == 2
    assert run("audit", "claim", "--mechanism", "nowhere.py:answer", *told).code == 2


def test_every_single_audit_and_attack_and_its_options_are_documented():
    page = (TOP / "docs/cli.md").read_text("utf-8")
    common = page.split("\n## ")[0]
    for group in ("audit", "attack"):
        section = page.split(f"\n## `adomnia {group}")[1].split("\n## ")[0]
        verbs = cli.get_command(None, group).commands
        assert verbs
        for name, verb in verbs.items():
            assert name in section
            flags = [option.opts[-1] for option in verb.params if isinstance(option, click.Option)]
            assert [flag for flag in flags if flag not in section + common] == []
            assert verb.help
            assert "Examples:" in verb.help


def test_plain_verbs_do_not_load_the_auditor():
    program = (
        "import sys, adomnia.cli.main\n"
        "slow = {'pyarrow', 'numba', 'rich'} & set(sys.modules)\n"
        "attacks = {name for name in sys.modules if name.startswith('adomnia.audit.')}\n"
        "print(sorted(slow | {name for name in attacks if name.count('.') > 2}))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"
