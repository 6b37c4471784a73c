"""Literals: values of Python and of PostgreSQL's text as parts of a statement."""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlglot import exp

from adomnia.wire.catalogue.errors import CatalogueError, unsupported
from adomnia.wire.catalogue.types import TYPES, element

__all__ = ["array_of", "bind", "blanks", "count_parameters", "value_of"]

_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,"{}]+)')
_NAMES = {each.oid: name for name, each in TYPES.items()}


def value_of(value: Any) -> exp.Expr:  # noqa: PLR0911 (a table of kinds)
    """A value as SQL writes it."""
    match value:
        case None:
            return exp.null()
        case bool():
            return exp.Boolean(this=value)
        case float() | Decimal() if not math.isfinite(value):
            return exp.cast(exp.Literal.string(str(value)), "double")
        case int() | float() | Decimal():
            number = exp.Literal.number(str(abs(value)))
            return exp.Paren(this=exp.Neg(this=number)) if value < 0 else number
        case str():
            return exp.Literal.string(value)
        case datetime():
            return exp.cast(exp.Literal.string(value.replace(tzinfo=None).isoformat()), "timestamp")
        case date():
            return exp.cast(exp.Literal.string(value.isoformat()), "date")
        case list() | tuple():
            return exp.Array(expressions=[value_of(each) for each in value])
        case _:
            raise unsupported("a parameter of this type")


def array_of(text: str) -> exp.Array:
    """The array that PostgreSQL's text of one means, of texts."""
    inner = text.strip()
    if not (inner.startswith("{") and inner.endswith("}")):
        raise CatalogueError("malformed array literal", sqlstate="22P02")
    values = [_item(*item) for item in _ITEM.findall(inner[1:-1])]
    return exp.Array(expressions=[value_of(each) for each in values])


def _item(quoted: str, bare: str) -> str | None:
    if bare:
        return None if bare.strip().upper() == "NULL" else bare.strip()
    return re.sub(r"\\(.)", r"\1", quoted)


def bind(tree: exp.Query, values: list[exp.Expr]) -> None:
    """Put a value in the place of every parameter."""
    for node in list(tree.find_all(exp.Parameter)):
        number = _number(node)
        if not 1 <= number <= len(values):
            raise CatalogueError(f"there is no parameter ${number}", sqlstate="42P02")
        node.replace(values[number - 1].copy())


def blanks(oids: list[int]) -> list[exp.Expr]:
    """NULLs of these types, for a statement that is only described."""
    return [_blank(_NAMES.get(oid, "text")) for oid in oids]


def _blank(name: str) -> exp.Expr:
    if element(name) is not None:
        return exp.Array(expressions=[])
    return exp.Cast(this=exp.null(), to=exp.DataType.build(f'"{name}"', "postgres", udt=True))


def count_parameters(tree: exp.Query) -> int:
    """The highest number of a parameter."""
    return max((_number(node) for node in tree.find_all(exp.Parameter)), default=0)


def _number(node: exp.Parameter) -> int:
    return int(node.name) if node.name.isdigit() and len(node.name) < 6 else 0
