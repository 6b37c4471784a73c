"""What may be asked, over HTTP: tables, their public domains, and the promise in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from starlette.responses import Response

from adomnia.present.promise import promise_text
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Open, Timestamps, step_text
from adomnia.schema.table import Attribute, PublicTable, Table
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
    return as_json(SchemaResponse(list(_tables(database.table)), list(promise)))


def _tables(table: Table) -> Iterator[TableDescription]:
    attributes = [_attribute(attribute) for attribute in table.attributes.values()]
    yield TableDescription(table.name, False, attributes, table.description or None)
    for other in table.public.values():
        columns = [_column(other, index) for index in range(len(other.columns))]
        yield TableDescription(other.name, True, columns)


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
