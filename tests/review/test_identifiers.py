"""Identifiers are told from what is measured, on many tables that were drawn, not chosen."""

from __future__ import annotations

import uuid

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from adomnia.review.check.personal_text import is_key
from adomnia.review.column_words import column_words
from adomnia.review.drafts.draft import draft_policy
from adomnia.review.drafts.identifiers import RowsPerUnit

ROWS = (60, 300, 1500, 20_000)


def drafted(tmp_path, columns, name="t.parquet"):
    path = tmp_path / name
    table = pa.table(columns)
    with duckdb.connect() as connection:
        connection.register("made", table)
        connection.sql("SELECT * FROM made").write_parquet(str(path))
    return draft_policy(path, tmp_path / "adomnia.toml")


def measured(chance, rows):
    """Numbers as they are measured, under names that say nothing."""
    log = chance.lognormal
    return {
        "x_lognormal": log(10.5, 0.8, rows).astype(int),
        "x_wide": log(9, 2, rows).astype(int),
        "x_pareto": (chance.pareto(1.5, rows) * 20_000).astype(int),
        "x_gamma": chance.gamma(2, 15_000, rows).astype(int),
        "x_normal": chance.normal(70_000, 12_000, rows).round().astype(int),
        "x_grams": chance.normal(3400, 500, rows).round().astype(int),
        "x_uniform": chance.integers(0, 5000, rows),
        "x_cents": log(8, 1, rows).round(2),
        "x_ratio": chance.random(rows),
        "x_count": chance.poisson(3, rows),
        "x_below": -np.arange(rows),
    }


NAMED = ("income", "yearlyIncome", "salary_eur", "amount", "weight_mg", "total_cost", "TotalPrice",
         "loan_amount", "steps", "turnover", "epoch", "height_um")  # fmt: skip


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_measured_is_no_identifier(tmp_path, rows, seed):
    made = drafted(tmp_path, measured(np.random.default_rng([seed, rows]), rows))
    assert [column.name for column in made.columns if column.identifier] == []
    assert made.undeclared == ()


@pytest.mark.parametrize("rows", ROWS)
def test_a_measured_name_is_believed_however_distinct_the_values(tmp_path, rows):
    chance = np.random.default_rng(rows)
    columns = {name: 10**8 + chance.permutation(rows) for name in NAMED}
    made = drafted(tmp_path, columns)
    assert made.undeclared == ()


def identifiers(chance, rows):
    """Identifiers under names that say nothing."""
    order = chance.permutation(rows)
    return {
        "a_sequence": order + 1,
        "a_sequence_from": order + 4_000_001,
        "a_gapped": np.sort(chance.choice(rows * 3, rows, replace=False)),
        "a_uuid": [str(uuid.UUID(bytes=chance.bytes(16))) for _ in range(rows)],
        "a_mail": [f"p{i}@example.org" for i in order],
    }


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("seed", range(3))
def test_identifiers_are_found_by_how_their_values_lie(tmp_path, rows, seed):
    columns = identifiers(np.random.default_rng([seed, rows]), rows)
    made = drafted(tmp_path, columns)
    assert set(made.undeclared) == set(columns)
    assert {unit.name for unit in made.counted} == set(columns)
    assert made.units == ()  # one row each


@pytest.mark.parametrize("rows", [1500, 20_000])
def test_drawn_codes_of_one_width_are_found_too(tmp_path, rows):
    chance = np.random.default_rng(rows)
    columns = {
        "nine_digits": np.unique(chance.integers(10**8, 10**9, rows * 2))[:rows],
        "text_code": [f"K{value:07}" for value in chance.permutation(rows)],
        "hex_code": [chance.bytes(8).hex() for _ in range(rows)],
    }
    assert set(drafted(tmp_path, columns).undeclared) == set(columns)


@pytest.mark.parametrize("name", ["id", "patient_id", "PatientID", "patientid", "user_no", "emp_no",
                                  "customer_number", "ssn", "email", "Surname", "name", "hhid",
                                  "account_number", "device_id"])  # fmt: skip
def test_identifiers_of_few_people_are_not_listed(tmp_path, name):
    texts = [f"p{i % 12}" for i in range(2400)]
    made = drafted(tmp_path, {name: texts, "sex": ["F", "M"] * 1200})
    assert made.undeclared == (name,)
    assert "p7" not in made.text
    assert made.units == (name,)


@pytest.mark.parametrize(("name", "size"), [("region_id", 16), ("dept_id", 8), ("product_name", 30),
                                            ("persons", 9), ("household", 6)])  # fmt: skip
def test_what_many_people_share_is_no_identifier(tmp_path, name, size):
    made = drafted(tmp_path, {name: np.arange(2400) % size})
    assert made.undeclared == ()


def test_rows_per_unit_are_counted_and_proposed(tmp_path):
    people = np.repeat(np.arange(1000), np.r_[np.full(900, 1), np.full(90, 3), np.full(10, 5)])
    rows = len(people)
    made = drafted(tmp_path, {"row": np.arange(rows), "patient_id": people})
    unit = made.counted[0]
    assert (unit.name, unit.values, unit.most, unit.max_rows) == ("patient_id", 1000, 5, 5)
    assert 'unit = "patient_id"' in made.text
    assert "\nmax_rows = 5 " in made.text


def test_a_few_units_with_very_many_rows_do_not_decide():
    unit = RowsPerUnit("id", {1: 5000, 3: 900, 12: 60, 4000: 2})
    assert (unit.most, unit.max_rows) == (4000, 12)
    left, units = unit.cut(12)
    assert (0 < left < 1, units) == (True, 2)
    assert "of 2 that have more; 4,000 would leave out none" in unit.cut_text(12)
    assert RowsPerUnit("id", {}).max_rows == 1


@pytest.mark.parametrize(("most", "bound"), [(11, 11), (25, 25), (60, 60), (144, 150), (101, 110),
                                             (1234, 1300), (99_001, 100_000)])  # fmt: skip
def test_a_bound_is_hardly_above_what_is_needed(most, bound):
    unit = RowsPerUnit("id", {1: 50, most: 50})
    assert (unit.max_rows, unit.cut_text(bound)) == (bound, "")


def test_a_lower_bound_is_named_where_a_few_have_far_more():
    unit = RowsPerUnit("id", {10: 960, 80: 40})
    assert unit.max_rows == 80
    said = "; max_rows = 10 would leave out 22 % of the rows, of 40 that have more"
    assert unit.cut_text(80) == said


def test_who_has_fewest_rows_is_the_unit_where_several_are_named(tmp_path):
    columns = {"doctor": [f"d{i % 5}" for i in range(3000)], "patient": np.arange(3000) % 1000}
    made = drafted(tmp_path, columns)
    assert '\nunit = "patient" ' in made.text
    assert 'unit = "doctor"' not in made.text
    assert made.units == ("patient",)


def test_where_a_row_is_a_person_no_other_unit_is_set(tmp_path):
    rows = np.arange(900)
    made = drafted(tmp_path, {"person_id": rows, "household_id": rows // 3})
    assert "\nunit" not in made.text
    assert '# unit = "household_id", max_rows = 3' in made.text
    made = drafted(tmp_path, {"id": rows, "patient_id": rows // 3})  # a row is a visit
    assert '\nunit = "patient_id" ' in made.text


def test_a_short_list_is_listed_though_it_is_called_as_people_are(tmp_path):
    made = drafted(tmp_path, {"subject": [f"s{i % 10}" for i in range(34_000)]})
    assert made.confirm == ("subject",)
    assert '# Called as people are: if each is one, say unit = "subject"' in made.text


def test_names_that_many_share_are_no_unit(tmp_path):
    names = [f"n{i % 16}" for i in range(2500)]
    made = drafted(tmp_path, {"name": names})
    assert "\nunit" not in made.text
    many = [f"n{i % 1200}" for i in range(2500)]
    assert '\nunit = "name" ' in drafted(tmp_path, {"name": many}).text
    numbered = drafted(tmp_path, {"file_no": np.arange(2500), "name": many})
    assert "\nunit" not in numbered.text
    assert '# unit = "name", max_rows = 3' in numbered.text


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"emp_no": np.arange(1, 901), "manager": np.arange(900) // 20 + 1}, "emp_no"),
        ({"nr": np.arange(900) * 37 + 1000, "root": np.arange(900) // 20 * 37 + 1000}, "nr"),
        ({"k_id": [f"K{i:05}" for i in range(900)],
          "boss": [f"K{i // 9:05}" for i in range(900)]}, "k_id"),
    ],
)  # fmt: skip
def test_a_reference_to_another_row_is_no_number(tmp_path, columns, said):
    made = drafted(tmp_path, columns)
    name = [*columns][1]
    assert made.undeclared == tuple(columns)
    assert f"# {name}: refers to {said} of the same table (all of 900 rows match)" in made.text


def test_small_numbers_refer_to_nobody_by_accident(tmp_path):
    rows = np.arange(900)
    made = drafted(
        tmp_path, {"emp_no": rows + 1, "floors": rows % 40 + 1, "head": rows % 200 + 850}
    )
    assert made.confirm == ("floors", "head")


def test_codes_of_places_name_nobody(tmp_path):
    codes = {"zip": [f"{i * 7919 % 100_000:05}" for i in range(4000)]}
    assert drafted(tmp_path, codes).counted == ()


def test_things_with_several_rows_are_proposed_but_not_set(tmp_path):
    made = drafted(tmp_path, {"device_id": [f"d{i % 400}" for i in range(1200)]})
    assert "\nunit" not in made.text
    assert '# unit = "device_id", max_rows = 3' in made.text


def test_words_of_a_name_are_told_apart_however_it_is_written():
    written = {
        ("patient", "id"): ("patient_id", "PatientID", "patientId", "PATIENT-ID", "patientid"),
        ("home", "phone"): ("HomePhone", "home phone", "home_phone_2", "homePhone2"),
        ("straße", "nr"): ("StraßeNr", "straße_nr"),
        (): ("", "2020", "__", "%"),
    }
    for words, names in written.items():
        assert [column_words(name) for name in names] == [[*words]] * len(names)


def test_a_name_without_words_says_nothing(tmp_path):
    columns = {name: [f"v{i % 5}" for i in range(60)] for name in ("2020", "%", "__")}
    assert drafted(tmp_path, columns).counted == ()
    assert not any(map(is_key, columns))
