"""The laws of timestamps: all engines read, cut, shift and compare them as plain Python does."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some

sys.path.insert(0, str(Path(__file__).parent))

import reference
from sources import ENGINES, LONG
from test_engine import asked

from adomnia.engines.sql.clock import MOMENTS
from adomnia.mechanisms.unseal import unseal
from adomnia.schema.domain import Dates, Timestamps
from adomnia.schema.table import Attribute, Table
from tests.enforced import ranked

YEAR = datetime(2024, 1, 1), datetime(2024, 12, 31, 23)
DOMAINS = {
    "local": Timestamps(*YEAR, 3600, "Europe/Berlin"),
    "zoned": Timestamps(*YEAR, 3600, "Europe/Berlin"),
    "far": Timestamps(datetime(2024, 3, 30), datetime(2024, 4, 2, 23, 45), 900, "Pacific/Chatham"),
    "six": Timestamps(datetime(1969, 12, 30), datetime(1970, 1, 3, 18), 21_600),
    "written": Timestamps(
        datetime(2024, 10, 26), datetime(2024, 10, 28, 23, 30), 1800, "Europe/Berlin"
    ),
    "plain": Timestamps(datetime(2024, 1, 1), datetime(2024, 1, 1, 0, 9, 55), 5),
    "day": Timestamps(datetime(2024, 2, 27), datetime(2024, 3, 2), 86_400),
    "born": Dates(date(2024, 1, 29), date(2024, 12, 31)),
}  # fmt: skip
TYPES = {
    "local": "TIMESTAMP", "zoned": "TIMESTAMPTZ", "far": "TIMESTAMPTZ", "six": "TIMESTAMP",
    "written": "VARCHAR", "plain": "VARCHAR", "day": "DATE", "born": "DATE",
}  # fmt: skip
ATTRIBUTES = {name: Attribute(name, domain) for name, domain in DOMAINS.items()}
TABLE = Table("people", ATTRIBUTES)

# Rows


def beside(values, *others):
    return some.one_of(some.none(), values, some.sampled_from(others or (None,)))


def near(name, more=5):
    """Moments about those of a domain, to the microsecond."""
    low, high = DOMAINS[name].low, DOMAINS[name].high
    return some.datetimes(low.replace(year=low.year - 1), high.replace(year=high.year + 1)) | (
        some.datetimes(low, high)
    )


def zoned(moments):
    return moments.map(lambda moment: moment.replace(tzinfo=UTC))


TEXTS = [
    "2024-10-27 02:30", "2024-10-27 02:30:00+02:00", "2024-10-27 02:30:00+01:00",
    "2024-10-27T00:30:00Z", "2024-10-27T01:29:59.999Z", "2024-10-27 01:00 UTC", "2024-10-26",
    "2024/10/26 5:7", "2024-10-26 24:00", "2024-10-26 24:30:59", " 2024-10-28 23:59:59.5 ",
    "2024-10-28 23:30-0130", "2024-10-28 23:30 -05", "2024-10-28 23:30+14", "2024-10-29",
    "2024-10-25 23:59:59", "2024-10-26 00:00+99:99", "infinity", "-infinity", "2024-10-32",
    "2024-02-30 12:00", "2024-10-27 25:00", "2024-10-27 12:60", "2024-10-27 12:00:61", "noon", "",
    "20241027", "2024-10-27 12", "2024-10-27 12:00 Europe/Berlin", "0000-01-01 00:00",
    "99999-01-01", "999999-12-31 23:59:59", "2024-10-27 12:00:00.", "2024-1-2 0:0:7",
    "2024-01-01 00:00:04.999999", "2024-01-01T00:09:59", "2024-01-01 00:10", "٢٠٢٤-01-01",
    "1" * 300, "2024-01-01 00:05:00+00", "2023-12-31 23:05:00-01:02",
    "2024-02-29 12:00", "2023-02-29 12:00:00", "2024-04-31 10:00", "2024-10-31T10:00:00",
    "1000-01-01 00:00:00", "0999-12-31 23:59:59", "9999-12-31 23:59:59", "2024-10-28t12:00",
    "2024-10-28 12:00:00x", "\t2024-10-28 12:30:00 ",
]  # fmt: skip
FAR = [datetime(2, 1, 1), datetime(9998, 12, 31, 23, 59, 59), datetime(1969, 12, 31, 23, 59, 59, 5)]
texts = some.sampled_from([None, *TEXTS])
VALUES = {
    "local": beside(near("local"), *FAR, datetime(2024, 3, 31, 2, 30), datetime(2024, 10, 27, 2)),
    "zoned": beside(zoned(near("zoned")), *(m.replace(tzinfo=UTC) for m in FAR)),
    "far": beside(zoned(near("far")), datetime(2024, 4, 6, 14, tzinfo=UTC)),
    "six": beside(near("six"), *FAR),
    "written": texts,
    "plain": texts,
    "day": beside(some.dates(date(2024, 2, 25), date(2024, 3, 4)), date(2, 1, 1)),
    "born": beside(some.dates(date(2024, 1, 20), date(2025, 1, 10))),
}
tables = some.lists(some.fixed_dictionaries(VALUES), max_size=12)
EDGES = [
    {name: edges[place % len(edges)] for name, edges in {
        "local": [*FAR, datetime(2024, 12, 31, 23, 59, 59, 999999), datetime(2023, 12, 31, 23, 59)],
        "zoned": [datetime(2024, 3, 31, h, 30, tzinfo=UTC) for h in range(3)]
                 + [datetime(2024, 10, 27, h, 30, tzinfo=UTC) for h in range(3)]
                 + [datetime(2023, 12, 31, h, tzinfo=UTC) for h in (22, 23)]
                 + [datetime(2024, 12, 31, h, 59, 59, tzinfo=UTC) for h in (22, 23)],
        "far": [datetime(2024, 3, 29, 10, m, tzinfo=UTC) for m in (14, 15, 16)],
        "six": [*FAR, datetime(1970, 1, 1), datetime(1969, 12, 31, 17, 59, 59)],
        "written": TEXTS, "plain": TEXTS,
        "day": [date(2024, 2, 26), date(2024, 2, 29), date(2024, 3, 3), None],
        "born": [date(2024, 1, 31), date(2024, 2, 29), date(2024, 12, 31)],
    }.items()}
    for place in range(len(TEXTS))
]  # fmt: skip

# Statements

UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
PARTS = (
    "hour",
    "minute",
    "second",
    "year",
    "quarter",
    "month",
    "week",
    "day",
    "dow",
    "isodow",
    "doy",
)
COLUMNS = [name for name in DOMAINS if name != "born"]
NUMBERS = [
    *(f"EXTRACT({part} FROM {name})" for part in PARTS for name in ("zoned", "six", "plain")),
    "EXTRACT(EPOCH FROM local)", "EXTRACT(EPOCH FROM zoned - local)",
    "EXTRACT(EPOCH FROM written - TIMESTAMP '2024-10-27 01:00')",
    *(f"DATE_DIFF('{unit}', local, zoned)" for unit in UNITS),
    *(f"DATE_DIFF('{unit}', born, day)" for unit in UNITS[3:]),
    *(f"DATE_DIFF('{unit}', born, DATE '2024-05-05')" for unit in UNITS[3:]),
    "EXTRACT(EPOCH FROM (local + INTERVAL '1 month 2 days 3 hours') - zoned)",
    "EXTRACT(EPOCH FROM (local - INTERVAL '13 months') - (zoned - INTERVAL '90 minutes'))",
    "EXTRACT(doy FROM born + INTERVAL '1 month')",
    "EXTRACT(day FROM born - INTERVAL '1 month 1 day')",
    "EXTRACT(day FROM CAST(day AS TIMESTAMP) + INTERVAL '1 year')",
    "EXTRACT(hour FROM CAST(born AS TIMESTAMP) - INTERVAL '1 second')",
]  # fmt: skip
TESTS = [
    "local < '2024-03-31 03:00'", "local >= DATE '2024-06-01'", "zoned = '2024-10-27 02:00'",
    "zoned <> '2024-03-31 03:00'", "zoned > '2023-01-01'", "zoned <= '2030-01-01'",
    "written BETWEEN '2024-10-27 02:00' AND '2024-10-27 02:30'", "six < '1970-01-01'",
    "six IN ('1969-12-31 18:00', '1970-01-01 00:00', '1970-01-01 06:00')", "local < zoned",
    "plain >= '2024-01-01 00:05:05'", "far < '2024-04-01 00:15'", "written IS NULL",
    "NOT (plain > '2024-01-01 00:00:05')", "born < local", "CAST(local AS DATE) = born",
    "DATE_TRUNC('week', local) = '2024-01-01'", "local + INTERVAL '1 day' > zoned",
    "COALESCE(zoned, local) < '2024-05-01'", "born + INTERVAL '1 month' >= '2024-03-01'",
    "CASE WHEN six < '1970-01-01' THEN local ELSE born END > '2024-05-05'",
    "EXTRACT(hour FROM zoned) IN (2, 3)", "day = '2024-02-29'",
]  # fmt: skip
KEYS = [
    "six", "day", "far", "written", "plain", "DATE_TRUNC('day', zoned)",
    "DATE_TRUNC('week', local)",
    "DATE_TRUNC('month', zoned)", "DATE_TRUNC('quarter', local)", "DATE_TRUNC('year', zoned)",
    "DATE_TRUNC('hour', far)", "DATE_TRUNC('minute', plain)", "DATE_TRUNC('day', six)",
    "EXTRACT(hour FROM written)", "EXTRACT(hour FROM six)", "EXTRACT(second FROM plain)",
    "CAST(written AS DATE)", "CAST(born AS TIMESTAMP)", "born + INTERVAL '1 month'",
    "DATE_TRUNC('month', local) + INTERVAL '1 month'", "six + INTERVAL '90 minutes'",
    "COALESCE(written, TIMESTAMP '2024-10-26 00:30')", "day - INTERVAL '1 month'",
]  # fmt: skip
STATEMENTS = [
    *(f"SELECT SUM({n}), COUNT({n}), MEDIAN({n}) FROM people" for n in NUMBERS),
    *(f"SELECT COUNT(*), COUNT(*) FILTER (WHERE NOT ({t})) FROM people WHERE {t}" for t in TESTS),
    *(f"SELECT COUNT(*) FROM people GROUP BY {key}" for key in KEYS),
    *(f"SELECT COUNT(DISTINCT {name}), COUNT({name}) FROM people" for name in COLUMNS),
]


def check(engine, rows, sql):
    """The engine's answers are the reference's, number by number."""
    found = asked(sql, TABLE)
    assert found is not None, sql
    request, additive, quantiles = found
    if additive:
        wanted = reference.components(request, additive, rows)
        for sealed, right in zip(engine.measure(request), wanted, strict=True):
            got = unseal(sealed)
            assert np.array_equal(got.astype(object), right.astype(object)), sql
    for quantile in quantiles:
        got = unseal(engine.histogram(request, ranked(quantile)))
        plain = {c: list(zip(v.tolist(), n.tolist(), strict=True)) for c, (v, n) in got.items()}
        assert plain == reference.listed(request, quantile, rows), sql


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
def test_edges_are_read_by_the_zones_clock(make):
    with make(EDGES, TYPES, DOMAINS) as (engine, raw):
        clean = reference.clean_rows(raw, ATTRIBUTES)
        for sql in STATEMENTS:
            check(engine, clean, sql)


@pytest.mark.parametrize(
    "make",
    [pytest.param(make, id=name, marks=LONG.get(name, ())) for name, make in ENGINES.items()],
)
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(rows=tables, seed=some.integers(0, 2**32))
def test_sealed_values_are_the_reference(make, rows, seed):
    pick = np.random.default_rng(seed)
    with make(rows, TYPES, DOMAINS) as (engine, raw):
        clean = reference.clean_rows(raw, ATTRIBUTES)
        for place in pick.choice(len(STATEMENTS), 12, replace=False):
            check(engine, clean, STATEMENTS[place])


def test_every_operation_on_moments_is_asked_for():
    used = set()
    for sql in STATEMENTS:
        request, additive, quantiles = asked(sql, TABLE)
        parts = [request.where, *request.keys, *(getattr(m, "argument", None) for m in additive)]
        parts += [m.argument for m in quantiles]
        used |= {op for part in parts for op in reference.operations(part)}
    assert {*MOMENTS} <= used
