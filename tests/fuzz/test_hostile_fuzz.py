"""One hostile row changes no outcome: for every kind of source, with and without it.

A source with the row and one without it are asked the same statements: whether they fail, with
which words, and which columns there are must be the same. In a short form here; `slow` is long.
"""

from __future__ import annotations

import random
import sys
from contextlib import contextmanager
from datetime import date
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "engines"))

from hostile import HOSTILE, array, harmless
from postgres_place import placed, request

from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.exact import survey
from adomnia.engines.postgres.engine import PostgreSQL
from adomnia.errors import AdomniaError
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Quantile
from adomnia.queries.ranges import count_cells, from_domain
from adomnia.schema.domain import Categories, Dates, Grid, Open
from adomnia.schema.table import Attribute, Table
from tests.enforced import ranked

ROWS = 9
DOMAINS = {
    Open(): ["LIKE 'x%'", "ILIKE '%B_'", "IS NULL", "= 'b'", "IN ('a', 'b')", "< 'm'"],
    Grid(Fraction(0), Fraction(9)): ["> 3", "= 5", "BETWEEN 2 AND 4", "IS NULL"],
    Grid(Fraction(-1), Fraction(2), Fraction(1, 3)): ["> 1", "IS NOT NULL"],
    Dates(date(2020, 1, 1), date(2020, 12, 31)): ["> DATE '2020-05-05'", "IS NULL"],
    Categories(("a", "b"), other="c"): ["= 'c'", "IN ('a', 'c')"],
    Categories((1, 2), other=7): ["= 7", "<> 1"],
    Categories((True, False)): ["IS NULL"],
}
PEOPLE = {"zip": list(range(ROWS)), "ill": ["yes", "no", "no"] * (ROWS // 3)}
FIXED = {"zip": Grid(Fraction(0), Fraction(99)), "ill": Categories(("yes", "no"))}


def statements(names, domains, pick, number):
    """Random questions of these columns, most about a few rows only."""
    for _ in range(number):
        name, other = pick.choice(names), pick.choice(names)
        test = f"{name} {pick.choice(DOMAINS[domains[name]])}"
        few = pick.choice(["", f"zip = {pick.randrange(ROWS)} AND ", "ill = 'yes' AND ", "NOT "])
        key = pick.choice(["", "", f" GROUP BY {other}"])
        what = pick.choice([f"COUNT({other})", "COUNT(*)", f"COUNT(DISTINCT {other})"])
        yield f"SELECT {what} FROM people WHERE {few}{test}{key}"


def outcome(engine, sql, table):
    """What can be seen of a question but its numbers."""
    try:
        asked = request(sql, table)
        if any(count_cells(key.range) is None for key in asked.keys):
            engine.keyed(asked)
        elif asked.contributions:  # else it is known without data
            engine.measure(asked)
    except AdomniaError as error:
        return type(error).__name__, error.message, error.hint
    return "answered"


def compared(sources, domains, pick, number):
    """All that can be seen of two sources, side by side."""
    attributes = {name: Attribute(name, domain) for name, domain in (FIXED | domains).items()}
    for unit in (None, "zip"):
        table = Table("people", attributes, unit, 2)
        assert sources[0].columns() == sources[1].columns()
        assert sources[0].row_count_is_stable == sources[1].row_count_is_stable
        for sql in statements([*domains], domains, pick, number):
            seen = [outcome(engine, sql, table) for engine in sources]
            assert seen == ["answered"] * 2, sql
        for name, domain in domains.items():
            asked = request(f"SELECT COUNT({name}) FROM people", table)
            for engine in sources:
                if isinstance(domain, Grid):
                    engine.histogram(asked, ranked(Quantile(Column(name, from_domain(domain)))))
    for engine in sources:
        survey(engine)
        engine.ready()


def drawn(pick, cases):
    """Columns of these types, each with a domain by chance; with the hostile row, and without."""
    domains = {f"c{n}": pick.choice([*DOMAINS]) for n in range(len(cases))}
    with_it, without = (
        pa.table(PEOPLE | {f"c{n}": make(case, ROWS) for n, case in enumerate(cases)})
        for make in (array, harmless)
    )
    return domains, with_it, without


@contextmanager
def parquet(folder, tables, domains):
    """Two Parquet sources: a file, and a folder of two."""
    engines = []
    for number, table in enumerate(tables):
        place = folder / f"p{number}"
        (place / "year=2020").mkdir(parents=True, exist_ok=True)
        pq.write_table(table.slice(0, 3), place / "1.parquet")
        pq.write_table(table.slice(3), place / "year=2020" / "2.parquet", row_group_size=4)
        engines.append(DuckDB(place, "people", FIXED | domains))
    yield engines
    for engine in engines:
        engine.close()


@contextmanager
def database(folder, tables, domains):
    """Two DuckDB files: what Arrow has is stored as it is, but for text, which is refused."""
    engines = []
    for number, table in enumerate(tables):
        path = folder / f"{number}.duckdb"
        path.unlink(missing_ok=True)
        with duckdb.connect(str(path)) as connection:
            connection.register("arrow", table)
            connection.execute("CREATE TABLE people AS SELECT * FROM arrow")
        engines.append(DuckDB(path, "people", FIXED | domains))
    yield engines
    for engine in engines:
        engine.close()


STORABLE = [
    case for case in HOSTILE
    if not any(word in case for word in ("text", "dictionary", "UTC", "half"))
]  # fmt: skip


@pytest.mark.parametrize(
    ("seed", "number"),
    [(1, 20), *(pytest.param(seed, 400, marks=pytest.mark.slow) for seed in (2, 3, 4))],
)
@pytest.mark.parametrize("source", ["parquet", "database"])
def test_files(source, seed, number, tmp_path):
    pick = random.Random(seed)
    make, cases = {"parquet": (parquet, [*HOSTILE]), "database": (database, STORABLE)}[source]
    pick.shuffle(cases := [*cases])
    domains, *tables = drawn(pick, cases)
    with make(tmp_path, tables, domains) as engines:
        compared(engines, domains, pick, number)


LINES = [b"\xff,\xff", b"7", b"1,2,3,4,5,6", b'1,a"b', b'"x""y",2', b"a\rb,\r", b"\0,1", b"'", b";",
         b"x" * 3_000_000 + b",1", b"\xef\xbb\xbf1,2", b"0x1,epoch", b"1e999999,NaN",
         b""]  # fmt: skip


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_text_files(end, tmp_path):
    pick = random.Random(4)
    head = [b"zip,ill,c0,c1", *(b"%d,yes,x,%d" % (row, row) for row in range(ROWS))]
    for place, line in enumerate(LINES):
        domains = {f"c{n}": pick.choice([*DOMAINS]) for n in range(2)}
        engines = []
        for name, row in (("with", b"3,no," + line), ("without", b"3,no,a,b")):
            path = tmp_path / f"{place} {name}.csv"
            path.write_bytes(end.join([*head[:4], row, *head[4:]]) + end)
            engines.append(DuckDB(path, "people", FIXED | domains))
        assert not engines[0].row_count_is_stable
        compared(engines, domains, pick, 4)
        for engine in engines:
            engine.close()


ODD = {
    "numeric": ["'NaN'", "1e-500", "9e999"], "double precision": ["'NaN'", "'-infinity'", "5e-324"],
    "timestamptz": ["'infinity'", "'4713-01-02 BC'", "'294276-12-31'"], "date": ["'-infinity'"],
    "text": ["'1e999999'", "repeat('9', 9999)", "E'\\u0001'"], "time": ["'24:00'"],
    "interval": ["'178000000 years'"], "jsonb": ["'{\"a\": 1e400}'"], "bytea": ["'\\xff00'"],
    "numeric[]": ["'{NaN,1e300}'"], "bigint": ["-9223372036854775808"], "uuid": ["NULL"],
}  # fmt: skip


def test_tables_of_a_server():
    pick = random.Random(6)
    kinds = [(kind, value) for kind, values in ODD.items() for value in values]
    domains = {f"c{n}": pick.choice([*DOMAINS]) for n in range(len(kinds))}
    columns = ", ".join(f"c{n} {kind}" for n, (kind, _) in enumerate(kinds))
    values = ", ".join(value for _, value in kinds)
    with placed() as place:
        engines = []
        for name, row in (("odd", values), ("even", ", ".join(["NULL"] * len(kinds)))):
            place.run(f"CREATE TABLE {name} (zip bigint, ill text, {columns})")
            place.run(f"INSERT INTO {name} VALUES (1, 'yes', {row})")
            where = f"{place.schema}.{name}"
            engines.append(PostgreSQL(place.server.url(role="reader"), where, FIXED | domains))
        compared(engines, domains, pick, 40)
        for engine in engines:
            idle = engine._connections._idle.get_nowait()
            place.owner.execute("SELECT pg_terminate_backend(%s)", [idle.info.backend_pid])
            engine._connections._idle.put(idle)
            engine.ready()
        compared(engines, domains, pick, 2)
        for engine in engines:
            engine.close()
