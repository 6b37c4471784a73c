"""What is told of several tables is told in the names that the policy and the statement have."""

from __future__ import annotations

import json

import pytest

from adomnia.curator.database import open_database
from adomnia.errors import QuestionError
from adomnia.policy.policy import read_policy
from adomnia.present.promise import promise_text
from adomnia.testing import World, listed
from tests.clinic import JOINED, PER_PATIENT, PRIVACY, write_clinic

PAIRS = (
    "SELECT b.ward, COUNT(*) AS n FROM visits a JOIN visits b ON a.patient = b.patient "
    "WHERE EXISTS (SELECT 1 FROM diagnoses d WHERE d.visit = a.id) GROUP BY 1"
)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    with open_database(write_clinic(tmp_path_factory.mktemp("clinic"))) as database:
        yield database


@pytest.mark.parametrize("sql", [JOINED, PER_PATIENT, PAIRS])
def test_nothing_of_ours_is_told(clinic, sql):
    session = clinic.session("alice")
    plan = session.plan(sql, epsilon=1)
    assert "protecting all rows of one of patients:" in str(plan)
    assert plan.to_json()["row_level"]["units"] == ["patients"]
    answer = session.ask(sql, epsilon=1)
    told = [str(plan), json.dumps(plan.to_json()), *answer.notes, str(session.describe(sql))]
    for text in told:
        assert "adomnia" not in text
        assert "#" not in text


def test_rows_computed_for_each_unit_of_one_table_are_of_its_column():
    world = World(
        {"who": list("aabbc"), "sex": list("FFMMF")},
        {"sex": listed("F", "M")},
        'epsilon = 100\nunit = "who"\nmax_rows = 3',
    )
    sql = "SELECT COUNT(*) AS n FROM (SELECT who, COUNT(*) AS k FROM people GROUP BY who) t"
    with world.open() as database:
        plan = database.session().plan(sql, epsilon=1)
    assert "protecting all rows of one who:" in str(plan)
    assert plan.to_json()["row_level"]["unit"] == "who"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (PAIRS.replace("WHERE", "WHERE b.cost = 5000 AND", 1), "b.cost is never 5000"),
        (PAIRS.replace("WHERE", "WHERE b.ward = 'A' AND", 1), "'A' is no value of b.ward"),
        (PAIRS.replace("GROUP BY 1", "GROUP BY a.ward"), "'b.ward' is neither aggregated"),
        (PAIRS.replace("WHERE", "WHERE q = 1 AND", 1), "there is no column 'q'"),
        (PAIRS.replace("WHERE", "WHERE c.q = 1 AND", 1), "there is no table 'c' here"),
        (PER_PATIENT + " WHERE n > 9", "n is never above 9"),
    ],
)
def test_errors_name_columns_as_the_statement_does(clinic, sql, said):
    with pytest.raises(QuestionError, match=said) as raised:
        clinic.session().plan(sql, epsilon=1)
    assert "adomnia" not in raised.value.hint
    assert "#" not in raised.value.hint


def test_the_promise_says_whose_rows_are_protected(clinic):
    said = promise_text(clinic.policy)[0]
    assert "all rows that belong to one of patients: the row of patients itself and all" in said
    assert "of visits 4 rows, of diagnoses 8 rows" in said


def test_the_promise_of_two_units_and_of_bounds_that_are_found(tmp_path):
    privacy = PRIVACY.replace("diagnoses = 8", 'diagnoses = "auto"').replace(
        'unit = "patients"', 'unit = ["patients", "doctors"]'
    )
    file = write_clinic(tmp_path, privacy=privacy)
    doctors = '[tables.doctors]\nsource = "doctors.csv"\nkey = "id"\n'
    text = file.read_text().replace(
        '{ patient = "patients" }', '{ patient = "patients", doctor = "doctors" }'
    )
    file.write_text(doctors + text)
    said = promise_text(read_policy(file))[0]
    assert "one of patients or doctors: the row of patients or doctors itself" in said
    assert "of diagnoses as many rows as a private search finds" in said


def test_what_is_left_out_of_a_units_own_table_is_said_of_it_alone(clinic):
    alone = clinic.session().plan("SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex", epsilon=1)
    said = [part.says for part in alone.left_out]
    assert "of rows of patients with the same key one alone is used" in said
    assert not any("refer to nobody" in text for text in said)
    joined = [part.says for part in clinic.session().plan(JOINED, epsilon=1).left_out]
    assert any("rows that refer to nobody are not counted" in text for text in joined)
    listed_texts = [text for text in (*said, *joined) if "that are not listed" in text]
    assert listed_texts
    assert all("that are not listed are in no group" in text for text in listed_texts)
