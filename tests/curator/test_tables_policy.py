"""Policies with several private tables: what they say, and what is refused."""

from __future__ import annotations

import pytest

from adomnia.errors import PolicyError
from adomnia.policy.policy import read_policy

HOSPITAL = """
[tables.patients]
source = "patients.parquet"
key = "id"
[tables.patients.attributes.sex]
values = ["F", "M"]
[tables.visits]
source = "visits.parquet"
key = "id"
references = { patient = "patients" }
[tables.visits.attributes.cost]
low = 0
high = 1000
[tables.diagnoses]
source = "diagnoses.parquet"
references = { visit = "visits" }
[privacy]
unit = "patients"
epsilon = 1
max_rows = { visits = 50, diagnoses = "auto" }
"""


def policy(tmp_path, text):
    file = tmp_path / "adomnia.toml"
    file.write_text(text, "utf-8")
    return read_policy(file)


def test_tables_keys_and_bounds_are_read(tmp_path):
    found = policy(tmp_path, HOSPITAL)
    tables = found.several.tables
    assert tables.units == ("patients",)
    assert tables.owners("diagnoses") == (("visit", "patient"),)
    assert (tables.tables["visits"].max_rows, tables.tables["visits"].auto) == (50, False)
    assert (tables.tables["diagnoses"].max_rows, tables.tables["diagnoses"].auto) == (10**6, True)
    assert (found.unit, found.neighbors.rows) == ("patients", 1)


def test_where_the_search_ends_is_read(tmp_path):
    found = policy(tmp_path, HOSPITAL.replace("epsilon = 1", "epsilon = 1\nmost_rows = 400"))
    assert found.several.tables.tables["diagnoses"].max_rows == 400


def test_two_units_are_read(tmp_path):
    text = HOSPITAL.replace('unit = "patients"', 'unit = ["patients", "wards"]').replace(
        "[tables.visits]",
        '[tables.wards]\nsource = "w.csv"\nkey = "id"\n[tables.visits]',
    )
    text = text.replace('{ patient = "patients" }', '{ patient = "patients", ward = "wards" }')
    tables = policy(tmp_path, text).several.tables
    assert tables.owners("diagnoses") == (("visit", "patient"), ("visit", "ward"))
    assert tables.unit_of("diagnoses", ("visit", "ward")) == "wards"


REFUSED = [
    ('unit = "patients"', 'unit = "people"', "no table"),
    ('unit = "patients"', 'unit = ["a", "b", "c"]', "one table or two"),
    ('diagnoses = "auto"', 'diagnoses = "many"', "whole number"),
    (', diagnoses = "auto"', "", "bound for 'diagnoses'"),
    ('key = "id"\nreferences', "references", "has no key"),
    ('{ visit = "visits" }', '{ visit = "visit" }', "did you mean"),
    ('references = { visit = "visits" }', "", "nothing leads from 'diagnoses'"),
    ("[privacy]", '[data]\nsource = "x"\n[privacy]', "does not go with"),
    ("[privacy]", '[public.Visits]\nsource = "x.csv"\nkey = "id"\n[privacy]', "private table"),
    ("[privacy]", '[views.Visits]\nsql = "SELECT 1"\n[privacy]', "a table already"),
    ('{ patient = "patients" }', '{ patient = "patients", last = "diagnoses" }', "has no key"),
]


@pytest.mark.parametrize(("old", "new", "said"), REFUSED)
def test_what_makes_no_sense_is_refused_with_its_line(tmp_path, old, new, said):
    with pytest.raises(PolicyError) as refused:
        policy(tmp_path, HOSPITAL.replace(old, new, 1))
    assert said in f"{refused.value.message} {refused.value.hint}"
    assert refused.value.line is not None


def test_a_unit_that_refers_to_another_is_refused(tmp_path):
    text = HOSPITAL.replace('unit = "patients"', 'unit = ["patients", "wards"]').replace(
        "[tables.visits]",
        '[tables.wards]\nsource = "w.csv"\nkey = "id"\nreferences = { head = "patients" }\n'
        "[tables.visits]",
    )
    with pytest.raises(PolicyError, match="the unit 'wards' refers to another table") as refused:
        policy(tmp_path, text)
    assert refused.value.line == text.splitlines().index('references = { head = "patients" }') + 1


def test_data_says_how_editions_are_kept_and_nothing_else(tmp_path):
    said = '[data]\nmemory = 200\nkeep = 3\neditions = "kept"\n'
    found = policy(tmp_path, said + HOSPITAL)
    assert (found.memory, found.keep, found.editions) == (200, 3, "kept")
    for key in ("in_place = true", 'version = "1"', "rows = 9", 'table = "t"'):
        with pytest.raises(PolicyError, match=f"{key.split()[0]} in .data. does not go with"):
            policy(tmp_path, f"[data]\n{key}\n{HOSPITAL}")


def test_a_circle_of_references_is_refused(tmp_path):
    text = HOSPITAL.replace(
        'source = "patients.parquet"\nkey = "id"',
        'source = "patients.parquet"\nkey = "id"\nreferences = { last = "visits" }',
    )
    with pytest.raises(PolicyError, match="in a circle: patients → visits → patients"):
        policy(tmp_path, text)


def test_a_public_table_of_single_units_is_refused(tmp_path):
    text = '[data]\nsource = "a.csv"\n[public.p]\nsource = "p.csv"\nkey = "who"\n[privacy]\n'
    with pytest.raises(PolicyError, match="is the unit"):
        policy(tmp_path, text + 'unit = "who"\nmax_rows = 1\nepsilon = 1')
