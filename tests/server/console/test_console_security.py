"""The console's door: who comes in, what a form must carry, and what nobody gets to see."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from console_living import BY_EDUCATION, BY_SEX, SECRET, Living, filled, hold, make_folder, token

from adomnia.limits import MAX_FORM_BODY
from adomnia.server.accounts import Person
from adomnia.server.console.routes import routes
from adomnia.server.console.sessions import IDLE, LONGEST, BrowserSessions
from adomnia.server.http.app import app
from adomnia.server.login_limits import LoginLimits

PAGES = ["/", "/budget", "/ledger", "/ledger.csv", "/ledger.json", "/releases", "/audit", "/policy"]
FORMS = ["/ask", "/plan", "/sign-out", "/asked/some-key/cancel"]
MEDIAN = "SELECT MEDIAN(income) AS m FROM people"
SCRIPT = "<script>alert(1)</script>"


def test_nobody_sees_a_page_without_signing_in(settled: Living):
    client = settled.client()
    for page in [*PAGES, f"/answers/{settled.receipt(BY_SEX)}"]:
        answer = client.get(page)
        assert (answer.status_code, answer.headers["location"].split("?")[0]) == (303, "/sign-in")
    for form in FORMS:
        assert client.post(form, data={}).headers["location"] == "/sign-in"
    told = client.post("/plan", headers={"accept": "application/json"})
    assert told.status_code == 401
    assert "www-authenticate" not in told.headers  # or the browser would ask by itself


@pytest.mark.parametrize("form", [*FORMS, "/sign-in"])
@pytest.mark.parametrize("sent", ["", "0" * 64, "ü"])
def test_a_form_without_its_token_is_refused(settled: Living, form, sent):
    client = settled.client("alice")
    refused = client.post(form, data={"token": sent, "sql": BY_SEX, "key": "x" * 20})
    assert refused.status_code == 403
    assert "too old" in refused.text
    assert client.get("/budget").status_code == 200


def test_the_token_of_another_session_is_refused(settled: Living):
    other = token(settled.client("bob").get("/").text)
    assert settled.client("alice").post("/ask", data={"token": other}).status_code == 403


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(settled: Living):
    client = settled.client()
    form = {"name": "alice", "secret": SECRET, "token": token(client.get("/sign-in").text)}
    flags = client.post("/sign-in", data=form).headers["set-cookie"].lower()
    assert flags.startswith("adomnia=")
    assert "httponly" in flags
    assert "samesite=strict" in flags
    assert "path=/" in flags
    assert "domain" not in flags


def test_over_tls_the_cookie_is_secure_and_tied_to_the_host(settled: Living):
    async def first() -> str:
        served = httpx.ASGITransport(app(settled.service, routes(settled.service)))
        async with httpx.AsyncClient(transport=served, base_url="https://a.example") as client:
            return (await client.get("/sign-in")).headers["set-cookie"]

    flags = asyncio.run(first())
    assert flags.startswith("__Host-adomnia=")
    assert "; secure" in flags.lower()


def test_a_session_has_a_new_name_after_signing_in(settled: Living):
    client = settled.client()
    client.cookies.set("adomnia", "chosen-by-somebody-else")
    form = {"name": "alice", "secret": SECRET, "token": token(client.get("/sign-in").text)}
    given = client.post("/sign-in", data=form)
    assert "chosen" not in given.headers["set-cookie"]
    fixed = httpx.get(f"{settled.url}/budget", cookies={"adomnia": "chosen-by-somebody-else"})
    assert fixed.status_code == 303


def test_signing_out_ends_the_session_on_the_server(settled: Living):
    client = settled.client("alice")
    kept = dict(client.cookies)
    assert client.post("/sign-out", data={"token": token(client.get("/").text)}).status_code == 303
    assert httpx.get(f"{settled.url}/budget", cookies=kept).status_code == 303


def test_sessions_end_when_idle_and_when_old():
    now = [0.0]
    sessions = BrowserSessions(lambda: now[0])
    alice = Person("alice", "analyst")
    name = sessions.begin(alice)
    for _ in range(10):
        now[0] += IDLE - 1
        assert sessions.person(name) == alice
    now[0] += IDLE + 1
    assert sessions.person(name) is None
    name = sessions.begin(alice)
    began = now[0]
    while now[0] - began <= LONGEST:
        assert sessions.person(name) == alice
        now[0] += IDLE - 1
    assert sessions.person(name) is None


def test_an_account_that_is_gone_is_signed_out(tmp_path):
    with Living(make_folder(tmp_path)) as living:
        client = living.client("bob")
        assert client.get("/budget").status_code == 200
        living.service.accounts.remove("bob")
        assert client.get("/budget").status_code == 303


def test_log_ins_that_fail_are_slowed_down(tmp_path):
    with Living(make_folder(tmp_path), LoginLimits(by_both=2, seconds=60)) as living:
        client = living.client()
        form = {"name": "alice", "secret": "wrong", "token": token(client.get("/sign-in").text)}
        found = [client.post("/sign-in", data=form) for _ in range(3)]
        assert [answer.status_code for answer in found] == [401, 401, 429]
        assert int(found[-1].headers["retry-after"]) > 0
        form["secret"] = SECRET
        assert client.post("/sign-in", data=form).status_code == 429
        assert "wrong" not in found[0].text


@pytest.mark.parametrize("next_page", ["//elsewhere.example", "https://elsewhere.example", "/\\x"])
def test_signing_in_leads_to_no_other_host(settled: Living, next_page):
    client = settled.client()
    page = client.get("/sign-in", params={"next": next_page}).text
    assert "elsewhere" not in page
    form = {"name": "alice", "secret": SECRET, "token": token(page), "next": next_page}
    assert client.post("/sign-in", data=form).headers["location"] == "/"


def test_every_page_says_what_a_browser_may_do(settled: Living):
    client = settled.client("carol")
    for page in [*PAGES, "/nowhere", "/sign-in"]:
        headers = client.get(page).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"


def test_no_page_has_a_style_or_script_of_its_own(settled: Living):
    client = settled.client("carol")
    for page in PAGES:
        text = client.get(page).text
        assert "<style" not in text
        assert " style=" not in text
        assert " onclick" not in text
        assert all("src=" in part.split(">")[0] for part in text.split("<script")[1:])


def test_an_analyst_sees_nothing_of_the_others(settled: Living):
    """Neither names nor statements nor sums, nor how many entries there are."""
    bob, alice = settled.client("bob"), settled.client("alice")
    for page in ["/", "/budget", "/ledger", "/ledger.csv", "/ledger.json", "/policy", "/audit"]:
        text = bob.get(page).text
        assert "alice" not in text
        assert "carol" not in text
        assert "BETWEEN 25" not in text
        assert "1.45" not in text  # what everybody has spent
    numbers = [entry["number"] for entry in alice.get("/ledger.json").json()["entries"]]
    assert numbers == [1, 2, 3]
    assert "13 entries" not in alice.get("/ledger").text
    assert "13 entries" in settled.client("carol").get("/ledger").text
    assert "ε 0.8" not in bob.get("/releases").text  # what the release cost


def test_a_receipt_is_for_whoever_paid(settled: Living):
    receipt = settled.receipt(BY_EDUCATION)
    bob, carol = settled.client("bob"), settled.client("carol")
    for at in (f"/answers/{receipt}", f"/answers/{receipt}/table.csv"):
        assert bob.get(at).status_code == 404
        assert "AVG" not in bob.get(at).text
    seen = carol.get(f"/answers/{receipt}").text
    assert "AVG(income)" in seen
    assert "shown to nobody else" in seen
    assert "doctorate" not in seen
    assert carol.get(f"/answers/{receipt}/table.csv").status_code == 400
    assert settled.client("alice").get(f"/answers/{receipt}").text.count("doctorate") > 1


def test_a_running_question_is_for_whoever_asked(living: Living, monkeypatch):
    gate = hold(monkeypatch)
    alice, bob = living.client("alice"), living.client("bob")
    form = filled(alice.get("/").text, sql=BY_SEX)
    at = alice.post("/ask", data=form, headers={"accept": "application/json"}).json()["at"]
    stolen = bob.post(f"{at}/cancel", data={"token": token(bob.get("/").text)})
    assert stolen.status_code == 400
    assert bob.get(at).headers["location"] == "/"
    assert "Your question runs" in alice.get(at).text
    gate.set()


def test_what_people_write_is_shown_as_they_wrote_it(tmp_path):
    """Statements, aliases, names and searches cannot become part of a page."""
    folder = make_folder(tmp_path, f'[analysts."{SCRIPT}"]\nepsilon = 0.1\n')
    sql = f"SELECT sex, COUNT(*) AS \"{SCRIPT}\" FROM people WHERE sex <> '{SCRIPT}' GROUP BY sex"
    with Living(folder) as living:
        alice, carol = living.client("alice"), living.client("carol")
        page = alice.post("/ask", data=filled(alice.get("/").text, sql=sql), follow_redirects=True)
        shown = [
            page,
            alice.get("/"),
            alice.get("/", params={"sql": f"</textarea>{SCRIPT}"}),
            alice.get("/ledger", params={"q": f'"><{SCRIPT}', "kind": SCRIPT, "who": SCRIPT}),
            carol.get("/budget"),
            carol.get("/ledger"),
            carol.get("/policy"),
            alice.get(f"/{SCRIPT}"),
            alice.get(f"/answers/{SCRIPT}"),
        ]
        broken = filled(alice.get("/").text, sql=f"SELECT {SCRIPT}", amount=SCRIPT, delta=SCRIPT)
        shown.append(alice.post("/ask", data=broken, follow_redirects=True))
        shown.append(alice.post("/plan", data=broken))
        stranger = living.client()
        form = {"name": SCRIPT, "secret": "x", "token": token(stranger.get("/sign-in").text)}
        shown.append(stranger.post("/sign-in", data=form))
        assert "&lt;script&gt;alert(1)" in page.text
        for one in shown:
            assert "<script>alert" not in one.text, one.url
            assert "</textarea><" not in one.text


def test_a_spreadsheet_gets_no_formula(living: Living):
    client = living.client("alice")
    sql = 'SELECT COUNT(*) AS "=HYPERLINK(1)" FROM people'
    page = client.post("/ask", data=filled(client.get("/").text, sql=sql), follow_redirects=True)
    sheet = client.get(f"{page.url.path}/table.csv").text
    assert sheet.splitlines()[0].startswith("'=HYPERLINK")


def test_a_form_that_is_sent_twice_is_paid_once(living: Living):
    client = living.client("alice")
    form = filled(client.get("/").text, sql=BY_SEX)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: client.post("/ask", data=form), range(4)))
    assert len({answer.headers["location"] for answer in answers}) == 1
    assert client.post("/ask", data=form).status_code == 303
    assert living.service.database.budget()["analysts"]["alice"]["spent"] == "1/10"
    form["sql"] = "SELECT COUNT(*) AS n FROM people WHERE age > 80"  # the question was changed
    client.post("/ask", data=form)
    assert living.service.database.budget()["analysts"]["alice"]["spent"] == "1/5"


def test_a_form_that_is_too_long_is_refused(settled: Living):
    client = settled.client("alice")
    form = filled(client.get("/").text, sql="x" * MAX_FORM_BODY)
    assert client.post("/ask", data=form).status_code == 413


def test_a_failure_is_told_by_its_kind_alone(living: Living, monkeypatch):
    def fail(*_: object) -> None:
        raise RuntimeError("row of Jane Doe")

    client = living.client("carol")
    monkeypatch.setattr(living.service.database, "verify", fail)
    answer = client.get("/ledger")
    assert answer.status_code == 500
    assert "RuntimeError" in answer.text
    assert "Jane" not in answer.text


def test_passwords_in_the_policy_are_not_shown(tmp_path):
    more = '\n# was "postgresql://adomnia:hunter2@db.example/people"\n'
    with Living(make_folder(tmp_path, more)) as living:
        text = living.client("carol").get("/policy").text
        assert "postgresql://adomnia:…@db.example" in text
        assert "hunter2" not in text
        assert "db.example" not in living.client("alice").get("/policy").text
