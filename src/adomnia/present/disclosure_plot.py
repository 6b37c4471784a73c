"""The plot a curator wants: disclosures against the error of the tables, over epsilon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from adomnia.present.curves import Axis, Line, curves

__all__ = ["disclosure_plot"]

_NAMES = {"pair": "groups by two", "all": "groups by all", "planned": "the planned tables"}


def disclosure_plot(
    readings: Mapping[str, Sequence[Mapping[str, Any]]], chosen: str | None = None
) -> str:
    """Each epsilon is a point: how wrong the tables are, and how much they disclose.

    `readings` is that of `audit disclosure` as JSON; the chosen epsilon has a ring.
    """
    lines = []
    for number, (reading, levels) in enumerate(readings.items()):
        ordered = sorted(levels, key=lambda level: float(level["overall_error"]))
        points = [(100 * level["overall_error"], level["disclosures"]) for level in ordered]
        labels = [f"ε {level['epsilon']}" for level in ordered] if number == 0 else []
        marked = frozenset(
            place for place, level in enumerate(ordered) if _same(level["epsilon"], chosen)
        )
        lines.append(Line(_NAMES.get(reading, reading), points, labels, marked))
    error = Axis("overall relative error of the tables", True, "{:,g}%".format)
    many = Axis("disclosures", show="{:,.0f}".format)
    return curves(lines, error, many, "disclosures against the error of the tables, by epsilon")


def _same(one: str, other: str | None) -> bool:
    return other is not None and Fraction(one) == Fraction(other)
