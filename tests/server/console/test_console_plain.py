"""The console without a script: every page is read, and questions are asked, with plain forms."""

from __future__ import annotations

import json
import re
from fractions import Fraction

from console_living import BY_SEX, SECRET, Living, filled, make_folder

from adomnia.server.console.ledger_lines import history


def spent(living: Living, name: str = "alice") -> Fraction:
    return Fraction(living.service.database.budget()["analysts"][name]["spent"])


def asked(living: Living, client, **form: str):
    return client.post("/ask", data=filled(client.get("/").text, **form), follow_redirects=True)


def test_asking_leads_to_a_page_that_can_be_read_again_for_free(living: Living):
    client = living.client("alice")
    page = asked(living, client, sql=BY_SEX)
    assert page.url.path == f"/answers/{living.receipt(BY_SEX)}"
    assert [answer.status_code for answer in page.history] == [303, 303]
    for wanted in ("ε 0.1", "ε 0.9", "95 %", "laplace", living.receipt(BY_SEX), "<caption>"):
        assert wanted in page.text
    before = len(living.service.database.ledger())
    assert client.get(page.url.path).text.count("±") == page.text.count("±") > 0
    assert len(living.service.database.ledger()) == before
    sheet = client.get(f"{page.url.path}/table.csv").text.splitlines()
    assert sheet[0] == "sex,n,n_margin"
    assert len(sheet) == 3


def test_a_chart_says_beneath_it_what_is_left_out(tmp_path):
    file = make_folder(tmp_path)
    unit = 'confirmed = true\nunit = "income"\nmax_rows = 2'
    file.write_text(file.read_text().replace("confirmed = true", unit))
    sql = "SELECT sex, SUM(age) AS years FROM people GROUP BY sex"
    with Living(file) as living:
        page = asked(living, living.client("alice"), sql=sql)
        alone = asked(living, living.client("alice"), sql="SELECT COUNT(*) AS n FROM people")
    (figure,) = re.findall(r"<figure.*?</figure>", page.text, re.DOTALL)
    for said in ("Of each income at most 2 rows are used;", "Values of age outside of its bounds"):
        assert figure.count(said) == page.text.count(said) == 1
    assert "<figure" not in alone.text
    assert alone.text.count("Of each income at most 2 rows are used;") == 1


def test_the_same_question_again_costs_nothing_and_says_so(living: Living):
    client = living.client("alice")
    asked(living, client, sql=BY_SEX)
    assert "it was known already" in asked(living, client, sql=BY_SEX).text
    assert spent(living) == Fraction(1, 10)


def test_a_question_that_needs_no_data_has_its_page_too(living: Living):
    page = asked(living, living.client("alice"), sql="SELECT DISTINCT sex FROM people")
    assert "<td>F</td>" in page.text
    assert spent(living) == 0


def test_a_mistake_is_pointed_at_and_costs_nothing(living: Living):
    client = living.client("alice")
    page = asked(living, client, sql="SELECT sex,\n  COUNT(*) FROM people GROUP BY sexx")
    assert page.status_code == 200
    assert "line 2, character 33" in page.text
    assert "<mark>s</mark>exx" in page.text
    assert "GROUP BY sexx</textarea>" in page.text
    assert 'role="alert"' in page.text
    for name, text in {"amount": "-1", "confidence": "2", "delta": "7", "sql": ""}.items():
        assert 'role="alert"' in asked(living, client, **{"sql": BY_SEX, name: text}).text
    assert spent(living) == 0


def test_line_ends_of_a_form_are_those_of_the_editor(living: Living):
    client = living.client("alice")
    page = asked(living, client, sql=BY_SEX.replace(" FROM", "\r\nFROM"))
    assert living.receipt(BY_SEX.replace(" FROM", "\nFROM")) in page.text
    wrong = asked(living, client, sql="SELECT sex,\r\nCOUNT(*)\r\nFROM people\r\nGROUP BY x")
    assert 'data-position="42"' in wrong.text


def test_a_budget_that_is_gone_refuses_and_says_what_would_fit(living: Living):
    client = living.client("bob")
    asked(living, client, sql=BY_SEX, amount="0.4")
    page = asked(living, client, sql="SELECT SUM(age) AS s FROM people", amount="0.2")
    assert "at most epsilon = 1/10 (0.1) would fit" in page.text.lower()
    assert spent(living, "bob") == Fraction(2, 5)


def test_planning_works_without_a_script(living: Living):
    client = living.client("alice")
    page = client.post("/plan", data=filled(client.get("/").text, sql=BY_SEX))
    assert "<dd>± 30</dd>" in page.text or "<dd>± 32</dd>" in page.text
    assert "It would cost ε 0.1 and leave ε 0.9." in page.text
    dear = client.post("/plan", data=filled(client.get("/").text, sql=BY_SEX, amount="3"))
    assert "it would be refused" in dear.text
    assert spent(living) == 0


def test_scripts_are_told_plans_and_mistakes_alike(living: Living):
    client = living.client("alice")
    form, headers = filled(client.get("/").text, sql=BY_SEX), {"accept": "application/json"}
    told = client.post("/plan", data=form, headers=headers).json()
    assert told["margins"][0][0] == "n"
    assert told["fits"] is True
    form["sql"] = "SELECT x FROM people"
    wrong = client.post("/plan", data=form, headers=headers)
    assert wrong.status_code == 200
    assert wrong.json()["error"]["position"] == 7


def test_an_answer_survives_the_server_that_gave_it(tmp_path):
    """What was asked before a restart is found again by its key, in the ledger."""
    file = make_folder(tmp_path)
    with Living(file) as living:
        first = asked(living, living.client("alice"), sql=BY_SEX)
    with Living(file) as living:
        client = living.client("alice")
        found = client.get(first.history[0].headers["location"])
        assert found.headers["location"] == first.url.path
        assert client.get(first.url.path).text.count("±") == first.text.count("±")
        assert client.get("/asked/unknown").headers["location"] == "/"


def test_empty_pages_say_what_will_be_there(living: Living):
    client, carol = living.client("alice"), living.client("carol")
    assert "asked nothing yet" in client.get("/").text
    assert "Nothing has been spent yet" in client.get("/budget").text
    assert "Every question will be here" in client.get("/ledger").text
    assert "Nothing has been published yet" in client.get("/releases").text
    assert "adomnia audit --out audit" in carol.get("/audit").text


def test_the_budget_shows_gauges_and_their_history(settled: Living):
    alice, carol = (settled.client(name).get("/budget").text for name in ("alice", "carol"))
    assert alice.count('role="meter"') == 1
    assert 'aria-valuetext="ε 0.45 of 1 spent"' in alice
    assert carol.count('role="meter"') == 3
    assert 'aria-valuetext="ε 1.45 of 4 spent"' in carol
    assert "ε 1.45 spent, of it 0.8 by curators" in carol
    assert "curators" not in alice
    assert 'class="line c0"' in alice
    assert "<caption>Spent by then" in alice


def test_the_ledger_is_searched_and_taken_along(settled: Living):
    carol = settled.client("carol")
    everything = carol.get("/ledger").text
    assert "Chain verified" in everything
    assert everything.count('role="row"') == 7
    some = carol.get("/ledger", params={"q": "median people", "who": "bob"}).text
    assert some.count('role="row"') == 2
    assert "No line has all of these words" in carol.get("/ledger", params={"q": "zebra"}).text
    assert carol.get("/ledger", params={"kind": "exact release"}).text.count('role="row"') == 2
    assert carol.get("/ledger", params={"page": "999999"}).status_code == 200
    told = carol.get("/ledger.json", params={"who": "alice"}).json()["entries"]
    assert [entry["cost"]["epsilon"] for entry in told] == ["1/20", "1/10", "3/10"]
    assert "attachment" in carol.get("/ledger.csv").headers["content-disposition"]
    assert len(settled.client("alice").get("/ledger.csv").text.strip().split("\r\n")) == 4


def test_long_ledgers_have_pages(living: Living):
    session = living.service.database.session("alice")
    for age in range(52):
        session.ask(f"SELECT COUNT(*) AS n FROM people WHERE age = {age}", "0.001")
    client = living.client("alice")
    assert "1 of 2" in client.get("/ledger").text
    older = client.get("/ledger", params={"page": "2"}).text
    assert "age = 0<" in older
    assert 'rel="next"' not in older


def test_a_ledger_that_was_changed_is_marked(living: Living, monkeypatch):
    from adomnia.ledger.journal import Verification

    wrong = Verification(3, ("entry 2: its digest is wrong",))
    monkeypatch.setattr(living.service.database, "verify", lambda: wrong)
    alice, carol = (living.client(name).get("/ledger").text for name in ("alice", "carol"))
    assert "The chain is broken" in carol
    assert "its digest is wrong" in carol
    assert "The chain is broken" in alice
    assert "digest" not in alice


def test_releases_are_shown_to_everybody(settled: Living):
    for name in ("alice", "carol"):
        page = settled.client(name).get("/releases").text
        assert "sex × education" in page
        assert "SELECT region" in page
    receipt = settled.receipt("RELEASE 2 marginals (microdata)")
    assert f'id="{receipt}"' in page
    led = settled.client("carol").get(f"/answers/{receipt}")
    assert led.headers["location"] == f"/releases#{receipt}"


def test_the_audit_shows_findings_and_names_nobody(settled: Living):
    page = settled.client("carol").get("/audit").text
    assert page.index("People who are alone") < page.index("Rebuilding secrets")  # the worst first
    assert page.count("<svg") >= 3
    assert "EXACT-VALUE" not in page
    assert "no second file was given" in page
    assert "only curators see it" in settled.client("alice").get("/audit").text


def test_an_audit_that_cannot_be_read_is_told_so(living: Living):
    folder = living.policy.parent / "report"
    folder.mkdir()
    told = {"made": "2026-01-01", "verdict": "red", "policy": "", "findings": [{"attack": "x"}]}
    (folder / "audit.json").write_text(json.dumps(told))
    page = living.client("carol").get("/audit")
    assert page.status_code == 400
    assert "cannot be read" in page.text
    (folder / "audit.json").write_text("{")
    assert "No audit has been made yet" in living.client("carol").get("/audit").text


def test_the_policy_says_what_is_promised_and_what_not(settled: Living):
    alice, carol = (settled.client(name).get("/policy").text for name in ("alice", "carol"))
    for page in (alice, carol):
        assert "must not show is whether one row is in the data" in page
        assert "What it does not protect against" in page
        assert "0 to 200,000" in page
    assert "analysts.alice" in carol
    assert "[privacy]" not in alice


def test_somebody_without_a_budget_of_their_own_spends_the_datas(tmp_path):
    file = make_folder(tmp_path)
    file.write_text(re.sub(r"\[analysts\.\w+\]\nepsilon = .*\n", "", file.read_text()))
    with Living(file) as living:
        client = living.client("bob")
        asked(living, client, sql=BY_SEX, amount="0.5")
        assert 'aria-valuetext="ε 0.5 of 4 spent"' in client.get("/budget").text
        asked(living, living.client("alice"), sql=BY_SEX, amount="1")
        assert 'aria-valuetext="ε 0.5 of 3 spent"' in client.get("/budget").text


def test_a_budget_in_rho_is_spent_in_rho(tmp_path):
    file = make_folder(tmp_path)
    file.write_text(re.sub("epsilon = ", "rho = ", file.read_text()))
    with Living(file) as living:
        client = living.client("alice")
        assert "(rho, of 1 left)" in client.get("/").text
        page = asked(living, client, sql=BY_SEX)
        assert "ρ 0.1" in page.text
        assert "gaussian" in page.text
        assert "ρ 0.9" in client.get("/budget").text


def test_an_analyst_whom_the_policy_does_not_know_is_told_so(living: Living):
    living.service.accounts.add("dave", "analyst", SECRET)
    page = living.client("dave").get("/")
    assert page.status_code == 403
    assert "is not an analyst of this data" in page.text


def test_exact_releases_change_the_history_from_then_on(living: Living):
    database = living.service.database
    database.session("alice").ask(BY_SEX, "0.1")
    database.add_prior("SELECT region, COUNT(*) AS n FROM people GROUP BY region")
    told = Fraction(database.budget()["data"]["spent"])
    steps = history(database, database.policy.budget, None)
    assert [step.kind for step in steps] == ["question", "exact release"]
    assert steps[0].spent == Fraction(1, 10)
    assert steps[-1].spent == told == Fraction(2, 10)


def test_an_address_that_is_none_has_a_kind_page(settled: Living):
    client = settled.client("alice")
    page = client.get("/nowhere")
    assert page.status_code == 404
    assert "no page at this address" in page.text
    assert client.get("/v1/nowhere").headers["content-type"].startswith("application/json")
    assert client.get("/static/nothing.css").status_code == 404
    style = re.search(r'href="(/static/console.css\?\w+)"', page.text).group(1)
    assert "immutable" in client.get(style).headers["cache-control"]


def test_another_doors_answer_is_explained(settled: Living):
    session = settled.service.database.session("alice")
    receipt = session.ask("SELECT SUM(age) AS s FROM people", "0.01").receipt  # without a key
    page = settled.client("alice").get(f"/answers/{receipt}").text
    assert "asked through another door" in page


def test_margins_of_a_quantile_are_not_drawn_as_values(settled: Living):
    sql = "SELECT sex, MEDIAN(income) AS m FROM people GROUP BY sex"
    receipt = settled.service.database.session("alice").ask(sql, "0.05", key="m" * 20).receipt
    page = settled.client("alice").get(f"/answers/{receipt}").text
    assert 'class="error"' not in page
    assert re.search(r"± [\d,]+ rows", page)
