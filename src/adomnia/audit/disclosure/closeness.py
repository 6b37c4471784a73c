"""The closeness probability: how likely a noisy confidence is close to the true (`closeness.md`).

CP = P(|Y/X - theta/phi| <= tau * theta/phi), for a group of `phi` rows of which `theta` have the
value. Wherever a scale is asked for, a pair is taken as the scale of X and the scale of Y.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from adomnia.audit.disclosure.ratio import (
    Floats,
    Scale,
    integer_between,
    standard_gaussian,
    standard_laplace,
    standardise,
)
from adomnia.errors import QuestionError

__all__ = ["closeness_probability", "gaussian_closeness", "integer_closeness"]

Law = Callable[[ArrayLike, ArrayLike, ArrayLike, ArrayLike], Floats]


def closeness_probability(phi: ArrayLike, theta: ArrayLike, tau: float, scale: Scale) -> Floats:
    """CP under Laplace noise (Corollary 1), to within 1e-12; arguments are broadcast.

    A group of `phi` rows, of which `theta` have the value; `tau` is the relative error that is
    close, and `scale` that of the noise. Returns a probability for each.

    >>> close = closeness_probability([100, 100], 50, 0.2, [1.0, 10.0])
    >>> [round(float(chance), 2) for chance in close]
    [1.0, 0.55]
    """
    return _close(standard_laplace, phi, theta, tau, scale)


def gaussian_closeness(phi: ArrayLike, theta: ArrayLike, tau: float, deviation: Scale) -> Floats:
    """CP under normal noise with these standard deviations; arguments are broadcast."""
    return _close(standard_gaussian, phi, theta, tau, deviation)


def integer_closeness(phi: int, theta: int, tau: Fraction | float, scale: Scale) -> float:
    """CP under integer Laplace noise; too small by at most `ratio.TRUNCATION`.

    X = 0 counts as not close. tau is read as the decimal it is written as.

    Returns a probability. Raises a QuestionError where the group has no row, or a count is
    negative.

    >>> integer_closeness(100, 50, 0.2, 1.0) > 0.9
    True
    """
    _checked(tau)
    exact = Fraction(str(tau))
    if phi < 1:
        raise QuestionError("a ratio needs a group of at least one row and no negative count")
    true = Fraction(int(theta), int(phi))
    return integer_between((1 - exact) * true, (1 + exact) * true, phi, theta, scale)


def _close(law: Law, phi: ArrayLike, theta: ArrayLike, tau: float, scale: Scale) -> Floats:
    """F at the upper end less F at the lower; there theta - z * phi is -+ tau * theta, exactly."""
    _checked(tau)
    alpha, beta, _ = standardise(phi, theta, scale)
    gap, true = tau * beta, beta / alpha
    upper = law((1 + tau) * true, -gap, alpha, beta)
    lower = law((1 - tau) * true, gap, alpha, beta)
    return np.clip(upper - lower, 0, 1)


def _checked(tau: Fraction | float) -> None:
    if not 0 < tau < float("inf"):
        raise QuestionError("tau, the relative error that counts as close, is above 0")
