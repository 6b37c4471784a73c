"""After exact releases: every door takes them into account without being asked."""

from __future__ import annotations

import csv
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import adomnia
from adomnia.errors import BudgetError, PolicyError, QuestionError
from adomnia.mechanisms.margins.margin import Noise, margin

CELLS = "SELECT a, b, COUNT(*) AS n FROM people GROUP BY a, b"
ROWS = "SELECT a, COUNT(*) AS n FROM people GROUP BY a"
COLUMNS = "SELECT b, COUNT(*) AS n FROM people GROUP BY b"


class Place:
    """A folder with a table of two columns of five values, and one of two."""

    def __init__(self, folder: Path, rows: int = 300) -> None:
        self.folder = folder
        chance = np.random.default_rng(5)
        self.people = [
            (*chance.integers(0, 5, 2).tolist(), "FM"[chance.integers(0, 2)]) for _ in range(rows)
        ]
        self.write("people.csv", [("a", "b", "sex"), *self.people])
        self.opened: list[adomnia.Database] = []

    def write(self, name: str, rows: list[tuple[object, ...]]) -> str:
        with open(self.folder / name, "w", newline="") as file:
            csv.writer(file).writerows(rows)
        return str(self.folder / name)

    def published(self, name: str) -> str:
        """The true histogram of a column, as it was printed."""
        counts = Counter(row[["a", "b", "sex"].index(name)] for row in self.people)
        return self.write(f"{name}.csv", [(name, "n"), *sorted(counts.items())])

    def open(self, more: str = "", privacy: str = "epsilon = 100", accept: bool = False):
        digits = "values = [0, 1, 2, 3, 4]"
        text = f"""
[data]
source = "people.csv"
table = "people"
[privacy]
confirmed = true
{privacy}
[attributes.a]
{digits}
[attributes.b]
{digits}
[attributes.sex]
values = ["F", "M"]
{more}"""
        (self.folder / "adomnia.toml").write_text(text)
        database = adomnia.open(self.folder / "adomnia.toml", accept=accept)
        self.opened.append(database)
        return database


@pytest.fixture
def place(tmp_path: Path):
    made = Place(tmp_path)
    yield made
    for database in made.opened:
        database.close()


def sensitivity(database: adomnia.Database, sql: str) -> tuple[Fraction, bool]:
    found = database.session().plan(sql, epsilon=1).to_json()["sensitivity"]
    return Fraction(found["value"]), found["exact"]


def test_each_release_counts(place: Place) -> None:
    database = place.open()
    assert sensitivity(database, CELLS) == (1, True)
    database.add_prior("SELECT COUNT(*) AS n FROM people")
    assert sensitivity(database, CELLS) == (2, True)
    database.add_prior(ROWS)
    assert sensitivity(database, CELLS) == (2, True)
    database.add_prior(COLUMNS)
    assert sensitivity(database, CELLS) == (10, True)
    assert sensitivity(database, "SELECT COUNT(*) FROM people WHERE a = 1 AND b = 2") == (1, True)


def test_the_policy_declares_them_too(place: Place) -> None:
    priors = f'[[prior]]\nsql = "{ROWS}"\n[[prior]]\nsql = "{COLUMNS}"\n'
    assert sensitivity(place.open(priors), CELLS) == (10, True)
    assert sensitivity(place.open(), CELLS) == (10, True)  # the ledger does not forget
    assert len(place.open(priors).priors().releases) == 2


def test_the_past_is_priced_anew(place: Place) -> None:
    database = place.open()
    database.add_prior("SELECT COUNT(*) AS n FROM people")
    database.session().ask(CELLS, epsilon=1)
    database.add_prior(ROWS)
    found = database.add_prior(COLUMNS)
    assert (found.before.epsilon, found.after.epsilon) == (1, 5)  # 2 becomes 10
    assert database.budget()["data"]["spent"] == "5"


def test_gaussian_noise_is_priced_by_squares(place: Place) -> None:
    database = place.open(privacy="rho = 100")
    database.session().ask(CELLS, rho=1)
    database.add_prior(ROWS)
    found = database.add_prior(COLUMNS)
    assert found.after.rho == 10  # 1 becomes 10 in squares


def test_every_kind_of_question_is_priced_anew(place: Place) -> None:
    database = place.open(privacy="epsilon = 100\ndelta = 1e-5")
    for what in ("SUM(a)", "AVG(a), COUNT(*)", "MEDIAN(a)", "COUNT(DISTINCT a)"):
        database.session().ask(f"SELECT {what} FROM people", epsilon="1/10")
    database.release(database.plan_release(marginals=["a,b"], epsilon="1/10"))
    before = database._backend.journal.account().total.epsilon
    database.add_prior("SELECT COUNT(*) AS n FROM people")
    after = database._backend.journal.account().total.epsilon
    assert before < after <= 3 * before


def test_past_the_budget_a_release_is_refused_unless_accepted(place: Place) -> None:
    database = place.open(privacy="epsilon = 2")
    database.session().ask(CELLS, epsilon=1)
    database.add_prior(ROWS)
    with pytest.raises(BudgetError, match="--accept"):
        database.add_prior(COLUMNS)
    assert database.budget()["data"]["spent"] == "2"
    with pytest.raises(BudgetError):
        place.open(f'[[prior]]\nsql = "{COLUMNS}"\n', privacy="epsilon = 2")
    found = database.add_prior(COLUMNS, accept=True)
    assert found.accepted
    assert Fraction(database.budget()["data"]["spent"]) == 10
    with pytest.raises(BudgetError):
        database.session().ask("SELECT COUNT(*) FROM people WHERE sex = 'F'", epsilon="1/100")


def test_what_was_priced_before_a_release_is_not_asked_after_it(place: Place) -> None:
    database = place.open()
    session = database.session()
    planned = database.plan_release(marginals=["a,b"], epsilon=1)
    database.add_prior(ROWS)
    with pytest.raises(adomnia.errors.MachineryError, match="released exactly"):
        database.release(planned)
    assert session.ask(CELLS, epsilon=1).rows


def test_a_release_pays_for_rows_that_move_together(place: Place) -> None:
    database = place.open()
    alone = database.plan_release(marginals=["a,b"], epsilon=1)
    database.add_prior(ROWS)
    database.add_prior(COLUMNS)
    tied = database.plan_release(marginals=["a,b"], epsilon=1)
    (one,), (ten,) = alone.deviations.values(), tied.deviations.values()
    assert ten > 5 * one
    assert database.release(tied).tables


def test_what_is_public_is_answered_from_what_was_published(place: Place) -> None:
    database = place.open()
    database.add_prior(ROWS, values=place.published("a"))
    answer = database.session().ask(ROWS, epsilon=1)
    true = Counter(row[0] for row in place.people)
    assert answer.rows == [(a, true[a]) for a in range(5)]
    assert answer.margins["n"] == [0] * 5
    assert database.budget()["data"]["spent"] == "0"


def test_what_is_public_but_not_given_is_refused_with_advice(place: Place) -> None:
    database = place.open()
    database.add_prior(ROWS)
    with pytest.raises(QuestionError, match="already public"):
        database.session().ask(ROWS, epsilon=1)
    assert database.budget()["data"]["spent"] == "0"


def test_answers_agree_with_what_is_public(place: Place) -> None:
    database = place.open()
    database.add_prior(ROWS, values=place.published("a"))
    database.add_prior(COLUMNS, values=place.published("b"))
    answer = database.session().ask(CELLS, epsilon=1)
    for column, index in (("a", 0), ("b", 1)):
        sums: Counter[int] = Counter()
        for row in answer.rows:
            assert row[2] >= 0
            sums[row[index]] += row[2]
        assert sums == Counter(row[["a", "b"].index(column)] for row in place.people)


@pytest.mark.parametrize("given", [True, False])
def test_asking_less_costs_less_noise(place: Place, given: bool) -> None:
    sql = "SELECT sex, a, COUNT(*) AS n FROM people GROUP BY sex, a"
    database = place.open()
    for name in ("a", "sex"):
        released = f"SELECT {name}, COUNT(*) AS n FROM people GROUP BY {name}"
        database.add_prior(released, values=place.published(name) if given else None)
    all_cells = margin([(1, Noise("laplace", Fraction(4)))], 0.95)
    planned = database.session().plan(sql, epsilon=1).margins["n"]
    assert planned is not None
    assert planned < all_cells
    answer = database.session().ask(sql, epsilon=1)
    assert max(answer.margins["n"]) == planned
    sums: Counter[str] = Counter()
    for sex, _, count in answer.rows:
        sums[sex] += count
    assert sums == Counter(row[2] for row in place.people)  # also where no number was given


def test_contradictions_name_what_contradicts(place: Place) -> None:
    database = place.open()
    database.add_prior(ROWS, values=place.published("a"))
    wrong = place.write("wrong.csv", [("n",), (299,)])
    with pytest.raises(QuestionError, match="SELECT COUNT"):
        database.add_prior("SELECT COUNT(*) AS n FROM people", values=wrong)
    assert len(database.priors().releases) == 1


def test_cells_that_are_given_away_are_named(place: Place) -> None:
    database = place.open()
    assert not database.priors().releases
    numbers = place.write("few.csv", [("a", "sex", "n"), (0, "F", 3), (1, "M", 4)])
    database.add_prior("SELECT a, sex, COUNT(*) AS n FROM people GROUP BY a, sex", values=numbers)
    found = database.priors()
    assert ("a 0, sex F", 3) in found.determined
    assert found.cells == 10


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("SELECT AVG(a) FROM people", "SUM and the COUNT"),
        ("SELECT MAX(a) FROM people", "only these"),
        ("SELECT a, COUNT(*) FROM people GROUP BY a HAVING COUNT(*) > 5", "whole"),
        ("SELECT a, COUNT(*) FROM people GROUP BY a LIMIT 2", "whole"),
        ("SELECT nothing FROM people", "nothing"),
    ],
)
def test_what_cannot_be_registered(place: Place, sql: str, word: str) -> None:
    with pytest.raises(QuestionError, match=word):
        place.open().add_prior(sql)


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ([("a", "m"), (0, 3)], "no column 'n'"),
        ([("a", "n"), (7, 3)], "does not declare"),
        ([("a", "n"), (0, "many")], "not a number"),
        ([("a", "n"), (0, -2)], "negative"),
        ([("a", "n"), (0, 2.5)], "multiple"),
        ([("a", "n"), (0, 2), (0, 3)], "repeats"),
        ([("a", "n"), (0,)], "not a table"),
    ],
)
def test_numbers_that_cannot_be_read(place: Place, rows, word: str) -> None:
    with pytest.raises(QuestionError, match=word):
        place.open().add_prior(ROWS, values=place.write("bad.csv", rows))


def test_rounded_numbers_are_not_taken_as_exact(place: Place) -> None:
    database = place.open()
    true = Counter(row[0] for row in place.people)
    rows = [("a", "n"), *((a, 10 * round(n / 10)) for a, n in sorted(true.items()))]
    database.add_prior(ROWS, values=place.write("tens.csv", rows), rounded=10)
    assert sensitivity(database, CELLS)[0] >= 1
    answer = database.session().ask(ROWS, epsilon=1)
    assert answer.margins["n"][0] > 0  # it is not public


@pytest.mark.parametrize("privacy", ["neighbors = 'attribute'", "unit = 'sex'\nmax_rows = 2"])
def test_promises_that_do_not_go_with_exact_releases(place: Place, privacy: str) -> None:
    with pytest.raises(PolicyError):
        place.open(privacy=f"epsilon = 1\n{privacy}").add_prior(ROWS)


def test_bounded_neighbours_share_the_number_of_rows(place: Place) -> None:
    database = place.open(privacy="epsilon = 10\nneighbors = 'bounded'")
    database.add_prior("SELECT a, COUNT(*) AS n FROM people WHERE sex = 'F' GROUP BY a")
    men = "SELECT COUNT(*) AS n FROM people WHERE sex = 'M'"
    assert sensitivity(database, men) == (1, True)  # a row may have no listed sex
    assert sensitivity(database, CELLS)[0] >= 2
    database.add_prior("SELECT COUNT(*) AS n FROM people")
    with pytest.raises(QuestionError, match="already public"):  # the men are what is left
        sensitivity(database, men)


def test_a_universe_is_refused_outside_of_it(place: Place) -> None:
    database = place.open(privacy='epsilon = 10\nuniverse = ["a", "b"]')
    database.add_prior(ROWS)
    database.add_prior("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
    assert sensitivity(database, CELLS) == (2, True)
    with pytest.raises(QuestionError, match="sex"):
        database.session().plan("SELECT sex, COUNT(*) FROM people GROUP BY sex", epsilon=1)


def test_open_groups_are_refused(place: Place) -> None:
    rows = [("a", "b", "sex", "who"), *((*row, f"n{i % 3}") for i, row in enumerate(place.people))]
    place.write("people.csv", rows)
    database = place.open('[attributes.who]\nkind = "text"\n', "epsilon = 9\ndelta = 1e-6")
    sql = "SELECT who, COUNT(*) FROM people GROUP BY who"
    assert database.session().ask(sql, epsilon=1).rows
    found = database.add_prior(ROWS)
    assert found.after.epsilon == 2  # two rows move, in groups of their own
    assert found.after.delta > 2 * found.before.delta
    with pytest.raises(QuestionError, match="exact releases are public"):
        database.session().ask(sql, epsilon=1)


def told(place: Place, database: adomnia.Database, *names: str) -> None:
    for name in names:
        sql = f"SELECT {name}, COUNT(*) AS n FROM people GROUP BY {name}"
        database.add_prior(sql, values=place.published(name))


def test_independence_where_the_margins_are_public(place: Place) -> None:
    database = place.open()
    with pytest.raises(QuestionError, match="not public"):
        database.session().independence("a", "b", 1)
    told(place, database, "a", "b")
    found = database.session().independence("a", "b", "1/2")
    assert 0 < found.p_value <= 1
    assert found.noise > 0
    assert database.budget()["data"]["spent"] == "1/2"
    for columns in (("a", "a"), ("a", "nothing"), ("a", "sex")):
        with pytest.raises(QuestionError):
            database.session().independence(*columns, 1)
    assert database.budget()["data"]["spent"] == "1/2"
    told(place, database, "sex")
    spent = Fraction(database.budget()["data"]["spent"])
    assert Fraction(1, 2) < spent < 50  # priced anew, by the statistic itself


def test_dependence_is_seen(tmp_path: Path) -> None:
    place = Place(tmp_path, 0)
    place.people = [(i % 5, i % 5, "F") for i in range(2000)]
    place.write("people.csv", [("a", "b", "sex"), *place.people])
    database = place.open()
    told(place, database, "a", "b")
    assert database.session().independence("a", "b", 1).p_value < 0.01
    database.close()


def test_a_table_drawn_among_all_that_agree(tmp_path: Path) -> None:
    place = Place(tmp_path, 0)
    place.people = [(i % 2, i % 3, "FM"[i % 2]) for i in range(20)]
    place.write("people.csv", [("a", "b", "sex"), *place.people])
    database = place.open()
    order = {"marginals": ["a,b"], "epsilon": 1, "method": "consistent"}
    with pytest.raises(QuestionError, match="nothing is public"):
        database.plan_release(**order)
    told(place, database, "a", "b")
    made = database.release(database.plan_release(**order))
    ((table),) = made.tables.values()
    for axis, column in ((1, 0), (0, 1)):
        true = Counter(row[column] for row in place.people)
        assert table.sum(axis=axis).tolist() == [true[value] for value in range(5)]
    assert made.microdata is not None
    assert len(made.microdata) == 20
    assert database.budget()["data"]["spent"] == "1"
    with pytest.raises(QuestionError, match="one table"):
        database.plan_release(marginals=["a,b", "a,sex"], epsilon=1, method="consistent")
    database.close()


def test_a_release_agrees_with_what_is_public(place: Place) -> None:
    database = place.open()
    told(place, database, "a", "b")
    made = database.release(database.plan_release(marginals=["a,b", "a"], epsilon=1))
    true = Counter(row[0] for row in place.people)
    assert made.tables[(0,)].tolist() == [true[value] for value in range(5)]
    assert any("agree with what was released" in note for note in made.notes)


def test_sums_that_are_public_are_answered_from_what_was_published(place: Place) -> None:
    database = place.open()
    told(place, database, "a")
    answer = database.session().ask("SELECT SUM(a) AS s, AVG(a) AS m FROM people", epsilon=1)
    total = sum(row[0] for row in place.people)
    assert answer.rows[0][0] == total
    assert answer.rows[0][1] == pytest.approx(total / len(place.people))
    assert database.budget()["data"]["spent"] == "0"
