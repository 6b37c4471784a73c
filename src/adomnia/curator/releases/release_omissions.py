"""What is left out of a release: rows of a unit, and rows with a value that no table has.

Tables of a release are counted from the same rows, so that they agree with each other. A row that
has no cell of one key is therefore in no table, of other keys either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adomnia.curator.answers.omissions import COUNTABLE, UNKNOWN, Omission, known_of_columns
from adomnia.curator.quality.quality import paid_quality
from adomnia.curator.releases.release_keys import ReleaseKey, TableLayout
from adomnia.curator.table_backend import TableBackend
from adomnia.queries.expression import Column
from adomnia.queries.grouping import shows_null
from adomnia.queries.ranges import from_domain
from adomnia.schema.domain import Categories
from adomnia.schema.table import Attribute

__all__ = ["left_out_json", "left_out_of_release"]

NO_TABLE = "are in no table of this release"


def left_out_of_release(
    backend: TableBackend, layout: TableLayout, edition: int | None, confidence: float
) -> tuple[Omission, ...]:
    """What the tables of a layout leave out, in numbers where these were paid for."""
    attributes, quality = backend.table.attributes, paid_quality(backend, edition)
    strange = _in_order(attributes, layout, outside=True)
    unknown = UNKNOWN if edition is None else COUNTABLE  # nothing is counted in place
    rows, paid = known_of_columns(backend.table, strange, quality, confidence, unknown)
    bare = _in_order(attributes, layout, outside=False)
    missing = f"rows without a value of {_either(bare)} {NO_TABLE}"
    return (
        *filter(None, [rows]),
        *_outside(attributes, strange, paid, unknown),
        *(Omission("rows", missing, name) for name in bare),
    )


def left_out_json(layout: TableLayout, rows: Sequence[Omission]) -> list[dict[str, Any]]:
    """Attributes that are in no table, and rows that are in none, as plain JSON values."""
    return [*(one.to_json() for one in layout.left_out), *(one.to_json() for one in rows)]


def _in_order(
    attributes: Mapping[str, Attribute], layout: TableLayout, outside: bool
) -> tuple[str, ...]:
    """Columns in the policy's order of which a value outside, or none, takes a row out."""
    losing = _outside_columns if outside else _missing_columns
    named = {name for key in layout.keys for name in losing(key, attributes)}
    return tuple(name for name in attributes if name in named)


def _outside_columns(key: ReleaseKey, attributes: Mapping[str, Attribute]) -> Iterator[str]:
    """What lies outside is no value of a column, and NULL where an expression takes values."""
    plain = isinstance(key.expr, Column)
    ragged = (n for n in key.columns if n in attributes and _is_ragged(attributes[n]))
    return (name for name in ragged if plain or _is_lost(key, name, attributes))


def _is_ragged(attribute: Attribute) -> bool:
    return from_domain(attribute.domain).ragged


def _missing_columns(key: ReleaseKey, attributes: Mapping[str, Attribute]) -> Iterator[str]:
    return (n for n in key.columns if n in attributes and _is_lost(key, n, attributes))


def _is_lost(key: ReleaseKey, name: str, attributes: Mapping[str, Attribute]) -> bool:
    """Whether the key is NULL, and that no cell of it, where this column is."""
    alone = {name: replace(attributes[name], nullable=True)}
    return not key.null and shows_null(key.expr, alone)


def _outside(
    attributes: Mapping[str, Attribute],
    names: Sequence[str],
    paid: Mapping[str, Omission],
    unknown: str,
) -> Iterator[Omission]:
    """Rows with values that are outside of bounds, then those with values that are not listed."""
    listed = [name for name in names if isinstance(attributes[name].domain, Categories)]
    bounded = [name for name in names if name not in listed]
    kinds = ((bounded, "outside of its bounds"), (listed, "that is not listed"))
    for some, where in kinds:
        unpaid = [name for name in some if name not in paid]
        said = f"rows with a value of {_either(unpaid)} {where} {NO_TABLE}; how many {unknown}"
        yield from (Omission("values", said, name) for name in unpaid)
        for name in some:
            if name in paid:
                begun = f"rows with a value of {name} {where} {NO_TABLE}"
                yield replace(paid[name], says=f"{begun}: {paid[name].says}")


def _either(names: Sequence[str]) -> str:
    """Names as a person lists them."""
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
