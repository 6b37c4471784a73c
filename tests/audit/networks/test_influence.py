"""What one edge does: the same figures for any workers, honest when ended early, clear refusals."""

from __future__ import annotations

import _thread
import json
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from adomnia.audit.networks.growth.run import run
from adomnia.audit.networks.influence import every_reading, influence
from adomnia.errors import QuestionError


def figures(report) -> dict:
    return report.to_json()


@pytest.mark.parametrize("model", ["forest-fire", "copying", "mvs"])
def test_the_same_figures_for_any_number_of_workers(model):
    one, two, many = (influence(model, runs=3000, seed=5, workers=w) for w in (1, 2, 4))
    assert figures(one) == figures(two) == figures(many)
    assert figures(one)["runs"] == 3000
    assert figures(influence(model, runs=3000, seed=6)) != figures(one)


def test_the_report_is_plain_json():
    made = influence("forest-fire", runs=2000, seed=1).to_json()
    assert json.loads(json.dumps(made)) == made
    assert set(made) >= {"without", "with", "difference", "runs"}
    assert set(made["difference"]) == {"mean", "se"}
    assert made["with"]["mean"] - made["without"]["mean"] == pytest.approx(
        made["difference"]["mean"]
    )
    assert made["paper"] == {"without": 119, "with": 240}
    assert influence("forest-fire", runs=10, seed=1, nodes=40).to_json()["paper"] is None
    assert influence("copying", runs=10, seed=1).to_json()["paper"] is None


def test_every_reading_stands_beside_the_paper():
    """In each the difference is far above the 1 that naive noise hides."""
    reports = every_reading("forest-fire", runs=4000, seed=1)
    known = {"literal": (8.3, 25.7), "any-link": (4.3, 10.3), "at-least-one": (113.5, 240)}
    assert set(reports) == set(known)
    for reading, (without, with_edge) in known.items():
        report = reports[reading]
        assert abs(report.without.mean - without) < 5 * report.without.se + 0.2
        assert abs(report.with_edge.mean - with_edge) < 5 * report.with_edge.se + 0.3
        assert report.difference.mean - 5 * report.difference.se > 3
        assert report.paper == {"without": 119, "with": 240}
    with pytest.raises(QuestionError):
        every_reading("ring", runs=10, seed=1)


def test_noise_for_one_edge_and_for_what_follows():
    report = influence("forest-fire", runs=20_000, seed=2, epsilon=0.5)
    assert report.naive.scale == 2
    assert report.participation.scale == pytest.approx(report.difference.mean / 0.5)
    assert report.to_json()["noise"]["naive"]["variance"] == 8
    assert report.naive.success.mean > 0.7
    assert report.naive.success.mean > report.participation.success.mean > 0.5
    assert report.naive.beyond.mean > report.participation.beyond.mean
    assert report.naive.log_odds_with.mean > report.participation.log_odds_with.mean > 0


def test_never_less_noise_than_one_edge_needs():
    report = influence("mvs", runs=500, seed=1, steps=3000)
    assert abs(report.difference.mean) < 1
    assert report.participation == report.naive


def test_the_finding():
    report = influence("forest-fire", runs=5000, seed=1)
    finding = report.finding()
    assert finding.attack == "influence"
    assert finding.success.low < report.naive.success.mean < finding.success.high
    assert finding.baseline == 0.5
    assert not finding.covered
    assert finding.complete
    assert "epsilon 1" in finding.claim
    assert finding.details["runs"] == 5000
    json.dumps(finding.to_json())


def test_a_time_limit_leaves_an_honest_answer():
    begun = time.monotonic()
    report = influence("forest-fire", runs=50_000_000, seed=1, time_limit=0.5)
    assert time.monotonic() - begun < 300
    assert 2 <= report.runs < report.asked
    assert not report.complete
    assert not report.finding().complete
    again = influence("forest-fire", runs=report.runs, seed=1)
    assert (again.without, again.difference) == (report.without, report.difference)
    at_once = influence("mvs", runs=1000, seed=1, time_limit=0)
    assert 2 <= at_once.runs <= 1000


def test_an_interrupt_keeps_what_is_done():
    seen = []

    def progress(done: int, runs: int) -> None:
        seen.append((done, runs))
        if done > 100:
            raise KeyboardInterrupt

    report = influence("copying", runs=10_000_000, seed=1, progress=progress)
    assert seen[-1][0] <= report.runs < 10_000_000
    assert not report.complete
    assert influence("copying", runs=report.runs, seed=1).difference == report.difference


LATE = 500  # batches of a tenth of a second after Ctrl-C: it was lost


def ones(first: int, many: int) -> np.ndarray:
    """Outcomes that take no time: the numbers of the runs."""
    return np.arange(first, first + many)[None].repeat(2, axis=0)


def test_ctrl_c_from_outside():
    begun, pressed = threading.Event(), threading.Event()
    before, late = signal.getsignal(signal.SIGINT), []

    def press() -> None:
        begun.wait()
        _thread.interrupt_main()
        pressed.set()

    def progress(done: int, runs: int) -> None:
        begun.set()
        late.extend([done] if pressed.is_set() else [])
        assert len(late) < LATE

    outside = threading.Thread(target=press)
    outside.start()
    report = influence("copying", runs=90_000_000, seed=1, progress=progress)
    outside.join()
    assert 2 <= report.runs < 90_000_000
    assert signal.getsignal(signal.SIGINT) is before


class Fleeting:
    """Ctrl-C is pressed while this goes: what is raised in there, Python ignores."""

    def __del__(self) -> None:
        _thread.interrupt_main()
        for _ in range(3):
            str(self)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_is_not_lost_where_no_exception_can_pass():
    seen = []

    def progress(done: int, runs: int) -> None:
        seen.append(done)
        if len(seen) == 3:
            Fleeting()
        assert len(seen) < LATE

    outcome = run(ones, 10**12, 2, progress=progress)
    assert outcome.shape[1] < 10**12
    assert np.array_equal(outcome[0], np.arange(outcome.shape[1]))


def test_ctrl_c_at_any_moment_leaves_the_first_runs_without_a_gap():
    """Pressed before a batch is done, between two, and while they are taken from the line."""
    for wait in range(60):
        turns = iter(range(10**6))

        def batch(first: int, many: int, turns=turns, wait=wait) -> np.ndarray:
            if next(turns) == wait // 2:
                _thread.interrupt_main()
            return ones(first, many)

        outcome = run(batch, 10**12, 2)
        assert 2 <= outcome.shape[1] < 10**12
        assert np.array_equal(outcome[0], np.arange(outcome.shape[1]))


def test_ctrl_c_twice_is_raised_and_what_ignores_it_goes_on():
    def twice(done: int, runs: int) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    assert run(ones, 10**12, 1, progress=twice).shape[1] < 10**12
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pressing = lambda done, runs: signal.raise_signal(signal.SIGINT)  # noqa: E731
        assert run(ones, 5000, 1, progress=pressing).shape[1] == 5000
    finally:
        signal.signal(signal.SIGINT, before)


def test_progress_goes_up_to_the_end():
    seen = []
    influence("copying", runs=5000, seed=1, progress=lambda done, runs: seen.append((done, runs)))
    done = [many for many, _ in seen]
    assert done == sorted(set(done))
    assert seen[-1] == (5000, 5000)


def test_slow_runs_are_not_left_out():
    """A batch that was begun when the time ends is waited for, and nothing has a gap."""

    def batch(first: int, many: int) -> np.ndarray:
        time.sleep(0.05)
        return np.arange(first, first + many)[None].repeat(2, axis=0)

    outcome = run(batch, 10**6, 3, time_limit=0.2)
    assert 2 <= outcome.shape[1] < 10**6
    assert np.array_equal(outcome[0], np.arange(outcome.shape[1]))


def test_a_failing_batch_is_not_swallowed():
    def batch(first: int, many: int) -> np.ndarray:
        raise MemoryError(first, many)

    with pytest.raises(MemoryError):
        run(batch, 100, 2)


@pytest.mark.parametrize(
    ("model", "wrong"),
    [
        ("ring", {}),
        ("forest-fire", {"reading": "loose"}),
        ("forest-fire", {"runs": 0}),
        ("forest-fire", {"runs": -3}),
        ("forest-fire", {"runs": 1}),
        ("forest-fire", {"runs": 10**12}),
        ("forest-fire", {"seed": -1}),
        ("forest-fire", {"seed": 1 << 64}),
        ("forest-fire", {"epsilon": 0}),
        ("forest-fire", {"epsilon": float("nan")}),
        ("forest-fire", {"epsilon": 1e9}),
        ("forest-fire", {"runs": 1e3}),
        ("forest-fire", {"workers": 0}),
        ("forest-fire", {"workers": 10_000}),
        ("forest-fire", {"time_limit": -1}),
        ("forest-fire", {"time_limit": float("nan")}),
        ("forest-fire", {"nodes": 9}),
        ("forest-fire", {"nodes": 10_001}),
        ("forest-fire", {"nodes": 50.5}),
        ("forest-fire", {"nodes": True}),
        ("forest-fire", {"start": 11}),
        ("forest-fire", {"links": 5}),
        ("forest-fire", {"forward": 1}),
        ("forest-fire", {"backward": -0.1}),
        ("forest-fire", {"q": 1.1}),
        ("forest-fire", {"q": "often"}),
        ("forest-fire", {"xi": 0.5}),
        ("copying", {"p": 1.5}),
        ("copying", {"p": float("nan")}),
        ("copying", {"nodes": 5}),
        ("mvs", {"xi": 2}),
        ("mvs", {"lam": float("inf")}),
        ("mvs", {"lam": -1}),
        ("mvs", {"nodes": 21}),
        ("mvs", {"links": 10}),
        ("mvs", {"links": 3}),
        ("mvs", {"steps": -1}),
    ],
)
def test_bad_questions_are_refused(model, wrong):
    with pytest.raises(QuestionError) as refused:
        influence(model, **{"runs": 10, "seed": 1, **wrong})
    assert refused.value.hint


@pytest.mark.parametrize("epsilon", [1e-9, 1e6])
def test_odds_at_the_ends_of_epsilon(epsilon):
    report = influence("forest-fire", runs=400, seed=1, epsilon=epsilon)
    shown = (report.naive, report.participation)
    assert all(np.isfinite(found.success.mean) for found in shown)
    assert all(np.isfinite(found.log_odds_with.mean) for found in shown)
    assert (report.naive.success.mean > 0.6) == (epsilon > 1)


def test_sizes_may_be_as_small_as_the_start():
    report = influence("forest-fire", runs=50, seed=1, nodes=10)
    assert (report.without.mean, report.with_edge.mean) == (0, 1)
    assert report.difference.se == 0
    assert report.naive.success.mean == pytest.approx(np.e / (1 + np.e))


def test_nothing_is_compiled_before_it_is_asked():
    program = "import sys, adomnia.audit.networks.influence; print('numba' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "False"


@pytest.mark.slow
def test_a_million_runs():
    report = influence("forest-fire", runs=1_000_000, seed=1)
    assert report.complete
    assert report.difference.se < 0.03
    assert 17.3 < report.difference.mean < 17.7
