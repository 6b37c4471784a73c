"""What may be asked, over HTTP: tables, their public domains, and the promise in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from msgspec import UNSET, structs
from starlette.responses import Response

from adomnia.curator.database import PrivateDatabase
from adomnia.present.promise import promise_text
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Open, Timestamps, step_text
from adomnia.schema.table import Attribute, PublicTable
from adomnia.schema.tables import PrivateTable
from adomnia.server.http.error_responses import as_json
from adomnia.server.http.request_context import RequestContext
from adomnia.server.http.responses import (
    AttributeDescription,
    HealthResponse,
    SchemaResponse,
    TableDescription,
)

__all__ = ["health", "schema"]


async def health(context: RequestContext) -> Response:
    """Whether the ledger can be read, so that questions can be paid for."""
    await context.service.run(context.service.database.budget)
    return as_json(HealthResponse("ok"))


async def schema(context: RequestContext) -> Response:
    """The tables, their attributes and the promise; nothing here depends on the data."""
    database = context.service.database
    account = await context.service.run(database.account)
    released = sum("sql" in prior["published"] for prior in account.priors)
    policy = database.policy if context.person.is_curator else replace(database.policy, analysts={})
    promise = promise_text(policy, released=released)  # to an analyst not how many others there are
    tables = await context.service.run(lambda: list(_tables(database)))
    several = database.policy.several
    units = UNSET if several is None else list(several.tables.units)
    return as_json(SchemaResponse(tables, list(promise), units))


def _tables(database: PrivateDatabase) -> Iterator[TableDescription]:
    alone = database.policy.several is None
    for table in database.tables.values():
        attributes = [_attribute(attribute) for attribute in table.attributes.values()]
        shown = TableDescription(table.name, False, attributes, table.description or None)
        yield shown if alone else _keyed(shown, table)
    for view in database.views.values():
        attributes = [_attribute(attribute) for attribute in view.attributes.values()]
        said = view.description or None
        yield TableDescription(view.name, False, attributes, said, sql=view.sql)
    for other in database.table.public.values():
        columns = [_column(other, index) for index in range(len(other.columns))]
        yield TableDescription(other.name, True, columns)


def _keyed(shown: TableDescription, table: PrivateTable) -> TableDescription:
    """One of several tables, with what names its rows and how many of one unit are used."""
    key = UNSET if table.key is None else table.key
    most = None if table.auto else table.max_rows
    return structs.replace(shown, key=key, references=dict(table.references), max_rows=most)


def _attribute(attribute: Attribute) -> AttributeDescription:
    kind, domain = _domain(attribute.domain)
    said = attribute.description or None
    return AttributeDescription(attribute.name, kind, attribute.nullable, domain, said)


_NAMES = {bool: "boolean", int: "bigint", float: "double precision", date: "date",
          datetime: "timestamp"}  # fmt: skip


def _domain(domain: Domain) -> tuple[str, dict[str, Any] | None]:
    """The type as PostgreSQL calls it, and the values."""
    if isinstance(domain, Categories):
        listed = {"values": list(domain.values)}
        more = {} if domain.other is None else {"other": domain.other}
        return _NAMES.get(type(domain.values[0]), "text"), listed | more
    if isinstance(domain, Grid):
        ends = {"low": domain.low, "high": domain.high, "step": domain.step}
        kind = "bigint" if domain.step.denominator == 1 else "double precision"
        return kind, {name: _number(value) for name, value in ends.items()}
    if isinstance(domain, Dates):
        return "date", {"low": domain.low.isoformat(), "high": domain.high.isoformat()}
    if isinstance(domain, Timestamps):
        moments = {"low": domain.low.isoformat(), "high": domain.high.isoformat()}
        return "timestamp", moments | {"step": step_text(domain.step), "zone": domain.zone}
    assert isinstance(domain, Open)
    return "text", None


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _column(table: PublicTable, index: int) -> AttributeDescription:
    """A column of a public table; its type is that of its first value."""
    values = (row[index] for row in table.rows if row[index] is not None)
    kind = _NAMES.get(type(next(values, "")), "text")
    return AttributeDescription(table.columns[index], kind, True, None)
