"""What the catalogue declares: the tables of a policy, in words that are public anyway."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from adomnia.curator.database import PrivateDatabase
from adomnia.errors import AdomniaError
from adomnia.policy.policy import Policy
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Timestamps, Value, step_text
from adomnia.schema.table import Attribute, PublicTable
from adomnia.schema.tables import PrivateTable, PrivateView
from adomnia.server.accounts import Person
from adomnia.server.postgres.privacy_settings import PRODUCT
from adomnia.wire.catalogue.builder import SharedCatalogue
from adomnia.wire.catalogue.content import CatalogueContent, DeclaredRelation
from adomnia.wire.catalogue.relations import PUBLIC

__all__ = ["budget_rows", "declared_content", "in_words", "shared_catalogue", "type_of_domain"]

MOST_LISTED = 20

_BUDGET = """
    SELECT b.whose, b.unit, b.spent, b.remaining
    FROM (SELECT unnest(CAST(getvariable('budget') AS
        STRUCT(whose VARCHAR, unit VARCHAR, spent VARCHAR, remaining VARCHAR)[])) AS b)"""


def shared_catalogue(database: PrivateDatabase) -> SharedCatalogue:
    """The catalogue of a database, built when somebody first asks; what is private is hidden."""
    several = database.policy.several
    hidden = (*database.tables, *(() if several is None else several.views))
    return SharedCatalogue(partial(declared_content, database), *hidden)


def declared_content(database: PrivateDatabase) -> CatalogueContent:
    """The private tables and views, the public tables, and the views of schema `adomnia`."""
    policy, public = database.policy, database.table.public.values()
    private = [_private(policy, table) for table in database.tables.values()]
    views = map(_view, database.views.values())
    own = (_budget(), _domains(database))
    return CatalogueContent(PRODUCT, (*private, *views, *map(_public, public), *own))


def budget_rows(database: PrivateDatabase, person: Person) -> list[dict[str, str]]:
    """What somebody has left; a curator sees everybody's."""
    try:
        state = database.budget()
    except AdomniaError:
        return []
    rows = list(state["analysts"].items())
    if person.is_curator:
        rows.insert(0, ("data", state["data"]))
    else:
        rows = [row for row in rows if row[0] == person.name]
    keys = ("unit", "spent", "remaining")
    return [{"whose": name} | {key: str(part[key]) for key in keys} for name, part in rows]


def type_of_domain(domain: Domain) -> str:
    """The type of an attribute, as PostgreSQL's catalogue calls it."""
    match domain:
        case Grid():
            return "int8" if domain.step == 1 else "numeric"
        case Dates():
            return "date"
        case Timestamps():
            return "timestamp"
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
        case Timestamps() as moments:
            steps = f"in steps of {step_text(moments.step)}, by the clocks of {moments.zone}"
            words = f"moments from {moments.low} to {moments.high} {steps}"
        case Categories() as categories:
            words = _listed(categories)
        case _:
            words = "text whose values are not public: it can be filtered and counted, not listed"
    return f"{words}; NULL is a group of its own" if attribute.nullable else words


def _private(policy: Policy, table: PrivateTable) -> DeclaredRelation:
    """A private table: the columns that name rows, and those whose values are declared."""
    names = {name: "text" for name in table.names if name not in table.attributes}
    said = [_named(policy, table, name) for name in names]
    columns = names | {n: type_of_domain(each.domain) for n, each in table.attributes.items()}
    comment = _described(table.description, _promise(policy, table))
    return DeclaredRelation(
        PUBLIC, table.name, "r", columns, comment, (*said, *_words(table.attributes)),
        table.key, table.references,
    )  # fmt: skip


def _named(policy: Policy, table: PrivateTable, name: str) -> str:
    """What a column is for that names rows: values of it are never told."""
    assert policy.several is not None
    other = table.references.get(name)
    if other is not None:
        of = policy.several.tables.tables[other]
        return f"refers to {other}({of.key}): to be joined on, and not shown"
    return f"names a row of {table.name}: to be joined on, and not shown"


def _view(view: PrivateView) -> DeclaredRelation:
    columns = {name: type_of_domain(each.domain) for name, each in view.attributes.items()}
    comment = _described(view.description, "private: a view over private tables")
    words = _words(view.attributes)
    return DeclaredRelation(PUBLIC, view.name, "v", columns, comment, words, told=view.sql)


def _words(attributes: Mapping[str, Attribute]) -> tuple[str, ...]:
    return tuple(_described(each.description, in_words(each)) for each in attributes.values())


def _described(description: str, words: str) -> str:
    """What the curator says of it, and then what is declared."""
    return f"{description} ({words})" if description else words


def _promise(policy: Policy, table: PrivateTable) -> str:
    neighbors, budget = policy.neighbors, policy.budget
    amount = f"rho {budget.rho}" if budget.rho is not None else f"epsilon {budget.epsilon}"
    protected = f"up to {neighbors.rows} rows of one unit" if neighbors.rows else "each row"
    if policy.several is not None:
        rows = f"{table.max_rows} row{'s' * (table.max_rows > 1)}"
        protected = f"up to {rows} of one of {' or '.join(policy.several.tables.units)}"
    return (
        f"private: {protected} protected ({neighbors.relation} neighbours), "
        f"{amount} for everything; answers carry noise and rows cannot be read"
    )


def _public(table: PublicTable) -> DeclaredRelation:
    columns = {
        name: _type_of_values(row[place] for row in table.rows)
        for place, name in enumerate(table.columns)
    }
    comment = f"public: everybody may read it, or join it on {table.key}"
    return DeclaredRelation(
        PUBLIC, table.name, "r", columns, comment, key=table.key, rows=table.rows
    )


def _budget() -> DeclaredRelation:
    columns = dict.fromkeys(("whose", "unit", "spent", "remaining"), "text")
    comment = "what you have spent and what is left"
    return DeclaredRelation(PRODUCT, "budget", "v", columns, comment, definition=_BUDGET)


def _domains(database: PrivateDatabase) -> DeclaredRelation:
    columns = dict.fromkeys(("attribute", "type", "domain", "description"), "text")
    several = database.policy.several is not None
    rows = tuple(
        (f"{table.name}.{name}" if several else name, type_of_domain(each.domain), in_words(each),
         each.description or None)
        for table in database.tables.values()
        for name, each in table.attributes.items()
    )  # fmt: skip
    comment = "what values each attribute may take: declared, and public"
    return DeclaredRelation(PRODUCT, "domains", "v", columns, comment, rows=rows)


def _type_of_values(values: Iterable[Any]) -> str:
    """One type for all the values of a public column; text where they differ."""
    types = {_type_of_value(value) for value in values if value is not None}
    return types.pop() if len(types) == 1 else "text"


def _type_of_value(value: object) -> str:
    kinds = ((bool, "bool"), (int, "int8"), (float, "float8"), (Decimal, "numeric"),
             (datetime, "timestamp"), (date, "date"))  # fmt: skip
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
