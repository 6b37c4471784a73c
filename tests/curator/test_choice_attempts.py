"""Attempts on choices, smooth noise, free-lunch limits and free questions: they fail."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from town import Town, policy_text

import adomnia
from adomnia.curator import selections
from adomnia.curator.access import Watch
from adomnia.errors import BudgetError, CancelledError, QuestionError
from adomnia.mechanisms.choices.noisy_max import noisy_max_gap
from adomnia.privacy import events

LEAST = "SELECT MIN(income) AS m FROM people"

# Choices


def test_the_gap_does_not_show_which_lattice_the_scores_lie_on() -> None:
    """(0, 0) and (0, 1/7) are neighbours for sensitivity 1; sevenths come of the second alone."""
    one = {noisy_max_gap([Fraction(0), Fraction(0)], 1, 1).gap.denominator for _ in range(60)}
    other = {noisy_max_gap([Fraction(0), Fraction(1, 7)], 1, 1).gap.denominator for _ in range(60)}
    assert one == other


def test_an_auction_has_no_more_prices_than_there_may_be_conditions(
    town: Town, monkeypatch
) -> None:
    analyst = town.open("epsilon = 9").session()
    monkeypatch.setattr(selections, "_pay", lambda *_: pytest.fail("2,000 prices take 14 s"))
    with pytest.raises(QuestionError):
        analyst.auction("income", list(range(1, 2001)), 1)


ODD = [
    lambda a: a.above(1, ["age < 30"], 1, cutoff=10**400),
    lambda a: a.auction("income", [5, 6], "1e-400"),
    lambda a: a.auction("income", [5, 10**400], 1),
    lambda a: a.auction("income", [5, 6], 10**400),
    lambda a: a.above(10**400, ["age < 30"], 1),
    lambda a: a.above(1, ["age < 30"], "1e-400"),
    lambda a: a.noisy_max(["age < 30"], "1e-400"),
    lambda a: a.noisy_max(["age < 30"], 10**400),
]


@pytest.mark.parametrize("place", range(len(ODD)))
def test_numbers_out_of_all_proportion_are_refused_in_words(town: Town, place: int) -> None:
    analyst = town.open("epsilon = 9").session()
    with pytest.raises(QuestionError):
        ODD[place](analyst)
    assert analyst.remaining()["epsilon"] == 9


def test_conditions_that_divide_by_nothing_do_not_fail_on_some_data_alone(town: Town) -> None:
    analyst = town.open("epsilon = 90").session()
    for test in ("1 / (age - 50) > 0", "SQRT(age - 50) > 1", "LN(age - 30) > 1",
                 "age % (age - 40) = 0", "age IN (1, NULL)"):  # fmt: skip
        assert analyst.noisy_max([test, "sex = 'F'"], 1).place in {0, 1}


ELSEWHERE = [
    "TRUE) LIMIT 0 --",
    "TRUE) AS x FROM people --",
    "COUNT(*) > 3",
    "TRUE) HAVING (TRUE",
    "TRUE) ORDER BY (sex",
    "age < (SELECT MAX(age) FROM people)",
    "TRUE;",
    "TRUE) --",
    "TRUE) UNION SELECT COUNT(*) FROM people WHERE (TRUE",
    "",
]


def test_a_condition_cannot_become_another_statement(town: Town) -> None:
    analyst = town.open("epsilon = 9").session()
    for test in ELSEWHERE:
        with pytest.raises(QuestionError):
            analyst.noisy_max([test], 1)
    assert analyst.remaining()["epsilon"] == 9


# Free questions

FREE = [
    "SELECT * FROM people LIMIT 0 OFFSET 3",
    "SELECT COUNT(*) FROM people LIMIT 0",
    "SELECT DISTINCT sex FROM people WHERE city = 'Zzrome'",
    "SELECT DISTINCT city = 'Zzrome' AS c FROM people",
    "SELECT DISTINCT CASE WHEN city = 'Zzrome' THEN 1 END AS c FROM people",
    "WITH x AS (SELECT * FROM people WHERE age > 100) SELECT DISTINCT sex FROM x",
    "WITH x AS (SELECT * FROM people WHERE age > 90) SELECT COUNT(*) FROM x WHERE age < 50",
    "SELECT COUNT(*) FROM (SELECT * FROM people WHERE 1 = 0) AS x",
    "SELECT city, COUNT(*) FROM people WHERE sex = 'F' AND sex = 'M' GROUP BY city",
    "SELECT MAX(age) FILTER (WHERE sex = 'F' AND sex = 'M') AS m FROM people",
    "SELECT DISTINCT sex, city FROM people WHERE 1 = 0",
    "SELECT MODE(sex) FROM people WHERE NULL",
    "SELECT age FROM people FETCH FIRST 0 ROWS ONLY",
]
PAID = [
    "SELECT DISTINCT city FROM people",
    "SELECT city FROM people GROUP BY city",
    "SELECT city, COUNT(*) FILTER (WHERE sex = 'F' AND sex = 'M') FROM people GROUP BY city",
    "SELECT COUNT(*) FROM people WHERE age >= 120",
    "SELECT COUNT(*) FROM people WHERE 1 = 0 OR age > 3",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex HAVING FALSE",
    "SELECT sex FROM people GROUP BY sex HAVING COUNT(*) > 5",
    "SELECT sex FROM people GROUP BY sex ORDER BY MODE(age)",
]
NEVER = [
    "SELECT DISTINCT sex FROM people HAVING COUNT(*) > 3",
    "SELECT DISTINCT sex FROM people ORDER BY quantile_cont(age, 0.5)",
    "SELECT DISTINCT ON (sex) sex FROM people",
    "SELECT DISTINCT LENGTH(city) FROM people",
    "SELECT sex FROM people UNION SELECT city FROM people LIMIT 0",
    "SELECT COUNT(*) FROM people WHERE (SELECT COUNT(*) FROM people) = 0",
    "SELECT age FROM people LIMIT 1",
    "SELECT age FROM people LIMIT (0)",
    "SELECT COUNT(*) FROM people WHERE age > 121",
    "SELECT DISTINCT sex FROM people WHERE sex = 'f'",
]


def blind(analyst) -> None:
    """Whoever reads data now fails."""

    def fail(*_):
        raise RuntimeError("the data was read")

    for name in ("measure", "histogram", "keyed", "contingency", "_exact_groups", "_survey"):
        setattr(analyst._backend.engine, name, fail)


def test_free_answers_are_given_with_the_data_out_of_reach(town: Town) -> None:
    analyst = town.open("epsilon = 9\ndelta = 0.1").session()
    blind(analyst)
    for sql in FREE:
        assert analyst.ask(sql).spent["epsilon"] == 0
    for sql in NEVER:
        with pytest.raises(QuestionError):
            analyst.ask(sql, 1)
    assert analyst.remaining()["epsilon"] == 9


def test_what_depends_on_rows_is_never_free(town: Town) -> None:
    for sql in PAID:
        analyst = town.open("epsilon = 99\ndelta = 0.1").session(f"for {sql}"[:40])
        with pytest.raises(QuestionError, match="costs an epsilon"):
            analyst.ask(sql)
        assert analyst.ask(sql, 1).spent["epsilon"] == 1


# Payments, cancelled and repeated


def in_two_worlds(
    town: Town, policy: str, load: bool = False
) -> list[tuple[adomnia.Answer, adomnia.Answer]]:
    """The first and the second answer, where a single row comes between them and where none."""
    file, told = town.folder / "people.parquet", []
    (town.folder / "adomnia.toml").write_text(policy)
    for comes in (False, True):
        with adomnia.open(town.folder / "adomnia.toml") as database:
            analyst = database.session(f"world {comes}")
            first = analyst.ask("SELECT COUNT(*) FROM people", "1e-9")
            if comes:
                rows = pq.read_table(file)
                pq.write_table(pa.concat_tables([rows, rows.slice(0, 1)]), file)
            if load:
                database.load()
            told.append((first, analyst.ask("SELECT COUNT(*) FROM people", "1e-9")))
    return told


def test_asking_again_does_not_tell_that_a_row_has_come(town: Town) -> None:
    """The source is not read again, so it is free, and the same."""
    told = in_two_worlds(town, policy_text("epsilon = 9"))
    assert [second.spent["epsilon"] for _, second in told] == [0, 0]
    assert all(second.rows == first.rows for first, second in told)
    assert {answer.edition for pair in told for answer in pair} == {1}


def test_asking_again_in_place_does_not_tell_it_where_a_version_is_declared(town: Town) -> None:
    policy = policy_text("epsilon = 9").replace(
        "[data]", '[data]\nin_place = true\nversion = "of May"'
    )
    told = in_two_worlds(town, policy)
    assert [second.spent["epsilon"] for _, second in told] == [0, 0]
    assert all(second.rows == first.rows for first, second in told)
    declared = policy.replace("of May", "of June")
    assert in_two_worlds(town, declared)[0][0].spent["epsilon"] == Fraction("1e-9")


def test_what_is_loaded_again_is_paid_anew_whether_a_row_has_come_or_not(town: Town) -> None:
    told = in_two_worlds(town, policy_text("epsilon = 9"), load=True)
    assert [second.spent["epsilon"] for _, second in told] == [Fraction("1e-9")] * 2
    assert [(first.edition, second.edition) for first, second in told] == [(1, 2), (2, 3)]


def test_in_place_without_a_declared_version_data_that_changed_is_paid_anew(town: Town) -> None:
    """Files are read as they are when the database is opened."""
    file, told = town.folder / "people.parquet", []
    policy = policy_text("epsilon = 9").replace("[data]", "[data]\nin_place = true")
    (town.folder / "adomnia.toml").write_text(policy)
    for _ in range(2):
        with adomnia.open(town.folder / "adomnia.toml") as database:
            session = database.session()
            told += [session.ask("SELECT COUNT(*) FROM people", "1e-9") for _ in range(2)]
        rows = pq.read_table(file)
        pq.write_table(pa.concat_tables([rows, rows.slice(0, 1)]), file)
    assert [answer.spent["epsilon"] for answer in told] == [Fraction("1e-9"), 0] * 2
    assert {answer.edition for answer in told} == {None}


def test_a_key_after_a_cancelled_question_is_paid_again_and_then_kept(town: Town) -> None:
    analyst = town.open("epsilon = 9").session()
    watch = Watch(lambda stage: watch.cancel() if stage == "paid" else None)
    sql = "SELECT MODE(age) FROM people"
    with pytest.raises(CancelledError):
        analyst.ask(sql, 1, key="k", watch=watch)
    first = analyst.ask(sql, 1, key="k")
    again = [analyst.ask(sql, 1, key="k") for _ in range(3)]
    assert {answer.rows[0] for answer in again} == {first.rows[0]}
    assert analyst.remaining()["epsilon"] == 7
    entries = list(analyst._backend.journal.entries())
    assert sum(entry.kind == "answered" for entry in entries) == 1


def test_a_question_that_is_cancelled_while_it_is_read_tells_nothing(
    town: Town, monkeypatch
) -> None:
    analyst = town.open("epsilon = 9").session()
    watch = Watch()
    measure = analyst._backend.engine.measure

    def late(request):
        watch.cancel()
        raise RuntimeError("Zzvienna") if request else measure(request)

    monkeypatch.setattr(analyst._backend.engine, "measure", late)
    with pytest.raises(CancelledError) as caught:
        analyst.ask("SELECT MODE(age) FROM people", 1, watch=watch)
    assert "Zzvienna" not in repr(caught.value)
    assert analyst.remaining()["epsilon"] == 8


def test_a_choice_is_not_averaged_for_the_price_of_one(town: Town) -> None:
    analyst = town.open("epsilon = 3").session()
    for _ in range(3):
        analyst.noisy_max(["age < 30", "age >= 30"], 1)
    with pytest.raises(BudgetError):
        analyst.noisy_max(["age < 30", "age >= 30"], 1)


# The ledger


def test_every_event_is_read_as_it_was_written() -> None:
    third = Fraction(1, 3)
    for kind in (*events._KINDS.values(),):
        event = kind(*(third + i for i in range(len(kind.__dataclass_fields__))))
        assert events.from_json(events.to_json(event)) == event
        both = events.Composed((event, event))
        assert events.from_json(events.to_json(both)) == both
        assert events.loss(both) == events.loss(event) + events.loss(event)
        paid = isinstance(event, events.Free) or events.loss(event).amounts
        assert paid


def test_no_use_is_forgotten_when_something_is_released_exactly_later(town: Town) -> None:
    database = town.open("epsilon = 900\ndelta = 0.9")
    analyst = database.session()
    analyst.ask("SELECT sex, MODE(region) FROM people GROUP BY sex", 1)
    analyst.ask(LEAST, 1, error="value")
    analyst.ask(LEAST, 2, error="value", delta="1e-4")
    analyst.noisy_max(["age < 30"], 1)
    analyst.above(5, ["age < 30"], 1)
    analyst.auction("income", [5], 1)
    kinds = [
        e.body["event"]["event"] for e in analyst._backend.journal.entries() if e.kind == "reserved"
    ]
    assert kinds.count("smooth-noise") == 2
    before = database._backend.journal.account().total
    told = database.add_prior("SELECT sex, COUNT(*) FROM people GROUP BY sex")
    assert told.repriced == 6
    assert told.after.epsilon >= 2 * before.epsilon
    assert told.after.delta >= 2 * before.delta


@pytest.mark.parametrize("privacy", ["group = 10", 'neighbors = "free-lunch"\nmost = 1000'])
def test_earlier_uses_cost_more_under_a_stronger_promise(town: Town, privacy: str) -> None:
    town.open("epsilon = 10").session().ask("SELECT MODE(region) FROM people", 2)
    with pytest.raises(BudgetError, match="promises now"):
        town.open(f"epsilon = 10\n{privacy}")
    database = town.open(f"epsilon = 10000\n{privacy}")
    assert Fraction(database.budget()["data"]["spent"]) >= 20


USES = {
    "mode": lambda a: a.ask("SELECT MODE(region) FROM people", 1),
    "smooth": lambda a: a.ask(LEAST, 1, error="value"),
    "noisy max": lambda a: a.noisy_max(["age < 30", "age >= 30"], 1),
    "above": lambda a: a.above(5, ["age < 30"], 1),
    "auction": lambda a: a.auction("income", [5, 6], 1),
    "open keys": lambda a: a.ask(
        "SELECT city, COUNT(*) FROM people GROUP BY city", 1, delta="1e-20"
    ),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_where_something_is_public_a_larger_group_prices_every_use_anew(town: Town, use) -> None:
    """By the rows that were paid for, not by those that would be now."""
    database = town.open("epsilon = 1000\ndelta = 0.9")
    use(database.session())
    database.add_prior("SELECT COUNT(*) FROM people")
    before = database._backend.journal.account().total.epsilon
    database.close()
    after = town.open("epsilon = 1000\ndelta = 0.9\ngroup = 10")
    assert after._backend.journal.account().total.epsilon >= 10 * before


# Free lunch


def test_every_part_of_a_question_is_limited_by_itself(town: Town) -> None:
    """Too many rows for one part, few enough for another: each is of no row or of its own."""
    privacy = 'epsilon = 10000000\nneighbors = "free-lunch"\nmost = 600'
    analyst = town.open(privacy).session()
    median = "MEDIAN(CASE WHEN sex = 'F' THEN age END) AS m"
    sql = f"SELECT COUNT(*) AS n, {median}, AVG(age) AS a FROM people"
    answer = analyst.ask(sql, 600_000)
    assert abs(answer.rows[0][0]) < 100
    women = analyst.ask("SELECT MEDIAN(age) AS m FROM people WHERE sex = 'F'", 600_000)
    assert abs(women.rows[0][0] - answer.rows[0][1]) <= 2


def test_what_was_told_under_another_limit_is_not_told_again(town: Town) -> None:
    lunch = 'epsilon = 100000\nneighbors = "free-lunch"\nmost = {}'
    sql = "SELECT COUNT(*) AS n FROM people"
    few = town.open(lunch.format(999)).session().ask(sql, 10_000)
    many = town.open(lunch.format(1000)).session().ask(sql, 10_000)
    assert (few.spent, many.spent) == ({"epsilon": 10_000}, {"epsilon": 10_000})
    assert abs(few.rows[0][0]) < 100
    assert many.rows[0][0] > 900


def test_a_quantile_is_chosen_by_public_numbers_alone(town: Town) -> None:
    """The same plan over opposite data: mechanism, target and price do not look at it."""
    plans = []
    for value, rows in itertools.product((0, 2000), (1, 700)):
        table = {"person_id": [1] * rows, "sex": ["F"] * rows, "age": [3] * rows,
                 "income": [value] * rows, "region": [1] * rows, "city": ["x"] * rows}  # fmt: skip
        pq.write_table(pa.table(table), town.folder / "people.parquet")
        analyst = town.open("epsilon = 100\ndelta = 0.1").session()
        blind(analyst)
        plan = analyst.plan(LEAST, 2, delta="1e-4", error="value")
        plans.append((plan.to_json(), plan.steps[0].event, plan.steps[0].target))
    assert all(plan == plans[0] for plan in plans)
