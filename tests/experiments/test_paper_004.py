"""Paper 004's experiments: their parts are right, and their verdicts can come out the other way."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import exp

import numpy as np
import pytest

from adomnia.audit.linkage.scoreboard import Ratings
from adomnia.audit.reconstruction.decoding import decoding
from adomnia.audit.reconstruction.hadamard import hadamard
from adomnia.audit.reconstruction.subset_sums import subset_sums
from adomnia.mechanisms.noise import laplace
from experiments.claim import DIFFERS, Scale
from experiments.measured import share
from experiments.paper_004 import attacks, classes, extensions, linked, sensitivities


def brute(values, own):
    """How often one of the others' commonest values is one's own."""
    others = Counter(values[:own] + values[own + 1 :])
    most = max(others.values())
    best = [value for value, many in others.items() if many == most]
    return (values[own] in best) / len(best)


def test_a_guess_from_the_others_leaves_the_own_row_out():
    chance = np.random.default_rng(5)
    counts = chance.integers(0, 4, (300, 5))
    counts = counts[counts.sum(axis=1) >= 2]
    found = (counts * classes.right_without_own(counts)).sum(axis=1)
    for row, right in zip(counts, found, strict=True):
        values = np.repeat(np.arange(5), row).tolist()
        assert right == pytest.approx(sum(brute(values, own) for own in range(len(values))))


def test_two_different_people_tell_nothing_of_each_other():
    assert not classes.right_without_own(np.array([[1, 1, 0], [1, 0, 0]])).any()
    assert classes.right_without_own(np.array([[2, 0, 0]]))[0, 0] == 1


def test_secrets_that_have_nothing_to_do_with_the_class_make_it_differ(monkeypatch):
    people = classes._people()
    secret = np.random.default_rng(7).permutation(people.columns[people.sensitive])
    mixed = replace(people, columns={**people.columns, people.sensitive: secret})
    monkeypatch.setattr(classes, "_people", lambda: mixed)
    assert classes.k_anonymity(Scale()).verdict == DIFFERS


def test_made_up_records_are_called_so_on_the_drawing(monkeypatch, tmp_path):
    monkeypatch.setenv("ADOMNIA_DATA", str(tmp_path))
    found = classes.k_anonymity(Scale())
    assert all("MADE-UP CENSUS" in plot.split("</title>")[0] for plot in found.plots)
    assert found.plots


def test_made_up_ratings_are_called_so_and_can_hide_people(monkeypatch):
    def alike(people, items, chance):
        """Everybody rated the same ten items alike on the same day."""
        who = np.repeat(np.arange(people), 10)
        return Ratings.of(who, np.tile(np.arange(10), people), np.full(who.size, 3),
                          np.full(who.size, 5), (people, items))  # fmt: skip

    monkeypatch.setattr(linked, "made_up_ratings", alike)
    found = linked.ratings(Scale())
    assert found.verdict == DIFFERS
    assert "MADE-UP RATINGS" in found.plots[0].split("</title>")[0]


def noisy(attack, times):
    """The attack, with so many times the noise."""
    return lambda *given: attack(*given[:-2], times * given[-2], given[-1])


@pytest.mark.parametrize("times", [0.01, 30])
def test_noise_that_does_not_matter_and_noise_that_always_does_are_seen(monkeypatch, times):
    def sums(n, many, noise, seed, limit):
        return subset_sums(n, 100, times * noise, seed, limit)

    monkeypatch.setattr(attacks, "subset_sums", sums)
    monkeypatch.setattr(attacks, "hadamard", noisy(hadamard, times))
    assert attacks.dinur_nissim(Scale()).verdict == DIFFERS
    assert attacks.yekhanin(Scale()).verdict == DIFFERS


def test_another_threshold_is_seen(monkeypatch):
    def half(channel, rho, seed, limit):
        return decoding(replace(channel, ratio=20), rho / 2, seed, limit)

    monkeypatch.setattr(attacks, "decoding", half)
    assert attacks.robust(Scale()).verdict == DIFFERS


def test_a_threshold_lies_between_what_is_sure_on_either_side():
    found = [share(40, 40), share(39, 40), share(22, 40), share(1, 40), share(0, 40)]
    assert attacks.breaks([0.1, 0.2, 0.3, 0.4, 0.5], found) == (0.2, 0.4)
    assert attacks.breaks([0.1], [share(20, 40)]) == (0.0, 1.0)


@pytest.mark.parametrize(("width", "right"), [(5, True), (7, False)])
def test_the_noise_of_a_count_is_told_from_wider_noise(width, right):
    noise = laplace.sample(Fraction(width), 20_000)
    assert sensitivities.as_promised(noise, exp(-1 / 5)) == right


def test_a_deviation_has_its_error():
    found = sensitivities.deviation(np.array([3, -3, 3, -3, 4]))
    assert found.value == pytest.approx(np.sqrt(52 / 5))
    assert found.se > 0


def test_prices_picked_at_random_are_seen(monkeypatch):
    chance = np.random.default_rng(3)
    monkeypatch.setattr(extensions, "sell", lambda *_: int(chance.integers(1, 101)))
    assert extensions.auction(Scale()).verdict == DIFFERS
