"""Releases whose tables are chosen by the data: how they are planned, marked and kept."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import adomnia
from adomnia.curator.releases.presentation import Presentation
from adomnia.curator.releases.release_folder import write_folder
from adomnia.errors import QuestionError
from adomnia.marginals.adaptive import AdaptivePlan
from adomnia.present.release_page import release_page

COLUMNS = 12


def write_survey(folder: Path, declared: int | None = 600, rows: int = 600) -> Path:
    """A survey of many questions with four answers each; the sixth repeats the third."""
    chance = np.random.default_rng(4)
    answers = chance.integers(0, 4, (rows, COLUMNS))
    answers[:, 5] = answers[:, 2]
    with (folder / "survey.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"q{number}" for number in range(COLUMNS)])
        writer.writerows(answers.tolist())
    known = "" if declared is None else f"rows = {declared}\n"
    attributes = "".join(f"[attributes.q{n}]\nlow = 0\nhigh = 3\n" for n in range(COLUMNS))
    policy = folder / "adomnia.toml"
    policy.write_text(
        f'[data]\nsource = "survey.csv"\n{known}[privacy]\nepsilon = 100\nconfirmed = true\n'
        + attributes
    )
    return policy


@pytest.fixture
def survey(tmp_path):
    with adomnia.open(write_survey(tmp_path)) as database:
        yield database


def test_public_rows_decide_whether_tables_are_chosen(survey):
    small = survey.plan_release(ways=2, epsilon="0.5")
    assert isinstance(small.marginal_plan, AdaptivePlan)
    assert small.to_json()["adaptive"]["candidates"] == COLUMNS * (COLUMNS - 1) / 2
    assert "adaptive" not in survey.plan_release(ways=2, epsilon=90).to_json()
    assert "adaptive" not in survey.plan_release(ways=1, epsilon="0.5").to_json()
    plain = survey.plan_release(ways=2, epsilon=1, adaptive=False, accept=True)
    assert "adaptive" not in plain.to_json()


def test_without_public_rows_it_is_done_on_request_and_they_are_counted_first(tmp_path):
    with adomnia.open(write_survey(tmp_path, declared=None)) as database:
        assert "adaptive" not in database.plan_release(ways=2, epsilon="0.5").to_json()
        planned = database.plan_release(ways=2, epsilon="0.5", adaptive=True)
        assert planned.to_json()["adaptive"]["chosen"] is None
        made = database.release(planned)
        assert len(made.tables) == COLUMNS * (COLUMNS + 1) / 2
        assert database.budget()["data"]["spent"] == "1/2"


def test_tables_that_are_a_model_say_so_everywhere(survey, tmp_path):
    made = survey.release(survey.plan_release(ways=2, epsilon="0.5"))
    assert made.models
    assert all(len(subset) == 2 for subset in made.models)
    assert any("are a model" in note for note in made.notes)
    printed = Presentation(round_to=5)
    pages = {"index.html": release_page(made, None, printed)}
    folder = write_folder(made, tmp_path / "out", microdata=True, pages=pages, presentation=printed)
    facts = json.loads((folder / "release.json").read_text())
    names = made.plan.workload.names
    model = [one for one in facts["marginals"] if not one["measured"]]
    assert {tuple(one["attributes"]) for one in model} == {
        tuple(names[place] for place in subset) for subset in made.models
    }
    assert all(one["largest_margin"] is None for one in model)
    stem = Path(model[0]["file"]).stem
    head, first, *_ = (folder / "marginals" / f"{stem}.csv").read_text().splitlines()
    assert head.endswith("count,count_margin")
    assert first.endswith(",")
    assert ",,model" in (folder / "presentation" / f"{stem}.csv").read_text()
    assert "(model)" in pages["index.html"]
    assert "by the model" in pages["index.html"]
    assert "for certain" not in pages["index.html"]
    assert "Infinity" not in (folder / "release.json").read_text()


def test_later_questions_are_answered_from_measured_tables_alone(survey):
    made = survey.release(survey.plan_release(ways=2, epsilon="0.5"))
    session = survey.session()
    single = session.ask("SELECT q0, COUNT(*) FROM survey GROUP BY q0", epsilon="0.01")
    listed = ", ".join(made.plan.workload.names[place] for place in made.models[0])
    pair = session.ask(f"SELECT {listed}, COUNT(*) FROM survey GROUP BY {listed}", epsilon="0.01")
    assert single.spent == {"epsilon": 0}
    assert pair.spent == {"epsilon": Fraction(1, 100)}


def test_a_target_keeps_tables_with_it_beside_single_ones(survey):
    planned = survey.plan_release(ways=2, epsilon=1, target="q3")
    tables = planned.workload.marginals
    assert len(tables) == 2 * COLUMNS - 1
    assert all(3 in subset for subset in tables if len(subset) > 1)
    with pytest.raises(QuestionError, match="--for 'q99'"):
        survey.plan_release(ways=2, epsilon=1, target="q99")
    with pytest.raises(QuestionError, match="goes with --ways"):
        survey.plan_release(marginals=["q1,q3"], epsilon=1, target="q3")


def test_records_that_are_mostly_noise_are_made_on_request_alone(survey):
    with pytest.raises(QuestionError, match="noise") as caught:
        survey.plan_release(ways=2, epsilon="0.001")
    assert "--accept" in caught.value.hint
    accepted = survey.plan_release(ways=2, epsilon="0.001", accept=True)
    assert survey.release(accepted).tables
    assert survey.plan_release(ways=2, epsilon="0.001", unbiased=True).deviations


@pytest.mark.parametrize("beside", [{"unbiased": True}, {"sums": ["q1"]}, {"cumulative": ["q1"]}])
def test_what_needs_all_tables_is_refused_beside_a_choice(survey, beside):
    with pytest.raises(QuestionError, match="adaptive"):
        survey.plan_release(ways=2, epsilon=1, adaptive=True, **beside)
    assert (
        "adaptive"
        not in survey.plan_release(ways=2, epsilon="0.5", accept=True, **beside).to_json()
    )


def test_structural_zeros_stay_empty(tmp_path):
    policy = write_survey(tmp_path)
    policy.write_text(policy.read_text() + '[[impossible]]\nwhen = "q0 = 1 AND q1 = 2"\n')
    with adomnia.open(policy) as database:
        made = database.release(database.plan_release(ways=2, epsilon="0.5"))
        place = made.plan.workload.marginals[COLUMNS]
        assert place == (0, 1)
        assert made.tables[0, 1][1, 2] == made.margins[0, 1][1, 2] == 0
