"""The risk that a release adds: success on its people beyond that on others (`risk.md`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adomnia.audit.clopper_pearson import clopper_pearson
from adomnia.audit.finding import Rate

__all__ = ["CONFIDENCE", "added_risk", "rate_json", "worst_part"]

CONFIDENCE = 0.95


def added_risk(
    hits: tuple[int, int], control: tuple[int, int], confidence: float = CONFIDENCE
) -> Rate:
    """(s - c)/(1 - c), s the success on the people of the data and c that on the control group.

    Both are pairs of hits and tries. The interval holds both shares at once with this confidence,
    whatever they have to do with each other; below 0 it is cut.

    >>> added_risk((90, 100), (50, 100)).value
    0.8
    >>> added_risk((50, 100), (50, 100)).low
    0.0
    """
    each = 1 - (1 - confidence) / 2
    success, other = (clopper_pearson(*part, each) for part in (hits, control))
    return Rate(
        _risk(success.value, other.value),
        _risk(success.low, other.high),
        _risk(success.high, other.low),
        confidence,
    )


def _risk(success: float, other: float) -> float:
    """Where others are always hit there is nothing that a release could add."""
    return max(0.0, (success - other) / (1 - other)) if other < 1 else 0.0


def rate_json(hits: int, tries: int, confidence: float = CONFIDENCE) -> dict[str, Any]:
    """Hits and tries as a share with its interval, for details.

    >>> rate_json(1, 2)["value"]
    0.5
    """
    return {"hits": hits, "tries": tries, **vars(clopper_pearson(hits, tries, confidence))}


def worst_part(parts: Mapping[str, Mapping[str, Any]]) -> tuple[str, Rate]:
    """The part with the largest risk that is sure, or that is seen, and its risk.

    The intervals of all parts hold together with the usual confidence, and so does its own.

    >>> sex, age = (vars(added_risk((hits, 100), (50, 100), 0.975)) for hits in (55, 90))
    >>> worst_part({"sex": {"risk": sex}, "age": {"risk": age}})[0]
    'age'
    """
    name = max(parts, key=lambda one: [parts[one]["risk"][end] for end in ("low", "value")])
    return name, Rate(**{**parts[name]["risk"], "confidence": CONFIDENCE})
