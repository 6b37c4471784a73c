"""Amounts, numbers, margins and times as a person reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from adomnia.privacy.loss import written as amount

__all__ = [
    "SYMBOLS", "amount", "amounts", "confidence", "digits", "is_number", "label", "margin",
    "margin_size", "moment", "number", "one_line", "second", "share", "significant",
    "symbol_amounts", "value",
]  # fmt: skip

WIDEST = 10**24
"""Whole numbers from here on are told by a power of ten."""
SYMBOLS = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# Amounts of a budget


def amounts(given: Mapping[str, Fraction | str]) -> str:
    """Several amounts with their names, for plain text; nothing at all is `nothing`."""
    some = [f"{name} {amount(part)}" for name, part in given.items() if Fraction(part)]
    return ", ".join(some) or "nothing"


def symbol_amounts(given: Mapping[str, Fraction | str]) -> str:
    """Several amounts with their symbols, for pages."""
    return amounts({SYMBOLS.get(name, name): part for name, part in given.items()})


# Numbers


def is_number(given: Any) -> bool:
    """Whether this is a number and no truth value."""
    return isinstance(given, int | float) and not isinstance(given, bool)


def number(given: float, decimals: int) -> str:
    """A number with commas; a whole one without decimals."""
    if isinstance(given, float) and math.isinf(given):
        return "∞" if given > 0 else "−∞"
    if isinstance(given, int):
        return f"{given:,}" if abs(given) < WIDEST else _far(given)
    return f"{given:,.{decimals}f}"


def significant(given: float, figures: int = 4) -> str:
    """A number as it is written by hand: 10,000 and 0.05, and powers of ten only far from one."""
    if given == 0 or not math.isfinite(given):
        return f"{given:g}"
    mantissa, power = f"{given:.{figures - 1}e}".split("e")
    if -5 < int(power) < 7:
        return _bare(f"{given:,.{max(0, figures - 1 - int(power))}f}")
    raised = _raised(power)
    return raised if _bare(mantissa) == "1" else f"{_bare(mantissa)} × {raised}"


def _far(given: int) -> str:
    """A whole number that no float need hold, by its first digits and a power of ten."""
    mantissa, power = f"{Decimal(given):.3e}".split("e")
    return f"{_bare(mantissa)} × {_raised(power)}"


def _raised(power: str) -> str:
    """Ten to a power."""
    return f"10{str(int(power)).translate(_SUPERSCRIPT)}"


def _bare(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def share(given: float, figures: int = 3) -> str:
    """A share in percent."""
    return f"{significant(100 * given, figures)}%"


def confidence(given: float) -> str:
    """A confidence as it is told: 95 %."""
    return f"{100 * given:g} %"


# Cells of answers and tables


def label(given: Any) -> str:
    """What names a group, as it is in the domain: a year has no comma."""
    if given is None:
        return "NULL"
    return f"{given:.6g}" if isinstance(given, float) else str(given)


def value(given: Any, off: float | None = None) -> str:
    """A cell of an answer, to the digits that its margin leaves meaning."""
    if given is None or not is_number(given):
        return label(given)
    if isinstance(given, float) and off is None:
        return _plain(given)
    return number(given, digits(off))


def _plain(given: float) -> str:
    """A number of which no margin is known: to six figures, and whole from a million on."""
    if 10**6 <= abs(given) < 10**15:
        return f"{given:,.0f}"
    return significant(given, 6) if abs(given) >= 10**15 else f"{given:,.6g}"


def digits(off: float | None) -> int:
    """Decimals so that a margin, rounded up, has two digits that say something."""
    if off is None or off <= 0 or (isinstance(off, float) and not math.isfinite(off)):
        return 2
    places = 1 - math.floor(math.log10(off))
    if 0 < places <= 9 and off * 10**places > 99:  # 0.995 is told as 1.0
        places -= 1
    return max(0, min(9, places))


def margin(off: float, unit: str = "") -> str:
    """A margin with its sign; one of a rank is told in rows, any other in the value's own unit."""
    return f"± {margin_size(off)} rows" if unit == "rows" else f"± {margin_size(off)}"


def margin_size(off: float) -> str:
    """A margin without its sign."""
    return number(off, digits(off))


# Texts and times


def one_line(text: str, longest: int | None = None) -> str:
    """The text without control characters; with `longest` without runs of spaces, and shortened."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    if longest is None:
        return clean
    short = " ".join(clean.split())
    return short if len(short) <= longest else short[: longest - 1] + "…"


def moment(at: str) -> str:
    """A time of the ledger to the minute."""
    return f"{datetime.fromisoformat(at):%d %b %Y, %H:%M}"


def second(at: str) -> str:
    """A time of the ledger to the second, so that a column of them can be sorted."""
    return f"{datetime.fromisoformat(at):%Y-%m-%d %H:%M:%S}"
