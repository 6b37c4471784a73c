"""Contributions as plain JSON: what the statement enforced, for whoever prices it anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from adomnia.privacy.contribution import (
    Bernstein,
    Clamped,
    Contribution,
    DistinctUnits,
    DistinctValues,
    Listed,
    Ranked,
    Tally,
)
from adomnia.queries.canonical import expression_from, expression_json
from adomnia.queries.expression import Expr

__all__ = ["contribution_from", "contribution_json"]


def contribution_json(contribution: Contribution) -> dict[str, Any]:
    """What one row may add, by names that are written here."""
    if isinstance(contribution, Tally):
        tests = [expression_json(test) for test in contribution.conditions]
        listed = contribution.patterns
        patterns = None if listed is None else ["".join(map(_sign, one)) for one in listed]
        return {"tally": tests, **_said(patterns=patterns, most=contribution.most)}
    if isinstance(contribution, DistinctUnits):
        return {"units": expression_json(contribution.present)}
    kind, fields = _FIELDS[type(contribution)]
    facts = {name: getattr(contribution, name) for name in fields}
    share = facts.pop("share", None)
    if share is not None:
        facts["share"] = str(share)
    return {kind: expression_json(contribution.argument), **_said(**facts)}


_FIELDS: Mapping[type, tuple[str, tuple[str, ...]]] = {
    Clamped: ("clamped", ("low", "high", "always")),
    Bernstein: ("bernstein", ("low", "high", "degree", "rest")),
    DistinctValues: ("values", ("most",)),
    Ranked: ("ranked", ("low", "high", "share", "edge")),
    Listed: ("listed", ()),
}


def _said(**facts: Any) -> dict[str, Any]:
    """What is there of the facts; a number of 0 is."""
    return {name: value for name, value in facts.items() if not (value is None or value is False)}


def _sign(met: bool) -> str:
    return "1" if met else "0"


def contribution_from(record: Mapping[str, Any]) -> Contribution:
    """The contribution of a record; a KeyError or ValueError where it is not understood."""
    for kind, make in _MAKERS.items():
        if kind in record:
            return make(record)
    raise ValueError("a contribution of a kind that is not known")


def _tally(record: Mapping[str, Any]) -> Contribution:
    tests = tuple(expression_from(test) for test in record["tally"])
    listed = record.get("patterns")
    patterns = None
    if listed is not None:
        patterns = tuple(tuple(sign == "1" for sign in one) for one in listed)
    return Tally(tests, patterns, record.get("most"))


def _operand(record: Any) -> Expr:
    found = expression_from(record)
    if found is None:
        raise ValueError("a contribution is of an expression")
    return found


_MAKERS: Mapping[str, Callable[[Mapping[str, Any]], Contribution]] = {
    "tally": _tally,
    "units": lambda r: DistinctUnits(_operand(r["units"])),
    "clamped": lambda r: Clamped(
        _operand(r["clamped"]), r["low"], r["high"], r.get("always", False)
    ),
    "bernstein": lambda r: Bernstein(
        _operand(r["bernstein"]), r["low"], r["high"], r["degree"], r.get("rest", False)
    ),
    "values": lambda r: DistinctValues(_operand(r["values"]), r.get("most")),
    "ranked": lambda r: Ranked(
        _operand(r["ranked"]), r["low"], r["high"], Fraction(r["share"]), r.get("edge")
    ),
    "listed": lambda r: Listed(_operand(r["listed"])),
}
