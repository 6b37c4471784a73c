"""Units that are counted: which expressions are nothing but a unit, and in which rows it is there.

Sensitivities and engines go by this one rule: what is priced as units is counted as units.
"""

from __future__ import annotations

from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.ranges import Truth

__all__ = ["TRUE", "present"]

TRUE, FALSE = Constant(True, Truth()), Constant(False, Truth())


def present(expr: Expr, unit: str | None) -> Expr | None:
    """Whether it is the unit and not NULL, for an expression that is nothing else; else None."""
    if isinstance(expr, Column):
        return TRUE if expr.name == unit else None
    if isinstance(expr, Constant):
        return FALSE if expr.value is None else None
    if expr.op != "case":
        return None
    *branches, last = expr.args
    args = [present(arg, unit) if place % 2 else arg for place, arg in enumerate(branches)]
    args.append(present(last, unit))
    known = tuple(arg for arg in args if arg is not None)
    return Call("case", known, Truth()) if len(known) == len(args) else None
