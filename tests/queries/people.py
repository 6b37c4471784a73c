"""The table that the tests of this room ask about, and a short way to write down a question."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

from adomnia.queries.expression import Column, Constant
from adomnia.queries.question import Apply, Given, Group, Literal
from adomnia.queries.ranges import show
from adomnia.queries.sql.bind import bind
from adomnia.schema.domain import Categories, Dates, Grid
from adomnia.schema.table import Attribute, PublicTable, Table

DOMAINS = {
    "age": Grid(Fraction(0), Fraction(120)),
    "sex": Categories(("F", "M")),
    "income": Grid(Fraction(0), Fraction(200_000)),
    "debt": Grid(Fraction(-500), Fraction(500)),
    "price": Grid(Fraction(0), Fraction(10), Fraction(1, 100)),
    "smoker": Categories((True, False)),
    "admitted": Dates(date(2015, 1, 1), date(2025, 12, 31)),
    "diagnosis": Categories(("A", "B", "C"), other="other"),
    "region_id": Categories((1, 2, 3)),
    "Größe": Grid(Fraction(100), Fraction(220)),
    "Full Name": Categories(("Ann", "Bob")),
}
COLUMNS = (*DOMAINS, "name", "person_id")
REGIONS = PublicTable(
    "regions",
    "region_id",
    ("region_id", "label", "zone"),
    ((1, "north", 10), (2, "south", 10), (3, "west", 20)),
)
TABLE = Table(
    "people",
    {name: Attribute(name, domain) for name, domain in DOMAINS.items()},
    unit="person_id",
    max_rows=5,
    public={"regions": REGIONS},
)


def ask(sql):
    """The question of a statement about people."""
    return bind(sql, TABLE, COLUMNS)


def summary(question):
    """A question in one line: rows, cells, statistics, and what is shown of them."""
    parts = [question.table]
    if question.where is not None:
        parts.append("where " + expression(question.where))
    if question.keys:
        parts.append("by " + ", ".join(expression(key) for key in question.keys))
    parts.append("measure " + (", ".join(map(statistic, question.statistics)) or "nothing"))
    shown = (f"{output.name} = {post(output.value)}" for output in question.outputs)
    parts.append("show " + ", ".join(shown))
    if question.having is not None:
        parts.append("having " + post(question.having))
    for sort in question.order:
        nulls = " nulls first" if sort.nulls_first else ""
        parts.append(f"order {post(sort.value)}{' desc' * sort.descending}{nulls}")
    if question.limit is not None or question.offset:
        parts.append(f"limit {question.limit} offset {question.offset}")
    return " | ".join(parts)


def expression(expr):
    if isinstance(expr, Column):
        return expr.name
    if isinstance(expr, Constant):
        value = show(expr.range, expr.value)
        return "null" if value is None else repr(value) if isinstance(value, str) else str(value)
    if expr.op in ("inside", "nearest"):
        return f"{expr.op}({expression(expr.args[0])})"
    params = [str(part) for part in expr.params] if expr.op not in ("map",) else ["…"]
    return f"{expr.op}({', '.join([*map(expression, expr.args), *params])})"


def statistic(found):
    share = f", {found.share}" if found.share is not None else ""
    of = "*" if found.argument is None else expression(found.argument)
    return f"{found.kind}{'_pop' * found.population}({of}{share})"


def post(value):
    if isinstance(value, Group):
        return f"key{value.index}"
    if isinstance(value, Given):
        return f"stat{value.index}"
    if isinstance(value, Literal):
        return repr(value.value)
    assert isinstance(value, Apply)
    return f"{value.op}({', '.join(post(arg) for arg in value.args)})"
