"""The curator's database in Python: audits, checks and attacks, as on the command line."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from pyarrow import csv

import adomnia
from adomnia.audit import DisclosureTerms, Finding
from adomnia.cli.demo.census import census_rows
from adomnia.curator.database import PrivateDatabase
from adomnia.errors import NotAllowedError, QuestionError
from adomnia.review.audit import STEPS
from adomnia.review.database import Database

POLICY = """[data]
source = "people.csv"
[privacy]
neighbors = "unbounded"
epsilon = 4
confirmed = true
[attributes.sex]
values = ["F", "M"]
[attributes.education]
values = ["none", "primary", "secondary", "vocational", "bachelor", "master", "doctorate"]
[attributes.occupation]
values = ["care", "crafts", "management", "office", "pupil", "retired", "science", "teaching"]
other = "other"
[audit]
public = ["sex", "education"]
sensitive = "occupation"
disclosures = 2
"""


@pytest.fixture
def database(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv.write_csv(census_rows(0, 3000, np.random.default_rng(7)), "people.csv")
    Path("adomnia.toml").write_text(POLICY)
    with adomnia.open() as opened:
        yield opened


def spent(database) -> str:
    return database.budget()["data"]["spent"]


def test_what_is_opened_is_the_curators(database):
    assert type(database) is Database is adomnia.Database
    assert isinstance(database, PrivateDatabase)


def test_a_whole_audit_is_a_value(database):
    done = []
    report = database.audit(time_limit=5, progress=done.append)
    assert len(done) == len(STEPS)
    found = {one.attack for one in report.findings}
    assert found == {"questionnaire", "claim", "disclosure", "reconstruct", "averaging"}
    assert report.verdict() == "red"
    skipped = {what for what, _ in report.skipped}
    assert skipped == {"exact releases", "the microdata file", "membership"}
    assert report.to_json()["verdict"] == "red"
    assert spent(database) == "0"


def test_what_an_audit_is_told_is_checked(database):
    with pytest.raises(QuestionError, match="not a declared attribute"):
        database.audit(public=["sex", "nothing"], sensitive="occupation")
    with pytest.raises(QuestionError, match="no file"):
        database.audit(microdata="nowhere.csv")


def test_names_are_there_only_if_they_are_asked_for(database):
    told = str(database.audit(time_limit=2).to_json())
    named = str(database.audit(time_limit=2, names=True).to_json())
    assert "doctorate" not in told
    assert "doctorate" in named


def test_a_release_is_checked_before_it_is_paid(database):
    planned = database.plan_release(marginals=["sex,education,occupation"], epsilon=4)
    check = database.check_release(planned)
    assert not check.passed
    assert len(check.found) > check.allowed == 2
    with pytest.raises(NotAllowedError, match="nothing was spent"):
        check.enforce()
    blurred = database.check_release(
        database.plan_release(marginals=["sex,education,occupation"], epsilon="1/1000", accept=True)
    )
    assert blurred.passed
    blurred.enforce()
    assert spent(database) == "0"


def test_disclosures_are_counted_at_each_epsilon(database):
    report = database.disclosures(epsilons=["10", "0.001"], tau=0.3)
    many, few = report.readings["pair"]
    assert many.disclosures > few.disclosures
    assert not many.found
    assert report.terms == DisclosureTerms(
        tau=0.3, kj=Fraction(3), neighbors="unbounded", reading="both"
    )
    assert database.disclosures(epsilons=["10"], names=True).readings["pair"][0].found
    with pytest.raises(QuestionError, match="both public and sensitive"):
        database.disclosures(public=["sex", "education"], sensitive="sex")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("averaging", {"condition": "sex = 'F'", "epsilon": "0.5"}),
        ("tracker", {"targets": ["education = 'none'"], "trackers": ["sex = 'F'"], "epsilon": 1}),
        ("reconstruct", {"people": 16, "epsilon": "0.5"}),
        ("reconstruct", {"target": "sex = 'F'", "column": "person_id", "people": 16}),
    ],
)
def test_attacks_ask_a_copy(database, name, options):
    found = database.attack(name, **options)
    assert isinstance(found, Finding)
    assert found.success.low <= found.success.value <= found.success.high
    assert spent(database) == "0"


def test_exact_releases_are_attacked_without_data(database):
    database.add_prior("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
    found = database.attack("prior", epsilon=0.5, trials=3, accounted=True)
    assert found.attack == "prior-leak"
    assert spent(database) == "0"


def test_wrong_attacks_are_refused(database):
    with pytest.raises(QuestionError, match="no attack 'linkage' asks a database"):
        database.attack("linkage")
    with pytest.raises(QuestionError, match="goes up to"):
        database.attack("reconstruct", people=10**6)
    with pytest.raises(QuestionError, match="trials must be a whole number"):
        database.attack("prior", trials=0)


def test_a_rehearsal_spends_nothing_and_a_source_goes_with_it(database, tmp_path):
    with database.rehearsal() as copy:
        copy.session().ask("SELECT COUNT(*) AS n FROM people", 1)
        assert spent(copy) == "1"
    assert spent(database) == "0"
    (tmp_path / "few.csv").write_text("sex,education,occupation\nF,none,care\n")
    with adomnia.open(source=str(tmp_path / "few.csv")) as other, other.rehearsal() as copy:
        assert abs(copy.session().ask("SELECT COUNT(*) AS n FROM people", 4).rows[0][0]) < 50


def test_asking_loads_no_attack(database):
    """What only an audit needs is loaded by one."""
    import subprocess

    program = (
        "import sys, adomnia\n"
        "with adomnia.open() as d: d.session().ask('SELECT COUNT(*) AS n FROM people', 1)\n"
        "print([m for m in sys.modules if m.startswith('adomnia.audit.')])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"
