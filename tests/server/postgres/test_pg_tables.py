"""Several private tables over psql: what it lists, and questions over joins."""

from __future__ import annotations

import json
import subprocess

import psycopg
import pytest
import sqlalchemy
from parlour import SECRET, open_parlour

from tests.clinic import JOINED, PER_PATIENT, write_clinic

PAYS = "'-c adomnia.epsilon=5'"


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clinic")
    made = open_parlour(folder, policy=write_clinic(folder))
    yield made
    made.close()


def psql(clinic, *commands, flags="-X"):
    told = [part for command in commands for part in ("-c", command)]
    found = subprocess.run(
        ["psql", flags, clinic.dsn(options=PAYS), *told],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return found


def test_tables_and_views_are_listed(clinic):
    lines = [line.split("|")[1:3] for line in psql(clinic, "\\d", flags="-XAt").stdout.splitlines()]
    assert lines == [
        ["diagnoses", "table"],
        ["patients", "table"],
        ["stays", "view"],
        ["visits", "table"],
        ["wards", "table"],
    ]
    told = psql(clinic, "\\dt").stdout
    assert "visits" in told
    assert "stays" not in told


def test_a_table_is_described_with_its_keys(clinic):
    told = psql(clinic, "\\d visits", "\\d+ patients", "\\d+ stays").stdout
    for line in (
        '"visits_pkey" PRIMARY KEY, btree (id)',
        '"visits_patient_fkey" FOREIGN KEY (patient) REFERENCES patients(id)',
        'TABLE "diagnoses" CONSTRAINT "diagnoses_visit_fkey" FOREIGN KEY (visit) REFERENCES',
        "As in the passport. (one of F, M)",
        "View definition:",
    ):
        assert line in told
    assert "surname" not in told


@pytest.mark.parametrize(
    "sql",
    [
        JOINED,
        PER_PATIENT,
        "SELECT ward, COUNT(*) FROM stays GROUP BY ward",
        "SELECT w.floor, SUM(v.cost) FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY 1",
    ],
)
def test_questions_over_several_tables_are_paid_and_answered(clinic, sql):
    before = clinic.spent()
    found = psql(clinic, sql)
    assert "this answer cost epsilon 5" in found.stderr
    assert clinic.spent() - before == 5


def test_explain_names_the_units(clinic):
    before = clinic.spent()
    told = psql(clinic, f"EXPLAIN {JOINED}", flags="-XAt").stdout
    assert "protecting all rows of one of patients: margins are 4 times" in told
    told = psql(clinic, f"EXPLAIN (FORMAT JSON) {JOINED}", flags="-XAt").stdout
    assert json.loads(told)["row_level"]["units"] == ["patients"]
    assert clinic.spent() == before


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT * FROM visits LIMIT 0", ["ward", "cost"]),
        ("SELECT v.* FROM visits v WHERE 1 <> 1", ["ward", "cost"]),
        ("SELECT * FROM stays LIMIT 0", ["sex", "ward", "cost"]),
        ("SELECT p.*, v.ward FROM visits v JOIN patients p ON v.patient = p.id LIMIT 0",
         ["sex", "age", "ward"]),
        ("SELECT * FROM visits v JOIN patients p ON v.patient = p.id LIMIT 0",
         ["ward", "cost", "sex", "age"]),
    ],
)  # fmt: skip
def test_a_star_stands_for_the_declared_columns(clinic, sql, columns):
    with psycopg.connect(clinic.dsn()) as connection:
        told = connection.execute(sql)
        assert [column.name for column in told.description] == columns
        assert told.fetchall() == []


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("SELECT COUNT(*) FROM visits v JOIN patients p ON p.id = v.patient "
         "WHERE p.age > %s AND v.ward = %s", (20, "a")),
        ("SELECT COUNT(*) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) t "
         "WHERE n > %s", (1,)),
        ("SELECT COUNT(*) FROM (SELECT patient, AVG(cost) AS n FROM visits GROUP BY patient) t "
         "WHERE t.n > %s", (1.5,)),
        ("SELECT COUNT(*) FROM (SELECT patient, MAX(cost) AS n FROM visits GROUP BY patient) t "
         "WHERE t.n = %s", (10,)),
        ("SELECT COUNT(*) FROM stays WHERE cost >= %s", (5,)),
        ("WITH q AS (SELECT age AS years FROM patients) SELECT COUNT(*) FROM q "
         "WHERE q.years = %s", (5,)),
    ],
)  # fmt: skip
def test_parameters_have_the_types_of_what_they_are_compared_with(clinic, sql, values):
    with psycopg.connect(clinic.dsn(options=PAYS)) as connection:
        [(count,)] = connection.execute(sql, values).fetchall()
    assert isinstance(count, int)


def test_sqlalchemy_reflects_keys(clinic):
    secret = SECRET.replace(" ", "%20")
    url = f"postgresql+psycopg://alice:{secret}@127.0.0.1:{clinic.port}/town"
    inspector = sqlalchemy.inspect(sqlalchemy.create_engine(url))
    assert inspector.get_pk_constraint("visits")["constrained_columns"] == ["id"]
    [key] = inspector.get_foreign_keys("visits")
    assert key["constrained_columns"] == ["patient"]
    assert (key["referred_table"], key["referred_columns"]) == ("patients", ["id"])
    assert inspector.get_view_names() == ["stays"]
    types = {column["name"]: str(column["type"]) for column in inspector.get_columns("visits")}
    assert types == {"id": "TEXT", "patient": "TEXT", "ward": "TEXT", "cost": "BIGINT"}


def test_the_standard_schema_has_keys_and_what_refers_to_them(clinic):
    """What programs that draw diagrams read, beside PostgreSQL's own catalogue."""
    referring = """
        SELECT k.table_name, k.column_name, u.table_name, u.column_name
        FROM information_schema.referential_constraints r
        JOIN information_schema.key_column_usage k USING (constraint_name)
        JOIN information_schema.key_column_usage u ON u.constraint_name = r.unique_constraint_name
        ORDER BY 1, 2"""
    kinds = """
        SELECT table_name, constraint_type FROM information_schema.table_constraints
        ORDER BY 1, 2"""
    own = """
        SELECT conrelid::regclass::text, confrelid::regclass::text, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE contype = 'f' ORDER BY 1"""
    with psycopg.connect(clinic.dsn()) as connection:
        assert connection.execute(referring).fetchall() == [
            ("diagnoses", "visit", "visits", "id"),
            ("visits", "patient", "patients", "id"),
        ]
        assert connection.execute(kinds).fetchall() == [
            ("diagnoses", "FOREIGN KEY"),
            ("patients", "PRIMARY KEY"),
            ("visits", "FOREIGN KEY"),
            ("visits", "PRIMARY KEY"),
            ("wards", "PRIMARY KEY"),
        ]
        assert connection.execute(own).fetchall()[1] == (
            "visits", "patients", "FOREIGN KEY (patient) REFERENCES patients(id)",
        )  # fmt: skip
        listed = "SELECT table_name FROM information_schema.views WHERE table_schema = 'public'"
        assert connection.execute(listed).fetchall() == [("stays",)]
