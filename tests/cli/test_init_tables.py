"""`adomnia init` of several tables: keys, references, the unit, their picture, and what is left."""

from __future__ import annotations

import tomllib
from pathlib import Path
from uuid import uuid4

import duckdb
import openpyxl
import pytest

from adomnia.policy.policy import read_policy
from adomnia.review.drafts.draft import confirmed
from tests import postgres_server

PATIENTS = (
    "SELECT i + 1 AS id, CASE WHEN i % 2 = 0 THEN 'F' ELSE 'M' END AS sex FROM range(300) r(i)"
)
VISITS = (
    "SELECT i + 1 AS id, CASE WHEN i % 100 = 7 THEN 5000 + i ELSE i % 290 + 1 END AS patient, "
    "i % 12 + 1 AS ward, (i * 37) % 800 AS cost FROM range(1000) r(i)"
)
DIAGNOSES = (
    "SELECT (i * 7) % 1000 + 1 AS visit, CASE WHEN i % 3 = 0 THEN 'A' ELSE 'B' END AS kind "
    "FROM range(2000) r(i)"
)
WARDS = "SELECT i + 1 AS id, 'Ward ' || i AS name FROM range(12) r(i)"
WEATHER = "SELECT DATE '2020-01-01' + i::int AS day, i % 30 AS temperature FROM range(365) r(i)"
HOSPITAL = {"patients": PATIENTS, "visits": VISITS, "diagnoses": DIAGNOSES, "wards": WARDS,
            "weather": WEATHER}  # fmt: skip

PICTURE = """
patients (id)  300 rows, the unit
└─← visits.patient (id)  1,000 rows, 10 of nobody
   └─← diagnoses.visit  2,000 rows, 20 of nobody
wards (id)  12 rows, may be public
└─← visits.ward
weather  365 rows, not in the policy
"""


@pytest.fixture
def room(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(room, tables, folder="hospital"):
    """The tables as files side by side, CSV and Parquet by turns."""
    (room / folder).mkdir()
    for turn, (name, sql) in enumerate(tables.items()):
        path = room / folder / f"{name}.{'parquet' if turn % 2 else 'csv'}"
        with duckdb.connect() as connection:
            connection.execute(f"COPY ({sql}) TO '{path}'")
    return folder


def declared(room):
    """What the drafted policy says, as it is read."""
    return read_policy(room / "adomnia.toml").several


def test_a_folder_of_files_is_drafted_with_its_keys(room, run):
    ran = run("init", files(room, HOSPITAL))
    assert ran.code == 0, ran.err
    assert PICTURE.strip() in ran.out
    found = declared(room)
    assert found.tables.units == ("patients",)
    assert list(found.tables.tables) == ["patients", "visits", "diagnoses"]
    assert found.tables.owners("diagnoses") == (("visit", "patient"),)
    assert found.sources["visits"].source == "hospital/visits.parquet"
    assert found.tables.tables["visits"].max_rows == 4
    assert set(found.tables.tables["visits"].attributes) == {"ward", "cost"}
    assert not read_policy(room / "adomnia.toml").confirmed


def test_the_documentation_shows_what_is_printed(room, run):
    text = (Path(__file__).parents[2] / "docs/cli.md").read_text("utf-8")
    shown = text.partition("$ adomnia init hospital\n")[2].partition("```")[0].split("\n")
    ran = run("init", files(room, HOSPITAL)).out.split("\n")
    assert len(shown) > 10
    assert [line for line in shown if line not in ran] == []


def test_what_dangles_is_told_with_its_share(room, run):
    ran = run("init", files(room, HOSPITAL))
    told = "visits.patient → patients.id: 99 % of 1,000 rows match; 10 match nobody"
    assert told in ran.out
    assert f"# {told}" in (room / "adomnia.toml").read_text("utf-8")
    assert "diagnoses.visit → visits.id: all 2,000 rows match" in ran.out


def test_a_small_table_is_proposed_as_public(room, run):
    run("init", files(room, HOSPITAL))
    text = (room / "adomnia.toml").read_text("utf-8")
    assert '# [public.wards]\n# source = "hospital/wards.parquet"\n# key = "id"' in text
    shown = text.replace("# [public.wards]\n# source", "[public.wards]\nsource")
    (room / "adomnia.toml").write_text(shown.replace("# key =", "key ="), "utf-8")
    assert read_policy(room / "adomnia.toml").public["wards"].key == "id"


def test_everything_is_said_in_json(room, run):
    found = run("init", files(room, HOSPITAL), "--format", "json").json
    assert (found["unit"], found["units"], found["public"]) == ("patients", ["visits"], ["wards"])
    assert found["tables"]["visits"] == {
        "rows": 1000, "key": "id", "repeated_keys": 0, "nobody": 10, "max_rows": 4, "most": 4,
        "undeclared": ["id", "patient"], "rare_values_left_out": {},
    }  # fmt: skip
    used = {r["column"]: r["refers_to"] for r in found["references"] if r["not_used"] is None}
    assert used == {"patient": "patients", "visit": "visits"}
    assert "visits.cost" in found["confirm"]
    assert found["remarks"] == ["weather is not in the policy: nothing leads from it to patients"]


def test_the_unit_can_be_named(room, run):
    source = files(room, HOSPITAL)
    assert run("init", source, "--unit", "visits", "--max-rows", "3").code == 0
    assert declared(room).tables.units == ("visits",)
    assert declared(room).tables.tables["diagnoses"].max_rows == 3
    assert "patients is not in the policy" in (room / "adomnia.toml").read_text("utf-8")
    ran = run("init", source, "--unit", "people", "--out", "other.toml")
    assert (ran.code, "no table 'people'" in ran.err) == (2, True)
    assert "patients" in ran.err


def test_repeated_keys_are_told_and_what_leads_to_two_by_them_is_nobodys(room, run):
    twice = f"{PATIENTS} UNION ALL SELECT i + 1, 'F' FROM range(2) r(i)"
    again = f"{VISITS} UNION ALL SELECT 1, 250, 1, 10 UNION ALL SELECT 2, 2, 1, 10"
    ran = run("init", files(room, HOSPITAL | {"patients": twice, "visits": again}))
    text = (room / "adomnia.toml").read_text("utf-8")
    assert "2 of its values have several rows: each is one unit" in text
    assert "2 of its values have several rows: what leads to several units is nobody's" in text
    assert "22 rows belong to nobody" in ran.out  # 20 dangle, 2 of visit 1
    assert declared(room).tables.tables["patients"].key == "id"


def test_a_load_has_the_rows_that_the_draft_counted(room, run):
    odd = {
        "patients": f"{PATIENTS} UNION ALL SELECT NULLIF(i // 3, 2), 'F' FROM range(9) r(i)",
        "visits": f"{VISITS} UNION ALL SELECT i + 1, (i * 7) % 40, 1, 10 FROM range(20) r(i)",
    }
    drafted = run("init", files(room, HOSPITAL | odd), "--format", "json").json["tables"]
    file = room / "adomnia.toml"
    file.write_text(confirmed(file.read_text("utf-8")), "utf-8")
    loaded = run("load", "--format", "json").json["tables"]
    assert drafted["patients"]["nobody"] == 3
    assert drafted["diagnoses"]["nobody"] > 20
    counted = {
        name: {"rows": table["rows"] - table["nobody"], "nobody": table["nobody"]}
        for name, table in drafted.items()
    }
    assert counted == loaded
    asked = run("ask", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.5", "--format", "json")
    assert asked.json["columns"] == ["n"]


def test_numbers_that_match_by_accident_are_no_references(room, run):
    people = "SELECT i + 1 AS id, i % 80 + 1 AS age, i % 5 AS children FROM range(500) r(i)"
    children = (
        "SELECT i + 1 AS id, i % 500 + 1 AS person_id, i % 17 + 1 AS age FROM range(400) r(i)"
    )
    run("init", files(room, {"people": people, "children": children}))
    tables = declared(room).tables.tables
    assert {name: dict(t.references) for name, t in tables.items()} == {
        "people": {}, "children": {"person_id": "people"},
    }  # fmt: skip
    assert set(tables["people"].attributes) == {"age", "children"}


def test_tables_that_refer_to_nothing_are_asked_for_one_by_one(room, run):
    ran = run("init", files(room, {"weather": WEATHER, "wards": WARDS}))
    assert ran.code == 2
    assert not (room / "adomnia.toml").exists()
    assert "several" in ran.err


def test_a_source_that_is_not_there_is_told_as_before(room, run):
    ran = run("init", "nothing")
    assert (ran.code, "name a CSV, Parquet or DuckDB file" in ran.err) == (2, True)


def test_keys_of_other_types_do_not_match_and_that_is_said(room, run):
    visits = "SELECT 'P' || (i % 300 + 1) AS patient, i AS cost FROM range(900) r(i)"
    (room / "d").mkdir()
    for name, sql in {"patients": PATIENTS, "visits": visits}.items():
        duckdb.sql(sql).write_parquet(str(room / "d" / f"{name}.parquet"))
    ran = run("init", "d")
    assert ran.code == 2
    assert "visits.patient → patients.id: too few rows match (varchar and bigint" in ran.err


def test_files_that_differ_by_a_number_and_those_of_a_folder_are_one_table(room, run):
    source = files(room, {"patients": PATIENTS, "visits-2020": VISITS})
    duckdb.sql(VISITS.replace("i + 1 AS id", "i + 2000 AS id")).write_parquet(
        str(room / source / "visits-2021.parquet")
    )
    (room / source / "diagnoses").mkdir()
    for part in ("a", "b"):
        duckdb.sql(DIAGNOSES).write_parquet(str(room / source / "diagnoses" / f"{part}.parquet"))
    assert run("init", source).code == 0
    found = declared(room)
    assert {name: place.source for name, place in found.sources.items()} == {
        "patients": "hospital/patients.csv", "visits": "hospital/visits*.parquet",
        "diagnoses": "hospital/diagnoses",
    }  # fmt: skip
    assert "diagnoses.visit" in (room / "adomnia.toml").read_text("utf-8")


def workbook(path, sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


def test_a_draft_below_a_title_invites_nobody_to_ask(room, run):
    lines = [["Staff of 2025"], ["nr", "pay"], *([i, 1] for i in range(60))]
    workbook(room / "t.xlsx", {"t": lines})
    ran = run("init", "t.xlsx")
    assert "Let the names of columns come first" in ran.out
    assert "adomnia ask" not in ran.out
    assert "Confirm" not in ran.out


def test_files_of_other_kinds_are_tables_of_a_folder_too(room, run):
    source = files(room, {"wards": WARDS, "diagnoses": DIAGNOSES})
    people = [["id", "sex"], *([i + 1, "FM"[i % 2]] for i in range(300))]
    visits = [["id", "patient"], *([i + 1, i % 290 + 1] for i in range(1000))]
    workbook(room / source / "register.xlsx", {"Patients": people, "Visits": visits})
    ran = run("init", source)
    assert ran.code == 0, ran.err
    found = declared(room)
    assert list(found.tables.tables) == ["Patients", "Visits", "diagnoses"]
    assert found.sources["Visits"].source == "hospital/register.xlsx"


def test_files_of_one_table_are_one_beside_others(room, run):
    source = files(room, {"patients": PATIENTS})
    for year in (2020, 2021):
        duckdb.sql(VISITS).write_csv(str(room / source / f"v{year}.csv"))
    (room / source / "patients.csv").rename(room / "p.csv")
    workbook(room / source / "patients.xlsx",
             {"s": [["id", "sex"], *([i + 1, "FM"[i % 2]] for i in range(300))]})  # fmt: skip
    assert run("init", source).code == 0
    assert {name: place.source for name, place in declared(room).sources.items()} == {
        "patients": "hospital/patients.xlsx", "v": "hospital/v*.csv",
    }  # fmt: skip


def test_a_codebook_beside_the_files_of_one_table_changes_nothing(room, run):
    (room / "d").mkdir()
    for name in ("a", "b"):
        duckdb.sql(VISITS).write_csv(str(room / "d" / f"{name}.csv"))
    workbook(room / "d" / "codebook.xlsx", {"s": [["x", "x"], ["Our codes", None], ["1", "yes"]]})
    assert run("init", "d").code == 0
    assert tomllib.loads((room / "adomnia.toml").read_text("utf-8"))["data"]["table"] == "d"


def test_a_codebook_that_is_no_table_is_left_out_and_told(room, run):
    source = files(room, {"patients": PATIENTS, "visits": VISITS})
    workbook(room / source / "codebook.xlsx", {"s": [["x", "x"], ["1", "yes"]]})
    ran = run("init", source)
    assert ran.code == 0, ran.err
    assert "codebook is left out: the file 'codebook.xlsx' has two columns of one name" in ran.out


@pytest.mark.parametrize(("pattern", "name"), [("d/*.csv", "d"), ("d/a*.csv", "a1"),
                                               ("d/c-2*.csv", "c"), ("d/[ab]1*", "d")])  # fmt: skip
def test_the_table_of_a_pattern_has_a_name(room, run, pattern, name):
    (room / "d").mkdir()
    for file in ("a1", "b1", "c-2020", "c-2021"):
        (room / "d" / f"{file}.csv").write_text("x,y\n1,2\n3,4\n")
    assert run("init", pattern).code == 0
    assert tomllib.loads((room / "adomnia.toml").read_text("utf-8"))["data"]["table"] == name


def test_what_stands_in_comments_is_said_too(room, run):
    people = PATIENTS.replace(
        " AS sex", " AS sex, CASE WHEN i % 9 = 0 THEN 999 ELSE i % 90 END AS age"
    )
    ran = run("init", files(room, HOSPITAL | {"patients": people}))
    said = "patients.age: 11.3 % of the values are 999, far from all others: a code for missing?"
    assert said in " ".join(ran.out.split())


def test_whence_domains_are_is_told_by_check(room, run):
    assert run("init", files(room, HOSPITAL)).code == 0
    file = room / "adomnia.toml"
    text = file.read_text("utf-8")
    sex = "[tables.patients.attributes.sex]\n"
    file.write_text(text.replace(sex, sex + 'origin = "public"\n'), "utf-8")
    found = run("check", "--format", "json").json["tables"]
    told = {c["name"]: c["origin"] for table in found.values() for c in table["columns"]}
    assert told == {"sex": "public knowledge", "kind": "taken from the data, not covered",
                    "cost": "taken from the data, not covered",
                    "ward": "taken from the data, not covered"}  # fmt: skip


def test_a_workbook_with_several_sheets(room, run):
    book = openpyxl.Workbook()
    book.remove(book.active)
    people, visits = book.create_sheet("Our people"), book.create_sheet("visits")
    for row in [["id", "sex"], *([f"P{i:04}", "FM"[i % 2]] for i in range(60))]:
        people.append(row)
    for row in [["person", "cost"], *([f"P{i % 60:04}", i % 40] for i in range(200))]:
        visits.append(row)
    book.save(room / "clinic.xlsx")
    ran = run("init", "clinic.xlsx")
    assert ran.code == 0, ran.err
    found = declared(room)
    assert found.tables.units == ("Our_people",)
    assert found.sources["Our_people"].relation == "Our people"
    assert dict(found.tables.tables["visits"].references) == {"person": "Our_people"}


BANK = """
CREATE TABLE customers(nr INTEGER PRIMARY KEY, code INTEGER UNIQUE, boss INTEGER, sex VARCHAR);
CREATE TABLE accounts(iban VARCHAR PRIMARY KEY, holder INTEGER REFERENCES customers(nr));
CREATE TABLE transfers(source VARCHAR REFERENCES accounts(iban),
    target VARCHAR REFERENCES accounts(iban), amount INTEGER);
CREATE TABLE notes(customer INTEGER, account VARCHAR, kind VARCHAR);
CREATE VIEW rich AS SELECT * FROM transfers WHERE amount > 50;
INSERT INTO customers SELECT i, i + 7, i // 20, 'F' FROM range(400) r(i);
INSERT INTO accounts SELECT 'DE' || (1000 + i), i % 400 FROM range(600) r(i);
INSERT INTO transfers SELECT 'DE' || (1000 + i % 600), 'DE' || (1000 + (i * 7) % 600), i % 100
    FROM range(3000) r(i);
INSERT INTO notes SELECT (i % 600) % 400, 'DE' || (1000 + i % 600), 'x' FROM range(900) r(i);
"""


def test_what_a_duckdb_file_declares_is_read(room, run):
    with duckdb.connect("bank.duckdb") as connection:
        connection.execute(BANK)
    ran = run("init", "bank.duckdb")
    assert ran.code == 0, ran.err
    tables = declared(room).tables
    assert (tables.units, tables.tables["customers"].key) == (("customers",), "nr")
    assert tables.owners("transfers") == (("source", "holder"), ("target", "holder"))
    assert tables.owners("notes") == (("account", "holder"),)  # and never another by customer
    text = (room / "adomnia.toml").read_text("utf-8")
    assert "accounts.holder → customers.nr: all 600 rows match, as the source declares" in text
    assert "no row has another owner by account, which is enough" in text
    assert "views are left out: rich" in text
    assert run("init", "bank.duckdb", "--table", "notes", "--out", "one.toml").code == 0
    assert "tables" not in tomllib.loads((room / "one.toml").read_text("utf-8"))


SERVER = """
CREATE TABLE wards (id int PRIMARY KEY, name text);
CREATE TABLE patients (clinic int, nr int UNIQUE, sex text, PRIMARY KEY (clinic, nr));
CREATE TABLE visits (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), who int REFERENCES patients(nr),
    previous uuid REFERENCES visits, clinic int, nr int, ward int REFERENCES wards, cost int,
    FOREIGN KEY (clinic, nr) REFERENCES patients);
CREATE TABLE letters (visit_id uuid, length int);
CREATE VIEW long_letters AS SELECT * FROM letters WHERE length > 10;
INSERT INTO wards SELECT i, 'Ward ' || i FROM generate_series(1, 9) i;
INSERT INTO patients SELECT i % 3, i, 'F' FROM generate_series(1, 200) i;
INSERT INTO visits (who, ward, cost) SELECT CASE WHEN i % 10 > 0 THEN i % 200 + 1 END, i % 9 + 1,
    i % 70 FROM generate_series(1, 800) i;
INSERT INTO letters SELECT id, cost FROM visits;
INSERT INTO letters SELECT gen_random_uuid(), 5 FROM generate_series(1, 25);
"""


@pytest.fixture
def url():
    """A database of its own on a real server, for a role that only reads."""
    server, name = postgres_server.shared(), f"clinic_{uuid4().hex}"
    server.execute(f"CREATE DATABASE {name}")
    server.execute("CREATE SCHEMA ward; GRANT USAGE ON SCHEMA ward TO reader;"
                   f"SET search_path = ward; {SERVER}"
                   "GRANT SELECT ON ALL TABLES IN SCHEMA ward TO reader", name)  # fmt: skip
    yield server.url(name, "reader")
    server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_the_foreign_keys_of_a_server_are_read(room, run, url):
    ran = run("init", url)
    assert ran.code == 0, ran.err
    found, text = declared(room), (room / "adomnia.toml").read_text("utf-8")
    assert found.tables.units == ("patients",)
    assert found.sources["visits"].relation == "ward.visits"
    assert found.tables.tables["patients"].key == "nr"
    assert found.tables.owners("letters") == (("visit_id", "who"),)
    assert "visits.who → patients.nr: all 720 rows match, as the source declares" in text
    assert "letters.visit_id → visits.id: 96.9 % of 825 rows match; 25 match nobody" in text
    assert "visits (clinic, nr) → patients (clinic, nr): a reference by several columns" in text
    assert "visits (previous) → visits (id): a table that refers to itself" in text
    assert '# source = "wards.csv"    # write it to a CSV or Parquet file first' in text
    assert "80 rows belong to nobody" in ran.out
    assert "views are left out: ward.long_letters" in ran.out


def test_a_load_on_a_server_has_the_rows_that_the_draft_counted(room, run, url):
    owner = url.replace("reader@", "postgres@")
    drafted = run("init", owner, "--format", "json").json["tables"]
    file = room / "adomnia.toml"
    file.write_text(confirmed(file.read_text("utf-8")), "utf-8")
    loaded = run("load", "--format", "json").json["tables"]
    assert {name: table["nobody"] for name, table in loaded.items()} == {
        name: table["nobody"] for name, table in drafted.items()
    }
    assert run("init", owner, "--out", "again.toml").code == 0
    assert "adomnia_editions" not in (room / "again.toml").read_text("utf-8")
    checked = run("check", "--out", "check.html", "--format", "json")
    assert checked.code == 0, checked.err
    found = checked.json["tables"]
    assert {name: one["unit"]["nobody"] for name, one in found.items()} == {
        name: table["nobody"] for name, table in loaded.items()
    }
    [letters] = found["letters"]["references"]
    assert (letters["refers_to"], letters["rows"], letters["refers_to_nobody"]) == (
        "visits",
        825,
        25,
    )
    assert "taken from the data" in found["visits"]["columns"][0]["origin"]
