"""What is left out: counted privately, once for each edition, and told beside every answer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.curator.answers.omissions import left_out_of
from adomnia.curator.answers.quality_counts import Quality
from adomnia.curator.answers.whole import whole_columns
from adomnia.errors import BudgetError, NotAllowedError, PolicyError, QuestionError
from adomnia.mechanisms.choices.scan_mechanisms import ExcessRows, FoundBound
from adomnia.mechanisms.margins.margin import Noise
from adomnia.review.database import open_database
from adomnia.testing import World, listed, number, timestamps

UNIT = 'epsilon = {epsilon}\nunit = "who"\nmax_rows = 5'
NOBODY = "rows without a who are not counted"


def world(epsilon=10_000, privacy=UNIT, units=400, more=""):
    """Sizes of 1 to 40 rows; a quarter of x is above its bound, a third of s is not listed."""
    sizes = np.arange(units) % 40 + 1
    who = np.repeat(np.arange(units), sizes)
    rows = np.arange(len(who))
    columns = {"who": who, "x": rows % 4, "s": np.array(list("abz"))[rows % 3]}
    attributes = {"x": number(0, 2), "s": listed("a", "b")}
    return World(columns, attributes, privacy.format(epsilon=epsilon), more)


SIZES = np.arange(400) % 40 + 1


def test_counts_are_right_but_for_their_noise():
    with world().open() as database:
        rows, x, s = database.measure_quality(2000)
        kept = np.minimum(SIZES, 5).sum()
        assert (rows.what, rows.column, rows.bound) == ("rows", None, 40)
        assert abs(rows.count - (SIZES.sum() - kept)) <= rows.margin < 5
        assert 1 <= rows.people < 5
        for part, share in ((x, 1 / 4), (s, 1 / 3)):
            assert part.count == pytest.approx(share * kept, abs=0.05 * kept)
        assert (x.column, s.column) == ("x", "s")
        assert rows.says == (
            f"of each who at most 5 rows are used; about {rows.count:,} rows of the whole table "
            f"(± {rows.margin}) are left out by max_rows, beside those of at most "
            f"{rows.people} people with more than 40 rows each; rows without a who are not counted"
        )
        assert "values of x" in x.says
        assert x.says.endswith("are outside of its bounds, or could not be read")
        assert s.says.endswith("are not listed, or could not be read")


def test_it_is_paid_once_for_each_edition():
    with world(epsilon=10).open() as database:
        first = database.measure_quality(1)
        assert database.measure_quality("1/2") == first
        assert database.budget()["data"]["spent"] == "1"
        assert database.account().total.epsilon == 1
        database.load()
        assert (
            database.session().ask("SELECT COUNT(*) AS n FROM people", 1).left_out[0].count is None
        )
        database.load(quality="1/4")
        assert database.session().ask("SELECT COUNT(*) AS n FROM people", 1).left_out[0].bound >= 5
        assert database.budget()["data"]["spent"] == "13/4"
        assert database.verify().ok


def test_the_policy_may_say_what_it_costs(tmp_path):
    with world(epsilon=10, more='[quality]\nepsilon = "1/50"\n').open(tmp_path) as database:
        assert database.policy.quality == Fraction(1, 50)
        assert database.budget()["data"]["spent"] == "0"
        database.load()
        assert database.budget()["data"]["spent"] == "1/50"
    with world(epsilon="'1/100'", more="[quality]\nepsilon = 1\n").open() as database:
        with pytest.raises(BudgetError):
            database.load()
        assert database.edition.number == 2


def test_an_answer_tells_only_what_concerns_it():
    with world().open() as database:
        session = database.session()
        unpaid = session.ask("SELECT SUM(x) AS t, COUNT(*) AS n FROM people", epsilon=1)
        assert [(part.what, part.column, part.count) for part in unpaid.left_out] == [
            ("rows", None, None), ("values", "x", None),
        ]  # fmt: skip
        assert unpaid.whole == {}
        unknown = "is not known: the curator can count it, adomnia load --quality 0.5"
        assert [note for note in unpaid.notes if "not known" in note] == [
            f"of each who at most 5 rows are used; how many rows are left out {unknown}; {NOBODY}",
            "values of x outside of its bounds count as the nearest; how many is not known",
        ]
        database.measure_quality(100)
        told = {
            "SELECT COUNT(*) AS n FROM people": [None],
            "SELECT COUNT(*) AS n FROM people WHERE x > 1": [None, "x"],
            "SELECT s, COUNT(*) AS n FROM people GROUP BY s": [None, "s"],
            "SELECT AVG(x) AS m FROM people WHERE s = 'a'": [None, "x", "s"],
        }
        for sql, columns in told.items():
            answer, plan = session.ask(sql, epsilon=100), session.plan(sql, epsilon=1)
            assert [part.column for part in answer.left_out] == columns
            assert [part.column for part in plan.left_out] == columns
            assert {part.says for part in answer.left_out} <= {*answer.notes}
            assert all(part.says in str(plan) for part in plan.left_out)
            assert (
                answer.to_json()["left_out"][0]["bound"] == plan.to_json()["left_out"][0]["bound"]
            )
            assert answer.to_pandas().attrs["left_out"] == answer.to_json()["left_out"]


def test_the_whole_interval_holds_the_raw_truth():
    with world().open() as database:
        database.measure_quality(1000)
        session, rows = database.session(), np.arange(SIZES.sum())
        count = session.ask("SELECT COUNT(*) AS n FROM people", epsilon=100)
        ((low, high),) = count.whole["n"]
        assert low <= SIZES.sum() <= high < low + 20
        assert count.rows[0][0] + count.margins["n"][0] < SIZES.sum()
        above = session.ask("SELECT COUNT(*) AS n, SUM(x) AS t FROM people WHERE x > 1", 100)
        ((low, high),) = above.whole["n"]
        assert low <= (rows % 4 > 1).sum() <= high
        ((low, high),) = above.whole["t"]
        assert low <= np.minimum(rows % 4, 2)[rows % 4 > 1].sum() <= high
        grouped = session.ask("SELECT s, COUNT(*) AS n, AVG(x) AS m FROM people GROUP BY s", 100)
        assert set(grouped.whole) == {"n"}
        for letter, (low, high) in zip("ab", grouped.whole["n"], strict=True):
            assert 0 <= low <= (np.array(list("abz"))[rows % 3] == letter).sum() <= high


def test_frames_have_the_whole_interval_beside_the_margin():
    sql = "SELECT s, COUNT(*) AS n, AVG(x) AS m FROM people GROUP BY s"
    with world().open() as database:
        session = database.session()
        assert "n_whole_low" not in session.ask(sql, epsilon=10).to_pandas()
        assert not any(column.has_whole for column in session.describe(sql))
        database.measure_quality(1000)
        answer = session.ask(sql, epsilon=100)
        assert [column.name for column in session.describe(sql) if column.has_whole] == ["n"]
    names = ["s", "n", "n_margin", "n_whole_low", "n_whole_high", "m", "m_margin"]
    for frame in (answer.to_pandas(), answer.to_polars(), answer.to_arrow().to_pandas()):
        assert [*frame.columns] == names
        ends = zip(frame["n_whole_low"], frame["n_whole_high"], strict=True)
        assert [*ends] == answer.whole["n"]


def test_what_groups_cut_has_no_whole_interval():
    privacy = UNIT + "\nmax_groups = 1"
    with world(privacy=privacy).open() as database:
        database.measure_quality(100)
        answer = database.session().ask("SELECT s, COUNT(*) AS n FROM people GROUP BY s", 10)
        assert [part.what for part in answer.left_out] == ["rows", "groups", "values"]
        assert answer.left_out[0].says.startswith(
            "of each who at most 5 rows are used (in 1 group)"
        )
        assert answer.left_out[1].says == "how many more rows max_groups leaves out is not known"
        assert answer.whole == {}
        assert database.session().ask("SELECT COUNT(*) AS n FROM people", 10).whole


BOUNDS = {
    "max_groups = 1": "at most 5 rows are used (in 1 group);",
    "max_groups = 1\nmax_rows_per_group = 2": "at most 5 rows are used (in 1 group, 2 in one);",
    "max_rows_per_group = 2": "at most 5 rows are used (2 in one group);",
    "max_groups = 4": "at most 5 rows are used;",
}


@pytest.mark.parametrize(("bound", "said"), BOUNDS.items())
def test_bounds_in_groups_are_told_where_they_bind_in_one_sentence(bound, said):
    with world(privacy=f"{UNIT}\n{bound}").open() as database:
        session = database.session()
        answer = session.ask("SELECT s, COUNT(*) AS n FROM people GROUP BY s", 10)
        (note,) = [note for note in answer.notes if "are used" in note]
        assert said in note
        assert (
            "at most 5 rows are used;"
            in session.ask("SELECT COUNT(*) AS n FROM people", 1).notes[0]
        )


def test_several_clamped_columns_are_told_in_one_sentence():
    columns = {"x": [1, 9], "y": [1, 9], "t": ["2024-01-01T05:00", "2025-01-01T05:00"]}
    hours = timestamps("2024-01-01", "2024-01-02", "1h")
    domains = {"x": number(0, 2), "y": number(0, 2), "t": hours}
    with World(columns, domains).open() as database:
        session = database.session()
        late = "MAX(EXTRACT(hour FROM t)) AS c"
        plan = session.plan(f"SELECT SUM(x) AS a, AVG(y) AS b, {late} FROM people", epsilon=1)
        assert [part.column for part in plan.left_out] == ["x", "y", "t"]
        (said,) = [line for line in str(plan).splitlines() if "not known" in line]
        assert "values of x, y and t outside of their bounds count as the nearest; how many" in said
        (alone,) = session.plan(f"SELECT {late} FROM people", epsilon=1).left_out
        assert alone.says.startswith("values of t outside of its bounds count as the nearest;")


def test_in_place_nothing_can_be_counted_and_it_is_said_all_the_same(tmp_path):
    file = world().write(tmp_path)
    file.write_text(file.read_text().replace("[data]", "[data]\nin_place = true"))
    with open_database(file) as database:
        answer = database.session().ask("SELECT SUM(x) AS t FROM people", epsilon=1)
        assert answer.notes[:2] == (
            "of each who at most 5 rows are used; how many rows are left out is not known; "
            + NOBODY,
            "values of x outside of its bounds count as the nearest; how many is not known",
        )


def test_a_release_says_how_many_rows_of_a_person_are_used():
    with world().open() as database:
        plan = database.plan_release(marginals=["s"], epsilon=1)
        (said,) = [note for note in database.release(plan).notes if "are used" in note]
        assert said.startswith("of each who at most 5 rows are used; how many rows are left out is")
        database.measure_quality(1000)
        plan = database.plan_release(marginals=["s"], epsilon=2)
        (said,) = [note for note in database.release(plan).notes if "are used" in note]
        assert "rows of the whole table" in said


def test_another_bound_on_rows_is_another_count(tmp_path):
    with world().open(tmp_path) as database:
        database.measure_quality(100)
    with world(privacy=UNIT.replace("5", "3")).open(tmp_path) as database:
        answer = database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
        assert answer.left_out[0].count is None


def test_without_a_unit_values_alone_are_counted():
    with world(privacy="epsilon = {epsilon}").open() as database:
        x, _ = database.measure_quality(1000)
        assert abs(x.count - (np.arange(SIZES.sum()) % 4 > 2).sum()) <= x.margin
        answer = database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
        assert (answer.left_out, answer.whole) == ((), {})


def test_what_cannot_be_counted_is_refused(tmp_path):
    with world(privacy="epsilon = {epsilon}").open() as database:
        database.add_prior("SELECT s, COUNT(*) AS n FROM people GROUP BY s")
        with pytest.raises(NotAllowedError, match="released exactly"):
            database.measure_quality(1)
    place = tmp_path / "place"
    place.mkdir()
    file = world().write(place)
    file.write_text(file.read_text().replace("[data]", "[data]\nin_place = true"))
    with open_database(file) as database, pytest.raises(PolicyError, match="in place"):
        database.measure_quality(1)


def test_the_key_of_a_count_is_nobodys_own():
    with world().open() as database:
        key = "adomnia quality, edition 1, max_rows 5"
        with pytest.raises(QuestionError, match="does not begin with"):
            database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=1, key=key)
        answer = database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=2)
        assert answer.left_out[0].count is None


def nothing_found(epsilon):
    """Counts for which the scan ended at its first bound, and none of the values stands out."""
    noise, rows = Noise("laplace", 2 * 5 / (epsilon / 3)), ExcessRows(5, 10**5, 2 * epsilon / 3)
    return Quality("receipt", {"x": 7, "s": 7}, noise, FoundBound(5, 0), rows, epsilon)


def told(database, quality, size, sql="SELECT COUNT(*) AS n, SUM(x) AS t FROM people"):
    session, table = database.session(), database._backend.table
    left_out = left_out_of(session.bind(sql), table, quality, 0.95, size=lambda: size)
    return session.bind(sql), left_out


def test_where_too_little_was_paid_to_find_any_rows_nothing_is_told_as_a_fact():
    with world().open() as database:
        question, (rows, x) = told(database, nothing_found(Fraction(1, 50)), None)
        assert (rows.count, rows.margin, rows.bound) == (None, None, 5)
        assert "for epsilon 0.02 nothing could be found of the rows beyond max_rows" in rows.says
        assert f"at most {rows.people:,} people have more than 5 rows; ten times" in rows.says
        assert whole_columns(question, (rows, x)) == ()
        _, (rows, x) = told(database, nothing_found(Fraction(1, 50)), 1_850)
    assert x.most > 1_850
    assert x.says == (
        "how many values of x are outside of its bounds, or could not be read, could not be found "
        "for epsilon 0.02"
    )


def test_the_amount_that_is_named_bounds_as_many_people_as_it_says():
    with world().open() as database:
        _, (poor, _) = told(database, nothing_found(Fraction(1, 50)), 30_000)
        needed, rest = poor.says.split("; epsilon ")[1].split(" would say so of ")
        few = int(rest.split(";")[0].replace(",", ""))
        assert few == 30_000 // 500
        _, (rich, x) = told(database, nothing_found(Fraction(needed)), 30_000)
    assert rich.people <= few + 2  # both of its parts are rounded up
    assert "less than a hundredth" in rich.says or f"so of {few}" in rich.says
    assert x.says.startswith("at most ")


def test_a_group_has_no_less_than_was_counted_in_it():
    sql = "SELECT s, COUNT(*) AS n, SUM(x) AS t FROM people GROUP BY s"
    with world().open() as database:
        database.measure_quality(100)
        session = database.session()
        found = session.ask(sql, epsilon=100)
        sure = session.ask(sql, epsilon=100, confidence=0.975)
        low = session.ask("SELECT COUNT(*) AS n FROM people WHERE s IS NULL OR x > 1", 100)
    shown = str(found)
    for low_end, high_end in found.whole["n"]:
        assert f", whole {low_end:,.0f} to {high_end:,.0f}" in shown.replace(".0 ", " ")
    assert "note: whole: between these n lies with what is left out, beside the rows" in shown
    for name, place in (("n", 1), ("t", 2)):
        for row, off, (least, most) in zip(
            found.rows, sure.margins[name], found.whole[name], strict=True
        ):
            assert least == pytest.approx(row[place] - off)
            assert most > row[place] + 2 * off
    ((least, _),) = low.whole["n"]
    assert least < low.rows[0][0] - 2 * low.margins["n"][0]  # what could not be read may be some
