"""Amounts, numbers and times as a person reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

from adomnia.privacy.loss import written as amount

__all__ = ["amount", "amounts", "digits", "moment", "number", "one_line", "value"]

SYMBOLS = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}


def amounts(given: Mapping[str, Fraction | str]) -> str:
    """Several amounts with their signs; nothing at all is `nothing`."""
    some = [f"{SYMBOLS.get(k, k)} {amount(v)}" for k, v in given.items() if Fraction(v)]
    return ", ".join(some) or "nothing"


def moment(at: str) -> str:
    """A time of the ledger to the minute."""
    return f"{datetime.fromisoformat(at):%d %b %Y, %H:%M}"


def one_line(text: str, longest: int = 160) -> str:
    """The text on one line, without control characters, shortened."""
    clean = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


def digits(margin: float | None) -> int:
    """Decimals so that a margin has two digits that say something."""
    if margin is None or not math.isfinite(margin) or margin <= 0:
        return 2
    return max(0, min(9, 1 - math.floor(math.log10(margin))))


def number(given: float, decimals: int) -> str:
    """A number with commas; a whole one without decimals."""
    if isinstance(given, float) and math.isinf(given):
        return "∞" if given > 0 else "−∞"
    return f"{given:,}" if isinstance(given, int) else f"{given:,.{decimals}f}"


def value(given: Any, margin: float | None = None) -> str:
    """A cell of an answer, to the digits that its margin leaves meaning."""
    if given is None:
        return "NULL"
    if isinstance(given, bool) or not isinstance(given, int | float):
        return str(given)
    if isinstance(given, float) and margin is None:
        return f"{given:,.6g}"
    return number(given, digits(margin))
