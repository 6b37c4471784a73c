"""Verdicts on papers 000 and 001 come out the other way where the world is not as it was."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.noise import laplace
from experiments.claim import AGREES, DIFFERS, Scale
from experiments.measured import Measured
from experiments.paper_000 import discriminants, networks
from experiments.paper_001 import adaptive, impossible, noise


def test_the_proof_is_right_about_noise_of_a_third_of_the_width(monkeypatch):
    monkeypatch.setattr(discriminants, "sample", lambda w, many: laplace.sample(w / 3, many))
    assert discriminants.proof(Scale()).verdict == AGREES


def test_attackers_who_see_another_town_do_not_win(monkeypatch):
    told = discriminants._patients
    monkeypatch.setattr(discriminants, "_patients", lambda ill: told(ill, 60)[::-1])
    assert discriminants.cancer(Scale()).verdict == DIFFERS


def test_the_printed_scale_would_be_right_if_nothing_were_lost(monkeypatch):
    monkeypatch.setattr(noise, "drawn_ratio", lambda width, apart, draws: Measured(0.0, 0.01, 9))
    assert noise.wrong_way(Scale()).verdict == AGREES


def test_a_simulator_who_has_the_data_is_seen(monkeypatch):
    class Sure:
        """Every draw is the same database."""

        def __init__(self):
            self.first = None

        def __call__(self, many, chance):
            if self.first is None or len(self.first.counts) != many:
                self.first = drawn(many, chance)
            return self.first

    drawn = impossible.draw_worlds
    monkeypatch.setattr(impossible, "draw_worlds", Sure())
    some = {name: impossible.SANITIZERS[name] for name in ("exact histogram", impossible.USELESS)}
    monkeypatch.setattr(impossible, "SANITIZERS", some)
    assert impossible.game(Scale()).verdict == DIFFERS


def test_books_that_charge_a_tenth_are_seen(monkeypatch):
    asked = adaptive._batch
    monkeypatch.setattr(
        adaptive, "_batch", lambda e, towns: (*asked(e, towns)[:2], Fraction(1, 10))
    )
    assert adaptive.theorem_five(Scale()).verdict == DIFFERS


@pytest.mark.parametrize(
    ("values", "falls"),
    [((5, 3, 1), True), ((1, 3, 5), False), ((5, 1, 4), False), ((1.01, 1.005, 1), False)],
)
def test_curves_fall_only_where_their_errors_allow_it(values, falls):
    assert networks._falls([Measured(value, 0.05) for value in values]) == falls


def test_about_is_within_fifteen_percent_for_sure():
    assert networks._about(Measured(114, 1.0), 119)
    assert not networks._about(Measured(114, 5.0), 119)
    assert not networks._about(Measured(90, 0.1), 119)


def test_what_a_lattice_of_counts_gave_away_is_not_given_away():
    """Counts in steps wider than the noise told Bob apart: 51.45 % where 50.38 % is right."""
    noisy, exact = discriminants._bob(10_000, discriminants.Noise("laplace", Fraction(10)))
    assert np.isclose(noisy, 0.50385, atol=2e-5)
    assert noisy < exact < 0.505
