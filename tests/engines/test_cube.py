"""Many marginals in one pass: every way to count gives the tables that grouping gives."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import prod
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.engines.cubes import cubes_for, passes
from adomnia.engines.duckdb import reader
from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.engine import Request
from adomnia.engines.sql.sql_engine import SqlEngine
from adomnia.mechanisms.unseal import unseal
from adomnia.queries.expression import Column
from adomnia.queries.operations import call, constant
from adomnia.queries.ranges import cells, from_domain
from adomnia.schema.domain import Categories, Grid
from adomnia.schema.table import Attribute, Table

DOMAINS = {
    "sex": Categories(("F", "M")),
    "age": Grid(Fraction(0), Fraction(9), Fraction(1)),
    "half": Grid(Fraction(-1), Fraction(1), Fraction(1, 2)),
    "town": Categories(("a'b", "ü", "c"), "c"),
    "ill": Categories((True, False)),
}
SUBSETS = [s for ways in range(4) for s in combinations(range(len(DOMAINS)), ways)]


@pytest.fixture
def opened(tmp_path: Path):
    chance, rows = np.random.default_rng(3), 3000
    columns = {
        "sex": [["F", "M", None, "X"][i] for i in chance.choice(4, rows, p=[0.4, 0.4, 0.1, 0.1])],
        "age": pa.array(chance.integers(-3, 15, rows), mask=chance.random(rows) < 0.05),
        "half": chance.choice([-2.0, -1.0, -0.5, 0.26, float("nan"), 0.5, 9.0], rows),
        "town": [["a'b", "ü", "c", "elsewhere", None][i] for i in chance.integers(0, 5, rows)],
        "ill": [[True, False, None][i] for i in chance.integers(0, 3, rows)],
    }
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    engine = DuckDB(tmp_path / "people.parquet", "people", DOMAINS)
    yield engine
    engine.close()


@pytest.fixture
def asked():
    attributes = {n: Attribute(n, d, nullable=n in ("sex", "ill")) for n, d in DOMAINS.items()}
    keys = tuple(Column(name, from_domain(domain)) for name, domain in DOMAINS.items())
    axes = tuple(
        (*cells(key.range), None) if attributes[key.name].nullable else tuple(cells(key.range))
        for key in keys
    )
    return Request(Table("people", attributes, None, 1, {}), None, keys, ()), axes


@pytest.mark.parametrize(("most", "few"), [(1 << 26, 0), (1 << 26, 10**9), (200, 0), (40, 0)])
def test_every_way_gives_the_same_tables(opened, asked, monkeypatch, most, few):
    wanted = SqlEngine._exact_tables(opened, *asked)(SUBSETS)
    monkeypatch.setattr(opened, "most_cells", most)
    monkeypatch.setattr(reader, "FEW_ROWS", few)
    found = opened.contingency(*asked)(SUBSETS)
    assert found.keys() == wanted.keys()
    for subset in SUBSETS:
        assert np.array_equal(unseal(found[subset]), wanted[subset]), subset


@pytest.mark.parametrize(("most", "few"), [(1 << 26, 0), (200, 10**9), (200, 0)])
def test_a_row_that_does_not_qualify_is_in_no_table(opened, asked, monkeypatch, most, few):
    """Also where the condition reads what the wanted tables do not, and where it is unknown."""
    request, axes = asked
    keys = request.keys
    test = call("and", call("eq", keys[0], constant("M")), call("gt", keys[1], constant(4)))
    where = call("case", test, constant(False), constant(True))
    monkeypatch.setattr(opened, "most_cells", most)
    monkeypatch.setattr(reader, "FEW_ROWS", few)
    every, some = (
        opened.contingency(replace(request, where=one), axes)([(0, 1, 3), (3,)])
        for one in (None, where)
    )
    wanted = unseal(every[0, 1, 3]).copy()
    lost = wanted[1, 4 - axes[1][0] + 1 :].copy()
    wanted[1, 4 - axes[1][0] + 1 :] = 0
    assert lost.sum() > 100
    assert np.array_equal(unseal(some[0, 1, 3]), wanted)
    assert np.array_equal(unseal(some[3,]), wanted.sum(axis=(0, 1)))


def test_little_memory_gives_the_same_tables(opened, asked, tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "FEW_ROWS", 0)
    wanted = opened.contingency(*asked)(SUBSETS)
    little = DuckDB(tmp_path / "people.parquet", "people", DOMAINS, memory=1)
    monkeypatch.setattr(little, "most_cells", little.most_cells // 1000)  # the tables are tiny
    found = little.contingency(*asked)(SUBSETS)
    limit = little._rows("SELECT current_setting('memory_limit')")[0][0]
    little.close()
    assert all(np.array_equal(unseal(found[s]), unseal(wanted[s])) for s in SUBSETS)
    assert little.most_cells < prod(len(axis) for axis in asked[1])
    assert limit == "61.0 MiB"  # as 64 MB are written


def test_an_order_that_is_not_ascending_is_kept(opened, asked):
    tables = opened.contingency(*asked)([(3, 0), (0, 3)])
    assert np.array_equal(unseal(tables[3, 0]), unseal(tables[0, 3]).T)


@pytest.mark.parametrize("most", [10, 60, 300, 10**9])
def test_cubes_hold_every_marginal_and_fit(most):
    sizes = (2, 3, 5, 7, 11, 4)
    subsets = [s for ways in (1, 2, 3) for s in combinations(range(6), ways)]
    cubes = cubes_for(subsets, sizes, most)
    assert all(any({*subset} <= {*cube} for cube in cubes) for subset in subsets)
    alone = {tuple(sorted(subset)) for subset in subsets}
    assert all(prod(sizes[i] for i in cube) <= most or cube in alone for cube in cubes)
    lots = passes(cubes, sizes, most)
    assert sorted(cube for lot in lots for cube in lot) == sorted(cubes)
    assert all(len(lot) == 1 or sum(prod(sizes[i] for i in c) for c in lot) <= most for lot in lots)
