"""Patterns: rows that stand for all show the same as all rows."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as some
from people import ask

from adomnia.queries import patterns as room
from adomnia.queries.expression import Column
from adomnia.queries.operations import call, constant, evaluate
from adomnia.queries.patterns import names, patterns
from adomnia.queries.ranges import Day, Number, Text

NUMBER = Column("n", Number(-150, 150))
DAY = Column("d", Day(date(2020, 1, 1), date(2020, 6, 30)))
NAME = Column("t", Text(None))
DAYS = [DAY.range.low + timedelta(days=k) for k in range(182)]
NAMES = ["a", "b", "c", "anything else", ""]
ORDER = ["eq", "ne", "lt", "le", "gt", "ge"]


def comparing(column, values, ops):
    compared = some.builds(
        lambda op, value, swap: call(
            op, *((constant(value), column) if swap else (column, constant(value)))
        ),
        some.sampled_from(ops),
        some.sampled_from(values),
        some.booleans(),
    )
    among = some.builds(
        lambda chosen: call("in", column, params=tuple(chosen)),
        some.lists(some.sampled_from(values), min_size=1, max_size=3),
    )
    return some.one_of(compared, among, some.just(call("is_null", column)))


tests = some.one_of(
    comparing(NUMBER, [-151, -150, -7, 0, 7, 150, 151], ORDER),
    comparing(DAY, [date(2019, 1, 1), *DAYS[::40], DAYS[-1], date(2021, 1, 1)], ORDER),
    comparing(NAME, ["a", "b", "c"], ["eq", "ne"]),
)
conditions = some.recursive(
    tests,
    lambda inner: some.one_of(
        some.builds(lambda a, b: call("and", a, b), inner, inner),
        some.builds(lambda a: call("not", a), inner),
    ),
    max_leaves=4,
)


def by_all_rows(listed, where):
    every = {"n": range(-150, 151), "d": DAYS, "t": NAMES}
    read = sorted(names(where, *listed))
    found = set()
    for row in product(*((*every[name], None) for name in read)):
        values = dict(zip(read, row, strict=True))
        kept = where is None or evaluate(where, values) is True
        found.add(tuple(kept and evaluate(test, values) is True for test in listed))
    return found


@settings(max_examples=60, deadline=None)
@given(some.lists(conditions, min_size=1, max_size=2), some.none() | tests)
def test_stand_ins_show_all_patterns_that_all_rows_show(listed, where):
    if len(names(where, *listed)) > 2:
        return
    assert patterns(tuple(listed), where) == by_all_rows(listed, where)


def test_brackets_of_a_wide_column_are_seen_to_be_disjoint():
    question = ask(
        "SELECT COUNT_IF(income < 10000), COUNT_IF(income >= 10000 AND income < 50000), "
        "COUNT_IF(income >= 50000) FROM people"
    )
    found = patterns(tuple(statistic.argument for statistic in question.statistics))
    assert max(sum(pattern) for pattern in found) == 1
    assert len(found) == 4


def test_what_cannot_be_tried_is_not_guessed():
    like = call("like", NAME, params=("a%", False))
    assert patterns((like,)) is None
    wide = Column("w", Number(0, 10**6))
    assert patterns((call("eq", call("mul", wide, wide), constant(4)),)) is None
    assert patterns((call("eq", wide, NUMBER),)) is None


def test_no_condition_at_all_is_met_by_every_row():
    assert patterns((None,)) == {(True,)}
    assert patterns((None, None)) == {(True, True)}
    assert patterns((None,), constant(False)) == {(False,)}


def test_the_limit_on_rows_holds(monkeypatch):
    monkeypatch.setattr(room, "MAX_ROWS", 10)
    patterns.cache_clear()
    assert patterns((call("eq", NUMBER, constant(3)), call("eq", DAY, constant(DAYS[3])))) is None
    patterns.cache_clear()
