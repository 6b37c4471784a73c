"""What is left out of several tables: counted once for each edition, told beside every answer."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from adomnia.curator.answers.derived_omissions import left_out_of_rows
from adomnia.curator.answers.omissions import sentences
from adomnia.curator.answers.quality_counts import Quality
from adomnia.curator.answers.table_omissions import TableCounts
from adomnia.curator.answers.whole import whole_columns
from adomnia.errors import BudgetError, QuestionError
from adomnia.mechanisms.choices.scan_mechanisms import ExcessRows, FoundBound
from adomnia.mechanisms.margins.margin import Noise
from adomnia.review.database import open_database
from adomnia.testing import World, listed, number
from tests.clinic import JOINED, MORE, PER_PATIENT, PRIVACY, TABLES

MANY = 40
VISITS = {patient: patient % 12 for patient in range(MANY * 12)}
"""So many visits has each patient; of each 4 are used."""
KEPT = sum(min(many, 4) for many in VISITS.values())
BEYOND = sum(VISITS.values()) - KEPT
NOBODY = "rows that refer to nobody are not counted"


def write(folder, privacy=PRIVACY, more=MORE, tables=TABLES):
    """Patients with up to eleven visits. Every patient's sex is X in one of four; every visit's
    ward is z in one of five."""
    lines = {
        "patients": ["id,sex,age"],
        "visits": ["id,patient,ward,cost"],
        "diagnoses": ["visit,code"],
        "wards": ["ward,floor", "a,1", "b,1", "c,2"],
    }
    for patient, many in VISITS.items():
        lines["patients"].append(f"p{patient},{'FMFX'[patient % 4]},{patient % 100}")
        for turn in range(many):
            lines["visits"].append(f"v{patient}-{turn},p{patient},{'abcaz'[turn % 5]},{10 * turn}")
            lines["diagnoses"].append(f"v{patient}-{turn},{('flu', 'cold')[turn % 2]}")
    for name, rows in lines.items():
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n", "utf-8")
    policy = folder / "adomnia.toml"
    policy.write_text(tables + more + privacy.replace("1000", "100000"), "utf-8")
    return policy


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    with open_database(write(tmp_path_factory.mktemp("clinic"))) as database:
        database.counted = database.measure_quality(30_000)
        yield database


def test_counts_are_right_but_for_their_noise(clinic):
    rows = {part.says.split(" rows of ")[1].split()[0]: part
            for part in clinic.counted if part.what == "rows"}  # fmt: skip
    values = {part.column: part for part in clinic.counted if part.what == "values"}
    assert {*rows} == {"visits", "diagnoses"}  # of a patient there is one row
    assert [*values] == [
        "patients.sex", "patients.age", "visits.ward", "visits.cost", "diagnoses.code",
    ]  # fmt: skip
    assert rows["visits"].bound == 11
    assert abs(rows["visits"].count - BEYOND) <= rows["visits"].margin < 5
    assert 0 <= rows["visits"].people < 5
    assert abs(values["patients.sex"].count - len(VISITS) // 4) <= values["patients.sex"].margin
    assert values["visits.cost"].count <= values["visits.cost"].margin
    assert rows["visits"].says == (
        f"of each of patients at most 4 rows of visits are used; about {rows['visits'].count:,} "
        f"rows of visits (± {rows['visits'].margin}) are left out by max_rows, beside those of at "
        f"most {rows['visits'].people} of patients with more than 11 rows each; {NOBODY}"
    )


def test_a_table_as_it_is_has_numbers_and_whole_intervals(clinic):
    session = clinic.session()
    truth = {
        "SELECT COUNT(*) AS n FROM visits": KEPT + BEYOND,
        "SELECT COUNT(*) AS n FROM visits v WHERE v.cost > 0": sum(
            max(0, many - 1) for many in VISITS.values()
        ),
        "SELECT SUM(cost) AS n FROM visits": sum(
            10 * turn for many in VISITS.values() for turn in range(many)
        ),
        "SELECT COUNT(*) AS n FROM patients": len(VISITS),
    }
    for sql, exact in truth.items():
        answer, plan = session.ask(sql, epsilon=100), session.plan(sql, epsilon=1)
        ((low, high),) = answer.whole["n"]
        assert low <= exact <= high
        assert [part.column for part in answer.left_out] == [part.column for part in plan.left_out]
        assert all(said in str(plan) for said in sentences(plan.left_out))
        assert answer.to_json()["left_out"][0]["bound"] == answer.left_out[0].bound
        assert session.describe(sql)[0].has_whole
    plain = session.ask("SELECT COUNT(*) AS n FROM visits", epsilon=100)
    ((low, high),) = plain.whole["n"]
    assert plain.rows[0][0] + plain.margins["n"][0] < low <= high < low + 20
    groups = session.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=100)
    wards = Counter("abcaz"[turn % 5] for many in VISITS.values() for turn in range(many))
    for (ward, _), (low, high) in zip(groups.rows, groups.whole["n"], strict=True):
        assert low <= wards[ward] <= high
    assert session.ask("SELECT AVG(cost) AS m FROM visits", epsilon=1).whole == {}


@pytest.mark.parametrize("sql", [JOINED, PER_PATIENT])
def test_joins_and_statistics_per_person_have_the_numbers_in_words(clinic, sql):
    answer = clinic.session("alice").ask(sql, epsilon=1)
    (said,) = [part.says for part in answer.left_out if part.what == "rows"]
    assert said.startswith("of each of patients at most 4 rows of visits are used; about ")
    assert " rows of visits (± " in said
    assert said.endswith(f"of patients with more than 11 rows each; {NOBODY}")
    assert answer.whole == {}
    assert all(part.count is None for part in answer.left_out)
    assert not any("not known" in note for note in answer.notes)


def test_a_view_tells_of_the_tables_below_it(clinic):
    stays = clinic.view("stays")
    answer = stays.session("alice").ask("SELECT ward, COUNT(*) AS n FROM stays GROUP BY 1", 1)
    assert [part.column for part in answer.left_out] == [None, "visits.ward"]
    assert "rows of visits (± " in answer.left_out[0].says
    planned = stays.plan_release(marginals=["sex,ward"], epsilon=1)
    assert any("rows of visits (± " in part.says for part in planned.left_out)


def test_it_is_paid_once_for_each_edition_and_found_again(tmp_path):
    file = write(tmp_path)
    with open_database(file) as database:
        first = database.measure_quality(1)
        assert database.measure_quality("1/2") == first
        assert database.budget()["data"]["spent"] == "1"
        (entry,) = [one for one in database.ledger() if "QUALITY" in str(one)]
        assert entry is not None
    with open_database(file) as database:
        assert database.measure_quality(5) == first
        database.load()
        sql = "SELECT COUNT(*) AS n FROM visits"
        assert database.session().ask(sql, 1).left_out[0].count is None  # of another edition
        database.load(quality="1/4")
        assert database.budget()["data"]["spent"] == "9/4"
        assert database.verify().ok
    other = PRIVACY.replace("visits = 4", "visits = 5")
    with open_database(write(tmp_path, other), accept=True) as database:
        assert database.session().ask(sql, 1).left_out[0].count is None  # of another bound


def test_the_policy_may_say_what_it_costs_and_a_budget_refuses_it(tmp_path):
    paid = '[quality]\nepsilon = "1/50"\n'
    with open_database(write(tmp_path, more=MORE + paid)) as database:
        assert database.policy.quality == Fraction(1, 50)
        database.load()
        assert database.budget()["data"]["spent"] == "1/50"
        with pytest.raises(BudgetError):
            database.load(quality=10**7)
        assert database.budget()["data"]["spent"] == "1/50"


def test_where_nothing_is_found_nothing_is_pretended(clinic):
    tables, session = clinic.policy.several.tables, clinic.session()
    scan = ExcessRows(4, 1000, Fraction(1, 50))
    noise, paid = Noise("laplace", Fraction(0)), Fraction(1, 25)
    found = Quality("receipt", {}, noise, FoundBound(4, 0), scan, paid)
    counts = TableCounts(tables, {"visits": found}, 0.95)
    over = session._over(sql := "SELECT COUNT(*) AS n FROM visits")
    (rows,) = left_out_of_rows(over.bind(sql), over.table, counts)
    assert (rows.count, rows.margin, rows.bound) == (None, None, 4)
    assert whole_columns(over.bind(sql), (rows,)) == ()
    assert rows.says == (
        "of each of patients at most 4 rows of visits are used; for epsilon 0.04 nothing could be "
        f"found of the rows of visits beyond max_rows: at most {rows.people:,} of patients have "
        f"more than 4; {NOBODY}"
    )


def test_bounds_that_are_found_have_nothing_beyond_them(tmp_path):
    privacy = PRIVACY.replace("visits = 4", 'visits = "auto"')
    with open_database(write(tmp_path, privacy, more="")) as database:
        counted = database.measure_quality(30_000)
        named = {part.column for part in counted if part.what == "values"}
        assert named == {"patients.sex", "patients.age", "diagnoses.code"}
        answer = database.session("alice").ask("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        assert answer.whole == {}
        assert NOBODY in answer.notes


def test_bounds_in_groups_leave_out_more_than_was_counted(tmp_path):
    privacy = PRIVACY.replace("confirmed", "max_rows_per_group = 1\nconfirmed")
    with open_database(write(tmp_path, privacy)) as database:
        database.measure_quality(30_000)
        session = database.session("alice")
        groups = session.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=1)
        assert [part.what for part in groups.left_out] == ["rows", "groups", "values"]
        assert groups.whole == {}


def test_nothing_can_be_counted_of_rows_of_two_units(tmp_path):
    privacy = PRIVACY.replace('"patients"', '["patients", "doctors"]').replace(
        "visits = 4, diagnoses = 8", 'meetings = "auto"'
    )
    tables = (
        '[tables.patients]\nsource = "patients.csv"\nkey = "id"\n'
        '[tables.doctors]\nsource = "patients.csv"\nkey = "id"\n'
        '[tables.meetings]\nsource = "visits.csv"\n'
        'references = { patient = "patients", id = "doctors" }\n'
    )
    with open_database(write(tmp_path, privacy, more="", tables=tables)) as database:
        with pytest.raises(QuestionError, match="nothing can be counted"):
            database.measure_quality(1)
        assert database.budget()["data"]["spent"] == "0"
    bounded = privacy.replace('"auto"', "3")
    with (
        open_database(write(tmp_path, bounded, more="", tables=tables), accept=True) as database,
        pytest.raises(QuestionError, match="nothing can be counted"),
    ):
        database.measure_quality(1)


def test_one_table_with_a_unit_tells_what_was_paid_per_person_too():
    world = World(
        {
            "who": (who := [i for i in range(200) for _ in range(i % 9)]),
            "x": [i % 4 for i in range(len(who))],
        },
        {"x": number(0, 2)},
        'epsilon = 100000\nunit = "who"\nmax_rows = 3',
    )
    sql = "SELECT AVG(n) AS m FROM (SELECT who, COUNT(*) AS n FROM people WHERE x > 1 GROUP BY who)"
    with world.open() as database:
        session = database.session()
        unpaid = session.plan(f"{sql} t", epsilon=1).left_out
        assert "how many are left out is not known: the curator can count it" in unpaid[0].says
        assert unpaid[1].says.endswith("how many is not known")  # what can be done is said once
        database.measure_quality(10_000)
        rows, values = session.ask(f"{sql} t", epsilon=1).left_out
        assert rows.says.startswith("of each who at most 3 rows of people are used; about ")
        assert "people with more than 8 rows each" in rows.says
        assert "values of people.x (± " in values.says
        assert (rows.count, values.count) == (None, None)


def test_a_policy_with_one_table_lists_as_before():
    world = World({"a": list("xy")}, {"a": listed("x", "y")}, "epsilon = 10")
    with world.open() as database:
        (part,) = database.measure_quality(1)
        assert part.column == "a"
