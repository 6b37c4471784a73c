"""The page says what is what, and the bar moves while a long claim runs."""

from __future__ import annotations

import time
from html.parser import HTMLParser

import numpy as np
import pytest
from rich.progress import Progress

from adomnia.present.drawing.plot import Plot, Series, draw
from experiments import __main__ as runner
from experiments.claim import AGREES, DIFFERS, Claim, Found, Scale, Table
from experiments.measured import Measured
from experiments.page import report


def found(scale):
    """What a claim finds, of every kind."""
    cells = [(1e4, Measured(1e6), Measured(2.0, 0.25), np.int64(12_345), "12.5 %", "x < y", None)]
    plot = Plot("Plot", "x", "y", [Series("line", [1, 2], [3, 4])])
    return Found("5 ± 1 of `n`", True, "because of `COUNT(*)` < 3", "seed 1",
                 [Table(tuple("abcdefg"), cells, "caption")], [draw(plot)])  # fmt: skip


CLAIM = Claim("003", "Section 1, a claim", "`x` is 96 % of y.", "96 %", found, seconds=(4, 40))


@pytest.fixture(name="page")
def fixture_page():
    return report([(CLAIM, found(Scale()))], quick=True)


def test_why_and_parameters_are_labelled(page):
    for label in ("The paper", "Here", "Why", "Parameters"):
        assert f"<dt>{label}</dt>" in page


def test_backticks_become_code_and_the_rest_is_escaped(page):
    assert "<code>COUNT(*)</code> &lt; 3" in page
    assert "`" not in page
    assert "96\xa0%" in page


def test_numbers_in_tables_are_written_out_and_set_to_the_right(page):
    for shown in ("10,000", "1,000,000", "2.00 ± 0.25", "12,345", "12.5\xa0%"):
        assert f'<td class="number">{shown}</td>' in page
    assert "<td>x &lt; y</td>" in page
    assert "e+0" not in page


def test_the_title_of_paper_003_is_whole(page):
    assert "with mutual consistency and error independent of sample size" in page
    assert "1 claims of one paper" in page


def test_every_tag_that_opens_closes(page):
    opened = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag, attributes):
            if tag != "meta":
                opened.append(tag)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Tags().feed(page)
    assert opened == []


def test_the_bar_moves_while_a_claim_runs_and_ends_where_it_was_expected():
    with Progress(disable=True) as bar:
        task = bar.add_task("", total=100)
        bar.update(task, completed=10)
        with runner._moving(bar, task, 50):
            for _ in range(1200):
                time.sleep(0.05)
                if bar.tasks[0].completed > 10:
                    break
            between = bar.tasks[0].completed
        assert between > 10
        assert bar.tasks[0].completed == 60


@pytest.mark.parametrize(("expected", "code"), [(AGREES, 0), (DIFFERS, 1)])
def test_another_verdict_than_expected_is_an_error(monkeypatch, tmp_path, capsys, expected, code):
    claim = Claim("003", "Here", "says", "1", found, expected)
    monkeypatch.setattr(runner, "claims", lambda only: [claim])
    out = tmp_path / "new" / "papers.html"
    assert runner.main(["--quick", "--out", str(out)]) == code
    assert "<h1>" in out.read_text("utf-8")
    assert ("expected: differs" in capsys.readouterr().out) == bool(code)


def test_ctrl_c_leaves_what_was_done(monkeypatch, capsys):
    def interrupted(scale):
        raise KeyboardInterrupt

    listed = [CLAIM, Claim("003", "Later", "says", "1", interrupted), CLAIM]
    assert [claim for claim, _ in runner.run_all(listed, Scale())] == [CLAIM]
    assert "ended early" in capsys.readouterr().err


def test_one_paper_is_run_without_reading_the_others():
    assert {claim.paper for claim in runner.claims("004")} == {"004"}
    assert [claim.name for claim in runner.claims("004-section-4-yek")] == [
        "004-section-4-yekhanin"
    ]
    assert runner.claims("009") == []
