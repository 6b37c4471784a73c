"""No value of a Parquet file makes a question to Spark fail; what could is refused for its type."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

from hostile import HOSTILE, array, decimals, harmless
from test_spark_engine import grouped

from adomnia.engines.spark.engine import Spark
from adomnia.errors import PolicyError
from adomnia.schema.domain import Open
from tests import spark_session


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


ENDED = """
from adomnia.engines.engine import Request
from adomnia.engines.spark.engine import Spark
from adomnia.mechanisms.unseal import unseal
from adomnia.queries.measurement import Counts
from adomnia.schema.table import Table

engine = Spark("spark://local[1]?path={path}", "people", {{}})
request = Request(Table("people", {{}}), None, (), (Counts((None,)),))
for _ in range(2):
    engine._relation.session.sparkContext._jsc.sc().stop()
    engine.ready()
    assert unseal(engine.measure(request)[0]).tolist() == [[2]]
engine.close()
"""


@pytest.mark.slow
def test_an_application_that_has_ended_is_started_anew(tmp_path):
    """In a process of its own: here it would end for all other tests."""
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "people.parquet")
    code = ENDED.format(path=tmp_path / "people.parquet")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
