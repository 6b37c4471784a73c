"""What uses cost together, and whether a budget still allows them (`composition.md`).

Sums are exact fractions. A budget is a filter: it stays sound when every next question, and
what it costs, is chosen after seeing the answers so far. So its conversion from zCDP uses
Rényi orders that are fixed by the budget alone, never by what has been spent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from adomnia.errors import PolicyError
from adomnia.privacy.loss import ZERO, Loss

__all__ = ["Budget", "convert"]

HALF = Fraction(1, 2)
LINES = 8  # Rényi orders of one budget; each doubles the last


@dataclass(frozen=True)
class Budget:
    """What may be spent: epsilon (pure), epsilon with delta (approximate), or rho (zCDP).

    Of an approximate budget half of delta is for (epsilon, delta) uses and half is kept for the
    conversion of zCDP: a split that could be moved later would not be a sound filter.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        given = (self.epsilon is not None, self.delta is not None, self.rho is not None)
        if given not in {(True, False, False), (True, True, False), (False, False, True)}:
            raise PolicyError("a budget is epsilon, or epsilon with delta, or rho alone")
        if any(x is not None and x <= 0 for x in (self.epsilon, self.delta, self.rho)):
            raise PolicyError("a budget must be above zero")
        if self.delta is not None and self.delta >= 1:
            raise PolicyError("delta must be below one")

    def allows(self, total: Loss) -> bool:
        """Whether uses that cost `total` together keep the promise."""
        if self.rho is not None:
            return total.delta == 0 and _concentrated(total) <= self.rho
        assert self.epsilon is not None
        if self.delta is not None:
            return self._epsilon(total) <= self.epsilon and total.delta <= self.delta * HALF
        return total.rho == 0 and total.delta == 0 and total.epsilon <= self.epsilon

    def spent(self, total: Loss) -> dict[str, Fraction]:
        """The total in the budget's currency; what that cannot express is listed beside it."""
        if self.rho is not None:
            return {"rho": _concentrated(total)} | _above_zero(delta=total.delta)
        if self.delta is None:
            return {"epsilon": total.epsilon} | _above_zero(rho=total.rho, delta=total.delta)
        epsilon = self._epsilon(total)
        converted = total.rho > 0 or epsilon < total.epsilon
        kept = self.delta * HALF if converted else ZERO
        return {"epsilon": epsilon, "delta": total.delta + kept}

    def remaining(self, total: Loss) -> dict[str, Fraction]:
        """What is left in the budget's currency, never negative: one such use still fits."""
        if not self.allows(total):
            return dict.fromkeys(self._currency, ZERO)
        if self.rho is not None:
            return {"rho": self.rho - _concentrated(total)}
        assert self.epsilon is not None
        if self.delta is None:
            return {"epsilon": self.epsilon - total.epsilon}
        return {"epsilon": self._pure_room(total), "delta": self.delta * HALF - total.delta}

    def room(self, total: Loss) -> dict[str, Fraction]:
        """One epsilon, rho or delta that would still fit, for every kind of use allowed here."""
        left = self.remaining(total)
        if self.rho is not None:
            return left | {"epsilon": _root(2 * left["rho"])}
        if self.delta is None:
            return left
        if not self.allows(total):
            return left | {"rho": ZERO}
        limit = self.epsilon or ZERO
        rooms = [(limit - line.cost(total)) / line.order for line in self._lines()]
        return left | {"rho": max(ZERO, *rooms)}

    @property
    def _currency(self) -> list[str]:
        return [name for name, amount in vars(self).items() if amount is not None]

    def _epsilon(self, total: Loss) -> Fraction:
        """The epsilon of everything spent: the plain sum, or the lowest of the lines."""
        if self._plain(total):
            return total.epsilon  # exact, and needs neither delta nor a conversion
        bounds = [line.cost(total) for line in self._lines()]
        return min(bounds if total.rho else [total.epsilon, *bounds])

    def _pure_room(self, total: Loss) -> Fraction:
        """A pure use that fits: what the plain sum leaves, or the most of the lines."""
        limit = self.epsilon or ZERO
        if self._plain(total):
            return limit - total.epsilon
        return max(ZERO, *(line.pure_room(total, limit) for line in self._lines()))

    def _plain(self, total: Loss) -> bool:
        return total.rho == 0 and total.epsilon <= (self.epsilon or ZERO)

    def _lines(self) -> tuple[_RenyiOrder, ...]:
        return _lines(self.epsilon or ZERO, (self.delta or ZERO) * HALF)


@dataclass(frozen=True)
class _RenyiOrder:
    """Rényi loss at one order, and what its conversion to epsilon adds."""

    order: Fraction
    toll: Fraction

    def cost(self, total: Loss) -> Fraction:
        """The epsilon of the total through this order (`composition.md`, claim 6)."""
        pure = min(total.epsilon, self.order * total.squares / 2)
        return max(ZERO, self.order * total.rho + pure + self.toll)

    def pure_room(self, total: Loss, limit: Fraction) -> Fraction:
        """The largest further pure epsilon whose total costs at most the limit."""
        free = limit - self.order * total.rho - self.toll
        square = 2 * free / self.order - total.squares
        return max(free - total.epsilon, _root(square) if square > 0 else ZERO)


def convert(rho: Fraction, delta: Fraction) -> Fraction:
    """The epsilon at which rho-zCDP is (epsilon, delta)-private, rounded up.

    For one total that was fixed beforehand; a `Budget` is for totals that grow adaptively.
    """
    from dp_accounting.rdp import rdp_privacy_accountant  # noqa: PLC0415 (a second to import)

    if not 0 < delta < 1:
        raise PolicyError("delta must be between zero and one")
    if rho <= 0:
        return ZERO
    level, log = float(rho), _log(1 / delta)
    middle = math.sqrt(log / level)
    orders = [1 + middle * 2 ** (step / 128) for step in range(-256, 257)]
    losses = [order * level for order in orders]
    epsilon, _ = rdp_privacy_accountant.compute_epsilon(orders, losses, _below(delta))
    return _up(min(float(epsilon), level + 2 * math.sqrt(level * log)))


@lru_cache(maxsize=256)
def _lines(epsilon: Fraction, delta: Fraction) -> tuple[_RenyiOrder, ...]:
    """The orders a budget is held to, with delta shared among them.

    The first is the best for spending all of it as zCDP and has half of delta; the others
    serve smaller shares of zCDP beside pure uses.
    """
    target, first = float(epsilon), _below(delta) / 2
    orders = [1.02 + 10 ** (step / 40) for step in range(-80, 400)]
    best = max(orders, key=lambda order: (target - _toll(order, first)) / order)
    share = first / (LINES - 1)
    return tuple(_line(best * 2**power, share if power else first) for power in range(LINES))


def _line(order: float, delta: float) -> _RenyiOrder:
    kept = Fraction(order).limit_denominator(1000)
    return _RenyiOrder(kept, _up(1 + _toll(float(kept), delta)) - 1)


def _toll(order: float, delta: float) -> float:
    """What conversion at this order adds to the Rényi loss."""
    from dp_accounting.rdp import rdp_privacy_accountant  # noqa: PLC0415 (a second to import)

    # Asked at a loss of 1: near a loss of 0 the library takes a shortcut that is not a line.
    return float(rdp_privacy_accountant.compute_epsilon([order], [1.0], delta)[0]) - 1


def _concentrated(total: Loss) -> Fraction:
    """Everything as zCDP: a pure loss of e is e^2/2-zCDP."""
    return total.rho + total.squares / 2


def _above_zero(**amounts: Fraction) -> dict[str, Fraction]:
    return {name: amount for name, amount in amounts.items() if amount > 0}


def _below(delta: Fraction) -> float:
    return math.nextafter(float(delta), 0.0)


def _log(number: Fraction) -> float:
    """The natural logarithm, also of a fraction too large for a float."""
    return math.log(number.numerator) - math.log(number.denominator)


def _up(number: float) -> Fraction:
    """The number as a fraction of eleven digits, never below it or its floating point error."""
    if number <= 0:
        return ZERO
    digits = 11 - math.ceil(math.log10(number))
    scale = Fraction(10) ** digits
    return math.ceil(Fraction(number) * scale + 1) / scale


def _root(number: Fraction) -> Fraction:
    """The square root, rounded down."""
    scale = 10**12
    return Fraction(math.isqrt(int(number * scale * scale)), scale)
