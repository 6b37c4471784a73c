"""Emptiness: what is proven to have no row has none, and what is small is always decided."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest
from people import ask

from adomnia.errors import QuestionError
from adomnia.queries.emptiness import Emptiness
from adomnia.queries.operations import evaluate
from adomnia.queries.question import Literal
from adomnia.queries.ranges import cells, from_domain, outside
from adomnia.queries.sql.bind import interpret
from adomnia.schema.domain import Categories, Grid
from adomnia.schema.table import Attribute, Table

DOMAINS = {
    "a": Grid(Fraction(0), Fraction(6)),
    "b": Grid(Fraction(-1), Fraction(1), Fraction(1, 2)),
    "c": Categories(("x", "y", "Z")),
    "d": Categories((True, False)),
}
TABLE = Table("t", {name: Attribute(name, domain) for name, domain in DOMAINS.items()})
ROWS = [
    dict(zip(DOMAINS, row, strict=True))
    for row in product(
        *((None, *cells(spread), *outside(spread)) for spread in map(from_domain, DOMAINS.values()))
    )
]
LEAVES = {
    "a": ["0", "3", "6", "7", "-1", "2.5", "NULL"],
    "b": ["-1", "0.5", "0.25", "2"],
    "c": ["'x'", "'z'", "'Z'", "''", "NULL"],
}


def condition(chance: random.Random, depth: int) -> str:
    """A random condition over the four columns."""
    if depth and chance.random() < 0.6:
        parts = [condition(chance, depth - 1) for _ in range(chance.randint(2, 3))]
        joined = f" {chance.choice(['AND', 'AND', 'OR'])} ".join(f"({part})" for part in parts)
        return f"NOT ({joined})" if chance.random() < 0.2 else joined
    name = chance.choice("aabbccd")
    if name == "d":
        return chance.choice(["d", "NOT d", "d IS NULL", "d IS NOT TRUE", "d = FALSE"])
    values = [chance.choice(LEAVES[name]) for _ in range(2)]
    sign = chance.choice(["=", "<>", "<", "<=", ">", ">="] if name != "c" else ["=", "<>"])
    return chance.choice([
        f"{name} {sign} {values[0]}",
        f"{values[0]} {sign} {name}",
        f"{name} {chance.choice(['IN', 'NOT IN'])} ({values[0]}, {values[1]})",
        f"{name} IS {chance.choice(['', 'NOT '])}NULL",
        "c LIKE '%z%'" if name == "c" else f"a + 1 {sign} b * 2",
        f"CASE WHEN d THEN {name} ELSE NULL END = {values[0]}" if name != "c" else "UPPER(c) = 'Y'",
        f"{name} BETWEEN {values[0]} AND {values[1]}" if name != "c" else "c ILIKE 'z'",
    ])  # fmt: skip


def interpreted(sql):
    """The question, or None where it denies a constant that its column does not declare."""
    try:
        return interpret(sql, TABLE, tuple(DOMAINS))
    except QuestionError as error:
        if not error.message.endswith("is not known"):
            raise
        return None


def is_met(*tests):
    """Whether a row of the whole domain meets the conditions, by trying all of them."""
    known = [test for test in tests if test is not None]
    return any(all(evaluate(test, row) is True for test in known) for row in ROWS)


def test_of_a_small_domain_it_is_decided_exactly():
    chance, empty = random.Random(5), 0
    for _ in range(1500):
        sql = f"SELECT COUNT(*) FROM t WHERE {condition(chance, 2)}"
        question = interpreted(sql)
        if question is None:
            continue
        assert question.never != is_met(question.where), sql
        assert question.never or question.refusal is None, sql
        empty += question.never
    assert 100 < empty < 1400


@pytest.mark.parametrize("form", ["COUNT(*) FILTER (WHERE {})", "SUM(CASE WHEN {} THEN a + 1 END)"])
def test_a_statistic_is_known_just_if_no_row_counts(form):
    chance, known = random.Random(6), 0
    for _ in range(500):
        where, test = condition(chance, 1), condition(chance, 1)
        sql = f"SELECT {form.format(test)} AS n, COUNT(*) AS m FROM t WHERE {where}"
        question = interpreted(sql)
        if question is None or question.never:
            continue
        tests = interpret(f"SELECT COUNT(*) FROM t WHERE {test}", TABLE, tuple(DOMAINS)).where
        value = question.outputs[0].value
        assert isinstance(value, Literal) != is_met(question.where, tests), sql
        known += isinstance(value, Literal)
    assert 20 < known < 450


def test_what_would_take_too_long_is_not_proven():
    question = ask("SELECT COUNT(*) FROM people WHERE age > 50 AND age < 20")
    assert not Emptiness().may_hold(question.where)
    assert Emptiness(work=3).may_hold(question.where)
    wide = ask("SELECT COUNT(*) FROM people WHERE income + debt > 9 AND income + debt < 3")
    assert not wide.never


def test_floating_point_is_never_relied_on():
    for condition in ("SQRT(age) > 300", "LN(age) > 9 AND LN(age) < 2", "EXP(age / 10) < 0"):
        assert not ask(f"SELECT COUNT(*) FROM people WHERE {condition}").never


def test_columns_that_are_not_tied_are_looked_at_one_by_one():
    many = "age > 5 AND debt < 5 AND price > 1 AND region_id = 1 AND smoker AND diagnosis = 'A'"
    assert ask(f"SELECT COUNT(*) FROM people WHERE {many} AND income > 9 AND income < 3").never
    assert not ask(f"SELECT COUNT(*) FROM people WHERE {many} AND income > 3").never


def test_a_value_that_is_not_listed_is_noted():
    question = ask("SELECT COUNT(*) FROM people WHERE sex IN ('F', 'm') AND region_id IN (1, 7)")
    assert question.notes == (
        "'m' is no value of sex: did you mean 'M'?",
        "7 is no value of region_id",
    )
    joined = "SELECT COUNT(*) FROM people JOIN regions USING (region_id) WHERE age > 3"
    assert ask(joined).notes == ()
