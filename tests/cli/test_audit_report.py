"""`adomnia audit --out`: the page and the file beside it."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from adomnia.review import audit as audit_room

MORE = """
[attributes.education]
values = ["none", "primary", "secondary", "vocational", "bachelor", "master", "doctorate"]

[attributes.occupation]
values = ["care", "crafts", "management", "office", "pupil", "retired", "science", "teaching"]
other = "other"

[audit]
independent = false
group = 3
exact = true
influence = false
disclosures = 2

[[prior]]
sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
[[prior]]
sql = "SELECT education, COUNT(*) AS n FROM people GROUP BY education"
"""
ASKED = ("--public", "sex,education", "--sensitive", "occupation", "--microdata", "people.parquet")


class Read(HTMLParser):
    """The text of a page, and whether its sections are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag not in {"meta", "br", "line", "rect", "circle", "polyline"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture
def audited(run, house: Path):
    """The house with its report."""
    (house / "adomnia.toml").write_text((house / "adomnia.toml").read_text() + MORE)
    run("budget")
    ran = run("audit", "--out", "report", *ASKED)
    assert ran.code == 0, ran.err
    return house / "report", ran


def test_the_report_has_every_finding_a_colour_and_a_remedy(audited):
    folder, ran = audited
    told = json.loads((folder / "audit.json").read_text())
    attacks = [one["attack"] for one in told["findings"]]
    assert attacks == [
        "questionnaire", "family", "claim", "given away", "prior-leak", "disclosure",
        "reconstruct", "averaging", "uniqueness", "singling-out", "inference",
    ]  # fmt: skip
    assert {one["colour"] for one in told["findings"]} <= {"green", "amber", "red"}
    assert all(one["claim"] and one["remedy"] and one["source"] for one in told["findings"])
    assert told["verdict"] == "red"  # people are alone in a file of raw records
    assert told["promise"][0].startswith("Differential privacy")
    assert [one["what"] for one in told["skipped"]] == ["membership"]  # nobody says how it was made
    text = (folder / "index.html").read_text()
    words = " ".join(Read(text).words)
    for part in ("What to change", "What is promised", "Covered by the promise", "red: act",
                 "This report names nobody", "somebody who saw nothing"):  # fmt: skip
        assert part in words
    assert text.count("<svg") >= 6
    assert "<script" not in text
    assert Read(text).open == []
    assert "open report/index.html" in ran.out
    # It spends nothing, and leaves nothing else behind.
    assert not (folder.parent / "adomnia.ledger").exists()
    assert sorted(path.name for path in folder.iterdir()) == ["audit.json", "index.html"]
    assert [path for path in folder.parent.iterdir() if path.name.startswith(".audit")] == []


def test_names_are_there_only_on_request(run, audited):
    folder, _ = audited
    quiet = (folder / "index.html").read_text() + (folder / "audit.json").read_text()
    assert "doctorate" not in quiet
    assert '"guess"' not in quiet
    assert '"unique_rows"' not in quiet
    assert run("audit", "--out", "named", *ASKED, "--names").code == 0
    page = (folder.parent / "named/index.html").read_text()
    assert "doctorate" in page
    assert "This report names groups and exact values" in page
    assert json.loads((folder.parent / "named/audit.json").read_text())["names"] is True


def test_a_folder_that_is_taken_is_refused_before_anything_is_done(run, house, monkeypatch):
    begun = []
    monkeypatch.setattr(audit_room, "STEPS", (("noted", lambda *given: begun.append(given) or []),))
    (house / "report").mkdir()
    (house / "report/mine.txt").write_text("x")
    ran = run("audit", "--out", "report")
    assert ran.code == 2
    assert "not empty" in ran.err
    assert not begun
    assert run("audit", "--out", "free").code == 0
    assert begun
    assert run("audit").code == 2


def test_what_is_missing_is_said_and_what_is_wrong_is_refused(run, house):
    ran = run("audit", "--out", "report", "--format", "json")
    assert ran.code == 0
    told = json.loads((house / "report/audit.json").read_text())
    why = {one["what"]: one["why"] for one in told["skipped"]}
    assert set(why) == {"exact releases", "disclosures", "the microdata file", "membership"}
    assert "--public" in why["disclosures"]
    assert {one["attack"] for one in ran.json["findings"]} == {
        "questionnaire", "claim", "reconstruct", "averaging",
    }  # fmt: skip
    wrong = run("audit", "--out", "other", "--public", "sex,nothing", "--sensitive", "age")
    assert wrong.code == 2
    assert not (house / "other").exists()
    assert run("audit", "--out", "other", "--microdata", "nowhere.csv").code == 2


def test_a_spent_budget_leaves_nothing_to_average(run, house):
    run("ask", "SELECT COUNT(*) AS n FROM people", "--epsilon", "4")
    assert run("audit", "--out", "report").code == 0
    told = json.loads((house / "report/audit.json").read_text())
    assert any("spent" in one["why"] for one in told["skipped"] if one["what"] == "averaging")
    assert any("4 is spent" in part for part in told["promise"])


def test_interrupted_it_writes_nothing(run, house, monkeypatch):
    """Ctrl-C in the middle: no folder, no remains."""

    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(audit_room, "STEPS", (*audit_room.STEPS[:2], ("interrupted", pressed)))
    assert run("audit", "--out", "report").code == 130
    assert sorted(path.name for path in house.iterdir()) == ["adomnia.toml", "people.parquet"]
