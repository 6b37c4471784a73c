"""Kinds: number, text, day or truth. Values of two kinds are never compared or chosen between.

An engine would cast one of them, row by row, and some rows cannot be cast. So the renderer works
out the kind of everything that it writes, from the policy's domains and from constants up, and
refuses what does not fit (`clean.md`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from adomnia.engines.sql.extent import PARTS
from adomnia.errors import QuestionError
from adomnia.queries.expression import Call
from adomnia.schema.domain import Categories, Dates, Domain, Grid

__all__ = ["Kind", "foreign", "kind_of", "of_domain", "of_value"]

Kind = str
"""`number`, `text`, `day`, `truth`, or `any` for NULL."""

_KINDS: Sequence[tuple[type, Kind]] = (
    (bool, "truth"), (int, "number"), (str, "text"), (date, "day"), (type(None), "any"),
)  # fmt: skip

_SAME: Mapping[str, Kind] = {
    **dict.fromkeys(("add", "sub", "mul", "neg", "abs", "sign", "scale", "restep"), "number"),
    **dict.fromkeys(("div", "mod", "real"), "number"),
    **dict.fromkeys(("and", "or", "not"), "truth"),
    **dict.fromkeys(("extract", "trunc", "days"), "day"),
    "like": "text",
}
"""Operations whose arguments are of one kind, and which."""

_GIVEN: Mapping[str, Kind] = {
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge", "in", "is_null", "like"), "truth"),
    **dict.fromkeys(("extract", "days"), "number"),
}
"""Operations that give another kind than that of their arguments."""


_WORDS: Mapping[str, Collection[str]] = {
    "real": ("sqrt", "ln", "exp"),
    "extract": PARTS,
    "trunc": ("day", "week", "month", "quarter", "year"),
}
"""The words of operations that are written into the statement as they are."""


def foreign(what: str) -> QuestionError:
    """The refusal of what cannot be written."""
    return QuestionError(f"this cannot be computed safely: {what}", "ask for something simpler")


def of_value(value: object) -> Kind:
    """The kind of a constant."""
    return next((kind for known, kind in _KINDS if type(value) is known), "none")


def of_domain(domain: Domain) -> Kind:
    """The kind of a cleaned column."""
    if isinstance(domain, Categories):
        return of_value(domain.values[0])
    return "number" if isinstance(domain, Grid) else "day" if isinstance(domain, Dates) else "text"


def kind_of(call: Call, kinds: Sequence[Kind]) -> Kind:
    """The kind of a call on arguments of these kinds; refused where they do not fit, or where a
    word in it is none of those that may be written."""
    if call.op in _WORDS and call.params[0] not in _WORDS[call.op]:
        raise foreign("this is no operation on one row")
    if call.op == "case":
        _one([*kinds[0:-1:2], "truth"])
        return _one([*kinds[1:-1:2], kinds[-1]])
    if call.op == "map":
        pairs: Any = call.params[0]
        _one([*kinds, *(of_value(key) for key, _ in pairs)])
        return _one(of_value(value) for _, value in pairs)
    listed = (of_value(value) for value in call.params) if call.op == "in" else ()
    among = [_SAME[call.op]] if call.op in _SAME else []
    found = "any" if call.op == "is_null" else _one([*among, *kinds, *listed])
    return _GIVEN.get(call.op, found)


def _one(kinds: Iterable[Kind]) -> Kind:
    """The one kind of all that is not NULL."""
    found = {*kinds} - {"any"}
    if len(found) > 1 or "none" in found:
        raise foreign("values of two kinds do not go together")
    return next(iter(found), "any")
