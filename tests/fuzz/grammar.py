"""Statements for the fuzzer: a grammar of what is supported, nested, and mutations of it."""

from __future__ import annotations

import random
from functools import cache

import sqlglot
from hypothesis import strategies as st
from sqlglot import exp

COLUMNS = {
    "number": ["age", "income", "score", "region"],
    "text": ["sex", "city"],
    "day": ["admitted"],
    "truth": ["ok"],
}
NUMBERS = ["0", "1", "2", "7", "10", "-3", "0.5", "1.25", "100", "1000000", "99999999999", "NULL"]
TEXTS = ["'F'", "'M'", "''", "'%'", "'a_b'", "'it''s'", "'ü'", "NULL", "sex", "city"]
DAYS = ["DATE '2021-01-01'", "admitted", "admitted", "admitted", "NULL"]
PARTS = ["year", "month", "quarter", "day", "dow", "week", "doy", "hour"]
NASTY = [
    *("9223372036854775807", "-9223372036854775808", "1e30", "1e-30", "1e999", "- - 1", "TRUE"),
    *("'\\'", "'a\x00b'", "'" + "x" * 300 + "'", "'2020-13-45'", "0.1234567890123456789", "$1"),
    *("?", "ARRAY[1]", "{'a': 1}", "INTERVAL '1 day'", "X'41'", "'1'::int", "1::text", "*"),
]
PATTERNS = ["'%a%'", "'_'", "'\\'", "'%\\%'"]
FUNCTIONS = ["SUM", "RANDOM", "AVG", "LAG", "COUNT", "SQRT", "MIN", "NOW", "f", "MD5"]

choose = st.sampled_from


def one_of(*parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """One of the parts, not flattened: nested choices stay as small as they are written."""
    return st.integers(0, len(parts) - 1).flatmap(parts.__getitem__)


def form(template: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """The template with each {} filled."""
    return st.tuples(*parts).map(lambda filled: template.format(*filled))


@cache
def numbers(depth: int) -> st.SearchStrategy[str]:
    columns = choose(COLUMNS["number"])
    leaf = one_of(columns, columns, columns, choose(NUMBERS))
    if depth <= 0:
        return leaf
    n, d, t = numbers(depth - 1), days(depth - 1), texts(depth - 1)
    return one_of(
        leaf,
        form("({} {} {})", n, choose(["+", "-", "*", "/", "%"]), n),
        form("{}({})", choose(["ABS", "SIGN", "FLOOR", "CEIL", "ROUND", "SQRT", "LN", "EXP"]), n),
        form("ROUND({}, {})", n, choose(["0", "1", "-2", "3", "6"])),
        form("{}({}, {})", choose(["LEAST", "GREATEST", "COALESCE", "NULLIF", "POWER"]), n, n),
        form("CASE WHEN {} THEN {} ELSE {} END", truths(depth - 1), n, n),
        form("CASE WHEN {} THEN {} END", truths(depth - 1), n),
        form("EXTRACT({} FROM {})", choose(PARTS), d),
        form("({} - {})", d, d),
        form("LENGTH({})", t),
        form("CAST({} AS {})", n, choose(["INTEGER", "DOUBLE", "NUMERIC", "BIGINT", "DECIMAL"])),
        form("-{}", n),
    )


@cache
def texts(depth: int) -> st.SearchStrategy[str]:
    leaf = choose(TEXTS)
    if depth <= 0:
        return leaf
    t = texts(depth - 1)
    return one_of(
        leaf,
        form("{}({})", choose(["UPPER", "LOWER", "TRIM"]), t),
        form("SUBSTRING({}, {}, {})", t, choose(["1", "2", "-1"]), choose(["1", "3", "0"])),
        form("CASE WHEN {} THEN {} ELSE {} END", truths(depth - 1), t, t),
        form("COALESCE({}, {})", t, t),
        form("CAST({} AS TEXT)", numbers(depth - 1)),
    )


@cache
def days(depth: int) -> st.SearchStrategy[str]:
    leaf = choose(DAYS)
    if depth <= 0:
        return leaf
    return one_of(
        leaf,
        form("DATE_TRUNC('{}', {})", choose([*PARTS[:3], "week", "decade"]), days(depth - 1)),
        form("COALESCE({}, {})", days(depth - 1), days(depth - 1)),
    )


@cache
def truths(depth: int) -> st.SearchStrategy[str]:
    n, t, d = numbers(depth - 1), texts(depth - 1), days(depth - 1)
    sign = choose(["=", "<>", "<", "<=", ">", ">="])
    leaf = one_of(
        form("{} {} {}", n, sign, n), form("{} {} {}", t, sign, t), choose(["ok", "TRUE"])
    )
    if depth <= 0:
        return leaf
    b = truths(depth - 1)
    return one_of(
        leaf,
        form("({} {} {})", b, choose(["AND", "OR"]), b),
        form("NOT ({})", b),
        form("{} {} {}", d, sign, d),
        form("{} BETWEEN {} AND {}", n, n, n),
        form("{} {} ({}, {})", n, choose(["IN", "NOT IN"]), choose(NUMBERS), choose(NUMBERS)),
        form("{} IN ({}, {})", t, choose(TEXTS), choose(TEXTS)),
        form(
            "{} {} {}", t, choose(["LIKE", "ILIKE", "NOT LIKE"]), choose(["'%a%'", "'_'", "'\\'"])
        ),
        form("{} IS {}", one_of(n, t, d, b), choose(["NULL", "NOT NULL"])),
        form("({}) IS {}", b, choose(["TRUE", "FALSE", "NOT TRUE"])),
    )


@cache
def aggregates(depth: int) -> st.SearchStrategy[str]:
    n = numbers(depth)
    share = choose(["0", "0.25", "0.5", "1", "2"])
    plain = one_of(
        st.just("COUNT(*)"),
        form("COUNT({})", one_of(n, texts(depth), days(depth))),
        form("COUNT(DISTINCT {})", one_of(choose(["person_id", "sex", "city"]), n)),
        form("{}({})", choose(["SUM", "AVG", "VAR_SAMP", "STDDEV_SAMP", "VAR_POP"]), n),
        form("{}({})", choose(["MIN", "MAX", "MEDIAN"]), n),
        form("QUANTILE({}, {})", n, share),
        form("PERCENTILE_CONT({}) WITHIN GROUP (ORDER BY {} {})", share, n, choose(["", "DESC"])),
    )
    return one_of(plain, plain, form("{} FILTER (WHERE {})", plain, truths(depth)))


@cache
def outputs(depth: int) -> st.SearchStrategy[str]:
    a = aggregates(depth)
    return one_of(
        a,
        a,
        form("{} {} {}", a, choose(["+", "-", "*", "/"]), one_of(a, choose(NUMBERS))),
        form("ROUND({}, {})", a, choose(["0", "2", "-3"])),
        form("{}({})", choose(["ABS", "SQRT", "FLOOR"]), a),
        form("CASE WHEN {} > {} THEN {} ELSE {} END", a, choose(NUMBERS), a, one_of(a, texts(0))),
        form("{}({}, {})", choose(["LEAST", "GREATEST", "COALESCE"]), a, one_of(a, texts(0))),
    )


@cache
def keys(depth: int) -> st.SearchStrategy[str]:
    return one_of(
        choose(["sex", "region", "ok", "city", "age / 10", "DATE_TRUNC('year', admitted)"]),
        form("{}({})", choose(["UPPER", "LOWER", "TRIM"]), choose(["sex", "city"])),
        form("CASE WHEN {} THEN {} ELSE 'no' END", truths(depth), texts(0)),
        form("({} % 5)", numbers(depth - 1)),
    )


@st.composite
def sources(draw: st.DrawFn) -> str:
    """FROM and all that may stand in it."""
    inner = draw(st.integers(0, 5))
    if inner == 0:
        side = draw(choose(["JOIN", "LEFT JOIN"]))
        return f"FROM people p {side} regions r ON r.region_id = p.region"
    if inner == 1:
        return f"FROM (SELECT * FROM people WHERE {draw(truths(1))}) AS people"
    if inner == 2:
        return f"FROM (SELECT *, {draw(numbers(1))} AS extra FROM people) q"
    return "FROM people"


@st.composite
def statements(draw: st.DrawFn, depth: int = 2) -> str:
    """A SELECT that might be answered."""
    shown = draw(st.lists(outputs(depth - 1), min_size=1, max_size=3))
    grouped = draw(st.lists(keys(depth - 1), max_size=2))
    items = [*grouped, *(f"{item} AS a{i}" for i, item in enumerate(shown))]
    source = draw(sources())
    parts = [f"SELECT {', '.join(items)} {source}"]
    if draw(st.integers(0, 8)) == 0:
        parts.insert(0, f"WITH people AS (SELECT * FROM people WHERE {draw(truths(1))})")
    if draw(st.booleans()):
        parts.append(f"WHERE {draw(truths(depth))}")
    if grouped:
        parts.append("GROUP BY " + ", ".join(grouped))
        if draw(st.integers(0, 3)) == 0:
            parts.append(f"HAVING a0 > {draw(choose(NUMBERS))}")
    if draw(st.integers(0, 2)) == 0:
        parts.append(f"ORDER BY {draw(choose(['1', 'a0', 'a0 DESC', 'COUNT(*)', '2']))}")
    if draw(st.integers(0, 3)) == 0:
        parts.append(f"LIMIT {draw(choose(['0', '1', '3', '10000000']))}")
    return " ".join(parts)


def mutated(statement: str, other: str, chance: random.Random) -> str:
    """The statement with some of it changed: in its tree, then perhaps in its characters."""
    changed = _in_tree(statement, other, chance) if chance.random() < 0.85 else statement
    return _in_text(changed, other, chance) if chance.random() < 0.25 else changed


def _in_tree(statement: str, other: str, chance: random.Random) -> str:
    try:
        tree = sqlglot.parse_one(statement, read="postgres")
        donor = sqlglot.parse_one(other, read="postgres")
        for _ in range(chance.randint(1, 3)):
            _change(tree, donor, chance)
        return tree.sql("postgres")
    except Exception:  # not every tree can be written down
        return statement


def _change(tree: exp.Expression, donor: exp.Expression, chance: random.Random) -> None:
    nodes = [node for node in tree.walk() if node.parent is not None]
    node, kind = chance.choice(nodes), chance.randrange(5)
    if kind == 0:
        node.pop()
    elif kind == 1:
        node.replace(chance.choice(list(donor.walk())).copy())
    elif kind == 2:
        node.replace(chance.choice(nodes).copy())
    elif kind == 3:
        columns = list(tree.find_all(exp.Column, exp.Literal)) or [node]
        text = chance.choice([*NASTY, *NUMBERS, *TEXTS, *COLUMNS["number"]])
        chance.choice(columns).replace(sqlglot.parse_one(text, read="postgres"))
    else:
        calls = list(tree.find_all(exp.Func)) or [node]
        name = chance.choice(
            ["SUM", "RANDOM", "AVG", "LAG", "COUNT", "SQRT", "MIN", "NOW", "f", "MD5"]
        )
        old = chance.choice(calls)
        old.replace(
            exp.Anonymous(this=name, expressions=[part.copy() for part in old.iter_expressions()])
        )


def _in_text(statement: str, other: str, chance: random.Random) -> str:
    signs = list("()',;*.\"\\-+%$@#:[]{}<>=!|&~`?\n\t \x00é😀1aA")
    text = list(statement)
    for _ in range(chance.randint(1, 2)):
        place = chance.randrange(len(text) + 1)
        kind = chance.randrange(5)
        if kind == 0:
            del text[place : place + chance.randint(1, 6)]
        elif kind == 1:
            text[place:place] = chance.choice(signs)
        elif kind == 2:
            text[place : place + 1] = chance.choice(signs)
        elif kind == 3:
            start = chance.randrange(len(other) + 1)
            text[place:place] = other[start : start + chance.randint(1, 20)]
        else:
            text[place:place] = f" {chance.choice(NASTY)} "
    return "".join(text)
