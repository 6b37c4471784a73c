"""Keys of every type and of the worst values: no row can make a load fail, and equal keys match."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sources import TYPES
from table_stores import SLOW, TABLE_STORES
from test_engine import NASTY
from test_owners import load

from adomnia.schema.tables import PrivateTable, Tables

STORES = {name: make for name, make in TABLE_STORES.items() if make not in SLOW}
UNKNOWN = {"folder": {"big": (4, 2), "day": (2, 2)}}
"""What a Parquet file has not: a day without end, and whole numbers of 128 bits."""


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("column", TYPES)
def test_a_key_refers_to_itself_in_every_type(store, column):
    schema = Tables(
        {
            "people": PrivateTable("people", {}, key=column),
            "visits": PrivateTable("visits", {}, references={column: "people"}),
        },
        ("people",),
    )
    with STORES[store](dict.fromkeys(schema.tables, TYPES)) as place:
        place.fill(dict.fromkeys(schema.tables, NASTY))
        facts = load(place.store(), schema)
    known = sum(row[column] is not None for row in NASTY)
    expected = UNKNOWN.get(store, {}).get(column, (known, known))
    assert tuple(facts.tables[name].rows for name in schema.tables) == expected
    assert tuple(facts.nobody.values()) == tuple(len(NASTY) - rows for rows in expected)
