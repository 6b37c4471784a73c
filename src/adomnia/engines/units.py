"""Contribution bounding: at most `max_rows` rows of each unit, chosen by what is in them.

The rows of a unit are ordered by a hash of all columns of the table, and the first are kept. So
the choice is the same whatever the order of the rows, the files they lie in or the number of
threads; rows with the same hash are the same row (but for a chance of 2^-64), and it does not
matter which of them is kept. Rows without a unit are nobody's, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from adomnia.engines.literals import quoted
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Primitive
from adomnia.queries.ranges import Text
from adomnia.schema.table import Table

__all__ = ["bounded", "is_unit", "per_unit"]


def bounded(source: str, table: Table, types: Mapping[str, str], needed: Iterable[str]) -> str:
    """The kept rows, as a subquery with the needed columns alone."""
    assert table.unit is not None
    unit, every = quoted(table.unit), ", ".join(quoted(name) for name in types)
    carried = [quoted(name) for name in types if name in {*needed}] or ["TRUE"]
    wanted = dict.fromkeys([unit, *(name for name in carried if name != "TRUE")])
    hashed = (
        f'SELECT {", ".join(wanted)}, HASH({every}) AS "adomnia order" '
        f"FROM {source} WHERE {unit} IS NOT NULL"
    )
    place = f'ROW_NUMBER() OVER (PARTITION BY {unit} ORDER BY "adomnia order")'
    return f"(SELECT {', '.join(carried)} FROM ({hashed}) QUALIFY {place} <= {table.max_rows})"


def is_unit(primitive: Primitive, table: Table) -> bool:
    """Whether the primitive counts the units themselves."""
    counted = primitive.argument
    return (
        primitive.kind == "distinct"
        and isinstance(counted, Column)
        and counted.name == table.unit
        and counted.range == Text(None)
    )


def per_unit(source: str, table: Table, needed: Sequence[Primitive]) -> str | None:
    """How many rows are kept, or how many units there are, from the units' sizes alone.

    A unit of c rows keeps min(c, max_rows) of them, whichever they are, and at least one. None
    where more is asked.
    """
    if table.unit is None:
        return None
    parts = []
    for primitive in needed:
        if primitive == Primitive("rows"):
            parts.append(
                f'CAST(COALESCE(SUM(LEAST("adomnia rows", {table.max_rows})), 0) AS BIGINT)'
            )
        elif is_unit(primitive, table):
            parts.append("COUNT(*)")
        else:
            return None
    unit = quoted(table.unit)
    sizes = (
        f'SELECT COUNT(*) AS "adomnia rows" FROM {source} WHERE {unit} IS NOT NULL GROUP BY {unit}'
    )
    return f"SELECT {', '.join(parts)} FROM ({sizes})"
