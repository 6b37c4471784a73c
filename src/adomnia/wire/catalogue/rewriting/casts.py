"""Casts: PostgreSQL's conversions, among them those between an oid and its name."""

from __future__ import annotations

from sqlglot import exp

from adomnia.wire.catalogue.builder import BuiltCatalogue
from adomnia.wire.catalogue.errors import (
    undefined_function,
    undefined_table,
    undefined_type,
)
from adomnia.wire.catalogue.rewriting.column_types import relation_of
from adomnia.wire.catalogue.rewriting.literals import array_of
from adomnia.wire.catalogue.types import REGISTRIES, TYPES, canonical, element, kept_as

__all__ = ["call", "cast_to", "rewritten_cast"]

_MISSING = {
    "regclass": undefined_table,
    "regproc": undefined_function,
    "regprocedure": undefined_function,
}
NUMBERS = {"oid", "int2", "int4", "int8", "xid", *REGISTRIES}


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of one of our macros."""
    function = exp.Anonymous(this=name, expressions=list(arguments))
    return exp.Dot(this=exp.to_identifier("fn"), expression=function)


def cast_to(node: exp.Expr, name: str) -> exp.Cast:
    """A cast to what DuckDB keeps a type as."""
    return exp.Cast(this=node, to=exp.DataType.build(kept_as(name), dialect="duckdb"))


def rewritten_cast(node: exp.Cast, source: str | None, built: BuiltCatalogue) -> exp.Expr:
    """A cast as DuckDB shall do it; `source` is the type of what is cast, where it is known."""
    target, value = canonical(node.to.sql("postgres")), node.this
    if target not in TYPES:
        raise undefined_type(target)
    literal = value.name if isinstance(value, exp.Literal) and value.is_string else None
    if target in REGISTRIES:
        return _registered(value, source, target, built)
    if element(target) is not None:
        return _array(value, source, target, literal)
    if kept_as(target) == "VARCHAR" and source in REGISTRIES:
        return call(f"{source}_out", value)
    return cast_to(value, target)


def _registered(
    value: exp.Expr, source: str | None, target: str, built: BuiltCatalogue
) -> exp.Expr:
    if isinstance(value, exp.Literal) and target in ("regclass", *built.oids):
        number = value.name if value.name.isdigit() else _oid(value.name, target, built)
        return cast_to(exp.Literal.number(number), "oid")
    if source in NUMBERS:
        return cast_to(value, "oid")
    return call(f"{target}_in", value)


def _oid(written: str, target: str, built: BuiltCatalogue) -> int:
    """The oid of a name that is written out; for it not to be there is an error."""
    parts = [part.strip('"') if '"' in part else part.lower() for part in written.split(".")]
    if target == "regclass":
        relation = relation_of(
            exp.table_(parts[-1], db=parts[-2] if parts[1:] else None), built.relations
        )
        oid = None if relation is None else relation.oid
    else:
        oid = built.oids.get(target, {}).get(parts[-1])
    if oid is None:
        raise _MISSING.get(target, undefined_type)(written)
    return oid


def _array(value: exp.Expr, source: str | None, target: str, literal: str | None) -> exp.Expr:
    if literal is not None:
        return cast_to(array_of(literal), target)
    inner = element(source)
    if inner in REGISTRIES and kept_as(target) == "VARCHAR[]":
        return call(f"{inner}_outs", value)
    return cast_to(value, target)
