"""Several tables on servers, the whole way: a load, and questions across tables."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import duckdb
import pytest

import adomnia
from adomnia.curator.loading import load_edition
from adomnia.errors import PolicyError
from adomnia.policy.policy import read_policy
from tests import postgres_server, spark_session

TABLES = {
    "patients": "SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'F' ELSE 'M' END AS sex FROM {few}",
    "visits": (
        "SELECT i AS id, CAST((i * 7) % 23 AS DOUBLE PRECISION) AS patient, "
        "SUBSTR('abc', i % 3 + 1, 1) AS ward FROM {many}"
    ),
    "diagnoses": (
        "SELECT CAST((i * 11) % 65 AS VARCHAR(9)) AS visit, "
        "CASE WHEN i % 2 = 0 THEN 'flu' ELSE 'burn' END AS code FROM {many}"
    ),
}
"""Visits of patients 20 to 22 are nobody's, and what refers to them or to visits from 60 on."""

POLICY = """[tables.patients]
source = "{patients}"
table = "patients"
key = "id"
[tables.patients.attributes.sex]
values = ["F", "M"]
[tables.visits]
source = "{visits}"
table = "visits"
key = "id"
references = {{ patient = "patients" }}
[tables.visits.attributes.ward]
values = ["a", "b", "c"]
[tables.diagnoses]
source = "{diagnoses}"
table = "diagnoses"
references = {{ visit = "visits" }}
[tables.diagnoses.attributes.code]
values = ["flu", "burn"]
[privacy]
unit = "patients"
max_rows = {{ visits = 9, diagnoses = 20 }}
epsilon = 1000000
confirmed = true
"""
OWNED = """
WITH p AS ({patients}), v AS (SELECT * FROM ({visits}) WHERE patient IN (SELECT id FROM p)),
d AS (SELECT * FROM ({diagnoses}) WHERE CAST(visit AS BIGINT) IN (SELECT id FROM v))
"""
QUESTIONS = {
    "SELECT p.sex, COUNT(*) AS n FROM visits v JOIN patients p ON p.id = v.patient GROUP BY sex": (
        "SELECT sex, COUNT(*) FROM v JOIN p ON p.id = v.patient GROUP BY sex ORDER BY sex"
    ),
    "SELECT COUNT(*) AS n FROM (SELECT patient, COUNT(*) AS k FROM visits GROUP BY patient) t "
    "WHERE k > 2": (
        "SELECT COUNT(*) FROM (SELECT patient, COUNT(*) AS k FROM v GROUP BY patient) WHERE k > 2"
    ),
    "SELECT COUNT(*) AS n FROM patients p WHERE NOT EXISTS "
    "(SELECT 1 FROM visits v WHERE v.patient = p.id AND v.ward = 'b')": (
        "SELECT COUNT(*) FROM p WHERE id NOT IN (SELECT patient FROM v WHERE ward = 'b')"
    ),
    "SELECT v.ward, d.code, COUNT(*) AS n FROM diagnoses d JOIN visits v ON v.id = d.visit "
    "GROUP BY v.ward, d.code": (
        "SELECT ward, code, COUNT(*) FROM d JOIN v ON v.id = CAST(d.visit AS BIGINT) "
        "GROUP BY ALL ORDER BY ward, code"
    ),
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits WHERE ward = 'a' EXCEPT "
    "SELECT patient FROM visits WHERE ward = 'b') t": (
        "SELECT COUNT(*) FROM (SELECT patient FROM v WHERE ward = 'a' EXCEPT "
        "SELECT patient FROM v WHERE ward = 'b')"
    ),
    "SELECT ward, COUNT(*) AS n FROM (SELECT patient, ward FROM visits UNION ALL SELECT id, 'c' "
    "FROM patients) t GROUP BY ward": (
        "SELECT ward, COUNT(*) FROM (SELECT patient, ward FROM v UNION ALL SELECT id, 'c' FROM p) "
        "GROUP BY ward"
    ),
    "SELECT COUNT(*) AS n FROM (SELECT patient, ward FROM visits UNION SELECT id, 'c' "
    "FROM patients INTERSECT SELECT patient, ward FROM visits) t": (
        "SELECT COUNT(*) FROM (SELECT patient, ward FROM v UNION SELECT id, 'c' FROM p INTERSECT "
        "SELECT patient, ward FROM v)"
    ),
    "SELECT COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE "
    "w.patient = v.patient AND w.ward > v.ward)": (
        "SELECT COUNT(*) FROM v WHERE EXISTS (SELECT 1 FROM v w WHERE w.patient = v.patient AND "
        "w.ward > v.ward)"
    ),
}


def selects(few, many):
    """The statements that make the tables, by whatever makes numbers."""
    return {name: text.format(few=few, many=many) for name, text in TABLES.items()}


HERE = selects("range(20) t(i)", "range(60) t(i)")


@contextmanager
def on_server(folder):
    """Tables of a database of its own."""
    server, name = postgres_server.shared(), f"tables_{uuid4().hex}"
    server.execute(f"CREATE DATABASE {name}")
    made = selects("generate_series(0, 19) t(i)", "generate_series(0, 59) t(i)")
    server.execute(
        f"CREATE ROLE {name} LOGIN; "
        + "".join(f"CREATE TABLE {t} AS {s}; GRANT SELECT ON {t} TO {name}; "
                  for t, s in made.items())
        + f"CREATE SCHEMA adomnia_editions AUTHORIZATION {name}",
        name,
    )  # fmt: skip
    try:
        yield dict.fromkeys(TABLES, server.url(name, name))
    finally:
        server.execute(f"DROP DATABASE {name} WITH (FORCE); DROP ROLE {name}")


@contextmanager
def in_cluster(folder):
    """Parquet files that Spark reads."""
    spark_session.shared()
    yield {name: f"{spark_session.ADDRESS}?path={file}" for name, file in files(folder).items()}


@contextmanager
def in_folder(folder):
    """The same files, read here."""
    yield files(folder)


def files(folder):
    """The tables as files."""
    for name, select in HERE.items():
        duckdb.execute(f"COPY ({select}) TO '{folder / name}.parquet' (FORMAT parquet)")
    return {name: folder / f"{name}.parquet" for name in HERE}


PLACES = {"folder": in_folder, "postgres": on_server, "spark": in_cluster}


@pytest.mark.parametrize("make", PLACES.values(), ids=PLACES)
def test_questions_across_tables_are_answered_from_one_edition(make, tmp_path):
    file = tmp_path / "adomnia.toml"
    with make(tmp_path) as sources:
        file.write_text(POLICY.format(**sources))
        made = load_edition(read_policy(file))
        truth = f"{OWNED.format(**HERE)} SELECT COUNT(*) FROM d"
        kept = duckdb.execute(truth).fetchall()[0][0]
        expected = {"patients": (20, 0), "visits": (52, 8), "diagnoses": (kept, 60 - kept)}
        assert made.rows == expected
        with adomnia.open(file) as database:
            session = database.session()
            for asked, truth in QUESTIONS.items():
                rows = session.ask(asked, epsilon=5000).rows
                expected = duckdb.execute(OWNED.format(**HERE) + truth).fetchall()
                assert sorted(map(tuple, rows)) == sorted(expected)


@pytest.mark.parametrize("make", PLACES.values(), ids=PLACES)
def test_what_is_left_out_is_counted_there(make, tmp_path):
    file = tmp_path / "adomnia.toml"
    bounds = "{{ visits = 9, diagnoses = 20 }}", "{{ visits = 1, diagnoses = 2 }}"
    text = POLICY.replace(*bounds).replace('"b", "c"]', '"b"]')
    with make(tmp_path) as sources:
        file.write_text(text.format(**sources))
        with adomnia.open(file) as database:
            counted = database.measure_quality(200_000)
    rows = [part for part in counted if part.what == "rows"]
    for part, table, owner, most in zip(
        rows, ("v", "d JOIN v ON v.id = CAST(d.visit AS BIGINT)"), ("patient",) * 2, (1, 2),
        strict=True,
    ):  # fmt: skip
        each = f"SELECT COUNT(*) AS n FROM {table} GROUP BY {owner}"
        truth = f"SELECT SUM(GREATEST(n - {most}, 0)), MAX(n) FROM ({each})"
        beyond, largest = duckdb.execute(OWNED.format(**HERE) + truth).fetchall()[0]
        assert (part.count, part.bound) == (beyond, largest)
    values = {part.column: part.count for part in counted if part.what == "values"}
    assert (values["patients.sex"], values["diagnoses.code"]) == (0, 0)
    assert 0 < values["visits.ward"] < 20  # of one row of each


def test_tables_of_several_places_are_refused(tmp_path):
    places = {name: f"postgresql://one.example/{name}" for name in TABLES}
    file = tmp_path / "adomnia.toml"
    for other in (places, places | {"visits": "visits.parquet"}):
        file.write_text(POLICY.format(**other))
        with pytest.raises(PolicyError, match="several places"):
            load_edition(read_policy(file))
    assert [path.name for path in Path(tmp_path).iterdir()] == ["adomnia.toml"]
