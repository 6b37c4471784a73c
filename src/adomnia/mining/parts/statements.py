"""Questions: SQL for a session, made from the public schema, with every name quoted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.errors import QuestionError
from adomnia.schema.domain import Categories, Grid, Value
from adomnia.schema.table import Attribute

if TYPE_CHECKING:
    from adomnia.curator.session import Session

__all__ = [
    "Bounds",
    "bounds_of",
    "decimal",
    "identifier",
    "literal",
    "select",
    "table_of",
    "values_of",
]

MOST_VALUES = 10_000


@dataclass(frozen=True)
class Bounds:
    """The public bounds of a number column, as declared by the curator."""

    name: str
    low: Fraction
    high: Fraction
    step: Fraction

    @property
    def width(self) -> Fraction:
        """From the lowest value to the highest."""
        return self.high - self.low


def table_of(session: Session) -> str:
    """The private table's name, quoted."""
    return identifier(session.desk.table.name)


def identifier(name: str) -> str:
    """A name as SQL writes it, whatever characters it has."""
    return '"' + str(name).replace('"', '""') + '"'


def literal(value: Value | Fraction | None) -> str:
    """A value as SQL writes it; fractions as decimals."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return decimal(value)


def decimal(value: Fraction | float, places: int = 12) -> str:
    """A number without an exponent, in brackets if negative; exact where it has few places."""
    number = Fraction(value)
    scaled = round(abs(number) * 10**places)
    whole, rest = divmod(scaled, 10**places)
    text = f"{whole}.{rest:0{places}d}".rstrip("0").rstrip(".")
    return f"(-{text})" if number < 0 and scaled else text


def bounds_of(session: Session, names: Sequence[str]) -> tuple[Bounds, ...]:
    """The bounds of number columns; refused where the policy gives none, for lack of a price."""
    if isinstance(names, str) or not names:
        raise QuestionError("features must be a list of columns", 'for example ["age", "income"]')
    if len(set(names)) != len(names):
        raise QuestionError("a feature is named twice")
    return tuple(_bounds(name, _attribute(session, name)) for name in names)


def _bounds(name: str, attribute: Attribute) -> Bounds:
    domain = attribute.domain
    if isinstance(domain, Grid):
        return Bounds(name, domain.low, domain.high, domain.step)
    if isinstance(domain, Categories):
        numbers = [v for v in domain.members if isinstance(v, int) and not isinstance(v, bool)]
        if len(numbers) == len(domain.members):
            low, high = min(numbers), max(numbers)
            return Bounds(name, Fraction(low), Fraction(high), Fraction(1))
    raise QuestionError(
        f"{name!r} has no bounds: it is not declared as a number",
        "give it low and high in the policy, or leave it out",
    )


def values_of(session: Session, name: str) -> tuple[Value, ...]:
    """The public values of a column: the declared list, or every whole number of its bounds."""
    domain = _attribute(session, name).domain
    if isinstance(domain, Categories):
        return domain.members
    if isinstance(domain, Grid) and domain.step.denominator == 1:
        count = (domain.high - domain.low) / domain.step + 1
        if count <= MOST_VALUES:
            return tuple(int(domain.low + i * domain.step) for i in range(int(count)))
    raise QuestionError(
        f"the values of {name!r} are not a public list",
        "declare values in the policy, or whole numbers with few steps",
    )


def _attribute(session: Session, name: str) -> Attribute:
    known: Mapping[str, Attribute] = session.desk.table.attributes
    if name not in known:
        raise QuestionError(
            f"{str(name)[:80]!r} is not a declared attribute",
            "declared are: " + ", ".join(list(known)[:30]),
        )
    return known[name]


def select(
    session: Session,
    outputs: Mapping[str, str],
    *,
    keys: Mapping[str, str] | None = None,
    where: str | None = None,
    source: str | None = None,
) -> str:
    """A statement over the private table: expressions by their output name, keys first.

    Keys are grouped by. All parts are SQL already; names are quoted with `identifier`. A `source`
    is a statement without keys, whose rows are taken in the place of the table's.
    """
    keys = keys or {}
    listed = ", ".join(
        f"{expression} AS {identifier(name)}" for name, expression in {**keys, **outputs}.items()
    )
    rows = table_of(session) if source is None else f"({source}) AS rows_of_it"
    sql = f"SELECT {listed} FROM {rows}"  # noqa: S608 (the session checks it)
    if where is not None:
        sql += f" WHERE {where}"
    if keys:
        sql += " GROUP BY " + ", ".join(str(place) for place in range(1, len(keys) + 1))
    return sql
