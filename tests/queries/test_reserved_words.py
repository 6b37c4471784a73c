"""A column whose name is a word of SQL: a statement that does not quote it is told how to."""

from fractions import Fraction

import pytest
from people import COLUMNS, DOMAINS

from adomnia.errors import QuestionError
from adomnia.queries.sql.bind import bind
from adomnia.queries.sql.fragments import bind_condition
from adomnia.schema.domain import Grid
from adomnia.schema.table import Attribute, PublicTable, Table

YEARS = Grid(Fraction(0), Fraction(120))
WORDS = ("Alter", "case", "from", "when", "union")


def table(word):
    attributes = {name: Attribute(name, domain) for name, domain in DOMAINS.items()}
    return Table("people", {**attributes, word: Attribute(word, YEARS)})


def asked(sql, word):
    return bind(sql, table(word), (*COLUMNS, word))


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG({}) FROM people",
        "SELECT {}, COUNT(*) FROM people GROUP BY 1",
        "SELECT COUNT(*) FROM people WHERE age < 30 AND {} > 30",
    ],
)
def test_the_word_is_named_pointed_at_and_quoted(sql, word):
    with pytest.raises(QuestionError) as caught:
        asked(sql.format(word.lower()), word)
    assert caught.value.message == f"{word.lower()} is a word of SQL, and a column here"
    assert caught.value.hint == f'write it as "{word}"'
    assert caught.value.position == sql.index("{")
    assert asked(sql.format(f'"{word}"'), word).statistics


@pytest.mark.parametrize("word", ["order", "user", "group", "value", "date", "status"])
def test_words_that_the_parser_takes_for_names_need_no_quotes(word):
    assert asked(f"SELECT {word}, COUNT(*) FROM people GROUP BY {word}", word).keys


def test_another_fault_is_not_laid_on_a_column():
    for sql in ('SELECT AVG("Alter" FROM people', "SELECT SUM(age) FRM people WHERE Alter > 3"):
        with pytest.raises(QuestionError) as caught:
            asked(sql, "Alter")
        assert caught.value.message == "this is not valid SQL"


def test_conditions_of_a_policy_and_public_tables_are_told_too():
    with pytest.raises(QuestionError, match="Alter is a word of SQL"):
        bind_condition("Alter < 18", {"Alter": YEARS})
    regions = PublicTable("regions", "region_id", ("region_id", "case"), ((1, "a"), (2, "b")))
    joined = Table("people", table("age").attributes, public={"regions": regions})
    with pytest.raises(QuestionError, match="case is a word of SQL"):
        bind(
            "SELECT case, COUNT(*) FROM people JOIN regions USING (region_id) GROUP BY 1",
            joined,
            COLUMNS,
        )
