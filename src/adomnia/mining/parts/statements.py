"""Statements for a session, made from what the policy declares, with every name quoted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.errors import QuestionError
from adomnia.schema.domain import Categories, Dates, Grid, Timestamps, Value
from adomnia.schema.table import Attribute

if TYPE_CHECKING:
    from adomnia.curator.session import Session

__all__ = [
    "Bounds",
    "TargetClasses",
    "attribute_of",
    "bounds_of",
    "check_features",
    "classes_of",
    "decimal",
    "identifier",
    "literal",
    "present",
    "select",
    "table_of",
    "values_of",
]

MOST_VALUES = 10_000


@dataclass(frozen=True)
class Bounds:
    """The public bounds of a number column, as declared by the curator.

    >>> Bounds("age", Fraction(0), Fraction(120), Fraction(1)).width
    Fraction(120, 1)
    """

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
    return identifier(session.table.name)


def identifier(name: str) -> str:
    """A name as SQL writes it, whatever characters it has.

    >>> print(identifier('a "b" c'))
    "a ""b"" c"
    """
    return '"' + str(name).replace('"', '""') + '"'


def literal(value: Value | Fraction | None) -> str:
    """A value as SQL writes it; fractions as decimals.

    >>> literal("it's"), literal(Fraction(-1, 4))
    ("'it''s'", '(-0.25)')
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return decimal(value)


def decimal(value: Fraction | float, places: int = 12) -> str:
    """A number without an exponent, in brackets if negative; exact where it has few places.

    >>> decimal(1e-9), decimal(-2)
    ('0.000000001', '(-2)')
    """
    number = Fraction(value)
    scaled = round(abs(number) * 10**places)
    whole, rest = divmod(scaled, 10**places)
    text = f"{whole}.{rest:0{places}d}".rstrip("0").rstrip(".")
    return f"(-{text})" if number < 0 and scaled else text


def check_features(features: Sequence[str]) -> tuple[str, ...]:
    """The columns, where they are a list that names none of them twice; else a QuestionError."""
    if isinstance(features, str) or not features:
        raise QuestionError("features must be a list of columns", 'for example ["age", "income"]')
    if len(set(features)) != len(features):
        raise QuestionError("a feature is named twice")
    return tuple(features)


def bounds_of(session: Session, names: Sequence[str]) -> tuple[Bounds, ...]:
    """The bounds of number columns, from the policy.

    A QuestionError is raised where it gives none, since sums have no price without.

    >>> from adomnia.testing.worlds import town
    >>> with town(rows=10).open() as database:
    ...     (age,) = bounds_of(database.session(), ["age"])
    >>> str(age.low), str(age.high), str(age.width)
    ('0', '120', '120')
    """
    return tuple(_bounds(name, attribute_of(session, name)) for name in check_features(names))


def _bounds(name: str, attribute: Attribute) -> Bounds:
    domain = attribute.domain
    if isinstance(domain, Grid):
        return Bounds(name, domain.low, domain.high, domain.step)
    if isinstance(domain, Categories):
        numbers = [v for v in domain.members if isinstance(v, int) and not isinstance(v, bool)]
        if len(numbers) == len(domain.members):
            low, high = min(numbers), max(numbers)
            return Bounds(name, Fraction(low), Fraction(high), Fraction(1))
    if isinstance(domain, Dates | Timestamps):
        raise QuestionError(
            f"{name!r} is a date, and models take numbers",
            "leave it out, or have a column with its year or month in the data",
        )
    raise QuestionError(
        f"{name!r} has no bounds: it is not declared as a number",
        "give it low and high in the policy, or leave it out",
    )


def values_of(session: Session, name: str) -> tuple[Value, ...]:
    """The public values of a column: the declared list, or every whole number of its bounds.

    A QuestionError is raised where the policy declares neither, or very many.

    >>> from adomnia.testing.worlds import town
    >>> with town(rows=10).open() as database:
    ...     values_of(database.session(), "sex")
    ('F', 'M')
    """
    domain = attribute_of(session, name).domain
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


@dataclass(frozen=True)
class TargetClasses:
    """The attribute to be told from the others, and its public values.

    >>> TargetClasses("sex", ("F", "M")).values
    ('F', 'M')
    """

    name: str
    values: tuple[Value, ...]


def classes_of(
    session: Session, target: str, features: Sequence[str], limits: tuple[int, int] = (2, 100)
) -> TargetClasses:
    """The classes of a declared attribute that is not among the features, within these limits.

    A QuestionError is raised where there are fewer or more, or no public list of them.
    """
    if target in features:
        raise QuestionError(f"{target!r} is both a feature and the target")
    values, (fewest, most) = values_of(session, target), limits
    if not fewest <= len(values) <= most:
        raise QuestionError(
            f"{target!r} has {len(values)} declared values: there is nothing to tell apart",
            f"a target has {fewest} to {most} values",
        )
    return TargetClasses(target, values)


def attribute_of(session: Session, name: str) -> Attribute:
    """What the policy declares of a column; a QuestionError where it declares none."""
    known: Mapping[str, Attribute] = session.table.attributes
    if not known:
        hint = "name a view of them, which is one table, and learn from that"
        raise QuestionError("a model is learned from one table, and here are several", hint)
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

    >>> from adomnia.testing.worlds import town
    >>> with town(rows=10).open() as database:
    ...     select(database.session(), {"n": "COUNT(*)"}, keys={"s": identifier("sex")})
    'SELECT "sex" AS "s", COUNT(*) AS "n" FROM "people" GROUP BY 1'
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


def present(bounds: Sequence[Bounds]) -> str:
    """The condition that a row has a value in each of these columns."""
    return " AND ".join(f"{identifier(bound.name)} IS NOT NULL" for bound in bounds)
