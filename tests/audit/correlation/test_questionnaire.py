"""The questionnaire: data for which the promise fits, data for which it does not, and unknowns."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from adomnia.audit.correlation.questionnaire import QUESTIONS, Answers, advise
from adomnia.errors import QuestionError

PLAIN = {
    "independent": True,
    "exact": False,
    "influence": False,
    "several_rows": False,
    "repeated": False,
}
TOP = Path(__file__).parents[3]


def advice(**changed):
    return advise(Answers(**(PLAIN | changed)))


def test_independent_rows_and_nothing_else():
    found = advice()
    assert (found.verdict, found.steps, found.fits) == ("fits", (), True)
    finding = found.finding()
    assert (finding.success.value, finding.covered, finding.complete) == (0, True, True)
    assert "none needed" in finding.remedy


@pytest.mark.parametrize(
    ("changed", "policy", "use"),
    [
        ({"independent": False, "group": 10}, "group = 10", "groups of 10"),
        ({"several_rows": True, "rows": 5}, "max_rows = 5", "unit"),
        ({"exact": True}, "[[prior]]", "induced"),
        ({"repeated": True, "releases": 4}, "epsilon", "all 4 releases"),
    ],
)
def test_what_a_policy_can_state(changed, policy, use):
    found = advice(**changed)
    assert found.verdict == "fits with"
    assert found.fits
    (step,) = found.steps
    assert policy in step.policy
    assert use in step.use
    assert step.reason
    assert step.reference.startswith(("Kifer", "Dwork"))
    assert found.finding().success.value == pytest.approx(1 / len(QUESTIONS))


@pytest.mark.parametrize("changed", [{"influence": True}, {"independent": False}])
def test_what_no_neighbour_relation_hides(changed):
    """Networks and contagion, or dependence without a bound: the promise does not fit."""
    found = advice(**changed)
    assert found.verdict == "does not fit"
    assert not found.fits
    assert any("free-lunch" in step.use for step in found.steps)
    assert not found.finding().covered


def test_an_influence_is_to_be_audited():
    uses = " ".join(step.use for step in advice(influence=True).steps)
    assert "node" in uses
    assert "edge" in uses
    assert "influence" in uses


def test_unknown_is_treated_as_the_worse_answer():
    found = advise(Answers())
    assert found.verdict == "unknown"
    assert set(found.unknown) == set(QUESTIONS)
    assert {step.question for step in found.steps} == set(QUESTIONS)
    assert not found.finding().complete
    some = advice(exact=None)
    assert (some.verdict, some.unknown) == ("unknown", ("exact",))
    assert [step.question for step in some.steps] == ["exact"]


def test_one_bad_answer_decides_whatever_else_is_unknown():
    assert advice(influence=True, exact=None).verdict == "does not fit"


def test_several_steps_come_together_and_as_json():
    found = advice(exact=True, several_rows=True, independent=False, group=3)
    assert [step.question for step in found.steps] == ["independent", "exact", "several_rows"]
    text = json.dumps(found.finding().to_json(), allow_nan=False)
    assert "group = 3" in text


def test_every_question_has_an_answer_and_every_key_is_a_real_one():
    names = {field.name for field in fields(Answers)}
    assert set(QUESTIONS) <= names
    page = (TOP / "docs/policy.md").read_text("utf-8")
    for key in ("group", "unit", "max_rows", "epsilon"):
        assert f"`{key}`" in page


def test_sizes_are_positive():
    with pytest.raises(QuestionError):
        Answers(group=0)
    with pytest.raises(QuestionError):
        Answers(rows=-1)
