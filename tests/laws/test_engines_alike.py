"""Engines that hold the same rows give the same sealed bytes; a gap is declared and stays one."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import reference
from sources import DOMAINS, ENGINES, GAPS, SERVERS, TYPES, WRITTEN, from_database
from statements import KEYS, Writer
from test_engine import EXPRESSIONS, NASTY, REAL, TABLE, asked

from adomnia.engines.engine import Request
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.contribution import Clamped
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Counts
from adomnia.queries.operations import call, constant
from adomnia.queries.ranges import from_domain
from adomnia.schema.domain import Categories, Dates, Grid, Open
from adomnia.schema.table import Attribute, Table
from tests.enforced import ranked, request_of

every_server = pytest.mark.parametrize("make", SERVERS.values(), ids=SERVERS)
every_engine = pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)


def sealed_bytes(engine, sql, table=TABLE):
    """All that an engine hands out for a statement, as bytes; None where it is refused."""
    found = asked(sql, table)
    if found is None:
        return None
    request, additive, quantiles = found
    parts = [unseal(part) for part in engine.measure(request)] if additive else []
    out = [(part.dtype.str, part.shape, _bytes(part)) for part in parts]
    for quantile in quantiles:
        cells = unseal(engine.histogram(request, ranked(quantile)))
        out += [(cell, _bytes(values), _bytes(counts)) for cell, (values, counts) in cells.items()]
    return out


def _bytes(array):
    return repr(array.tolist()).encode() if array.dtype == object else array.tobytes()


def drawn(seed, size=40):
    """Rows that take their values from the worst ones, independently in each column."""
    pick = random.Random(seed)
    extra = {"name": ["Zoë", "Zoe\u0308", "zoe", "ZOE", "é", "z", "~", "😀", "a%b", "a_b", "A_B"]}
    return [
        {name: pick.choice([row[name] for row in NASTY] + extra.get(name, [])) for name in TYPES}
        for _ in range(size)
    ]


TEXTS = [
    f"SELECT COUNT(*), COUNT(DISTINCT name) FROM people WHERE name {test}"
    for test in ("< 'a'", ">= 'Zoë'", "> 'z'", "<= '~'", "= 'e\u0301'", "<> 'Zoë'", "LIKE 'a\\%b'",
                 "LIKE 'a\\_b'", "LIKE '_'", "LIKE '%\\'", "LIKE 'Zo_'", "ILIKE 'zo%'",
                 "ILIKE '\\a_%'", "IN ('Zoë', 'z', NULL)", "BETWEEN 'A' AND 'b'", "< 'a\ud800'")
]  # fmt: skip


@every_server
@pytest.mark.parametrize("rows", [[], NASTY[:1], NASTY, drawn(1)], ids=["0", "1", "5", "40"])
def test_sealed_bytes_are_those_of_duckdb(make, rows):
    writer = Writer(len(rows))
    statements = [f"SELECT SUM({e}), COUNT({e}), MEDIAN({e}) FROM people" for e in
                  (*EXPRESSIONS.values(), *REAL)]  # fmt: skip
    statements += [f"SELECT COUNT(*), AVG(far) FROM people GROUP BY {key}" for key in KEYS]
    statements += TEXTS + [writer.statement() for _ in range(60)]
    with make(rows) as (engine, _), from_database(rows) as (embedded, _):
        found = [sealed_bytes(engine, sql) for sql in statements]
        assert found == [sealed_bytes(embedded, sql) for sql in statements]
    assert sum(one is not None for one in found) > 80


# What a value means, by the column's type


NUMBERS = ["12", " 12\t", "\u00a012", "1_0", "1__0", "1_", "1.5_0", "1.", ".5", ".", "1e1", "1E+1",
           "+5", "-5", "-4", "++5", "2.5", "-2.5", "0.49999999999999994", "nan", "-nan", "inf",
           "-Infinity", "infinit", "1e400", "-1e400", "1e-400", "1e99", "0e999", "1e9999999",
           "-1e9999999", "1,5", "1e0001", "٣", "1f", "- 5", "007", ".e5", "5e-324",
           "9" * 60, "0." + "0" * 60 + "1"]  # fmt: skip
DAYS = ["2020-02-03", "2020-2-3", "2020/02/03", "2020/2-3", "2020-02-30", "1900-02-29",
        "0000-01-01", "0001-01-01", "10000-01-01", "999999-12-31", "20200203", "2020-02-03 10:00",
        "2020-02-03T10:00:00", "2020-02-03 10:00:00.123456789", "2020-02-03 25:00",
        "2020-02-03 24:00:00", "2020-02-03 10:00Z", "2020-02-03 23:00:00-05", "2020-02-03 x",
        "2020-02-03 01:00:00+05:30", "infinity", "-infinity", "Infinity", " 2020-02-03 ",
        "2020-13-01", "2020-00-01", "2020-01-00", "2020-02-03T", "+2020-02-03"]  # fmt: skip
WORDS = ["true", "TRUE", "t", "y", "Yes", "on", "no", "N", "0", "1", "2", "", " ", "a", "A", "ä",
         "a\u0308", "'", '"', "\\", "a\nb", "\ufdd0", "😀"]  # fmt: skip
HELD = {
    "VARCHAR": NUMBERS + DAYS + WORDS,
    "BIGINT": [0, 1, -1, -4, 2, 7, 2**53 + 1, 2**63 - 1, -(2**63)],
    "HUGEINT": [0, 1, -5, 10**15, 2**64, -(2**126)],
    "DOUBLE": [0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 5e-324, -1e-310, 1e300, nan, inf, -inf, 1e19, 0.075],
    "FLOAT": [0.0, 0.1, 2.5, -1.0],
    "DECIMAL(18,4)": [*map(Decimal, ("0", "0.0750", "-2.5", "1.0050", "99999999999999"))],
    "BOOLEAN": [True, False],
    "DATE": [date(1, 1, 1), date(2020, 2, 29), date(9999, 12, 31), "infinity", "-infinity"],
    "TIMESTAMP": [datetime(1, 1, 1), datetime(2020, 2, 29, 23, 59, 59, 500000), "infinity"],
}  # fmt: skip
DECLARED = [
    Grid(Fraction(-5), Fraction(12)),
    Grid(Fraction(-5), Fraction(5), Fraction(1, 3)),
    Grid(Fraction(0), Fraction(9), Fraction(3)),
    Grid(Fraction(-1), Fraction(2), Fraction(1, 20)),
    Grid(Fraction(-(10**15)), Fraction(10**15)),
    Categories((1, 2, 12, 3, -3)),
    Categories((0, 10), other=7),
    Categories((True, False)),
    Categories((True,), other=False),
    Categories(("a", "ä", "", "1", "12"), other="else"),
    Dates(date(2019, 1, 1), date(2020, 12, 31)),
    Dates(date(1, 1, 1), date(3, 1, 1)),
    Dates(date(9998, 1, 1), date(9999, 12, 31)),
    Open(),
]


def cleaned(make, kind, declared, values):
    """What an engine makes of each value of a column, for each domain it is declared with."""
    domains = {"id": Open()} | {f"x{i}": domain for i, domain in enumerate(declared)}
    types = {name: "VARCHAR" if name == "id" else kind for name in domains}
    table = Table("people", {name: Attribute(name, d) for name, d in domains.items()})
    rows = [
        {name: str(place) if name == "id" else value for name in domains}
        for place, value in enumerate([*values, None])
    ]
    keys = tuple(Column(name, from_domain(domain)) for name, domain in domains.items())
    with make(rows, types, domains) as (engine, _):
        groups = unseal(engine.keyed(request_of(table, None, keys, (Counts((None,)),))))[0]
    assert len(groups) == len(rows)
    found = sorted(groups, key=lambda group: int(group[0]))
    return list(zip(*found, strict=True))[1:]


@every_server
@pytest.mark.parametrize("kind", HELD)
def test_a_value_means_the_same_everywhere(make, kind):
    texts = [Open(), DECLARED[9]] if kind in WRITTEN[make] else []  # a declared gap
    declared = [domain for domain in DECLARED if domain not in texts]
    got = cleaned(make, kind, declared, HELD[kind])
    wanted = cleaned(from_database, kind, declared, HELD[kind])
    for domain, here, there in zip(declared, got, wanted, strict=True):
        values = [*map(repr, HELD[kind]), "None"]
        assert list(zip(values, here, strict=True)) == list(zip(values, there, strict=True)), domain
        assert here[-1] is None


@pytest.mark.parametrize(
    ("engine", "gap"), [(name, gap) for name, gaps in GAPS.items() for gap in gaps]
)
def test_a_gap_is_as_it_is_declared(engine, gap):
    kind, domain, value, here, in_duckdb = GAPS[engine][gap]
    assert cleaned(from_database, kind, [domain], [value])[0][0] == in_duckdb
    if isinstance(here, type):
        with pytest.raises(here):
            cleaned(ENGINES[engine], kind, [domain], [value])
    else:
        assert cleaned(ENGINES[engine], kind, [domain], [value])[0][0] == here != in_duckdb


# Units


UNIT_TYPES = {"who": "VARCHAR", "value": "BIGINT", "kind": "VARCHAR", "extra": "BOOLEAN"}
UNIT_DOMAINS = {
    "value": Grid(Fraction(0), Fraction(100)),
    "kind": Categories(("a", "b", "c")),
    "who": Open(),
}


def owned(seed, size=200):
    """Rows of units of all sizes, twins among them, and rows that are nobody's."""
    pick = random.Random(seed)
    rows = [
        {"who": pick.choice([None, "", "ä", "u1", "u2", "u3", *["crowd"] * 3]),
         "value": pick.choice([None, 1, 7, pick.randint(0, 130)]),
         "kind": pick.choice(["a", "b", "c", "d", None]), "extra": pick.random() < 0.5}
        for _ in range(size)
    ]  # fmt: skip
    return rows + rows[:30]


def private(max_rows):
    attributes = {name: Attribute(name, domain) for name, domain in UNIT_DOMAINS.items()}
    return Table("people", attributes, "who", max_rows)


def kept(engine, max_rows):
    """How many rows of each unit are kept, and what they hold."""
    table = private(max_rows)
    keys = tuple(Column(n, from_domain(UNIT_DOMAINS[n])) for n in ("who", "kind", "value"))
    found, counts = unseal(engine.keyed(request_of(table, None, keys, (Counts((None,)),))))
    return dict(zip(found, counts[:, 0].tolist(), strict=True))


@every_engine
@pytest.mark.parametrize("max_rows", [1, 4, 10**6])
def test_units_keep_so_many_rows_and_no_others(make, max_rows):
    rows = owned(max_rows)
    with make(rows, UNIT_TYPES, UNIT_DOMAINS) as (engine, raw):
        found = kept(engine, max_rows)
        total = unseal(engine.measure(asked_of("SELECT COUNT(*) FROM people", max_rows))[0])
        people = unseal(
            engine.measure(asked_of("SELECT COUNT(DISTINCT who) FROM people", max_rows))[0]
        )
    sizes, there = {}, {}
    for row in raw:
        if row["who"] is None:
            continue
        clean = reference.cleaned(row["kind"], UNIT_DOMAINS["kind"])
        number = reference.cleaned(row["value"], UNIT_DOMAINS["value"])
        sizes[row["who"]] = sizes.get(row["who"], 0) + 1
        key = (row["who"], clean, number)
        there[key] = there.get(key, 0) + 1
    assert all(many <= there[key] for key, many in found.items())
    for who, size in sizes.items():
        assert sum(n for key, n in found.items() if key[0] == who) == min(size, max_rows)
    assert total[0, 0] == sum(found.values())
    assert people[0, 0] == len(sizes)


def asked_of(sql, max_rows):
    return asked(sql, private(max_rows))[0]


@every_engine
def test_which_rows_are_kept_does_not_depend_on_their_order(make):
    rows = owned(5)
    answers = []
    for seed in range(3):
        shuffled = random.Random(seed).sample(rows, len(rows))
        with make(shuffled, UNIT_TYPES, UNIT_DOMAINS) as (engine, _):
            answers.append(kept(engine, 3))
    assert answers[0] == answers[1] == answers[2]


@every_server
def test_which_rows_are_kept_is_each_engines_own_choice(make):
    rows = owned(6)
    with (
        make(rows, UNIT_TYPES, UNIT_DOMAINS) as (engine, _),
        from_database(rows, UNIT_TYPES, UNIT_DOMAINS) as (embedded, _),
    ):
        assert kept(engine, 10**6) == kept(embedded, 10**6)
        assert kept(engine, 2) != kept(embedded, 2)  # a declared gap: each has a hash of its own


# Marginals


@every_engine
def test_marginals_are_sums_of_the_rows(make):
    rows = drawn(2, 60)
    names = ("sex", "flag", "kind")
    spreads = [from_domain(DOMAINS[name]) for name in names]
    keys = tuple(Column(name, spread) for name, spread in zip(names, spreads, strict=True))
    axes = (("F", "M", "other", None), (False, True, None), (1, 2, 9, None))
    with make(rows) as (engine, _):
        tables = engine.contingency(Request(TABLE, None, keys, ()), axes)(
            [(0, 1, 2), (0,), (2, 1), ()]
        )
        parts = {subset: unseal(table) for subset, table in tables.items()}
    whole = parts[0, 1, 2]
    assert whole.sum() == len(rows) == parts[()]
    assert np.array_equal(parts[0,], whole.sum(axis=(1, 2)))
    assert np.array_equal(parts[2, 1], whole.sum(axis=0).T)


@every_engine
def test_marginals_of_what_rows_add_are_clamped_in_every_row(make):
    """And of the same groups as the counts: kinds 1, 2 and 9 add -1, 0 and, clamped, 4."""
    rows = drawn(2, 60)
    keys = tuple(Column(name, from_domain(DOMAINS[name])) for name in ("sex", "kind"))
    axes = (("F", "M", "other", None), (1, 2, 9, None))
    added = Clamped(call("sub", keys[1], constant(2)), -1, 4)
    request = Request(TABLE, None, keys, (added,), grouping=0)
    with make(rows) as (engine, _):
        engine.prepare(request)
        tables = engine.contingency(request, axes)([(0, 1), (1,), ()])
        summed, kinds, total = (unseal(tables[s]) for s in ((0, 1), (1,), ()))
        counts = unseal(
            engine.contingency(replace(request, contributions=()), axes)([(0, 1)])[0, 1]
        )
    assert summed.dtype == np.int64
    assert np.array_equal(summed, counts * np.array([-1, 0, 4, 0]))
    assert np.array_equal(kinds, summed.sum(axis=0))
    assert total == summed.sum()
    assert summed.any()


@every_engine
def test_marginals_of_some_rows_are_sums_of_these(make):
    rows = drawn(2, 60)
    keys = tuple(Column(name, from_domain(DOMAINS[name])) for name in ("sex", "kind"))
    axes = (("F", "M", "other", None), (1, 2, 9, None))
    test = call("and", call("eq", keys[0], constant("F")), call("eq", keys[1], constant(2)))
    where = call("case", test, constant(False), constant(True))
    with make(rows) as (engine, _):
        every, some = (
            engine.contingency(Request(TABLE, one, keys, ()), axes)([(0, 1), (0,)])
            for one in (None, where)
        )
        whole, part, sex = unseal(every[0, 1]), unseal(some[0, 1]), unseal(some[0,])
    assert whole[0, 1] > 0
    assert part[0, 1] == 0
    assert whole.sum() - part.sum() == whole[0, 1]
    assert np.array_equal(sex, part.sum(axis=1))
