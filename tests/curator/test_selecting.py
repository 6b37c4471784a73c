"""Choices through a session: the largest count, those above a bar, a price; each is paid first."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from town import Town, write_people

from adomnia.errors import BudgetError, MachineryError, NotAllowedError, QuestionError

AGES = ["age < 30", "age BETWEEN 30 AND 79", "age >= 80"]


def events(analyst):
    return [e.body["event"] for e in analyst._backend.journal.entries() if e.kind == "reserved"]


def test_the_condition_that_most_rows_meet(town: Town, exact) -> None:
    analyst = town.open("epsilon = 10").session()
    found = analyst.noisy_max(AGES, 2)
    assert (found.value, found.place) == (AGES[1], 1)
    assert found.margin == 1
    assert found.spent == {"epsilon": 2}
    assert found.remaining["epsilon"] == 8
    assert events(analyst) == [{"event": "noisy-max", "epsilon": "2", "sensitivity": "1"}]
    assert analyst.noisy_max(["sex = 'F'"], "1/2").margin == 0


def test_which_counts_are_above_a_threshold(town: Town) -> None:
    analyst = town.open("epsilon = 100").session()
    found = analyst.above(300, [*AGES, "sex = 'F'", "sex = 'M'"], 30, cutoff=2)
    assert found.verdicts == (False, True, False, True)
    assert found.margin == 0  # all noise is zero at this epsilon, nearly always
    assert events(analyst) == [
        {"event": "above-threshold", "epsilon": "30", "sensitivity": "1", "cutoff": "2"}
    ]
    none = analyst.above(10_000, AGES, 1)
    assert 10 < none.margin < 30
    assert none.verdicts == (False, False, False)


def test_a_price_that_brings_nearly_the_most(town: Town, exact) -> None:
    analyst = town.open("epsilon = 1000").session()
    prices = [100, 700, 1000, 1900]
    found = analyst.auction("income", prices, 20)
    brought = [p * exact(f"SELECT COUNT(*) FROM people WHERE income >= {p}")[0][0] for p in prices]
    assert brought[found.place] >= max(brought) - found.margin
    assert found.value == prices[found.place]
    assert events(analyst) == [{"event": "auction", "epsilon": "20", "sensitivity": "1"}]


def test_a_price_in_decimals(town: Town) -> None:
    pq.write_table(pa.table({"bid": [0.5] * 80 + [2.75] * 20}), town.folder / "people.parquet")
    (town.folder / "adomnia.toml").write_text(
        '[data]\nsource = "people.parquet"\n[privacy]\nepsilon = 9999\nconfirmed = true\n'
        "[attributes.bid]\nlow = 0\nhigh = 5\nstep = 0.25\n"
    )
    import adomnia

    with adomnia.open(town.folder / "adomnia.toml") as database:
        analyst = database.session()
        assert analyst.auction("bid", [0.5, 1, "2.75", 5], 900).value == "2.75"
        with pytest.raises(QuestionError, match="multiples of 1/4"):
            analyst.auction("bid", [0.3], 1)


RELATIONS = [
    ("", 1, 1),
    ('neighbors = "bounded"', 2, 1),
    ("group = 3", 3, 3),
    ('unit = "person_id"\nmax_rows = 5', 5, 5),
    ('neighbors = "free-lunch"\nmost = 2000', 4000, 2000),
]


@pytest.mark.parametrize(("privacy", "moves", "touched"), RELATIONS)
def test_the_price_is_for_all_rows_that_move(
    town: Town, privacy: str, moves: int, touched: int
) -> None:
    analyst = town.open(f"epsilon = 100\n{privacy}").session()
    analyst.noisy_max(AGES, 1)
    analyst.above(5, AGES, 1)
    analyst.auction("income", [10, 20], 1)
    assert [Fraction(e["sensitivity"]) for e in events(analyst)] == [moves, moves, touched]


def test_with_free_lunch_neighbours_too_many_rows_count_as_none(town: Town) -> None:
    analyst = town.open('epsilon = 1000000\nneighbors = "free-lunch"\nmost = 999').session()
    assert analyst.above(100, ["age >= 0"], 50_000).verdicts == (False,)
    other = town.open('epsilon = 1000000\nneighbors = "free-lunch"\nmost = 1000').session()
    assert other.above(100, ["age >= 0"], 50_000).verdicts == (True,)


def test_on_a_table_without_rows(town: Town) -> None:
    write_people(town.folder, rows=0)
    analyst = town.open("epsilon = 1000").session()
    assert analyst.noisy_max(AGES, 1).value in AGES
    assert analyst.above(50, AGES, 5).verdicts == (False, False, False)
    assert analyst.auction("income", [10, 20], 1).value in {10, 20}


WRONG = [
    (lambda a: a.noisy_max([], 1), "1 to 1,000 conditions"),
    (lambda a: a.noisy_max("age < 30", 1), "1 to 1,000 conditions"),
    (lambda a: a.noisy_max(["age < 3"] * 1001, 1), "1 to 1,000 conditions"),
    (lambda a: a.noisy_max(["age"], 1), "condition"),
    (lambda a: a.noisy_max(["nothing = 3"], 1), "nothing"),
    (lambda a: a.noisy_max(["1 = 1) GROUP BY (sex"], 1), "one condition"),
    (lambda a: a.noisy_max(["1 = 1) LIMIT (1"], 1), "."),
    (lambda a: a.noisy_max(["age < 3; DROP TABLE people"], 1), "."),
    (lambda a: a.noisy_max(AGES, 0), "epsilon"),
    (lambda a: a.noisy_max(AGES, float("nan")), "epsilon"),
    (lambda a: a.noisy_max(AGES, 1, confidence=2), "confidence"),
    (lambda a: a.above(float("nan"), AGES, 1), "threshold must be a whole number"),
    (lambda a: a.above(1.5, AGES, 1), "threshold must be a whole number"),
    (lambda a: a.above(1, AGES, 1, cutoff=0), "cutoff"),
    (lambda a: a.above(1, [], 1), "conditions"),
    (lambda a: a.auction("income", [], 1), "at least one price"),
    (lambda a: a.auction("income", [3, 2], 1), "larger than the one before"),
    (lambda a: a.auction("income", [0, 2], 1), "price"),
    (lambda a: a.auction("income", [float("nan")], 1), "price"),
    (lambda a: a.auction("sex", [1], 1), "not a number"),
    (lambda a: a.auction("nobody", [1], 1), "not a declared attribute"),
]


@pytest.mark.parametrize("place", range(len(WRONG)))
def test_what_is_wrong_is_said_before_anything_is_paid(town: Town, place: int) -> None:
    analyst = town.open("epsilon = 9").session()
    do, said = WRONG[place]
    with pytest.raises(QuestionError, match=said):
        do(analyst)
    assert analyst.remaining()["epsilon"] == 9


def test_budgets_bind(town: Town) -> None:
    analyst = town.open("epsilon = 1").session()
    for do in (
        lambda: analyst.noisy_max(AGES, 2),
        lambda: analyst.above(5, AGES, 2),
        lambda: analyst.auction("income", [5], 2),
    ):
        with pytest.raises(BudgetError):
            do()
    assert events(analyst) == []


def test_it_is_paid_before_the_data_is_read(town: Town, monkeypatch) -> None:
    analyst = town.open("epsilon = 3").session()

    def fail(request):
        raise RuntimeError("Zzvienna")

    monkeypatch.setattr(analyst._backend.engine, "measure", fail)
    with pytest.raises(MachineryError) as caught:
        analyst.noisy_max(AGES, 1)
    assert "Zzvienna" not in str(caught.value)
    assert analyst.remaining()["epsilon"] == 2


def test_not_where_something_was_released_exactly(town: Town) -> None:
    more = '[[prior]]\nsql = "SELECT COUNT(*) FROM people"\n'
    analyst = town.open("epsilon = 9", more).session()
    for do in (
        lambda: analyst.noisy_max(AGES, 1),
        lambda: analyst.above(5, AGES, 1),
        lambda: analyst.auction("income", [5], 1),
    ):
        with pytest.raises(NotAllowedError, match="released exactly"):
            do()


def test_earlier_choices_cost_more_after_an_exact_release(town: Town) -> None:
    database = town.open("epsilon = 90")
    analyst = database.session()
    analyst.noisy_max(AGES, 1)
    analyst.above(5, AGES, 1)
    analyst.auction("income", [5], 1)
    told = database.add_prior("SELECT COUNT(*) FROM people")
    assert told.repriced == 3
    assert told.after.epsilon == 6  # a row that goes comes back as another
