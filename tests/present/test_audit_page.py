"""The page of an audit: colours, words, pictures, and what must not be on it."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from adomnia.audit.finding import Finding, Rate
from adomnia.errors import QuestionError
from adomnia.policy.policy import Audit, read_policy
from adomnia.present.audit_page import audit_json, audit_page, write_audit
from adomnia.present.disclosure_plot import disclosure_plot
from adomnia.present.findings import success_text
from adomnia.present.promise import promise_text
from adomnia.privacy.composition import Budget
from adomnia.review.audit_report import AuditReport, judge

POLICY = """[data]
source = "people.csv"
[privacy]
epsilon = 1.0
confirmed = true
[attributes.sex]
values = ["F", "M"]
"""


def finding(value: float, low: float | None = None, baseline: float = 0.5, **more) -> Finding:
    rate = Rate(value, value if low is None else low, value)
    words = {"claim": "a <claim>", "affected": "all", "source": "a paper", "remedy": "less"}
    facts = {"attack": "linkage", "success": rate, "baseline": baseline, "covered": True}
    return Finding(**{**words, **facts, **more})


@pytest.fixture
def policy(tmp_path: Path):
    (tmp_path / "adomnia.toml").write_text(POLICY)
    return read_policy(tmp_path / "adomnia.toml")


@pytest.mark.parametrize(
    ("found", "colour"),
    [
        (finding(0.5), "green"),
        (finding(0.54), "green"),
        (finding(0.56), "amber"),
        (finding(0.71), "red"),
        (finding(0.6, low=0.4), "green"),  # it may be luck
        (finding(0.9, low=0.4), "amber"),
        (finding(0.1), "green"),
        (finding(0.0, attack="disclosure", baseline=0), "green"),
        (finding(3.0, attack="disclosure", baseline=0), "amber"),
        (finding(1.0, attack="given away", baseline=0), "red"),
        (finding(0.001, attack="uniqueness", baseline=0), "amber"),
        (finding(0.0, attack="uniqueness", baseline=0), "green"),
        (finding(2.0, attack="claim", details={"verdict": "violated"}), "red"),
        (finding(0.9, attack="claim", details={"verdict": "not refuted"}), "green"),
        (finding(0.0, attack="questionnaire", details={"verdict": "unknown"}), "amber"),
        (finding(0.5, details={"scored": False}), "amber"),
    ],
)
def test_colours(found, colour):
    assert judge(found, Audit()) == colour


def test_the_policy_moves_the_thresholds():
    assert judge(finding(0.6), Audit(amber=0.2, red=0.4)) == "green"
    found = finding(3.0, attack="disclosure", baseline=0)
    assert judge(found, Audit(disclosures=2)) == "red"
    assert judge(found, Audit(disclosures=3)) == "amber"


def test_figures_are_told_in_words():
    assert success_text(finding(0.7)) == "70%; somebody who saw nothing: 50%"
    assert "60% to 70%, 95% sure" in success_text(finding(0.7, low=0.6))
    assert "not scored" in success_text(finding(0.5, details={"scored": False}))
    once = finding(0.1, details={"against": "one answer for the same price"})
    assert "one answer for the same price: 50%" in success_text(once)


def test_what_names_people_stays_out():
    named = finding(1.0, details={"guess": [1, 0], "links": [[1, 2]], "linked": 2})
    assert named.without_names()["details"] == {"linked": 2}
    json.dumps(named.without_names())


def test_the_page_escapes_and_names_nobody(policy):
    secret = finding(0.9, details={"unique_rows": [41, 42], "linked": 7})
    made = AuditReport(policy, (secret,), (("averaging", "<nothing> asked"),))
    page = audit_page(made)
    assert "A &lt;claim&gt;." in page
    assert "<claim>" not in page
    assert "&lt;nothing&gt; asked" in page
    assert "This report names nobody" in page
    assert "41" not in json.dumps(audit_json(made)["findings"])
    loud = audit_page(replace(made, names=True))
    assert "do not pass it on" in loud
    assert "<li>41</li>" in loud


def test_nothing_found_is_a_page_too(policy):
    page = audit_page(AuditReport(policy, ()))
    assert "Nothing that was looked at calls for a change" in page
    assert AuditReport(policy, ()).verdict() == "green"


def test_a_report_is_written_whole_and_to_an_empty_place(policy, tmp_path):
    made = AuditReport(policy, (finding(0.9),))
    place = write_audit(made, tmp_path / "deep/report")
    assert sorted(path.name for path in place.iterdir()) == ["audit.json", "index.html"]
    assert place.stat().st_mode & 0o077 == 0  # its owner's alone
    with pytest.raises(QuestionError):
        write_audit(made, place)


def test_the_promise_in_words(policy):
    said = " ".join(promise_text(policy, spent="1/4", released=2))
    for part in ("one row", "epsilon = 1", "73.11% sure", "0.25 is spent", "2 statements"):
        assert part in said
    open_ = replace(policy, confirmed=False, max_group=3, universe=("sex",))
    assert "NOT confirmed" in " ".join(promise_text(open_))


def test_a_budget_in_rho_is_told_as_an_epsilon_too(policy):
    said = " ".join(promise_text(replace(policy, budget=Budget(rho=Fraction(1, 10)))))
    assert "rho = 0.1" in said
    assert "at most epsilon = 2." in said
    assert "1 in 1,000,000" in said


def test_the_chosen_epsilon_is_ringed_however_it_is_written():
    levels = [{"epsilon": "1/2", "disclosures": 3, "overall_error": 0.4}]
    assert 'class="ring"' in disclosure_plot({"pair": levels}, "0.5")
    assert 'class="ring"' not in disclosure_plot({"pair": levels}, "0.4")
    assert ">40%<" in disclosure_plot({"pair": levels})


def test_open_questions_and_steps_are_listed(policy):
    steps = [{"question": "exact", "use": "a <prior>", "reason": "totals", "reference": "a paper"},
             {"question": "family", "use": "none", "reason": "x", "reference": "y"}]  # fmt: skip
    details = {"verdict": "unknown", "steps": steps, "questions": {"family": "Are they <alike>?"}}
    page = audit_page(AuditReport(policy, (finding(1.0, attack="questionnaire", details=details),)))
    assert "<strong>a &lt;prior&gt;</strong>: totals" in page
    assert "<code>family</code>: Are they &lt;alike&gt;?" in page
    assert "<strong>none</strong>" not in page
