"""Parameters: of which type each is meant to be, so that a driver writes it that way."""

from __future__ import annotations

from sqlglot import exp

from adomnia.wire.catalogue.rewriting.column_types import Relations, Shape
from adomnia.wire.catalogue.types import TYPES, canonical, kept_as, listed

__all__ = ["parameter_types"]


def parameter_types(tree: exp.Query, relations: Relations) -> dict[int, int]:
    """The oids of those parameters whose place says what they are."""
    shape = Shape(tree, relations)
    oids: dict[int, int] = {}
    for node in tree.find_all(exp.Parameter):
        kind = _meant(node, shape)
        if kind in TYPES and node.name.isdigit():
            oids.setdefault(int(node.name), TYPES[kind].oid)
    return oids


def _meant(node: exp.Expr, shape: Shape) -> str | None:
    above = node.parent
    match above:
        case exp.Cast():
            return _written(canonical(above.to.sql("postgres")))
        case exp.Paren() | exp.Any():
            kind = _meant(above, shape)
            return listed(kind) if kind and isinstance(above, exp.Any) else kind
        case exp.Limit() | exp.Offset():
            return "int8"
        case exp.In() if above.this is not node:
            return _written(shape.type_of(above.this))
        case exp.Binary():
            other = above.expression if above.this is node else above.this
            return _written(shape.type_of(other))
        case _:
            return None


def _written(kind: str | None) -> str | None:
    """Texts of every kind are written as text, and what has a name as that name."""
    if kind is None:
        return None
    return "text" if kept_as(kind) == "VARCHAR" or kind.startswith("reg") else kind
