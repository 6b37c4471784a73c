"""Which mechanism for a quantile: public numbers decide, and they foretell what happens."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from seeded import SeededBits

from adomnia.errors import QuestionError
from adomnia.mechanisms.noise.admissible import SmoothLaplace, SmoothWaring
from adomnia.mechanisms.quantiles.quantile import Rank, Share, quantile, sensitivity
from adomnia.mechanisms.quantiles.quantile_loss import QuantileLoss, Reference, quantile_loss
from adomnia.mechanisms.quantiles.smooth import exact_quantile, smooth_quantile

MEDIAN = Share(Fraction(1, 2))
DELTA = Fraction(1, 10**6)
DRAWS = 250


@pytest.mark.parametrize("target", [MEDIAN, Rank(1), Share(Fraction(9, 10))])
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(8)])
def test_the_errors_foretold_are_those_drawn(target, epsilon):
    reference, bits = Reference(0, 1000, 150, target), SeededBits(1)
    loss = quantile_loss(reference, epsilon, DELTA)
    values, counts = reference.table()
    truth = exact_quantile(values, counts, (0, 1000), target)
    eta = epsilon / (2 * sensitivity(target))
    drawn = {
        "exponential": [quantile(values, counts, 0, 1000, target, eta, bits) for _ in range(DRAWS)],
        "waring": [
            smooth_quantile(values, counts, (0, 1000), target, SmoothWaring(epsilon), bits)
            for _ in range(DRAWS)
        ],
        "laplace": [
            smooth_quantile(values, counts, (0, 1000), target, SmoothLaplace(epsilon, DELTA), bits)
            for _ in range(DRAWS)
        ],
    }
    for name, answers in drawn.items():
        errors = np.abs(np.array(answers, float) - truth)
        slack = 5 * errors.std() / np.sqrt(DRAWS) + 0.02
        assert abs(errors.mean() - getattr(loss, name)) < slack, name


def test_the_exponential_mechanism_is_usually_better_and_not_always():
    for rows in (10, 1000, 100_000):
        assert quantile_loss(Reference(0, 120, rows, MEDIAN), 1, DELTA).better() == "exponential"
    wide = Reference(0, 10**9, 1000, MEDIAN)
    assert quantile_loss(wide, "0.1").better() == "exponential"
    assert quantile_loss(wide, 12).better() == "waring"
    assert quantile_loss(wide, 12).better("rank") == "exponential"
    assert quantile_loss(wide, 100).better() == "exponential"


def test_the_least_error_wins():
    assert QuantileLoss(1.0, 2.0).better() == "exponential"
    assert QuantileLoss(3.0, 2.0).better() == "waring"
    assert QuantileLoss(3.0, 2.0, 1.0).better() == "laplace"
    assert QuantileLoss(3.0, 2.0, 2.5).better() == "waring"
    assert QuantileLoss(1.0, 2.0, 0.0).better() == "laplace"
    assert QuantileLoss(0.0, 0.0, 0.0).better() == "exponential"


def test_edges():
    empty = quantile_loss(Reference(0, 10, 0, MEDIAN), 1)
    assert empty.laplace is None
    assert empty.exponential == 5
    single = quantile_loss(Reference(5, 5, 100, MEDIAN), 1, DELTA)
    assert max(single.exponential, single.waring, single.laplace) < 1e-12
    many = quantile_loss(Reference(0, 10, 10**12, MEDIAN), 1)
    assert many.better() == "exponential"
    for wrong in ((5, 4, 1), (0, 1, -1)):
        with pytest.raises(QuestionError, match="grid"):
            Reference(*wrong, MEDIAN)
