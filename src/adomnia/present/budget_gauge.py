"""Gauges of budgets: whose it is, what is spent and what is left of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.formatting import SYMBOLS, amount
from adomnia.present.drawing.gauges import meter

if TYPE_CHECKING:
    from adomnia.privacy.composition import Budget

__all__ = ["Gauge", "currency", "gauge"]


@dataclass(frozen=True)
class Gauge:
    """A budget: whose it is, what is spent and left of it, and its drawing.

    The note says who has spent of it without a budget of their own.
    """

    name: str
    about: str
    symbol: str
    total: str
    spent: str
    left: str
    drawing: str
    note: str = ""


def currency(budget: Budget) -> str:
    """What a budget is counted in."""
    return "rho" if budget.rho is not None else "epsilon"


def gauge(name: str, about: str, budget: Budget | None, state: Mapping[str, str]) -> Gauge:
    """The gauge of a budget in this state; without a budget, of what is spent and left together."""
    spent, left = Fraction(state["spent"]), Fraction(state["remaining"])
    whole = spent + left if budget is None else budget.rho or budget.epsilon or Fraction(0)
    symbol = SYMBOLS[state["unit"]]
    words = f"{symbol} {amount(spent)} of {amount(whole)} spent"
    drawing = meter(float(spent), float(whole), f"Budget: {name}", words)
    return Gauge(name, about, symbol, amount(whole), amount(spent), amount(left), drawing)
