"""Columns of made-up tables: what a policy declares of them, and values that nobody expects."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Chance = random.Random
DAY = dt.date(1970, 1, 1)
BROKEN = b"\xff\xfe"
"""Bytes that are no text."""

HOSTILE: dict[str, list[Any]] = {
    "int64": [None, -(2**63), 2**63 - 1, 10**15, -1, 0],
    "double": [None, float("nan"), float("inf"), float("-inf"), 1e308, -0.0, 5e-324, 2.5, -1e15],
    "text": [
        None, "", " ", "NaN", "1e400", "-0.0", "F ", "f", "Zoë", "İ", "ß", "𝔘", "a\tb", "O'Brien",
        "%", "_", "\\", "infinity", "0x1", "1,5", "NULL", "\u200b", "e\u0301", "é", "true",
        "x\r", "a\rb", "a\nb", 'a"b', "a,b", "0044-03-15 (BC)", "epoch",
    ],
    "bool": [None],
    "date": [None, -719893, -1_000_000, 2_000_000, 0],
    "timestamp": [None, -62_167_219_200_000_001, 253_402_300_800_000_000, 0],
}  # fmt: skip
"""Values of each type as it is stored that lie outside of what is usual. Dates are days from 1970,
timestamps microseconds."""


@dataclass(frozen=True)
class Column:
    """One column: how it is stored, what the policy says of it, and what it is for a question.

    `kind` is number, list, flag, day, text (declared as such), open (not declared) or unit.
    """

    name: str
    stored: str
    kind: str
    policy: str = ""
    domain: tuple[Any, ...] = ()
    step: Any = 1
    usual: Callable[[Chance], Any] = lambda _: None
    broken: bool = False

    def value(self, chance: Chance, hostile: float) -> Any:
        """A value as it is stored."""
        if self.kind == "unit":
            return self.usual(chance)
        if chance.random() >= hostile:
            return self.usual(chance)
        if self.broken and chance.random() < 0.1:
            return BROKEN
        return chance.choice(HOSTILE[self.stored])

    def flipped(self, value: Any, chance: Chance) -> Any:
        """The value with one bit of its place in the domain flipped; None where there is none."""
        place = self.place(value)
        if place is None:
            return None
        size = len(self.domain) if self.kind in ("list", "flag") else self.domain[1]
        places = [place ^ (1 << b) for b in range(size.bit_length()) if place ^ (1 << b) < size]
        return self.at(chance.choice(places)) if places else None

    def place(self, value: Any) -> int | None:
        """The place of a clean value in its domain, from 0."""
        if self.kind in ("list", "flag"):
            clean = isinstance(value, type(self.domain[0])) and value in self.domain
            return self.domain.index(value) if clean else None
        if self.kind == "day" and self.stored == "date" and isinstance(value, int):
            place = value - self.domain[0]
            return place if 0 <= place < self.domain[1] else None
        if self.kind == "number" and self.stored == "int64" and isinstance(value, int):
            place = value - self.domain[0]
            return place if 0 <= place < self.domain[1] else None
        return None

    def at(self, place: int) -> Any:
        """The value at a place."""
        return self.domain[place] if self.kind in ("list", "flag") else self.domain[0] + place


def number(name: str, low: int, size: int, chance: Chance) -> Column:
    """A number from low on with so many whole values, stored in any way."""
    high = low + size - 1
    stored = chance.choice(["int64", "int64", "double", "text"])
    step = chance.choice(["1", "1", "0.01", "0.5"]) if stored != "int64" else "1"
    lines = f"low = {low}\nhigh = {high}\n" + (f"step = {step}\n" if step != "1" else "")
    spread = range(low, high + 1)

    def usual(c: Chance) -> Any:
        whole = c.choice([low, high, c.choice(spread), c.choice(spread)])
        if stored == "int64":
            return whole
        inside = (
            float(whole) if step == "1" or whole == high else whole + c.choice([0.0, 0.5, 0.25])
        )
        return inside if stored == "double" else f"{inside:g}"

    return Column(name, stored, "number", lines + _nullable(chance), (low, size), step, usual)


def listed(name: str, values: tuple[str, ...], chance: Chance) -> Column:
    """A list of texts."""
    quoted = ", ".join(f'"{value}"' for value in values)
    lines = f"values = [{quoted}]\n"
    if chance.random() < 0.3:
        lines += 'other = "rest"\n'
    return Column(
        name, "text", "list", lines + _nullable(chance), values, usual=lambda c: c.choice(values),
        broken=True,
    )  # fmt: skip


def codes(name: str, values: tuple[int, ...], chance: Chance) -> Column:
    """A list of whole numbers."""
    lines = f"values = {list(values)}\n" + _nullable(chance)
    return Column(name, "int64", "list", lines, values, usual=lambda c: c.choice(values))


def flag(name: str, chance: Chance) -> Column:
    """A truth value."""
    both = (False, True)
    lines = "values = [false, true]\n" + _nullable(chance)
    return Column(name, "bool", "flag", lines, both, usual=lambda c: c.choice(both))


def day(name: str, chance: Chance) -> Column:
    """A date in a few weeks, stored as a date or a moment."""
    first, size = (dt.date(2019, 12, 20) - DAY).days, chance.choice([5, 30, 400])
    last = DAY + dt.timedelta(days=first + size - 1)
    lines = f'kind = "date"\nlow = "2019-12-20"\nhigh = "{last}"\n' + _nullable(chance)
    stored = chance.choice(["date", "date", "timestamp"])
    unit = 1 if stored == "date" else 86_400_000_000

    def usual(c: Chance) -> int:
        return (first + c.randrange(size)) * unit

    return Column(name, stored, "day", lines, (first, size), usual=usual)


def text(name: str, declared: bool) -> Column:
    """Text whose values are not public."""
    words = ("Linz", "Wien", "Graz", "a", "b%", "Ä")
    lines = 'kind = "text"\n' if declared else ""
    kind = "text" if declared else "open"
    return Column(name, "text", kind, lines, usual=lambda c: c.choice(words), broken=True)


def unit(name: str, chance: Chance) -> Column:
    """Who a row is about."""
    stored = chance.choice(["int64", "text"])
    return Column(
        name, stored, "unit", usual=lambda c: c.randrange(8) if stored == "int64"
        else f"p{c.randrange(8)}",
    )  # fmt: skip


def _nullable(chance: Chance) -> str:
    return "nullable = true\n" if chance.random() < 0.3 else ""
