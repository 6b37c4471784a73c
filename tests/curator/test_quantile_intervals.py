"""Quantiles with an interval: what is paid, shown, drawn, and known again."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from click.testing import CliRunner
from town import Town

from adomnia.cli.main import cli
from adomnia.errors import QuestionError
from adomnia.mechanisms.interval_quantile import IntervalQuantile
from adomnia.mechanisms.measurement_mechanisms import Apart
from adomnia.mechanisms.quantiles.quantile import Share
from adomnia.present.answer_bars import answer_bars
from adomnia.present.drawing.bars import bar_chart
from adomnia.testing import town

MEDIANS = "SELECT sex, MEDIAN(age) AS m, COUNT(*) AS n FROM people GROUP BY sex ORDER BY m DESC"
ONE = "SELECT MEDIAN(age) AS m FROM people"


def test_an_interval_is_there_only_where_it_is_asked_for(town: Town) -> None:
    analyst = town.open("epsilon = 1000").session()
    for error in ("rank", "value"):
        answer = analyst.ask(MEDIANS, 10, error=error)
        assert answer.intervals == {}
        assert answer.to_json()["intervals"] == {}
    answer = analyst.ask(MEDIANS, 10, error="interval")
    assert list(answer.intervals) == ["m"]
    for row, ends in zip(answer.rows, answer.intervals["m"], strict=True):
        assert ends is not None
        assert 0 <= ends[0] <= row[1] <= ends[1] <= 120
    assert answer.margin_units == {"m": "rows", "n": "value"}
    assert answer.to_json()["intervals"]["m"] == [[*ends] for ends in answer.intervals["m"]]
    assert any("a quarter into each end" in note for note in answer.notes)


def test_it_costs_what_was_asked_and_the_point_gets_half(town: Town) -> None:
    database = town.open("epsilon = 100")
    whole, half = (
        database.session().plan(ONE, 2, error="interval").margins["m"],
        database.session().plan(ONE, 1).margins["m"],
    )
    assert whole == half
    answer = database.session().ask(ONE, 2, error="interval")
    assert answer.spent == {"epsilon": 2}
    (paid,) = [entry for entry in database.ledger(["reserved"]) if entry.kind == "reserved"]
    parts = paid.body["event"]["parts"]
    assert [Fraction(part["epsilon"]) for part in parts] == [1, Fraction(1, 2), Fraction(1, 2)]


def test_rho_adds_up_by_squares(town: Town) -> None:
    database = town.open("rho = 10")
    database.session().ask(ONE, rho=1, error="interval")
    left = database.session().remaining()["rho"]
    assert 9 <= left < 9 + Fraction(1, 10**30)


def test_extremes_reach_to_the_declared_bound(town: Town) -> None:
    analyst = town.open("epsilon = 1000").session()
    answer = analyst.ask("SELECT MIN(age) AS lo, MAX(age) AS hi FROM people", 20, error="interval")
    lowest, highest = answer.rows[0]
    assert answer.intervals == {"lo": [(0, lowest)], "hi": [(highest, 120)]}
    assert lowest >= 17  # the exact ones are 17 and 90
    assert highest <= 90
    assert any("far side of MIN and MAX" in note for note in answer.notes)
    assert not any("a quarter" in note for note in answer.notes)


def test_the_same_confidence_is_known_again_and_another_is_not(town: Town) -> None:
    analyst = town.open("epsilon = 1000").session()
    first = analyst.ask(ONE, 1, error="interval")
    again = analyst.ask(ONE, 1, error="interval")
    assert (again.intervals, again.spent["epsilon"]) == (first.intervals, 0)
    assert analyst.ask(ONE, 1, error="interval", confidence=0.9).spent["epsilon"] == 1
    assert analyst.ask(ONE, 1).spent["epsilon"] == 1
    paid = analyst.ask(ONE, 3, error="interval", key="a")
    assert analyst.ask(ONE, 3, error="interval", key="a").intervals == paid.intervals


def test_what_is_computed_of_one_quantile_has_an_interval_too(town: Town) -> None:
    sql = "SELECT MEDIAN(age) / 10 AS tens, MEDIAN(age) - MIN(age) AS apart FROM people"
    answer = town.open("epsilon = 1000").session().ask(sql, 10, error="interval")
    assert list(answer.intervals) == ["tens"]  # two do not hold at once with the asked confidence
    ((low, high),) = answer.intervals["tens"]
    assert low <= answer.rows[0][0] <= high
    assert answer.margins["tens"] == [None]
    assert f"{low:g} to {high:g}" in str(answer)


def test_it_is_shown_in_text_frames_and_charts(town: Town) -> None:
    answer = town.open("epsilon = 1000").session().ask(MEDIANS, 10, error="interval")
    low, high = answer.intervals["m"][0]
    assert f"rows, {low} to {high}" in str(answer)
    assert f"rows, {low} to {high}" in answer._repr_html_()
    frame = answer.to_pandas()
    assert [*frame.columns] == ["sex", "m", "m_margin_rows", "m_low", "m_high", "n", "n_margin"]
    assert [*zip(frame["m_low"], frame["m_high"], strict=True)] == answer.intervals["m"]
    assert answer.to_polars().columns == [*frame.columns]
    assert answer.to_arrow().column_names == [*frame.columns]
    bars = answer_bars(answer, "m")
    assert [bar.ends for bar in bars] == answer.intervals["m"]
    assert bar_chart(bars, "medians").count('class="error"') == 3 * len(bars)


def test_at_the_command_line(town: Town) -> None:
    town.open("epsilon = 1000")
    said = ["ask", ONE, "--epsilon", "10", "--error", "interval", "--format", "json"]
    ran = CliRunner().invoke(cli, [*said, "--policy", str(town.folder / "adomnia.toml")])
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.output)
    ((low, high),) = found["intervals"]["m"]
    assert low <= found["rows"][0][0] <= high


def test_an_unknown_wish_is_refused(town: Town) -> None:
    with pytest.raises(QuestionError, match="one of rank, value, interval"):
        town.open("epsilon = 10").session().ask(ONE, 1, error="values")  # type: ignore[arg-type]


def test_no_choice_is_cheaper_than_its_rate(town: Town) -> None:
    """Of the three choices each must be paid, and of the ranks that the contribution is of."""
    (step,) = town.open("epsilon = 10").session().plan(ONE, 1, error="interval").steps
    assert isinstance(step, IntervalQuantile)
    near = Apart(step.sensitivity.l1, step.sensitivity.l2_squared, 1)
    assert step.covers(near)
    assert not step.covers(replace(near, l1=near.l1 + 1))
    around = step.around
    assert around is not None
    sharper = replace(around, end_eta=2 * around.end_eta)  # type: ignore[call-arg, union-attr]
    assert not replace(step, around=sharper).covers(near)
    assert not replace(step, event=step.event.parts[0]).covers(near)  # type: ignore[union-attr]
    other = replace(around, share=Share(Fraction(1, 3)))  # type: ignore[call-arg]
    assert not replace(step, around=other).covers(near)


def test_what_is_computed_of_quantiles_says_that_it_has_no_margin():
    with town(rows=50).open() as database:
        spread = database.session().ask("SELECT MAX(age) - MIN(age) AS width FROM people", 1)
        alone = database.session().ask("SELECT MAX(age) AS oldest FROM people", 1)
    said = [note for note in spread.notes if note.startswith("width has no margin: ")]
    assert spread.margins["width"] == [None]
    assert len(said) == 1
    assert not any("has no margin" in note for note in alone.notes)
