"""Made-up records beside the data: distances by hand, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adomnia.errors import NotAllowedError, QuestionError
from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.review.microdata import records_comparison
from adomnia.review.microdata.records_comparison import compare_records, refuse_comparison
from adomnia.testing import World, listed, number

PEOPLE = World(
    {
        "sex": ["F", "F", "M", "M", None, "F"],
        "age": [0, 1, 2, 3, 3, 0],
        "shade": ["x", "x", "y", "y", "y", "x"],
    },
    {"sex": listed("F", "M"), "age": number(0, 3), "shade": listed("x", "y")},
)


@pytest.fixture
def compared():
    """The people above against two records that are made by hand."""
    with PEOPLE.open() as database:
        made = database.release(database.plan_release(marginals=["sex,age", "shade"], epsilon=10))
        records = SyntheticRecords(np.array([[0, 0, 0], [1, 3, 0]]), np.array([3, 1]))
        object.__setattr__(made, "microdata", records)
        yield compare_records(database, made)


def test_rows_are_those_that_tables_count(compared):
    assert (compared.rows_made, compared.rows_true) == (4, 6)  # one has no sex, and is there


def test_total_variation_is_half_the_sum_of_differences(compared):
    found = {one.names: one.variation for one in (*compared.columns, *compared.pairs)}
    # sex: 3/6, 2/6, none 1/6 against 3/4, 1/4, 0; age: 2/6, 1/6, 1/6, 2/6 against 3/4, 0, 0, 1/4.
    assert found["sex",] == pytest.approx(1 / 4)
    assert found["age",] == pytest.approx(5 / 12)
    assert found["sex", "shade"] == pytest.approx((1 / 4 + 1 / 3 + 1 / 6 + 1 / 4) / 2)


def test_only_pairs_in_one_table_were_measured(compared):
    assert {one.names for one in compared.pairs if one.measured} == {("sex", "age")}


def test_associations_are_those_of_the_data_and_of_the_records(compared):
    found = {one.names: one.association for one in compared.pairs}
    assert found["sex", "shade"].kind == "Cramér's V"
    assert found["sex", "shade"].true == pytest.approx(1)
    assert found["sex", "shade"].made == 0  # one shade alone
    assert found["sex", "age"].kind == "Cramér's V"


def test_numbers_have_the_correlation_of_their_values():
    chance = np.random.default_rng(3)
    first = chance.integers(0, 10, 400)
    second = np.clip(first + chance.integers(-2, 3, 400), 0, 9)
    world = World({"a": first, "b": second}, {"a": number(0, 9), "b": number(0, 9)})
    with world.open() as database:
        made = database.release(database.plan_release(ways=2, epsilon=500))
        (pair,) = compare_records(database, made).pairs
    assert pair.association.kind == "correlation"
    assert pair.association.true == pytest.approx(np.corrcoef(first, second)[0, 1])
    assert pair.association.lost < 0.05


def test_the_worst_cell_says_both_counts(compared):
    first = compared.cells[0]
    off = [abs(one.made - one.true) for one in compared.cells]
    assert off == sorted(off, reverse=True)
    assert min(off) > 0
    assert abs(first.made - first.true) == off[0]


def test_pairs_with_too_many_cells_are_named(monkeypatch):
    monkeypatch.setattr(records_comparison, "MAX_COMPARED_CELLS", 10)
    with PEOPLE.open() as database:
        made = database.release(database.plan_release(ways=1, epsilon=10))
        found = compare_records(database, made)
    assert found.left_out == (("sex", "age"), ("age", "shade"))
    assert [one.names for one in found.pairs] == [("sex", "shade")]


def test_many_lots_find_the_same(monkeypatch):
    with PEOPLE.open() as database:
        made = database.release(database.plan_release(ways=1, epsilon=10))
        whole = compare_records(database, made)
        monkeypatch.setattr(records_comparison, "LOT", 1)
        assert compare_records(database, made) == whole


def test_nothing_is_spent_and_it_says_that_it_is_exact():
    with PEOPLE.open() as database:
        made = database.release(database.plan_release(ways=1, epsilon=1))
        found = compare_records(database, made)
        assert database.budget()["data"]["spent"] == "1"
        assert [entry.kind for entry in database.ledger()] == [
        "opened", "edition", "reserved", "answered"
    ]  # fmt: skip
    assert json.loads(json.dumps(found.to_json()))["exact"] is True


def test_what_has_no_records_or_would_tell_an_analyst_is_refused():
    with pytest.raises(QuestionError, match="without records"):
        refuse_comparison(has_records=False, analyst=None)
    with pytest.raises(NotAllowedError, match="the curator's own"):
        refuse_comparison(has_records=True, analyst="alice")
