"""Losses and budgets as the ledger writes them: names and exact fractions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from adomnia.privacy.composition import Budget
from adomnia.privacy.loss import Loss

__all__ = ["Amounts", "read_loss", "write_budget", "write_loss"]

Amounts = Mapping[str, str]
"""Names of amounts and the amounts, for example {"epsilon": "1/10"}."""


def write_loss(loss: Loss) -> dict[str, str]:
    """A loss by its fields that are not zero."""
    return {name: str(amount) for name, amount in vars(loss).items() if amount}


def read_loss(written: Amounts) -> Loss:
    """The loss in a record; equal ones are one object, because most uses cost what others did."""
    return _read(tuple(written.items()))


def write_budget(budget: Budget) -> dict[str, str]:
    """A budget by its amounts."""
    return {name: str(amount) for name, amount in vars(budget).items() if amount is not None}


@lru_cache(maxsize=65536)
def _read(written: tuple[tuple[str, str], ...]) -> Loss:
    amounts = {name: Fraction(amount) for name, amount in written}
    if min(amounts.values(), default=Fraction(0)) < 0:
        raise ValueError("a loss is never below zero")
    return Loss(**amounts)
