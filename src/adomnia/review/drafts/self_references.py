"""Columns that refer to another row of their own table, such as an employee's manager.

They are no measured numbers, and a policy does not follow them: what they say is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from adomnia.engines.key_facts import MatchedRows
from adomnia.formatting import share
from adomnia.review.column_words import MEASURED, column_words
from adomnia.review.drafts.identifiers import RowsPerUnit

__all__ = ["referring_columns", "self_references"]

RELATIVES = {
    "manager", "boss", "supervisor", "superior", "leader", "head", "chief", "parent", "mother",
    "father", "guardian", "spouse", "partner", "husband", "wife", "sibling", "twin", "mentor",
    "tutor", "referrer", "sponsor", "predecessor", "successor", "previous", "next",
}  # fmt: skip
"""Words for somebody who is another row."""

LEAST = 0.95
"""The share of rows that must match a row of the table."""

SPARSE, FEW = 0.2, 20
"""Without such a word, keys must fill no more of their range, and values be more: small numbers are
keys by accident."""

Facts = Mapping[str, Any]


def self_references(
    found: Mapping[str, Facts],
    units: Mapping[str, RowsPerUnit],
    matches: Callable[[Sequence[tuple[str, str]]], Mapping[tuple[str, str], MatchedRows]],
) -> dict[str, str]:
    """For each column that refers to another row what is said of it; `matches` counts pairs of a
    column and a key."""
    pairs = [*referring_columns(found, units)]
    told = {}
    for (column, key), match in (matches(pairs) if pairs else {}).items():
        if match.matched and match.share >= LEAST:
            part = "all" if match.matched == match.rows else share(match.share).replace("%", " %")
            told[column] = (
                f"refers to {key} of the same table ({part} of {match.rows:,} rows match); "
                "undeclared. Such a reference is not followed"
            )
    return told


def referring_columns(
    found: Mapping[str, Facts], units: Mapping[str, RowsPerUnit]
) -> Iterator[tuple[str, str]]:
    """Columns that may refer to a key of their own table, and the key."""
    keys = [name for name, unit in units.items() if unit.most == 1]
    for name, facts in found.items():
        if name not in units:
            yield from ((name, key) for key in keys if _may_refer(name, facts, found[key]))


def _may_refer(name: str, facts: Facts, key: Facts) -> bool:
    """Whether values lie as keys do, and would not by chance unless the name says so."""
    words = {*column_words(name)}
    if facts["kind"] != key["kind"] or MEASURED & words or (facts["distinct"] or 0) < 2:
        return False
    if facts["kind"] == "text":
        inside = _within(facts["width"], key["width"])
        return inside and bool(words & RELATIVES)
    if facts["kind"] != "number" or facts["places"] != 0 or key["places"] != 0:
        return False
    if not _within((facts["low"], facts["high"]), (key["low"], key["high"])):
        return False
    width = key["high"] - key["low"] + 1
    sparse = key["present"] <= SPARSE * width and facts["distinct"] >= FEW
    return bool(words & RELATIVES) or sparse


def _within(inner: tuple[Any, Any], outer: tuple[Any, Any]) -> bool:
    if None in (*inner, *outer):
        return False
    return bool(outer[0] <= inner[0] and inner[1] <= outer[1])
