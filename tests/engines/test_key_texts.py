"""Keys as texts: one value has one text in every type, and none is unreadable."""

from __future__ import annotations

import duckdb
import pytest

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.sql.tables.owners import key_text

SAME = [
    ("7", "INTEGER", "7"),
    ("7", "HUGEINT", "7"),
    ("7", "UHUGEINT", "7"),
    ("7", "DOUBLE", "7"),
    ("-0.0", "DOUBLE", "0"),
    ("7", "FLOAT", "7"),
    ("7", "DECIMAL(9,2)", "7"),
    ("100", "DECIMAL(9,0)", "100"),
    ("100", "DECIMAL(9,3)", "100"),
    ("7.50", "DECIMAL(9,2)", "7.5"),
    ("'7'", "VARCHAR", "7"),
    ("'7.0'", "VARCHAR", "7"),
    ("'-12.0'", "VARCHAR", "-12"),
    ("'0.0'", "VARCHAR", "0"),
]
OTHERS = [
    ("'07'", "VARCHAR", "07"),
    ("'07.0'", "VARCHAR", "07.0"),
    ("' 7'", "VARCHAR", " 7"),
    ("'7.00'", "VARCHAR", "7.00"),
    ("'v1.0'", "VARCHAR", "v1.0"),
    ("'.0'", "VARCHAR", ".0"),
    ("''", "VARCHAR", ""),
    ("7.5", "DOUBLE", "7.5"),
    ("'nan'", "DOUBLE", "nan"),
    ("1e300", "DOUBLE", "1e+300"),
    ("true", "BOOLEAN", "true"),
    ("'2024-01-02'", "DATE", "2024-01-02"),
    ("NULL", "DOUBLE", None),
    ("NULL", "VARCHAR", None),
    ("NULL", "DECIMAL(9,2)", None),
]


@pytest.mark.parametrize(("value", "kind", "expected"), [*SAME, *OTHERS])
def test_a_key_has_one_text(value, kind, expected):
    with duckdb.connect() as connection:
        text = key_text("k", kind, DUCKDB)
        found = connection.execute(f"SELECT {text} FROM (SELECT CAST({value} AS {kind}) AS k)")
        assert found.fetchall() == [(expected,)]
