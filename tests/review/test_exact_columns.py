"""What an audit may see of the policy's own data: columns as codes, people, counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from adomnia.curator.database import open_database
from adomnia.errors import QuestionError
from adomnia.queries.expression import Column
from adomnia.queries.ranges import from_domain
from adomnia.review.exact_columns import (
    exact_counts,
    exact_numbers,
    key_values,
    own_columns,
    people_of,
)

POLICY = """[data]
source = "people.csv"
[privacy]
epsilon = 1
confirmed = true
{privacy}
[attributes.sex]
values = ["F", "M"]
[attributes.age]
low = 0
high = 10
[attributes.town]
values = ["A", "B"]
nullable = true
"""
PEOPLE = """id,sex,age,town
a,F,3,A
b,M,99,B
c,F,5,
d,,5,A
e,X,4,B
f,M,5,C
f,M,5,A
"""


@pytest.fixture
def house(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE)

    def write(privacy: str = "") -> None:
        Path("adomnia.toml").write_text(POLICY.format(privacy=privacy))

    write()
    return write


def test_own_columns_are_those_of_a_release(house):
    with open_database() as database:
        coded = own_columns(database, ["sex", "age", "town"])
        planned = database.plan_release(marginals=["sex,age,town"], epsilon=1)
    assert planned.workload.sizes == (2, 11, 3)
    assert coded.domains["sex"] == ["F", "M"]
    assert coded.domains["town"] == ["A", "B", None]
    assert coded.rows == 3  # without a listed sex or town, or an age inside, a row is left out
    table = coded.table(("sex", "town"))
    assert table.tolist() == [[1, 0, 1], [1, 0, 0]]
    assert coded.table(("age",)).tolist() == [0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0]  # and no 99 at 10


def test_what_lies_outside_is_no_value_and_no_number(house):
    with open_database() as database:
        keys = {name: Column(name, from_domain(database.policy.attributes[name].domain))
                for name in ("age", "town")}  # fmt: skip
        found = key_values(database, keys)
        assert sorted(found["age"], key=str) == [3, 4, 5, 5, 5, 5, None]
        assert sorted(found["town"], key=str) == ["A", "A", "A", "B", "B", None, None]
        values, rows = exact_numbers(database, "age", None)
        assert (values.tolist(), rows.tolist()) == ([3, 4, 5], [1, 1, 4])
        assert people_of(database, "age", "sex = 'F'", 9) == ([3, 4], [1, 0])


def test_rows_of_one_unit_are_limited(house):
    house('unit = "id"\nmax_rows = 1')
    with open_database() as database:
        assert own_columns(database, ["sex"]).rows == 4


def test_attributes_without_a_short_list_are_refused(house):
    refused = pytest.raises(QuestionError, match="not a declared attribute")
    with open_database() as database, refused:
        own_columns(database, ["sex", "id"])


def test_people_and_their_bits(house):
    with open_database() as database:
        who, bits = people_of(database, "id", "sex = 'F'", 4)
        everybody, _ = people_of(database, "id", "sex = 'F'", 100)
        assert exact_counts(database, ["sex = 'F'", "age > 4"]) == [2, 5]
    assert (who, bits) == (["a", "b", "c", "d"], [1, 0, 1, 0])
    assert everybody == ["a", "b", "c", "d", "e"]  # f has two rows
