"""A verdict that cannot come out the other way says nothing: here the noise is not as promised."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from adomnia.mechanisms.choices.auction import sell
from adomnia.mechanisms.counts.randomized_response import Response, respond
from adomnia.mechanisms.noise import laplace
from experiments.claim import DIFFERS, Scale
from experiments.measured import mean
from experiments.paper_000 import discriminants, risk
from experiments.paper_001 import noise
from experiments.paper_003 import beyond, bounds, ways
from experiments.paper_004 import extensions, sensitivities

WIDER = SimpleNamespace(sample=lambda width, many: laplace.sample(Fraction(11, 10) * width, many))


@pytest.mark.parametrize(
    ("room", "name", "claim"),
    [(sensitivities, "laplace", sensitivities.averaging), (noise, "laplace", noise.theorem_four)],
)
def test_noise_a_tenth_too_wide_is_seen(monkeypatch, room, name, claim):
    monkeypatch.setattr(room, name, WIDER)
    assert claim(Scale()).verdict == DIFFERS


@pytest.mark.parametrize(
    ("room", "claim"), [(risk, risk.figure_one), (discriminants, discriminants.free_lunch)]
)
def test_answers_with_a_little_more_epsilon_are_seen(monkeypatch, room, claim):
    def more(truth, response):
        return respond(truth, Response(response.epsilon * Fraction(5, 4), response.values))

    monkeypatch.setattr(room, "respond", more)
    assert claim(Scale()).verdict == DIFFERS


def test_an_auction_with_another_epsilon_is_seen(monkeypatch):
    monkeypatch.setattr(extensions, "sell", lambda bids, prices, _: sell(bids, prices, "3/2"))
    assert extensions.truthful(Scale()).verdict == DIFFERS


def test_errors_past_the_bound_are_seen(monkeypatch):
    monkeypatch.setattr(bounds, "errors", lambda tables, rows: [1e6])
    assert bounds.theorem_five(Scale()).verdict == DIFFERS


def test_gaussian_noise_that_grows_as_laplace_noise_does_is_seen(monkeypatch):
    def cubes(k, promise, runs):
        found = mean(np.abs(laplace.sample(Fraction(k**3), 1000)))
        return found, found

    monkeypatch.setattr(beyond, "_errors", cubes)
    assert beyond.gaussian(Scale()).verdict == DIFFERS


def test_errors_that_grow_with_the_rows_are_seen(monkeypatch):
    def grown(many, truth):
        """Noise as wide as the tenth root of the rows: twice as much for a thousand times."""
        return (laplace.sample(Fraction(64), 64) * float(many) ** 0.1).tolist()

    monkeypatch.setattr(ways, "_releases", lambda rows, runs: [len(rows)] * runs)
    monkeypatch.setattr(ways, "errors", lambda many, truth: [float(many)])
    monkeypatch.setattr(ways, "_coefficients", grown)
    assert ways.independent_of_n(Scale()).verdict == DIFFERS
