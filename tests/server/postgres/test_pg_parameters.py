"""A question with a parameter is the question with the value written in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from parlour import write_town

from adomnia.curator.database import PrivateDatabase, open_database
from adomnia.server.postgres.known_columns import KnownColumns
from adomnia.server.postgres.parameters import parameter_count, template
from adomnia.wire.errors import WireError
from adomnia.wire.statements.lexer import ClientStatement, split

QUESTIONS = [
    "SELECT extract(year from born) AS y, count(*) FROM people WHERE age > {} GROUP BY 1",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY income) FROM people WHERE age > {}",
    "SELECT sex, count(*) FILTER (WHERE age < {}) AS young FROM people GROUP BY sex",
    "SELECT CASE WHEN age < {} THEN 'a' ELSE 'b' END AS c, avg(income) FROM people GROUP BY 1"
    " ORDER BY 2 DESC NULLS LAST LIMIT 3",
    "SELECT sum(income) / count(*) AS r FROM people WHERE age BETWEEN {} AND 60 AND NOT member",
    "SELECT stddev(income), var_pop(income) FROM people WHERE age > {}",
    "WITH w AS (SELECT sex FROM people WHERE age > {}) SELECT sex, count(*) FROM w GROUP BY sex",
    "SELECT floor(age/10)*10 AS d, count(*) FROM people WHERE age >= {} GROUP BY floor(age/10)*10",
    "SELECT count(*) FROM people WHERE age > {} AND sex LIKE 'F%' AND born >= DATE '1950-01-01'",
    "SELECT income % 7 AS m, count(*) FROM people WHERE age > {} GROUP BY income % 7",
    "SELECT count(*) AS n FROM people WHERE age = - {}",
]


def one(sql: str) -> ClientStatement:
    """The one statement of a text."""
    (found,) = split(sql)
    return found


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateDatabase]:
    """A town that is only looked at."""
    with open_database(write_town(tmp_path_factory.mktemp("parameters"))) as made:
        yield made


@pytest.mark.parametrize("value", [30, -4, 0])
@pytest.mark.parametrize("sql", QUESTIONS)
def test_values_bind_as_if_they_were_written(database, sql, value):
    made = template(one(sql.format("$1")), [], KnownColumns(database))
    assert made.parameters == (20,)
    look = database._backend.interpret  # whether a value is ever met is not the matter here
    assert look(made.filled([value])) == look(sql.format(f"({value})"))
    assert look(made.filled(made.examples)).outputs


@pytest.mark.parametrize(
    ("sql", "values", "same"),
    [
        ("age = ANY($1)", [[1, 2]], "age IN (1, 2)"),
        ("age = ANY($1)", [[]], "FALSE"),
        ("NOT sex = ANY($1::text[])", [["F"]], "NOT sex IN ('F')"),
        ("sex = $1 OR age = $2 OR age = $2", ["a'b", None], "sex = 'a''b' OR age=NULL OR age=NULL"),
        ("member = $1 AND income > $2", [True, 1.5], "member = TRUE AND income > 1.5"),
    ],
)
def test_lists_truths_and_nothing(database, sql, values, same):
    asking = one(f"SELECT count(*) AS n FROM people WHERE {sql}")
    made = template(asking, [], KnownColumns(database))
    asked = database._backend.interpret(made.filled(values))
    assert asked == database._backend.interpret(f"SELECT count(*) AS n FROM people WHERE {same}")


def test_what_is_not_a_parameter_is_none():
    assert parameter_count(one("SELECT '$1', \"$2\", $x$ $3 $x$ -- $4")) == 0
    assert parameter_count(one("SELECT $2, $1")) == 2
    for sql in ("SELECT $0", "SELECT $1001"):
        with pytest.raises(WireError):
            parameter_count(one(sql))


@pytest.mark.parametrize("values", [[float("nan")], [float("inf")], [b"bytes"], [["a"]]])
def test_values_that_no_question_takes(database, values):
    asking = one("SELECT count(*) FROM people WHERE age > $1")
    made = template(asking, [], KnownColumns(database))
    with pytest.raises(WireError):
        made.filled(values)
