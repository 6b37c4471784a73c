"""The gate of a release: refused before it is paid, and only the curator hears why."""

from __future__ import annotations

from pathlib import Path

import pytest

GATE = """
[attributes.education]
values = ["none", "primary", "secondary", "vocational", "bachelor", "master", "doctorate"]

[attributes.occupation]
values = ["care", "crafts", "management", "office", "pupil", "retired", "science", "teaching"]
other = "other"

[audit]
public = ["sex", "education"]
sensitive = "occupation"
"""
TABLES = ("release", "--marginals", "education,occupation", "--marginals", "sex")


@pytest.fixture
def gated(house: Path):
    """Writes the policy with these lines at the end of [audit]."""

    def write(*lines: str) -> None:
        text = (house / "adomnia.toml").read_text().split("\n[attributes.education]")[0]
        (house / "adomnia.toml").write_text(text + GATE + "\n".join(lines) + "\n")

    write()
    return write


def spent(run) -> str:
    return run("budget", "--format", "json").json["data"]["spent"]


def test_a_telling_release_is_refused_before_it_is_paid(run, gated, house):
    gated("disclosures = 0")
    ran = run(*TABLES, "--epsilon", "2", "--out", "tables")
    assert ran.code == 4
    assert "more than the policy allows" in ran.err
    assert "doctorate" in ran.err  # the curator hears which groups
    assert not (house / "tables").exists()
    assert spent(run) == "0"


def test_the_error_itself_holds_no_data(run, gated):
    gated("disclosures = 0")
    ran = run(*TABLES, "--epsilon", "2", "--out", "tables", "--format", "json")
    assert ran.code == 4
    assert ran.error["kind"] == "NotAllowedError"
    assert "doctorate" not in ran.err
    assert ran.json["gate"]["allowed"] == 0
    assert ran.json["gate"]["disclosures"] == len(ran.json["gate"]["found"]) > 0


def test_much_noise_or_a_high_limit_lets_it_pass(run, gated, house):
    gated("disclosures = 0")
    assert run(*TABLES, "--epsilon", "0.001", "--accept", "--out", "noisy").code == 0
    gated("disclosures = 1000")
    ran = run(*TABLES, "--epsilon", "1", "--out", "tables")
    assert ran.code == 0
    assert "doctorate" not in ran.err
    assert (house / "tables/release.json").exists()


def test_a_gate_that_warns_lets_it_pass(run, gated, house):
    gated("disclosures = 0", 'gate = "warn"')
    ran = run(*TABLES, "--epsilon", "2", "--out", "tables", "--format", "json")
    assert ran.code == 0
    assert ran.json["folder"] == "tables"
    assert '"gate"' in ran.err
    assert (house / "tables").exists()


def test_without_a_limit_there_is_a_gate_only_if_it_is_asked_for(run, gated):
    assert run(*TABLES, "--epsilon", "2", "--out", "tables").code == 0
    ran = run(*TABLES, "--epsilon", "1", "--out", "more", "--gate")
    assert ran.code == 4
    assert run(*TABLES, "--epsilon", "1", "--plan").code == 0
    assert run(*TABLES, "--epsilon", "1", "--plan", "--gate").code == 4


def test_an_analyst_learns_nothing_from_the_gate(run, gated):
    """Refused alike whether it would pass or not."""
    gated("disclosures = 0")
    answers = [
        run(*TABLES, "--epsilon", epsilon, "--accept", "--out", "tables", "--analyst", "alice")
        for epsilon in ("0.001", "1")
    ]
    assert [ran.code for ran in answers] == [4, 4]
    assert answers[0].err == answers[1].err
    assert "doctorate" not in answers[0].err


def test_tables_with_further_attributes_are_summed(run, gated):
    gated("disclosures = 0")
    told = ("release", "--marginals", "age,education,occupation", "--epsilon", "2", "--out", "x")
    assert run(*told).code == 4


def test_tables_without_the_sensitive_attribute_pass(run, gated):
    gated("disclosures = 0")
    told = ("release", "--marginals", "sex,education", "--epsilon", "2", "--out", "tables")
    assert run(*told).code == 0


def test_a_gate_that_knows_nothing_says_what_it_needs(run, house):
    ran = run("release", "--marginals", "sex", "--epsilon", "1", "--out", "tables", "--gate")
    assert ran.code == 2
    assert "[audit]" in ran.err
