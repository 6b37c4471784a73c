"""A console over several private tables: what its pages list, and a question up to its answer."""

from __future__ import annotations

import html

import pytest
from console_living import SECRET, Living, filled

from adomnia.server.account_store import open_store
from adomnia.server.accounts import Accounts
from adomnia.server.console.views.listings import examples
from tests.clinic import JOINED, write_clinic


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clinic")
    with Accounts(open_store(str(folder / "adomnia.accounts"))) as accounts:
        for name, role in (("alice", "analyst"), ("carol", "curator")):
            accounts.add(name, role, SECRET)
    with Living(write_clinic(folder)) as living:
        yield living


def test_the_policy_shows_tables_and_keys(clinic):
    for name in ("alice", "carol"):
        text = clinic.client(name).get("/policy").text
        assert "<code>patients</code>, <code>visits</code>, <code>diagnoses</code>." in text
        assert "all rows that belong to one of patients" in text
        assert "names a row of patients" in text
        assert "of one of patients 4 rows are used at most" in text
        assert "private view" in text
        assert "by which columns they refer to each other" in text  # the picture's name
        assert "Who was ever admitted." in text
        assert "adomnia unit" not in text


def test_a_question_over_a_join_is_planned_asked_and_shown(clinic):
    alice = clinic.client("alice")
    page = alice.get("/").text
    assert "JOIN patients ON visits.patient = patients.id" in html.unescape(page)
    form = filled(page, sql=JOINED, amount="3")
    assert "It would cost" in alice.post("/plan", data=form).text
    shown = alice.post("/ask", data=form, follow_redirects=True)
    assert shown.status_code == 200
    assert "Of each of patients at most 4 rows of visits are used" in shown.text
    again = alice.get(shown.url)
    assert again.text.count("<tr") == shown.text.count("<tr")
    free = filled(alice.get("/").text, sql="SELECT DISTINCT ward FROM visits")
    assert alice.post("/ask", data=free, follow_redirects=True).status_code == 200
    for path in ("/ledger", "/budget", "/releases", "/audit"):
        text = alice.get(path, follow_redirects=True).text
        assert "adomnia unit" not in text


def test_every_page_opens_for_the_curator(clinic):
    carol = clinic.client("carol")
    for path in ("/", "/policy", "/ledger", "/budget", "/releases", "/audit"):
        assert carol.get(path).status_code == 200, path


def test_every_example_can_be_asked(clinic):
    session = clinic.service.database.session("alice")
    listed = examples(clinic.service.database)
    assert len(listed) == 3
    for sql in listed:
        assert session.plan(sql, epsilon=1).margins


def test_what_was_released_of_a_view_is_shown(clinic):
    stays = clinic.service.database.view("stays")
    stays.release(stays.plan_release(marginals=["sex,ward"], epsilon=5))
    text = clinic.client("alice").get("/releases").text
    assert "<dt>View</dt><dd><code>stays</code></dd>" in text
    assert "sex × ward" in text
