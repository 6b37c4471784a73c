"""Decoding with arbitrary answers: where it breaks under an adversary, and where it does not."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adomnia.audit.reconstruction.decoding import Channel, decoding, decoding_curve, threshold
from adomnia.errors import QuestionError


def whole(found, errors):
    curve = found.details["curve"]
    return {row["rho"]: row["whole"] for row in curve if row["errors"] == errors}


def test_the_threshold_is_where_half_of_the_absolute_mass_lies():
    """E|g| above the point is E|g| below it, and rho* is how often it is passed."""
    drawn = np.sort(np.abs(np.random.default_rng(1).standard_normal(400_000)))
    place = np.searchsorted(np.cumsum(drawn), drawn.sum() / 2)
    assert threshold() == pytest.approx(1 - place / drawn.size, abs=0.003)
    assert threshold() == pytest.approx(0.239, abs=0.0005)


@pytest.mark.parametrize("questions", ["gaussian", "signs"])
def test_an_adversary_breaks_it_between_a_fifth_and_a_quarter(questions):
    found = decoding_curve(Channel(60, 10, questions), [0.15, 0.25, 0.4], trials=5, seed=1)
    assert found.complete
    assert whole(found, "adversarial") == {0.15: 1.0, 0.25: 0.0, 0.4: 0.0}
    assert whole(found, "random") == {0.15: 1.0, 0.25: 1.0, 0.4: 1.0}
    assert found.details["breaks"] == {"adversarial": 0.25, "random": None}
    json.dumps(found.to_json())


def test_more_questions_move_the_break_towards_the_threshold():
    few = decoding_curve(Channel(50, 4), [0.2], trials=5, seed=2)
    many = decoding_curve(Channel(50, 40), [0.2, 0.25], trials=5, seed=2)
    assert whole(few, "adversarial")[0.2] <= 0.4
    assert whole(many, "adversarial") == {0.2: 1.0, 0.25: 0.0}


def test_small_noise_on_the_other_answers_does_no_harm():
    found = decoding(Channel(64, 10, noise=0.8), 0.1, seed=3)
    assert found.success.value == 1
    assert found.baseline == 0.5


def test_the_adversary_spoils_what_tells_most():
    channel, chance = Channel(30, 10), np.random.default_rng(4)
    secret, asked = np.arange(30) % 2, channel.ask(chance)
    answers = channel.answer(asked, secret, 0.2, chance)
    told = np.abs(asked @ (1 - 2 * secret))
    spoilt = ~np.isclose(answers, asked @ secret)
    assert spoilt.sum() == 60
    assert told[spoilt].min() >= told[~spoilt].max()
    assert answers[spoilt] == pytest.approx((asked @ (1 - secret))[spoilt])


def test_time_and_wrong_requests():
    assert not decoding(Channel(40), 0.1, time_limit=0.0).complete
    with pytest.raises(QuestionError, match="rho is a share"):
        decoding(Channel(10), 1.5)
    with pytest.raises(QuestionError, match="nothing to attack"):
        decoding_curve(Channel(10), [0.1], time_limit=-1.0)
    with pytest.raises(QuestionError, match="needs people"):
        Channel(0)


@pytest.mark.slow
@pytest.mark.parametrize("questions", ["gaussian", "signs"])
def test_the_whole_curve(questions):
    rhos = [0.1, 0.15, 0.2, 0.22, 0.25, 0.3]
    found = decoding_curve(Channel(100, 10, questions), rhos, trials=20, time_limit=400)
    adversarial = whole(found, "adversarial")
    assert [adversarial[rho] for rho in (0.1, 0.15)] == [1, 1]
    assert adversarial[0.2] > 0.8
    assert adversarial[0.22] < 0.5
    assert [adversarial[rho] for rho in (0.25, 0.3)] == [0, 0]
    assert set(whole(found, "random").values()) == {1.0}
    wider = decoding_curve(Channel(100, 40, questions), [0.22, 0.25], trials=20, time_limit=400)
    assert whole(wider, "adversarial")[0.22] > 0.8
    assert whole(wider, "adversarial")[0.25] == 0
