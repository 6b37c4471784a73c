"""What the catalogue tells of several private tables: keys, references, views, and no data."""

from __future__ import annotations

import pytest
from hamlet import ask, view

from adomnia.curator.database import open_database
from adomnia.wire.statements.lexer import split
from tests.clinic import write_clinic

EVERYTHING = (
    "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "
    "WHERE c.relkind IN ('r', 'v') "
    "AND c.relname NOT IN ('patients', 'visits', 'diagnoses', 'stays')"
)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    with open_database(write_clinic(tmp_path_factory.mktemp("clinic"))) as database:
        yield view(database)


def test_tables_views_and_what_is_public(clinic):
    sql = (
        "SELECT table_name, table_type, obj_description(to_regclass(table_name)) "
        "FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1"
    )
    kinds = {name: (kind, said) for name, kind, said in ask(clinic, sql)}
    assert {name: kind for name, (kind, _) in kinds.items()} == {
        "diagnoses": "BASE TABLE",
        "patients": "BASE TABLE",
        "stays": "VIEW",
        "visits": "BASE TABLE",
        "wards": "BASE TABLE",
    }
    assert kinds["patients"][1].startswith("Who was ever admitted. (private: up to 1 row of one of")
    assert "up to 4 rows of one of patients protected" in kinds["visits"][1]
    assert kinds["stays"][1].startswith("Visits with the patient's sex. (private")


def test_columns_have_their_types_and_keys_are_text(clinic):
    sql = (
        "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
        "WHERE table_name IN ('visits', 'patients', 'stays') ORDER BY table_name, ordinal_position"
    )
    assert ask(clinic, sql) == [
        ("patients", "id", "text", "NO"),
        ("patients", "sex", "text", "YES"),
        ("patients", "age", "bigint", "YES"),
        ("stays", "sex", "text", "YES"),
        ("stays", "ward", "text", "YES"),
        ("stays", "cost", "bigint", "YES"),
        ("visits", "id", "text", "NO"),
        ("visits", "patient", "text", "YES"),
        ("visits", "ward", "text", "YES"),
        ("visits", "cost", "bigint", "YES"),
    ]
    said = ask(clinic, "SELECT col_description('visits'::regclass, 2)")
    assert said == [("refers to patients(id): to be joined on, and not shown",)]


def test_keys_and_references(clinic):
    sql = (
        "SELECT table_name, constraint_name, constraint_type FROM "
        "information_schema.table_constraints WHERE table_schema = 'public' ORDER BY 1, 2"
    )
    assert ask(clinic, sql) == [
        ("diagnoses", "diagnoses_visit_fkey", "FOREIGN KEY"),
        ("patients", "patients_pkey", "PRIMARY KEY"),
        ("visits", "visits_patient_fkey", "FOREIGN KEY"),
        ("visits", "visits_pkey", "PRIMARY KEY"),
        ("wards", "wards_pkey", "PRIMARY KEY"),
    ]
    sql = (
        "SELECT k.table_name, k.column_name, c.table_name, c.column_name "
        "FROM information_schema.referential_constraints r "
        "JOIN information_schema.key_column_usage k ON k.constraint_name = r.constraint_name "
        "JOIN information_schema.key_column_usage c ON c.constraint_name = "
        "r.unique_constraint_name ORDER BY 1"
    )
    expected = [("diagnoses", "visit", "visits", "id"), ("visits", "patient", "patients", "id")]
    assert ask(clinic, sql) == expected
    sql = (
        "SELECT tc.table_name, kcu.column_name, ccu.table_name, ccu.column_name "
        "FROM information_schema.table_constraints tc "
        "JOIN information_schema.key_column_usage kcu ON tc.constraint_name = kcu.constraint_name "
        "JOIN information_schema.constraint_column_usage ccu "
        "ON ccu.constraint_name = tc.constraint_name "
        "WHERE tc.constraint_type = 'FOREIGN KEY' ORDER BY 1"
    )
    assert ask(clinic, sql) == expected
    sql = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' ORDER BY 1"
    assert ask(clinic, sql) == [
        ("FOREIGN KEY (patient) REFERENCES patients(id)",),
        ("FOREIGN KEY (visit) REFERENCES visits(id)",),
    ]


def test_the_text_of_a_view_is_told(clinic):
    [(text,)] = ask(clinic, "SELECT pg_get_viewdef('stays'::regclass)")
    assert text.strip() == (
        "SELECT p.sex, v.ward, v.cost FROM visits v JOIN patients p ON v.patient = p.id;"
    )


def test_domains_name_their_tables(clinic):
    sql = "SELECT attribute, type, description FROM adomnia.domains ORDER BY 1"
    assert ask(clinic, sql) == [
        ("diagnoses.code", "text", None),
        ("patients.age", "int8", None),
        ("patients.sex", "text", "As in the passport."),
        ("visits.cost", "int8", None),
        ("visits.ward", "text", None),
    ]


@pytest.mark.parametrize(
    ("sql", "answers"),
    [
        ("SELECT * FROM wards", True),
        ("SELECT COUNT(*) FROM visits", False),
        ('SELECT COUNT(*) FROM public."Visits" v', False),
        ("SELECT COUNT(*) FROM wards w JOIN diagnoses d ON true", False),
        ("SELECT COUNT(*) FROM stays", False),
        ("WITH visits AS (SELECT 1 AS a) SELECT a FROM visits", True),
        ("WITH t AS (SELECT 1 FROM patients) SELECT COUNT(*) FROM t", False),
    ],
)
def test_what_is_private_is_not_the_catalogues(clinic, sql, answers):
    (statement,) = split(sql)
    assert clinic.answers(statement) is answers


def test_nothing_of_the_data_is_told(clinic):
    for schema, name in ask(clinic, EVERYTHING):
        told = str(ask(clinic, f'SELECT * FROM {schema}."{name}"'))
        for word in ("surname", "Zzmayer", "patients.csv", "v1-0", "nobody"):
            assert word not in told
