"""Parameters of a question: what types they have, and how values take their places.

Values never enter a text: the statement is parsed with marks in it, the marks are replaced by
literal nodes, and the tree is written out again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Protocol

from sqlglot import exp

from adomnia.limits import MAX_PARAMETERS
from adomnia.queries.sql.parse import parse
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Timestamps
from adomnia.schema.table import Attribute
from adomnia.wire.errors import WireError, of_parameter
from adomnia.wire.statements.lexer import ClientStatement
from adomnia.wire.values import types
from adomnia.wire.values.types import ARRAYS, ELEMENTS, INTEGERS

__all__ = ["Template", "parameter_count", "template"]


_CASTS = {
    exp.DataType.Type.BIGINT: types.INT8,
    exp.DataType.Type.INT: types.INT4,
    exp.DataType.Type.SMALLINT: types.INT2,
    exp.DataType.Type.DECIMAL: types.NUMERIC,
    exp.DataType.Type.DOUBLE: types.FLOAT8,
    exp.DataType.Type.FLOAT: types.FLOAT4,
    exp.DataType.Type.BOOLEAN: types.BOOL,
    exp.DataType.Type.DATE: types.DATE,
    exp.DataType.Type.TIMESTAMP: types.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPTZ: types.TIMESTAMPTZ,
}
_COMPARED = (exp.Binary, exp.Between, exp.In, exp.Paren, exp.Neg, exp.Any)
_DECLARED = {types.UNKNOWN: 0}


class DeclaredColumns(Protocol):
    """What is declared of the columns of a statement."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        ...

    def __call__(self, column: exp.Column) -> Attribute | None:
        """What is declared of one."""
        ...


@dataclass(frozen=True)
class Template:
    """A question with places for values, and the type of each."""

    tree: exp.Select
    parameters: tuple[int, ...]
    examples: tuple[Any, ...]

    def filled(self, values: Sequence[Any]) -> str:
        """The statement with literals in the places of the parameters."""
        tree = self.tree.copy()
        for place in list(tree.find_all(exp.Placeholder)):
            number = _number(place)
            with of_parameter(number):
                _put(place, values[number - 1])
        return tree.sql(dialect="postgres")


def parameter_count(statement: ClientStatement) -> int:
    """The highest number of a parameter in the statement."""
    numbers = [int(token.text[1:]) for token in statement.parameters]
    if any(not 0 < number <= MAX_PARAMETERS for number in numbers):
        raise WireError("there is no such parameter", f"$1 to ${MAX_PARAMETERS}", "42P02")
    return max(numbers, default=0)


def template(
    statement: ClientStatement, declared: Sequence[int], known: DeclaredColumns
) -> Template:
    """The question as a template; types that the client leaves open come from what is compared."""
    tree = parse(_marked(statement), known.names)
    count = max(parameter_count(statement), len(declared))
    oids: list[int] = [_DECLARED.get(oid, oid) for oid in declared] + [0] * (count - len(declared))
    examples: list[Any] = [None] * count
    for place in tree.find_all(exp.Placeholder):
        which = _number(place) - 1
        if not 0 <= which < count:
            raise WireError("a colon is not understood here", "write casts with ::", "42601")
        attribute = _compared(place, known)
        oids[which] = oids[which] or _cast(place) or _type_of(place, attribute)
        if attribute is not None:
            examples[which] = _example(attribute.domain)
        if oids[which] in ELEMENTS:
            examples[which] = []
    oids = [oid or types.TEXT for oid in oids]
    shown = (
        _EXAMPLES.get(oid, "x") if e is None else e for e, oid in zip(examples, oids, strict=True)
    )
    return Template(tree, tuple(oids), tuple(shown))


def _marked(statement: ClientStatement) -> str:
    """The statement with `$1` as `:p1`, which the parser takes everywhere."""
    parts, at = [], 0
    for token in statement.parameters:
        parts += [statement.sql[at : token.start], f":p{token.text[1:]}"]
        at = token.end
    return "".join((*parts, statement.sql[at:]))


def _number(place: exp.Placeholder) -> int:
    digits = str(place.this or "").removeprefix("p")
    return int(digits) if digits.isdecimal() else 0


# Types


def _cast(place: exp.Expression) -> int:
    """The type that a cast around the parameter names."""
    if not isinstance(place.parent, exp.Cast):
        return 0
    to = place.parent.to
    if to.this == exp.DataType.Type.ARRAY:
        return ARRAYS[_CASTS.get(to.expressions[0].this, types.TEXT)]
    return _CASTS.get(to.this, types.TEXT)


def _compared(place: exp.Expression, known: DeclaredColumns) -> Attribute | None:
    """The attribute that the parameter is compared or reckoned with."""
    node = place.parent
    while isinstance(node, _COMPARED):
        for column in node.find_all(exp.Column):
            if (attribute := known(column)) is not None:
                return attribute
        node = node.parent
    return None


def _type_of(place: exp.Expression, attribute: Attribute | None) -> int:
    if attribute is not None:
        oid = _of_domain(attribute.domain)
        return ARRAYS[oid] if _any_of(place) is not None else oid
    if isinstance(place.parent, exp.Limit | exp.Offset):
        return types.INT8
    beside = place.parent.find(exp.AggFunc, exp.Literal) if place.parent is not None else None
    is_text = beside is None or (isinstance(beside, exp.Literal) and beside.is_string)
    return types.TEXT if is_text else types.NUMERIC


def _any_of(place: exp.Expression) -> exp.EQ | None:
    """The comparison `… = ANY(parameter)` that the parameter stands in."""
    node = place.parent
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.parent
    above = node.parent if isinstance(node, exp.Any) else None
    return above if isinstance(above, exp.EQ) and above.expression is node else None


def _of_domain(domain: Domain) -> int:
    if isinstance(domain, Grid):
        return types.INT8 if domain.step.denominator == 1 else types.NUMERIC
    if isinstance(domain, Dates):
        return types.DATE
    if isinstance(domain, Timestamps):
        return types.TIMESTAMP
    if not isinstance(domain, Categories):
        return types.TEXT
    kind = type(domain.values[0])
    return {bool: types.BOOL, int: types.INT8}.get(kind, types.TEXT)


# Values

_EXAMPLES: Mapping[int, Any] = {
    **dict.fromkeys((*INTEGERS, types.NUMERIC, types.FLOAT4, types.FLOAT8), 1),
    types.BOOL: True,
    types.DATE: date(2000, 1, 1),
    types.TIMESTAMP: datetime(2000, 1, 1),
}
"""A value of each type, to see what columns a question has before its parameters are known."""


def _example(domain: Domain) -> Any:
    if isinstance(domain, Categories):
        return domain.values[0]
    if isinstance(domain, Grid):
        return Decimal(domain.high.numerator) / domain.high.denominator
    return domain.low if isinstance(domain, Dates | Timestamps) else "x"


def _put(place: exp.Expression, value: Any) -> None:
    if isinstance(value, list):
        _list_in(place, value)
    else:
        place.replace(_literal(value))


def _list_in(place: exp.Expression, values: Sequence[Any]) -> None:
    """`… = ANY(list)` becomes `… IN (its values)`, which no value is where there are none."""
    above = _any_of(place)
    if above is None:
        raise WireError("a list is understood in = ANY(…) alone", "", "0A000")
    listed = exp.In(this=above.this, expressions=[_literal(value) for value in values])
    above.replace(listed if values else exp.false())


def _literal(value: Any) -> exp.Expression:
    if value is None:
        return exp.Null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int | float | Decimal):
        return _number_literal(value)
    if isinstance(value, datetime):
        return exp.cast(exp.Literal.string(value.isoformat(" ")), "timestamp")
    if isinstance(value, date):
        return exp.cast(exp.Literal.string(value.isoformat()), "date")
    if isinstance(value, str):
        return exp.Literal.string(value)
    raise WireError("a question takes no parameter of this type", "", "0A000")


def _number_literal(value: float | Decimal) -> exp.Expression:
    exact = value if isinstance(value, int) else Decimal(str(value))
    if isinstance(exact, Decimal) and not (exact.is_finite() and abs(exact.adjusted()) < 400):
        raise WireError("the number is out of range", "", "22003")
    text = str(abs(exact)) if isinstance(exact, int) else format(abs(exact), "f")
    literal = exp.Literal.number(text)
    return exp.Neg(this=literal) if exact < 0 else literal
