"""The console in a real browser: asking, watching, cancelling, with and without a script."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from console_living import BY_EDUCATION, BY_SEX, SECRET, Living, hold
from console_pictures import small
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ANALYSTS = {"ask": "/", "budget": "/budget", "ledger": "/ledger", "policy": "/policy"}
CURATORS = {title: f"/{title}" for title in ("budget", "ledger", "releases", "audit", "policy")}
PICTURES = Path(__file__).parents[3] / "docs/pictures"

pytestmark = pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="there is no chromium here")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium for all tests of this file."""
    expect.set_options(timeout=60_000)  # a machine may be busy
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield made
        made.close()


@contextmanager
def visit(browser: Browser, living: Living, name: str | None = None, **how) -> Iterator[Page]:
    """A page of a new person; afterwards it has reported no error and asked no other host."""
    context = browser.new_context(base_url=living.url, **how)
    page = context.new_page()
    said: list[str] = []
    hosts: set[str] = set()
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else 0)
    page.on("pageerror", lambda error: said.append(str(error)))
    context.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    page.set_default_timeout(60_000)
    if name is not None:
        sign_in(page, name)
    yield page
    context.close()
    assert said == []
    assert hosts == {urlsplit(living.url).netloc}


def sign_in(page: Page, name: str) -> None:
    page.goto("/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Secret").fill(SECRET)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Ask", exact=True)).to_be_visible()


def ask(page: Page, sql: str, amount: str) -> None:
    page.goto("/")
    page.get_by_label("Your question, in SQL").fill(sql)
    page.get_by_label("Spend", exact=False).fill(amount)
    page.get_by_role("button", name="Ask", exact=True).click()


def spent_on_the_gauge(page: Page) -> float:
    page.goto("/budget")
    return float(page.get_by_role("meter").first.get_attribute("aria-valuenow"))


def test_from_signing_in_to_signing_out(browser, living):
    """Ask, see the answer, watch the gauge move, be refused when the budget is gone, leave."""
    with visit(browser, living, "alice") as page:
        assert spent_on_the_gauge(page) == 0
        ask(page, BY_SEX, "0.4")
        expect(page.get_by_role("heading", name="Answer")).to_be_visible()
        expect(page.get_by_role("table")).to_contain_text("±")
        expect(page.get_by_role("img", name="n: a bar for each row")).to_be_visible()
        expect(page.locator("main")).to_contain_text(living.receipt(BY_SEX))
        assert spent_on_the_gauge(page) == pytest.approx(0.4)
        ask(page, BY_EDUCATION, "0.6")
        expect(page.get_by_role("heading", name="Answer")).to_be_visible()
        assert spent_on_the_gauge(page) == 1
        expect(page.locator(".purse")).to_have_text("ε 0 left")
        ask(page, "SELECT SUM(age) AS s FROM people", "0.1")
        expect(page.get_by_role("alert")).to_contain_text("budget of the analyst")
        expect(page.get_by_role("alert")).to_contain_text("can be asked again for free")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        page.goto("/budget")
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_margins_follow_the_slider_and_cost_nothing(browser, living):
    with visit(browser, living, "alice") as page:
        expected, slider = page.locator("#expected"), page.get_by_label("logarithmic")
        page.get_by_label("Your question, in SQL").fill("SELECT COUNT(*) AS n FROM people")
        expect(expected).to_contain_text("± 30")
        expect(expected).to_contain_text("It costs ε 0.1 and leaves ε 0.9.")
        slider.focus()
        slider.press("End")
        expect(page.locator("#amount")).to_have_value("1")
        expect(expected).to_contain_text("± 3")
        page.locator("#amount").fill("1/2")
        expect(expected).to_contain_text("leaves ε 0.5")
        page.locator("#amount").fill("7")
        expect(expected).to_contain_text("it would be refused")
        page.get_by_label("Your question, in SQL").fill("SELECT COUNT(*) AS n FROM pepole")
        expect(expected).to_contain_text("Not a question yet")
    assert living.service.database.budget()["data"]["spent"] == "0"


def test_the_editor_is_highlighted_and_takes_columns(browser, living):
    with visit(browser, living, "alice") as page:
        editor = page.get_by_label("Your question, in SQL")
        editor.fill("SELECT ")
        page.get_by_role("button", name="education").click()
        page.keyboard.type(", COUNT(*) AS n -- <b>all</b>\nFROM people GROUP BY 1")
        expect(editor).to_have_value(
            "SELECT education, COUNT(*) AS n -- <b>all</b>\nFROM people GROUP BY 1"
        )
        expect(page.locator(".overlay .w").first).to_have_text("SELECT")
        expect(page.locator(".overlay .c")).to_have_text("education")
        expect(page.locator(".overlay .r")).to_have_text("-- <b>all</b>")
        assert page.locator(".overlay").inner_text().strip() == editor.input_value()
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("heading", name="Answer")).to_be_visible()


def test_a_mistake_is_marked_where_it_is(browser, living):
    with visit(browser, living, "alice") as page:
        ask(page, "SELECT sex, COUNT(*) AS n\nFROM people GROUP BY sexx", "0.1")
        expect(page.get_by_role("alert")).to_contain_text("line 2, character 22")
        expect(page.locator(".overlay .wrong")).to_have_text("sexx")
        expect(page.get_by_role("alert")).to_be_focused()


def test_a_question_is_cancelled_and_stays_paid(browser, living, monkeypatch):
    gate = hold(monkeypatch)
    with visit(browser, living, "alice") as page:
        ask(page, BY_SEX, "0.1")
        expect(page.locator("#progress li.done")).to_have_text(["Planned", "Paid"])
        with page.expect_response(lambda told: told.url.endswith("/cancel")):
            page.get_by_role("button", name="Cancel").click()
            expect(page.locator("#status")).to_have_text("Cancelling…")
        gate.set()  # only now: before, the answer might have come first
        expect(page.get_by_role("alert")).to_contain_text("cancelled")
        assert spent_on_the_gauge(page) == pytest.approx(0.1)
        page.goto(f"/answers/{living.receipt(BY_SEX)}")
        expect(page.locator("main")).to_contain_text("What was reserved stays spent")


def test_a_double_click_pays_once(browser, living):
    with visit(browser, living, "alice") as page:
        page.get_by_label("Your question, in SQL").fill(BY_SEX)
        page.get_by_role("button", name="Ask", exact=True).dblclick()
        expect(page.get_by_role("heading", name="Answer")).to_be_visible()
        page.reload()
        page.go_back()
    assert Fraction(living.service.database.budget()["data"]["spent"]) == Fraction(1, 10)


def test_without_a_script_everything_is_read_and_asked(browser, living):
    with visit(browser, living, "bob", java_script_enabled=False) as page:
        page.get_by_role("button", name="What would it cost?").click()
        expect(page.locator("#expected")).to_contain_text("It would cost ε 0.1")
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.get_by_role("heading", name="Answer")).to_be_visible()
        for at in ("/budget", "/ledger", "/releases", "/policy"):
            page.goto(at)
            expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert spent_on_the_gauge(page) == pytest.approx(0.1)


def test_a_keyboard_is_enough(browser, living):
    with visit(browser, living) as page:
        page.goto("/")
        expect(page.get_by_label("Name")).to_be_focused()
        page.keyboard.type("alice")
        page.keyboard.press("Tab")
        page.keyboard.type(SECRET)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Ask", exact=True)).to_be_visible()
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.get_by_label("Your question, in SQL")).to_be_focused()


def test_the_curator_sees_the_audit_and_the_whole_ledger(browser, settled):
    with visit(browser, settled, "carol") as page:
        page.get_by_role("link", name="Audit").click()
        expect(page.get_by_role("heading", name="People who are alone")).to_be_visible()
        expect(page.locator("main")).to_contain_text("31 % of the people are alone")
        page.get_by_role("link", name="Ledger").click()
        expect(page.locator(".mark")).to_contain_text("Chain verified: 13 entries")
        page.get_by_label("Search").fill("median")
        page.get_by_role("button", name="Search").click()
        expect(page.get_by_role("cell", name="bob")).to_be_visible()
        expect(page.get_by_role("cell", name="alice")).to_have_count(0)


@pytest.mark.parametrize("name", ["alice", "carol"])
def test_everybody_can_read_every_page(browser, settled, name):
    """axe finds nothing, in both colours; and nothing is wider than a telephone."""
    pages = dict(CURATORS if name == "carol" else ANALYSTS)
    if name == "alice":
        pages |= {"answer": f"/answers/{settled.receipt(BY_EDUCATION)}", "error": "/?sql=x"}
    with visit(browser, settled, name) as page:
        for title, at in pages.items():
            page.goto(at)
            for details in page.locator("details:not([open]) > summary").all():
                details.click()
            if title == "error":
                page.get_by_role("button", name="Ask", exact=True).click()
                expect(page.get_by_role("alert")).to_be_visible()
            check(page, title)
            page.set_viewport_size({"width": 360, "height": 740})
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, title
            page.set_viewport_size({"width": 1200, "height": 800})


def test_everybody_can_sign_in(browser, settled):
    with visit(browser, settled) as page:
        page.goto("/")
        check(page, "sign in")


def check(page: Page, title: str) -> None:
    """axe's verdict on the page, in light and in dark colours."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page)
        assert found.violations_count == 0, (title, scheme, found.generate_report())


@pytest.mark.timeout(300)
@pytest.mark.skipif(os.environ.get("ADOMNIA_PICTURES") != "1", reason="pictures are made on demand")
def test_pictures_for_the_docs_are_made(browser, settled):
    size = {"width": 1200, "height": 800}
    PICTURES.mkdir(exist_ok=True)
    with visit(browser, settled, "alice", viewport=size) as page:
        expect(page.locator("#expected")).to_contain_text("±")
        take(page, "ask")
        page.goto(f"/answers/{settled.receipt(BY_EDUCATION)}")
        take(page, "answer")
    audited(settled)
    with visit(browser, settled, "carol", viewport=size) as page:
        for title in ("budget", "ledger", "releases", "audit", "policy"):
            page.goto(CURATORS[title])
            take(page, title)
    with visit(browser, settled, "carol", viewport=size, color_scheme="dark") as page:
        page.goto("/budget")
        take(page, "dark")
    assert len(list(PICTURES.glob("console_*.png"))) == 8


def audited(living: Living) -> None:
    """A real audit beside the policy, newer than the made-up one."""
    verb = ["audit", "--out", "report", "--public", "sex,region", "--sensitive", "education"]
    program = [str(Path(sys.executable).with_name("adomnia")), *verb, "--time-limit", "3"]
    subprocess.run(program, cwd=living.policy.parent, check=True, capture_output=True, timeout=200)


def take(page: Page, title: str) -> None:
    (PICTURES / f"console_{title}.png").write_bytes(small(page.screenshot()))
