"""No value of a Parquet file makes a question to Spark fail; what could is refused for its type."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

import spark_session
from hostile import HOSTILE, array, decimals, harmless
from test_spark_engine import grouped

from adomnia.engines.spark import Spark
from adomnia.errors import PolicyError
from adomnia.schema.domain import Open


def opened(folder, columns):
    """Spark on a file of these columns."""
    pq.write_table(pa.table(columns), folder / "people.parquet")
    return Spark(f"{spark_session.ADDRESS}?path={folder}", "people", {})


def test_a_hostile_value_decides_nothing(tmp_path):
    """What is refused is refused with and without it, and what is not, is read."""
    spark_session.shared()
    read = {}
    for case in HOSTILE:
        said = set()
        for make in (array, harmless):
            try:
                engine = opened(tmp_path, {"x": make(case, 5)})
            except PolicyError as error:
                said.add(error.message)
            else:
                engine.close()
                said.add("read")
                read[case] = make(case, 5)
        assert len(said) == 1, case
    engine = opened(tmp_path, {f"x{n}": column for n, column in enumerate(read.values())})
    assert len(read) > 30
    found = grouped(engine, **{f"x{n}": Open() for n in range(len(read))})
    assert sum(found.values()) == 5
    engine.close()


def test_wide_decimals_are_what_they_are(tmp_path):
    numbers = [0, 5, -5, 10**38 - 1, -(10**37), 2**64, -(2**64), 2**63, -1, 123456789012345678901]
    for scale in (0, 2, 38):
        column = decimals(pa.decimal128(38, scale), [*numbers, 10**38, -(2**127)])
        engine = opened(tmp_path, {"x": column})
        found = grouped(engine, x=Open())
        exact = [Decimal((n < 0, tuple(map(int, str(abs(n)))), -scale)) for n in numbers]
        texts = {format(number, "f"): 1 for number in exact}
        assert {key: many for (key,), many in found.items()} == {**texts, None: 2}
        engine.close()
