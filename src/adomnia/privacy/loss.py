"""Losses as exact numbers: what a use costs, what uses cost together, and what may be spent.

The rules of addition and conversion are proven in `composition.md`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from adomnia.errors import QuestionError

__all__ = ["Amount", "Loss", "exact", "written"]

Amount = int | float | str | Fraction | Decimal
"""What a person may write for an epsilon: `0.1`, `"1/10"`, `Fraction(1, 10)`."""

ZERO = Fraction(0)

_WRITTEN = re.compile(r"[+-]?(?:[0-9]+/[0-9]+|(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?)")
"""The plain ways to write a number: neither 1_000 nor digits of other scripts."""


def exact(amount: Amount, name: str = "epsilon") -> Fraction:
    """The positive number a person wrote, exactly: `0.1` is one tenth, not its binary neighbour."""
    try:
        number = _fraction(amount)
    except (ValueError, ArithmeticError, TypeError):
        number = ZERO
    if number <= 0:
        raise QuestionError(
            f"{name} must be a finite number above zero, got {str(amount)[:40]!r}",
            hint=f"for example {name} = 0.1 or {name} = 1/10",
        )
    return number


def written(amount: Fraction | str) -> str:
    """An exact amount as a person writes it: 0.1, or 1/3 where decimals would not be exact."""
    number = Fraction(amount)
    try:
        short = f"{float(number):.6g}"
    except OverflowError:
        return "more than 10^308"
    if Fraction(short) == number:
        return short
    return str(number) if len(str(number)) <= 12 else f"about {short}"


def _fraction(amount: Amount) -> Fraction:
    if isinstance(amount, bool):
        raise TypeError
    if isinstance(amount, float):
        if not math.isfinite(amount):
            raise ValueError
        return Fraction(repr(amount))
    if isinstance(amount, Decimal):
        return _fraction(str(amount))
    if isinstance(amount, str) and (len(amount) > 400 or not _WRITTEN.fullmatch(amount.strip())):
        raise ValueError
    if isinstance(amount, str) and "/" not in amount:
        exponent = Decimal(amount.strip()).as_tuple().exponent  # as written: nothing is reckoned
        if not isinstance(exponent, int) or abs(exponent) > 400:
            raise ValueError  # a power that large is a mistake, and would fill the memory
    return Fraction(amount.strip() if isinstance(amount, str) else amount)


@dataclass(frozen=True)
class Loss:
    """What one or several uses cost together; losses add up field by field.

    `epsilon` sums the pure losses, `squares` their squares (a pure loss of e is e^2/2-zCDP),
    `rho` sums the zCDP losses and `delta` the probabilities of failure.

    >>> from fractions import Fraction
    >>> both = Loss.pure(Fraction(1)) + Loss.pure(Fraction(1, 2))
    >>> both.amounts
    {'epsilon': Fraction(3, 2)}
    """

    epsilon: Fraction = ZERO
    rho: Fraction = ZERO
    delta: Fraction = ZERO
    squares: Fraction = ZERO

    @classmethod
    def pure(cls, epsilon: Fraction) -> Loss:
        """The loss of one epsilon-private use."""
        return cls(epsilon=epsilon, squares=epsilon * epsilon)

    @classmethod
    def concentrated(cls, rho: Fraction) -> Loss:
        """The loss of one rho-zCDP use."""
        return cls(rho=rho)

    @classmethod
    def approximate(cls, epsilon: Fraction, delta: Fraction) -> Loss:
        """The loss of one (epsilon, delta)-private use."""
        return cls(epsilon=epsilon, delta=delta, squares=epsilon * epsilon)

    @property
    def amounts(self) -> dict[str, Fraction]:
        """What it costs by currency; what costs nothing is left out."""
        parts = {"epsilon": self.epsilon, "rho": self.rho, "delta": self.delta}
        return {name: value for name, value in parts.items() if value}

    def __add__(self, other: Loss) -> Loss:
        return Loss(
            self.epsilon + other.epsilon,
            self.rho + other.rho,
            self.delta + other.delta,
            self.squares + other.squares,
        )
