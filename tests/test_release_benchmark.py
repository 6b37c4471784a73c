"""The parts of the release benchmark that need no run: counting, limits, budgets, kept results."""

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))

import release_cases
import release_growth
import release_peers
import release_sets
import release_ways
from release_score import (
    AIM,
    INDEPENDENT,
    MST,
    OURS,
    UNBIASED,
    Counter,
    Score,
    Target,
    behind,
    due,
    errors,
    mean,
    number,
    of,
    ways,
)

RECORDS = np.array([[0, 1], [0, 1], [1, 2], [1, 0]])


def score(mean: float, seconds: float = 1.0, whole: bool = True) -> Score:
    return Score(mean, 2 * mean, mean / 100, seconds, whole)


def test_rows_count_so_many_times():
    once, often = (Counter(RECORDS, (2, 3), times) for times in (1, 1000))
    assert often.rows == 4000
    assert once.table((0, 1)).tolist() == [[0, 2, 0], [1, 0, 1]]
    for subset in ((), (0,), (1,), (0, 1)):
        assert (often.table(subset) == 1000 * once.table(subset)).all()


def test_errors_are_means_over_marginals():
    counter = Counter(RECORDS, (2, 3))
    found = {(0,): np.array([2, 3]), (1,): np.array([4, 2, 1])}
    assert errors(found, counter, ((0,), (1,))) == (2.0, 3.0, 2.0 / 8)


def test_the_workload_has_all_marginals_of_its_orders():
    assert ways((2, 3, 4), (1, 2)).marginals == ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    assert of((2, 3, 4), ((0, 2),)).total_cells == 8


def test_ours_is_behind_where_a_limit_is_passed():
    scores = {OURS: score(104), UNBIASED: score(100), INDEPENDENT: score(90)}
    scores |= {MST: score(110, seconds=20), AIM: score(100, seconds=5)}
    assert behind(Target(mean=103), scores) == [
        "L1 104 instead of 103",
        "1.04 times our unbiased tables",
        "1.16 times independent columns",
        "1.04 times AIM",
        "1/5.0 of AIM's time",
    ]
    assert len(due(Target(mean=103), scores)) == 5


def test_ours_is_not_behind_within_its_limits():
    scores = {OURS: score(100), UNBIASED: score(100), MST: score(110, seconds=20)}
    assert behind(Target(seconds=2), scores) == []
    assert behind(Target(), {OURS: score(100, whole=False)}) != []


def test_means_and_numbers():
    assert mean([score(1), score(3, whole=False)]) == Score(2, 4, 0.02, 1, False)
    assert [number(value) for value in (0, 1.234, 12.34, 1234.5)] == ["0", "1.23", "12.3", "1,234"]


def test_a_peers_errors_are_weighted_by_marginals():
    said = {"errors": {"1": [2, 10.0, 4], "2": [8, 20.0, 9]}, "seconds": 3.0}
    assert release_peers.score(said, (1, 2), 100) == Score(18.0, 9, 0.09, 3.0, True)
    assert release_peers.score(said, (2,), 100).mean == 20.0
    assert release_peers.score({"failed": "did not end"}, (2,), 100) == "did not end"


def test_a_peers_run_is_kept_under_what_it_was_asked():
    data = release_sets.Data("x", RECORDS, {"a": 2, "b": 3}, Path("x.csv.gz"))
    first, second = (
        release_peers.Question(MST, data, budget)
        for budget in (release_cases.HALF, release_cases.APPROXIMATE)
    )
    assert first.key == "mst_x_4_rho-0.5_dpmm-0.1.9_0"
    assert second.key == "mst_x_4_epsilon-1-delta-1e-09_dpmm-0.1.9_0"


def test_the_report_says_when_the_peers_ran(tmp_path, monkeypatch):
    monkeypatch.setattr(release_peers, "KEPT", tmp_path)
    data = release_sets.Data("x", RECORDS, {"a": 2, "b": 3}, Path("x.csv.gz"))
    question = release_peers.Question(MST, data, release_cases.HALF)
    assert "not run on this machine" in release_peers.when([question])
    question.file.write_text('{"failed": "did not end", "asked": "2001-02-03 04:05"}')
    said = release_peers.when([question, question])
    assert "1 runs on this machine, 2001-02-03 04:05 UTC" in said


def test_budgets_say_what_they_are():
    assert [str(one) for one in (release_cases.HALF, release_cases.ONE)] == ["rho 0.5", "epsilon 1"]
    rho = float(release_cases.APPROXIMATE.loss.rho)
    assert rho == pytest.approx(0.015, abs=0.001)
    assert release_cases.ONE.peers == {}


def test_cases_have_titles_of_their_own():
    titles = [case.title for case in release_cases.CASES]
    assert len({*titles}) == len(titles)
    assert {case.data for case in release_cases.CASES} > {*release_sets.TUNED}
    held = [case for case in release_cases.CASES if case.data in release_sets.HELD_OUT]
    assert len(held) == 2 * len(release_sets.HELD_OUT)


def test_independent_columns_are_right_where_columns_are_independent():
    records = np.array([[a, b] for a in range(2) for b in range(3)] * 100)
    counter, workload = Counter(records, (2, 3)), ways((2, 3), (1, 2))
    loss = release_cases.Budget(rho=Fraction(10**6)).loss
    found = release_ways.independent(workload, counter, loss)
    assert errors(found, counter, workload.marginals)[1] < 1


def test_made_up_sets_are_the_same_each_time():
    first, second = release_sets.made_up(100), release_sets.made_up(100)
    assert (first.records == second.records).all()
    for data in (first, release_sets.wide(50, 100)):
        assert (data.records >= 0).all()
        assert (data.records < np.array(data.sizes)).all()


def test_growth_is_judged_by_the_error_at_a_hundred_thousand_rows():
    sizes = [
        release_growth.Size(times, {"mean": value, "unbiased": 50.0})
        for times, value in ((1, 50.0), (10, 50.0), (100, 60.0))
    ]
    failed = release_growth.Size(1000, {"failed": "not done"})
    assert list(release_growth.behind_rows([*sizes, failed])) == [
        "rows ×100: L1 60.0 instead of 50.0",
        "rows ×1,000: not done",
    ]
