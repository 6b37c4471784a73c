"""The Fourier questions: what comes back, and the bound on what does not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.linalg import hadamard as matrix

from adomnia.audit.reconstruction.hadamard import fourier_decode, hadamard
from adomnia.audit.reconstruction.subset_sums import SimulatedNoise
from adomnia.errors import QuestionError


@pytest.mark.parametrize(
    ("factor", "wrong", "slack"),
    [(0.1, 0, 0), (0.25, 0.0002, 0.0003), (0.5, 0.042, 0.004), (1, 0.194, 0.01)],
)
def test_known_outcomes(factor, wrong, slack):
    """n = 4096, noise uniform in ±E, E in units of sqrt(n)."""
    found = [hadamard(4096, factor * 64, seed) for seed in range(10)]
    assert 1 - np.mean([one.success.value for one in found]) == pytest.approx(wrong, abs=slack)
    assert {one.baseline for one in found} == {0.5}
    assert all(one.complete for one in found)
    json.dumps(found[0].to_json())


def test_never_more_wrong_bits_than_the_theorem_allows():
    for seed in range(20):
        for noise in (0.4, 0.9, 2.0, 3.5):
            found = hadamard(256, noise, seed)
            wrong = round((1 - found.success.value) * 256)
            assert wrong <= found.details["most_wrong_bits"] <= 4 * noise**2
    assert hadamard(256, 0.49, 1).details["most_wrong_bits"] == 0


def test_the_worst_noise_reaches_the_bound_and_no_more():
    """All noise on one bit: E at every question, with that bit's signs."""
    n, noise = 64, 0.51
    answers = matrix(n) @ np.zeros(n) + noise * matrix(n)[5]
    assert np.flatnonzero(fourier_decode(answers) > 0.5).tolist() == [5]
    assert not (fourier_decode(answers * 0.49 / noise) > 0.5).any()


def test_the_questions_are_the_rows_of_the_matrix():
    truth = np.random.default_rng(1).integers(0, 2, 50)
    asked = []

    def ask(weights):
        asked.append(weights)
        return float(weights @ truth)

    found = hadamard(50, ask, truth=truth)
    assert (np.array(asked) == matrix(64)[:, :50]).all()
    assert found.success.value == 1
    assert found.details["questions"] == 64
    assert not hadamard(50, ask).details["scored"]


def test_laplace_noise_has_no_bound_and_time_ends():
    assert "most_wrong_bits" not in hadamard(64, SimulatedNoise("laplace", 1.0)).details
    late = hadamard(64, lambda weights: 0.0, time_limit=-1.0)
    assert not late.complete
    assert late.details["answered"] == 0
    with pytest.raises(QuestionError):
        hadamard(0, 1.0)
