"""The plot a curator wants: disclosures against the error of the tables, over epsilon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from adomnia.formatting import share
from adomnia.present.drawing.plot import Plot, Series, draw

__all__ = ["disclosure_plot"]

_NAMES = {"pair": "groups by two", "all": "groups by all", "planned": "the planned tables"}


def disclosure_plot(
    readings: Mapping[str, Sequence[Mapping[str, Any]]], chosen: str | None = None
) -> str:
    """Each epsilon is a point: how wrong the tables are, and how much they disclose.

    `readings` is that of `audit disclosure` as JSON; the chosen epsilon has a ring.
    """
    lines = [
        _series(_NAMES.get(reading, reading), levels, chosen, named=number == 0)
        for number, (reading, levels) in enumerate(readings.items())
    ]
    return draw(
        Plot(
            "disclosures against the error of the tables, by epsilon",
            "overall relative error of the tables", "disclosures", lines, log_across=True,
            whole=True, show_across=share,
        ),
        heading=False,
    )  # fmt: skip


def _series(
    name: str, levels: Sequence[Mapping[str, Any]], chosen: str | None, named: bool
) -> Series:
    ordered = sorted(levels, key=lambda level: float(level["overall_error"]))
    ringed = frozenset(
        number for number, level in enumerate(ordered) if _same(level["epsilon"], chosen)
    )
    return Series(
        name,
        [level["overall_error"] for level in ordered],
        [level["disclosures"] for level in ordered],
        labels=[f"ε {level['epsilon']}" for level in ordered] if named else [],
        ringed=ringed,
    )


def _same(one: str, other: str | None) -> bool:
    return other is not None and Fraction(one) == Fraction(other)
