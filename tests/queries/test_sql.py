"""SQL: statements that are accepted and what they mean, and refused ones and where it says so."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from people import COLUMNS, DOMAINS, TABLE, ask, summary
from sqlglot import exp, parse_one

from adomnia.errors import QuestionError
from adomnia.queries.question import Question
from adomnia.queries.sql.bind import bind
from adomnia.schema.table import Attribute, PublicTable, Table

HERE = Path(__file__).parent


def fixtures(name):
    """Statements with what is expected of them: blocks of a statement, perhaps a caret, and =>."""
    for block in (HERE / name).read_text("utf-8").split("\n\n"):
        lines = block.strip("\n").split("\n")
        expected = lines.pop().removeprefix("=> ")
        carets = [index for index, line in enumerate(lines) if re.fullmatch(r" *\^", line)]
        position = None
        for index in carets:
            before = sum(len(line) + 1 for line in lines[: index - 1])
            position = before + lines.pop(index).index("^")
        yield "\n".join(lines), expected, position


ACCEPTED, REFUSED = list(fixtures("accepted.sql")), list(fixtures("refused.sql"))


@pytest.mark.parametrize(("sql", "expected", "position"), ACCEPTED, ids=lambda x: str(x)[:60])
def test_an_accepted_statement_means_what_is_written_here(sql, expected, position):
    assert position is None
    assert summary(ask(sql)) == expected


@pytest.mark.parametrize(("sql", "expected", "position"), REFUSED, ids=lambda x: str(x)[:60])
def test_a_refused_statement_is_pointed_at(sql, expected, position):
    with pytest.raises(QuestionError) as caught:
        ask(sql)
    assert caught.value.message == expected
    assert caught.value.position == position
    assert caught.value.exit_code == 2
    assert position is None or "^" in str(caught.value)


def test_two_ways_to_say_the_same_are_one_question():
    one = ask("SELECT sex, COUNT(*) AS n FROM people WHERE age > 17 GROUP BY sex")
    for other in (
        "SELECT p.sex, COUNT(*) AS n FROM people p WHERE p.age > 17 GROUP BY 1",
        "WITH a AS (SELECT * FROM people WHERE age > 17) SELECT sex, COUNT(*) n FROM a GROUP BY 1",
        "select SEX as sex, count(1) as n from (select * from people) x where 17 < age group by 1",
    ):
        same = ask(other)
        assert same.keys == one.keys
        assert same.statistics == one.statistics
        assert same.outputs == one.outputs
    assert ask("SELECT COUNT(*) FROM people WHERE age > 18") != one


def test_a_public_table_may_hold_anything():
    rows = ((1, "a", None), (2, 7, None), (None, "c", None), ("x", "d", None), (3, "e", None))
    odd = PublicTable("odd", "k", ("k", "mixed", "empty"), rows)
    table = Table("people", {n: Attribute(n, d) for n, d in DOMAINS.items()}, public={"odd": odd})
    question = bind(
        "SELECT mixed, COUNT(empty) FROM people JOIN odd ON odd.k = region_id GROUP BY mixed",
        table,
        COLUMNS,
    )
    assert question.keys[0].range.values == ("a", "7", "e")


# No statement may fail in any other way


def accepted_or_refused(sql):
    """Whether the statement is accepted; anything but a QuestionError is passed on."""
    try:
        return isinstance(ask(sql), Question)
    except QuestionError as refused:
        if not refused.message or "Traceback" in str(refused):
            raise AssertionError("a refusal says why") from refused
        return False


WORDS = """
SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET WITH AS people regions age sex income price
smoker admitted diagnosis region_id name person_id COUNT SUM AVG MIN MAX MEDIAN QUANTILE VAR_SAMP
STDDEV PERCENTILE_CONT WITHIN FILTER OVER PARTITION JOIN LEFT USING ON AND OR NOT IN BETWEEN LIKE
IS NULL TRUE FALSE CASE WHEN THEN ELSE END CAST DISTINCT ALL ANY EXISTS UNION EXTRACT year
DATE_TRUNC 'month' ABS ROUND FLOOR LEAST GREATEST COALESCE NULLIF SUBSTRING UPPER LENGTH SQRT EXP
POWER INTERVAL ARRAY DATE '2020-01-01' 'F' 'x%' '' 0 1 2 10 0.5 1e9 -1 1e400 99999999999999999999
( ( ) ) , , * + - / % = <> < >= . ; :: || ? $1 :x [ ] { } " ' \\ -- /* */ é 😀 "Größe" ² ٣
"""
WORDS = [*WORDS.split(), "\x00"]


def soup(chance):
    return " ".join(chance.choices(WORDS, k=chance.randint(1, 25)))


def mutation(chance, statements):
    """A statement with a few of its words removed, doubled, swapped or replaced."""
    words = re.findall(r"\w+|'[^']*'|\s+|.", chance.choice(statements), re.DOTALL)
    for _ in range(chance.randint(1, 4)):
        place, other = chance.randrange(len(words)), chance.randrange(len(words))
        words[place] = chance.choice(
            ("", words[place] * 2, words[other], chance.choice(WORDS), f"({words[place]})")
        )
    return "".join(words)


def graft(chance, trees):
    """A statement in which an expression is replaced by one of another statement."""
    tree, other = chance.choice(trees).copy(), chance.choice(trees)
    places = [node for node in tree.walk() if isinstance(node, exp.Condition) and node.parent]
    gifts = [node for node in other.walk() if isinstance(node, exp.Condition)]
    chance.choice(places).replace(chance.choice(gifts).copy())
    return tree.sql("postgres")


def test_soup_mutations_and_grafts_are_accepted_or_refused():
    chance = random.Random(20061)
    statements = [sql for sql, _, _ in ACCEPTED + REFUSED]
    trees = [parse_one(sql, read="postgres") for sql, _, _ in ACCEPTED]
    tried = [soup(chance) for _ in range(400)]
    tried += [mutation(chance, statements) for _ in range(800)]
    tried += [graft(chance, trees) for _ in range(800)]
    found = [accepted_or_refused(sql) for sql in tried]
    assert 150 < sum(found) < 1500


@settings(max_examples=200, deadline=None)
@given(some.text(max_size=60), some.sampled_from(["{}", "SELECT {} FROM people", "SELECT '{}'"]))
def test_any_text_is_accepted_or_refused(text, frame):
    assert accepted_or_refused(frame.replace("{}", text)) in (True, False)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people LIMIT " + "9" * 5000,
        "SELECT COUNT(*) FROM people WHERE age > " + "9" * 5000,
        "SELECT COUNT(*) FROM people WHERE " + " AND ".join(["age > 3"] * 2000),
        "SELECT COUNT(*) FROM people WHERE " + " OR ".join(["age + 1 > 3"] * 500),
        "SELECT SUM(" + "+".join(["age"] * 3000) + ") FROM people",
        "SELECT SUM(" + "-" * 50 + "age) FROM people",
        "SELECT SUM(" + "(" * 5000 + "age" + ")" * 5000 + ") FROM people",
        "SELECT COUNT(*) FROM people WHERE " + "NOT " * 150 + "smoker",
        "SELECT COUNT(*) FROM people WHERE " + "CASE WHEN smoker THEN " * 100,
        "SELECT " + ", ".join(["COUNT(*)"] * 1000) + " FROM people",
        "SELECT COUNT(*) FROM people WHERE age IN (" + ", ".join(map(str, range(4000))) + ")",
        "x" * 200_000,
        "SELECT COUNT(*) FROM people GROUP BY " + ", ".join(["sex"] * 500),
        "SELECT ROUND(AVG(age), " + "9" * 5000 + ") FROM people",
        "SELECT QUANTILE(age, 0." + "3" * 5000 + ") FROM people",
    ],
    ids=lambda sql: sql[:50],
)
def test_large_statements_are_accepted_or_refused(sql):
    assert accepted_or_refused(sql) in (True, False)


def test_the_table_of_this_room_is_the_one_that_is_asked():
    assert ask("SELECT COUNT(*) FROM people").table == TABLE.name


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT COUNT(* FROM people", ") is missing here"),
        ("WITH a AS SELECT 1", "( is missing here"),
        ("SELECT COUNT(*) FROM people GROUP age", "check the spelling"),
        ("SELECT a b c FROM people", "check the spelling"),
        ("SELECT 'abc FROM people", "check the spelling"),
    ],
)
def test_the_parser_does_not_speak_of_itself(sql, hint):
    with pytest.raises(QuestionError) as caught:
        ask(sql)
    assert caught.value.hint == hint


HINTS = {
    "SELECT COUNT(*) FROM people WHERE agee > 3": "did you mean 'age'? the columns are: ",
    'SELECT COUNT(*) FROM people WHERE sex = "Zürich"': "text goes in single quotes: 'Zürich'; ",
    "SELECT COUNT(*) FROM people WHERE sex = 17": "write '17'",
    "SELECT COUNT(*) FROM people WHERE age = 'old'": "age lies between 0 and 120",
    "SELECT COUNT(*) FROM people WHERE COUNT(*) > 3": "conditions on aggregates go into HAVING",
    "SELECT TO_CHAR(admitted, 'YYYY') AS y, COUNT(*) FROM people GROUP BY 1": "group by DATE_TRUNC",
}


@pytest.mark.parametrize(("sql", "hint"), HINTS.items())
def test_a_common_mistake_is_told_with_what_works(sql, hint):
    with pytest.raises(QuestionError) as caught:
        ask(sql)
    assert caught.value.hint.startswith(hint)
