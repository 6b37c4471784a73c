"""Objects: the tables and views that a policy declares, in words that are public anyway."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any

from adomnia.curator.database import Database
from adomnia.policy.policy import Policy
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Value
from adomnia.schema.table import Attribute, PublicTable
from adomnia.wire.catalogue.relations import ADOMNIA, PUBLIC, Relation

__all__ = ["Object", "declared_objects", "in_words", "type_of_domain"]

FIRST_OBJECT = 16400  # PostgreSQL's own oids end at 16383
STEP = 10  # an object's row type, index and constraint follow it
MOST_LISTED = 20


@dataclass(frozen=True)
class Object:
    """A relation of the policy with its comments; `rows` is None where nobody may read them."""

    relation: Relation
    comment: str
    comments: tuple[str | None, ...]
    key: str | None = None
    rows: tuple[tuple[Any, ...], ...] | None = None


def declared_objects(database: Database) -> tuple[Object, ...]:
    """The private table, the public ones, and the views of schema `adomnia`."""
    tables = database.table.public.values()
    oids = count(FIRST_OBJECT, STEP)
    return (
        _private(database.policy, next(oids)),
        *(_public(table, next(oids)) for table in tables),
        _budget(next(oids)),
        _domains(database.policy, next(oids)),
    )


def type_of_domain(domain: Domain) -> str:
    """The type of an attribute, as PostgreSQL's catalogue calls it."""
    match domain:
        case Grid():
            return "int8" if domain.step == 1 else "numeric"
        case Dates():
            return "date"
        case Categories():
            return _type_of_value(domain.members[0])
        case _:
            return "text"


def in_words(attribute: Attribute) -> str:
    """The public domain of an attribute, in words."""
    match attribute.domain:
        case Grid() as grid if grid.step == 1:
            words = f"whole numbers from {grid.low} to {grid.high}"
        case Grid() as grid:
            low, high, step = map(_number, (grid.low, grid.high, grid.step))
            words = f"numbers from {low} to {high} in steps of {step}"
        case Dates() as dates:
            words = f"days from {dates.low} to {dates.high}"
        case Categories() as categories:
            words = _listed(categories)
        case _:
            words = "text whose values are not public: it can be filtered and counted, not listed"
    return f"{words}; NULL is a group of its own" if attribute.nullable else words


def _private(policy: Policy, oid: int) -> Object:
    columns = {name: type_of_domain(each.domain) for name, each in policy.attributes.items()}
    comments = tuple(in_words(each) for each in policy.attributes.values())
    return Object(Relation(PUBLIC, policy.table, oid, "r", columns), _promise(policy), comments)


def _promise(policy: Policy) -> str:
    neighbors, budget = policy.neighbors, policy.budget
    amount = f"rho {budget.rho}" if budget.rho is not None else f"epsilon {budget.epsilon}"
    protected = f"up to {neighbors.rows} rows of one unit" if neighbors.rows else "each row"
    return (
        f"private: {protected} protected ({neighbors.relation} neighbours), "
        f"{amount} for everything; answers carry noise and rows cannot be read"
    )


def _public(table: PublicTable, oid: int) -> Object:
    columns = {
        name: _type_of_values(row[place] for row in table.rows)
        for place, name in enumerate(table.columns)
    }
    relation = Relation(PUBLIC, table.name, oid, "r", columns)
    nothing = (None,) * len(columns)
    comment = f"public: everybody may read it, or join it on {table.key}"
    return Object(relation, comment, nothing, table.key, table.rows)


def _budget(oid: int) -> Object:
    columns = dict.fromkeys(("whose", "unit", "spent", "remaining"), "text")
    relation = Relation(ADOMNIA, "budget", oid, "v", columns)
    return Object(relation, "what you have spent and what is left", (None,) * len(columns))


def _domains(policy: Policy, oid: int) -> Object:
    columns = dict.fromkeys(("attribute", "type", "domain"), "text")
    rows = tuple(
        (name, type_of_domain(each.domain), in_words(each))
        for name, each in policy.attributes.items()
    )
    relation = Relation(ADOMNIA, "domains", oid, "v", columns)
    comment = "what values each attribute may take: declared, and public"
    return Object(relation, comment, (None,) * len(columns), None, rows)


def _type_of_values(values: Iterable[Any]) -> str:
    """One type for all the values of a public column; text where they differ."""
    types = {_type_of_value(value) for value in values if value is not None}
    return types.pop() if len(types) == 1 else "text"


def _type_of_value(value: object) -> str:
    kinds = ((bool, "bool"), (int, "int8"), (float, "float8"), (Decimal, "numeric"), (date, "date"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "text")


def _listed(categories: Categories) -> str:
    values = [_written(value) for value in categories.values]
    more = f" and {len(values) - MOST_LISTED} more" if len(values) > MOST_LISTED else ""
    other = "" if categories.other is None else f"; all else is {_written(categories.other)}"
    return f"one of {', '.join(values[:MOST_LISTED])}{more}{other}"


def _written(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"
