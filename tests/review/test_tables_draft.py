"""Drafts of several tables: names and shares decide together, and what is drafted can be read."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from adomnia.engines.sql.dialect import quoted
from adomnia.policy.policy import read_policy
from adomnia.review.drafts.draft import Wish
from adomnia.review.tables_draft.draft import draft_tables
from adomnia.review.tables_draft.link_names import agreement, key_rank


def drafted(tmp_path, wish=None, **tables):
    """The draft of tables that are given as SQL, and the policy as it is read back."""
    path = tmp_path / "some.duckdb"
    with duckdb.connect(str(path)) as connection:
        for name, sql in tables.items():
            connection.execute(f'CREATE TABLE "{name}" AS {sql}')
    file = tmp_path / "adomnia.toml"
    made = draft_tables(path, file, wish)
    if made is None:
        return None, None
    file.write_text(made.text, "utf-8")
    return made, read_policy(file).several


def used(made):
    return {(one.table, one.column): one.other for one in made.graph.used}


def numbers(rows, **columns):
    listed = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in columns.items())
    return f"SELECT {listed} FROM range({rows}) r(i)"


@pytest.mark.parametrize(
    ("column", "table", "key", "clear"),
    [
        ("patient", "patients", "id", 2), ("patientID", "Patient", "id", 2),
        ("patient_nr", "tbl_patients", "nr", 2), ("l_partkey", "part", "p_partkey", 2),
        ("referring_doctor_id", "doctors", "id", 1), ("cust_no", "customers", "id", 2),
        ("person", "people", "id", 2), ("custo_no", "customers", "id", 1),
        ("company_id", "companies", "id", 2),
        ("age", "patients", "id", 0), ("id", "patients", "id", 0), ("wardrobe", "wards", "id", 0),
    ],
)  # fmt: skip
def test_names_say_what_they_refer_to(column, table, key, clear):
    assert agreement(column, table, key) == clear


def test_names_of_keys_have_an_order():
    ranks = [key_rank(name, "patients") for name in ("id", "patient_id", "case_id", "code", "age")]
    assert ranks == [3, 3, 2, 3, 0]


def test_sparse_numbers_are_references_without_a_name(tmp_path):
    made, _ = drafted(
        tmp_path,
        people=numbers(400, id="1000000 + i * 7919", sex="i % 2"),
        calls=numbers(2000, who="1000000 + (i % 390) * 7919", seconds="i % 300"),
    )
    assert used(made) == {("calls", "who"): "people"}


def test_dense_numbers_are_not(tmp_path):
    made, _ = drafted(
        tmp_path,
        people=numbers(4000, id="i + 1", sex="i % 2"),
        calls=numbers(3000, nr="i + 1", who="i % 390 + 1", level="i % 90 + 1"),
    )
    assert made is None


def test_two_tables_of_one_key_do_not_refer_to_each_other(tmp_path):
    made, several = drafted(
        tmp_path,
        details=numbers(300, patient_id="i + 1", blood="i % 4"),
        patients=numbers(300, patient_id="i + 1", sex="i % 2"),
    )
    assert used(made) == {("details", "patient_id"): "patients"}
    assert several.tables.tables["details"].max_rows == 1


def test_a_circle_is_opened_where_it_is_least_clear(tmp_path):
    made, several = drafted(
        tmp_path,
        patients=numbers(300, id="i + 1", last_visit_id="i * 2 + 1"),
        visits=numbers(900, id="i + 1", patient_id="i % 300 + 1", cost="i % 70"),
    )
    assert used(made) == {("visits", "patient_id"): "patients"}
    assert "patients.last_visit_id → visits.id: all 300 rows match; it would close a circle" in (
        made.text
    )
    assert several.tables.units == ("patients",)


def test_columns_that_name_two_people_are_both_kept_and_a_third_is_told(tmp_path):
    made, several = drafted(
        tmp_path,
        members=numbers(200, id="i + 1"),
        talks=numbers(900, sender_member="i % 200 + 1", reader_member="(i * 7) % 200 + 1",
                      copy_member="(i * 11) % 200 + 1"),
    )  # fmt: skip
    assert len(several.tables.owners("talks")) == 2
    assert "a row would belong to more than two" in made.text


def test_of_two_ways_that_agree_the_one_with_fewer_rows_of_nobody_stays(tmp_path):
    tables = {
        "patients": numbers(200, id="i + 1"),
        "visits": numbers(800, id="i + 1", patient="i % 200 + 1"),
    }
    whole = numbers(800, visit="i + 1", patient="i % 200 + 1")
    made, _ = drafted(tmp_path, **tables, tests=whole)
    assert ("tests", "visit") in used(made)
    assert ("tests", "patient") not in used(made)
    (tmp_path / "b").mkdir()
    torn = numbers(800, visit="CASE WHEN i % 4 > 0 THEN i + 1 END", patient="i % 200 + 1")
    made, _ = drafted(tmp_path / "b", **tables, tests=torn)
    assert ("tests", "patient") in used(made)
    assert ("tests", "visit") not in used(made)


def test_people_are_units_and_those_who_serve_them_are_told(tmp_path):
    made, _ = drafted(
        tmp_path,
        doctors=numbers(30, id="i + 1", surname="'Dr' || i"),
        patients=numbers(500, id="i + 1", sex="i % 2"),
        visits=numbers(2000, patient_id="i % 500 + 1", doctor_id="i % 30 + 1"),
    )
    assert (made.graph.unit, made.graph.alternatives) == ("patients", ("doctors",))
    assert '# unit = "doctors", or unit = ["patients", "doctors"] for both' in made.text
    assert made.graph.public == ()


def test_people_to_whom_nothing_refers_are_units_all_the_same(tmp_path):
    made, several = drafted(
        tmp_path,
        people=numbers(500, id="i + 1", region_id="i % 16 + 1"),
        regions=numbers(16, id="i + 1", name="'Region ' || i"),
    )
    assert (made.graph.unit, made.graph.public) == ("people", ("regions",))
    assert set(several.tables.tables["people"].attributes) == {"region_id"}
    assert "max_rows" not in made.text


def test_odd_names_can_be_read_back(tmp_path):
    made, several = drafted(
        tmp_path,
        **{
            "my people": numbers(100, **{"the id": "i + 1", 'a "b"\n#c': "i % 3"}),
            "visits ü": numbers(300, **{"my\nperson": "i % 100 + 1", "x = 1": "i % 5"}),
        },
        wish=Wish(epsilon="1/3"),
    )
    assert set(several.tables.tables) == {"my_people", "visits_ü"}
    assert several.sources["my_people"].relation == "my people"
    assert dict(several.tables.tables["visits_ü"].references) == {"my\nperson": "my_people"}
    assert 'epsilon = "1/3"' in made.text


def test_no_value_of_a_key_stands_in_a_draft(tmp_path):
    made, _ = drafted(
        tmp_path,
        people=numbers(200, id="'SECRET' || i"),
        visits=numbers(600, person="'SECRET' || (i % 210)", ward="i % 3"),
    )
    assert ("visits", "person") in used(made)
    assert "SECRET" not in made.text


WORDS = ("people", "visit", "orders", "x", "ward", "child", "accounts", "t 1")
COLUMNS = {
    "id": "i + 1", "nr": "i % 50", "code": "'c' || i", "name": "'n' || (i % 9)", "age": "i % 90",
    "key": "CASE WHEN i % 7 > 0 THEN i END", "u": "uuid()", "day": "DATE '2020-01-01' + i::int",
    "ref": "CAST(i % 40 + 1 AS DOUBLE)", "flag": "i % 2 = 0",
}  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_drafted_can_be_read(tmp_path, seed):
    chance = np.random.default_rng(seed)
    names = [WORDS[i] for i in chance.permutation(len(WORDS))[: chance.integers(2, 6)]]
    tables = {}
    for name in names:
        own = dict(chance.permutation([*COLUMNS.items()])[: chance.integers(1, 6)].tolist())
        links = {f"{other}_id": f"(i * {chance.integers(1, 9)}) % 60 + 1" for other in names}
        some = {name: sql for name, sql in links.items() if chance.random() < 0.6}
        tables[name] = numbers(int(chance.integers(30, 300)), **({"id": "i + 1"} | own | some))
    made, several = drafted(tmp_path, **tables)
    assert made is not None  # in these some table refers to another
    assert set(several.tables.tables) == set(made.graph.private)
    assert all(1 <= len(several.tables.owners(name)) <= 2 for name in made.graph.private)
    for one in made.graph.used:
        assert one.match.matched > 0
