"""Values and bounds of columns in words, for whoever compared with another one."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from adomnia.queries.expression import Call, Column, Expr
from adomnia.queries.ranges import Day, Moment, Number, Range, Text, show
from adomnia.queries.sql.binder import Binder
from adomnia.schema.domain import step_text

__all__ = [
    "bounds_said",
    "declared_hint",
    "is_scaled",
    "listed",
    "name_of",
    "perhaps_meant",
    "quoted",
    "unscaled",
    "values_said",
]

MOST_SHOWN = 12
"""So many values of a list are shown in an error or a note."""

LONGEST = 40
"""A longer value is cut where it is shown."""


def unscaled(expr: Expr) -> Expr:
    """The column that a comparison is about, as it was written."""
    while isinstance(expr, Call) and expr.op in ("scale", "inside"):
        expr = expr.args[0]
    return expr


def is_scaled(expr: Expr) -> bool:
    """Whether it is a number on a finer lattice than its column's own."""
    return isinstance(expr, Call) and expr.op == "scale"


def name_of(binder: Binder, expr: Expr) -> str:
    """What the statement calls the column that is compared."""
    inner = unscaled(expr)
    return binder.relation.called(inner) if isinstance(inner, Column) else "this"


def declared_hint(name: str, expr: Expr, values: tuple[Any, ...]) -> str:
    """What a column declares, and what was perhaps meant by a value that it does not."""
    if getattr(expr.range, "values", None) is None:
        return bounds_said(name, expr)
    meant = perhaps_meant(expr.range, list(values))
    return f"{meant} {values_said(name, expr.range)}".strip()


def values_said(name: str, spread: Range) -> str:
    """The values that a column lists."""
    values = list(getattr(spread, "values", None) or ())
    return f"the values of {name} are {listed(spread, values)}"


def bounds_said(name: str, expr: Expr, lattice: bool = False) -> str:
    """Between which bounds a column lies, or which values it lists."""
    spread = expr.range
    if getattr(spread, "values", None) is not None or not isinstance(spread, Number | Day | Moment):
        return values_said(name, spread)
    ends = f"{name} lies between {_bound(spread, spread.low)} and {_bound(spread, spread.high)}"
    if isinstance(spread, Number) and (spread.step != 1 or lattice):
        ends += f", in steps of {_bound(spread, 1)}"
    if isinstance(spread, Moment) and not spread.unit:
        ends += f", in steps of {step_text(spread.step)}"
    beyond = "; values outside of these are not told apart"
    return ends + beyond if isinstance(expr, Column) else ends


def _bound(spread: Range, value: Any) -> str:
    shown = show(spread, value)
    return f"{shown:.15g}" if isinstance(shown, float) else str(shown)


def perhaps_meant(spread: Range, values: list[Any]) -> str:
    """What was perhaps meant by the first value that is not listed."""
    known = {str(value): value for value in getattr(spread, "values", None) or ()}
    folded = {text.casefold().strip(): text for text in known}
    for value in values if isinstance(spread, Text) else ():
        close = get_close_matches(str(value).casefold().strip(), list(folded)[:1000], 1)
        if close:
            return f"did you mean {quoted(known[folded[close[0]]])}?"
    return ""


def listed(spread: Range, values: list[Any]) -> str:
    """The first of these values, as they are written."""
    shown = ", ".join(quoted(show(spread, value)) for value in values[:MOST_SHOWN])
    return shown + " …" * (len(values) > MOST_SHOWN)


def quoted(value: Any) -> str:
    """A value as SQL writes it, cut where it is long."""
    text = "".join(sign if sign.isprintable() else " " for sign in str(value))
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return "'" + short.replace("'", "''") + "'" if isinstance(value, str) else short
