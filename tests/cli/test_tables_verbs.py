"""Every verb with several private tables: it works, or says what works in its place."""

from __future__ import annotations

import json

import pytest

import adomnia
from adomnia.errors import CheckError, PolicyError, QuestionError
from adomnia.federation import Holder, Party, Peer, make_secret, open_holders, public_key
from adomnia.mining import CategoricalNB
from tests.clinic import JOINED, write_clinic

SEVERAL = "and the policy has several: patients, visits, diagnoses"


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_clinic(tmp_path)


def test_a_check_is_of_each_table(run, clinic):
    with (clinic.parent / "patients.csv").open("a") as file:
        file.write("p3,F,7,Zzmayer\n")
    told = run("check").out
    assert "patients: 61 rows" in told
    assert "visit: 1.1% of the rows (1) belong to nobody, and are left out" in told
    found = run("check", "--format", "json").json["tables"]
    assert list(found) == ["patients", "visits", "diagnoses"]
    assert found["patients"]["key"] == {"column": "id", "repeated": 1}
    assert found["visits"]["unit"]["nobody"] == 1
    assert found["visits"]["unit"]["largest"] == 3
    assert found["diagnoses"]["key"] is None
    assert found["diagnoses"]["references"] == [
        {"column": "visit", "refers_to": "visits", "rows": 91, "refers_to_nobody": 1}
    ]
    assert found["visits"]["changes"] is None
    assert not (clinic.parent / "adomnia.ledger").exists()


def test_a_check_counts_what_max_rows_cuts_also_along_a_chain(run, clinic):
    low = clinic.read_text().replace(
        "{ visits = 4, diagnoses = 8 }", "{ visits = 2, diagnoses = 1 }"
    )
    clinic.write_text(low)
    found = run("check", "--format", "json").json["tables"]
    cut = {name: one["unit"]["cut"] for name, one in found.items()}
    assert cut["patients"] == []
    [visits], [diagnoses] = cut["visits"], cut["diagnoses"]
    assert (visits["rows"], visits["of"], visits["units"]) == (15, 90, 15)
    assert set(visits["sums"]) == {"cost"}
    assert visits["sums"]["cost"]["whole"] == 15 * (10 + 30)
    assert (diagnoses["rows"], diagnoses["of"], diagnoses["units"]) == (45, 90, 30)


def test_a_check_says_what_changed_in_each_table(run, clinic):
    assert run("load").code == 0
    visits = clinic.parent / "visits.csv"
    kept = [line for line in visits.read_text().splitlines() if not line.startswith("v1-")]
    visits.write_text("\n".join([*kept, "v8-new,p8,c,999"]) + "\n")
    found = run("check", "--format", "json").json["tables"]
    changed = {name: one["changes"] for name, one in found.items()}
    assert {(one["rows_added"], one["rows_gone"]) for one in (changed["patients"],)} == {(0, 0)}
    assert (changed["visits"]["rows_added"], changed["visits"]["rows_gone"]) == (1, 1)
    assert changed["diagnoses"]["rows_gone"] == 1  # it belongs to nobody now
    assert {one["name"] for one in changed["visits"]["columns"]} == {
        "id",
        "patient",
        "ward",
        "cost",
    }
    assert found["visits"]["edition"] == 1
    assert "1 are new since edition 1" in run("check").out


def test_the_page_of_a_check_shows_every_table(run, clinic):
    ran = run("check", "--out", "check.html")
    assert ran.code == 0
    page = (clinic.parent / "check.html").read_text()
    for part in (
        "The table “visits”",
        'id="column_diagnoses_code"',
        'id="column_visits_cost"',
        "<svg",
        "refers to visits: 1 of 91 rows refer to no row there",
        "1 rows belong to nobody",
    ):
        assert part in page


def test_several_tables_are_loaded_within_their_limits(run, clinic):
    assert "sets no limits" in run("load", "--check").err
    clinic.write_text(clinic.read_text() + "[check]\nleft_out = 0.5\nnobody = 0.5\ngone = 0.2\n")
    assert run("load", "--check").code == 0
    lines = (clinic.parent / "visits.csv").read_text().splitlines()
    (clinic.parent / "visits.csv").write_text("\n".join(lines[:40]) + "\n")
    ran = run("load", "--check")
    assert ran.code == 6
    assert "gone (visits.rows)" in ran.err
    with adomnia.open(clinic) as database:
        assert database.edition.number == 1
        checked = database.check()
        assert {one.limit for one in checked.exceeded} == {"gone", "nobody"}
        with pytest.raises(CheckError, match="gone"):
            database.load_checked()


def test_a_check_fails_by_the_limits_of_the_policy(run, clinic):
    clinic.write_text(clinic.read_text() + "[check]\nnobody = 0.001\n")
    ran = run("check")
    assert ran.code == 6
    assert "nobody (visits.the unit), nobody (diagnoses.the unit)" in ran.err


@pytest.mark.parametrize(
    ("words", "said", "hint"),
    [
        (["bounds", "cost", "--epsilon", "1"], f"in one table, {SEVERAL}", "declare bounds"),
        (["release", "--ways", "1", "--epsilon", "1", "--out", "r"], SEVERAL, "name a view"),
        (["prior", "add", "SELECT COUNT(*) FROM visits"], SEVERAL, "cannot be told"),
        (["independence", "sex", "age", "--epsilon", "1"], SEVERAL, "histograms"),
        (["audit", "--out", "r"], SEVERAL, "name a view"),
        (["audit", "disclosure", "--public", "sex,age", "--sensitive", "code"], SEVERAL, "a view"),
        (["attack", "averaging", "--condition", "age > 4"], SEVERAL, "name a view"),
        (["attack", "averaging", "--condition", "age > 4", "--spend"], SEVERAL, "name a view"),
        (["attack", "tracker", "--target", "age = 4", "--tracker", "sex = 'F'"], SEVERAL, "a view"),
        (["attack", "reconstruct", "--epsilon", "1", "--target", "age > 4"], SEVERAL, "a view"),
    ],
)
def test_what_is_of_one_table_says_so(run, clinic, words, said, hint):
    ran = run(*words, "--format", "json")
    assert ran.code != 0
    assert said in ran.error["message"]
    assert hint in ran.error["hint"]
    assert "adomnia unit" not in json.dumps(ran.error)


def test_what_is_left_out_of_each_table_is_counted_for_one_amount(run, clinic):
    found = run("load", "--quality", "1", "--format", "json").json["left_out"]
    columns = [part["column"] for part in found if part["what"] == "values"]
    assert columns[:3] == ["patients.sex", "patients.age", "visits.ward"]
    assert [part["says"].split(" are used")[0] for part in found if part["what"] == "rows"] == [
        "of each of patients at most 4 rows of visits",
        "of each of patients at most 8 rows of diagnoses",
    ]
    asked = run("ask", JOINED, "--epsilon", "1", "--format", "json").json
    assert "not known" not in json.dumps(asked["left_out"])
    assert asked["whole"] == {}
    assert run("budget", "--format", "json").json["data"]["spent"] == "2"
    clinic.write_text(clinic.read_text() + "[quality]\nepsilon = 1\n")
    assert "rows of visits" in run("load").out
    assert run("budget", "--format", "json").json["data"]["spent"] == "3"
    assert run("load", "--quality", "100000").code == 3


def test_the_others_work(run, clinic):
    assert run("load").code == 0
    assert run("ask", JOINED, "--epsilon", "1").code == 0
    assert run("ask", "SELECT COUNT(*) FROM stays", "--epsilon", "1").code == 0
    assert run("budget", "--format", "json").json["data"]["spent"] == "2"
    kinds = [entry["kind"] for entry in run("ledger", "--format", "json").json["entries"]]
    assert kinds.count("answered") == 2
    assert "follows" in run("ledger", "--verify").out
    assert "adomnia unit" not in run("ledger").out
    assert run("account", "list").code == 0
    assert "nothing was registered" in run("prior", "list").out
    made_up = run("attack", "reconstruct", "--epsilon", "1", "--n", "8", "--questions", "8")
    assert made_up.code == 0


def test_python_refuses_in_the_same_words(clinic):
    with adomnia.open(clinic) as database:
        session = database.session()
        for refused in (
            lambda: database.plan_release(ways=1, epsilon=1),
            lambda: database.add_prior("SELECT COUNT(*) AS n FROM visits"),
            lambda: database.bounds("cost", epsilon=1),
            lambda: database.audit(time_limit=1),
            lambda: database.disclosures(public=["sex", "age"], sensitive="code"),
            lambda: database.attack("averaging", condition="age > 4", epsilon=1),
            lambda: session.noisy_max(["age > 4"], epsilon=1),
            lambda: session.above(4, ["age > 4"], epsilon=1),
            lambda: session.auction("cost", [5], epsilon=1),
            lambda: session.independence("sex", "age", epsilon=1),
        ):
            with pytest.raises(PolicyError, match=SEVERAL):
                refused()
        with pytest.raises(QuestionError, match="learned from one table"):
            CategoricalNB().fit(session, ["sex"], "code", epsilon=1)
        assert database.budget()["data"]["spent"] == "0"


def test_a_view_is_released_attacked_and_audited_like_a_table(run, clinic):
    view = ["--view", "stays"]
    made = run("release", *view, "--ways", "2", "--epsilon", "50", "--out", "r", "--microdata",
               "--format", "json").json  # fmt: skip
    assert made["marginals"] == 6
    assert "of each of patients at most 1 row of patients" not in json.dumps(made)
    assert any("at most 4 rows of visits are used" in note for note in made["notes"])
    assert "RELEASE 6 marginals of stays" in run("ledger").out
    averaging = ["averaging", "--condition", "ward = 'a'", "--epsilon", "1", "--repeats", "3"]
    assert run("attack", *averaging, *view).code == 0
    tracker = ["tracker", "--target", "ward = 'a'", "--tracker", "sex = 'F'", "--epsilon", "1"]
    assert run("attack", *tracker, *view).code == 0
    unnamed = run("attack", "reconstruct", "--epsilon", "1", "--target", "ward = 'a'", *view)
    assert unnamed.code == 2
    assert "say which column names each person" in unnamed.err
    roles = ["--public", "sex,ward", "--sensitive", "cost"]
    assert run("audit", "disclosure", *roles, *view).code == 0
    whole = run("audit", *view, "--out", "page", *roles, "--time-limit", "1")
    assert whole.code == 0
    page = (clinic.parent / "page" / "index.html").read_text()
    assert "all rows that belong to one of patients" in page
    assert "adomnia unit" not in page + json.dumps(made) + run("ledger").out
    assert run("budget", "--format", "json").json["data"]["spent"] == "50"
    wrong = run("release", "--view", "nothing", "--ways", "1", "--epsilon", "1", "--plan")
    assert (wrong.code, "the views are stays" in wrong.err) == (2, True)


def test_a_view_in_python_is_rehearsed_and_has_no_source(clinic):
    with adomnia.open(clinic) as database:
        stays = database.view("stays")
        stays.attack("averaging", condition="ward = 'a'", epsilon=1, repeats=2)
        assert stays.audit(time_limit=1).verdict() in ("green", "amber", "red")
        assert database.budget()["data"]["spent"] == "0"
        for refused in (
            stays.check,
            stays.load,
            lambda: stays.bounds("cost", epsilon=1),
            lambda: stays.measure_quality(epsilon=1),
        ):
            with pytest.raises(QuestionError, match="no source of its own"):
                refused()


def test_holders_are_of_one_table(clinic):
    me, others = Party("me", make_secret()), [Peer(n, public_key(make_secret())) for n in "ab"]
    with pytest.raises(PolicyError, match=SEVERAL):
        open_holders(others, me, clinic)
    with adomnia.open(clinic) as database, pytest.raises(PolicyError, match=SEVERAL):
        Holder(database, me, others, [])


def test_tables_and_views_in_python(clinic):
    with adomnia.open(clinic) as database:
        tables = database.tables
        assert {name: table.key for name, table in tables.items()} == {
            "patients": "id", "visits": "id", "diagnoses": None,
        }  # fmt: skip
        assert tables["visits"].references == {"patient": "patients"}
        assert list(database.views["stays"].attributes) == ["sex", "ward", "cost"]
        assert database.views["stays"].description == "Visits with the patient's sex."
        session = database.session()
        columns = session.describe(JOINED)
        assert [(one.name, one.type) for one in columns] == [("sex", "text"), ("n", "bigint")]
        assert list(session.table_of(JOINED).attributes) == [
            "visits.ward", "visits.cost", "patients.sex", "patients.age",
        ]  # fmt: skip
        with database.rehearsal() as copy:
            copy.session().ask(JOINED, epsilon=1)
        assert database.budget()["data"]["spent"] == "0"
