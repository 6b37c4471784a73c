"""Counts and sums with nothing left out, as columns of psql."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from parlour import Parlour, Wire, errors_in, fields_of, open_parlour, rows_in

from adomnia.testing import World, analysts, listed, number

ASKED = "SELECT s, count(*) AS n, sum(x) AS t, median(x) AS m FROM people GROUP BY s"
USED = "of each who at most 2 rows are used; "


def write_visits(folder: Path) -> Path:
    """Two hundred people with five rows each, of which two are used."""
    rows = np.arange(1000)
    columns = {"who": rows // 5, "x": rows % 4, "s": np.array(["a", "b"])[rows % 2]}
    unit = 'epsilon = 10000\nunit = "who"\nmax_rows = 2'
    domains = {"x": number(0, 3), "s": listed("a", "b")}
    return World(columns, domains, unit, analysts(alice=5000)).write(folder)


@pytest.fixture
def visits(tmp_path: Path) -> Iterator[Parlour]:
    made = open_parlour(tmp_path, policy=write_visits(tmp_path))
    yield made
    made.close()


def test_intervals_with_nothing_left_out_are_columns_where_they_are_known(visits: Parlour) -> None:
    wire = Wire(visits.port)
    wire.log_in(options="-c adomnia.epsilon=100")
    wire.query("SET adomnia.margins = on")
    before = wire.query(ASKED)
    assert b"n_whole_low" not in before[0][1]
    told = [fields_of(body)["M"] for kind, body in before if kind == b"N"]
    assert any(note.startswith(f"{USED}how many rows are left out is not known") for note in told)
    wire.parse(ASKED, "s")
    wire.send(b"D", b"Ss\0")
    wire.send(b"S")
    wire.until()

    visits.service.database.measure_quality(2000)
    got = wire.query(ASKED)
    assert not errors_in(got)
    names = [b"m_margin", b"n_whole_low", b"n_whole_high", b"t_whole_low", b"t_whole_high"]
    places = [got[0][1].index(name) for name in names]
    assert places == sorted(places)
    assert b"m_whole" not in got[0][1]
    for row in rows_in(got):
        assert float(row[7]) <= 500 <= float(row[8])
        assert len(row) == 11
    wire.bind("", "s")  # as it was described, before anything was counted
    wire.execute()
    wire.send(b"S")
    kept = wire.until()
    assert not errors_in(kept)
    assert [len(row) for row in rows_in(kept)] == [7, 7]

    wire.query("SET adomnia.error = interval")
    got = wire.query(ASKED)
    assert got[0][1].index(b"t_whole_high") < got[0][1].index(b"m_low")
    assert {len(row) for row in rows_in(got)} == {13}
    wire.query("SET adomnia.margins = off")
    assert b"n_whole_low" not in wire.query(ASKED)[0][1]
    wire.close()


def test_what_is_not_known_any_more_is_null_and_nothing_fails(visits: Parlour) -> None:
    visits.service.database.measure_quality(2000)
    wire = Wire(visits.port)
    wire.log_in(options="-c adomnia.epsilon=100 -c adomnia.margins=on")
    wire.query(f"BEGIN; DECLARE c CURSOR FOR {ASKED}")
    visits.service.database.load()
    (row, _) = rows_in(wire.query("FETCH 2 FROM c"))
    assert row[7:] == [None] * 4
    wire.close()
