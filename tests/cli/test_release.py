"""`adomnia release`: a folder, a plan, and what is refused."""

from __future__ import annotations

import json


def test_a_release_writes_its_folder_and_says_so(run, house):
    ran = run("release", "--marginals", "sex", "--marginals", "age", "--epsilon", "1",
              "--out", "tables", "--microdata")  # fmt: skip
    assert ran.code == 0
    assert "tables/index.html" in ran.out
    facts = json.loads((house / "tables" / "release.json").read_text())
    assert facts["spent"] == {"epsilon": "1"}
    assert (house / "tables" / "microdata.parquet").exists()
    table = (house / "tables" / "marginals" / "age.csv").read_text()
    assert table.startswith("age,count,count_margin\n")


def test_a_plan_as_json_spends_nothing(run, house):
    ran = run("release", "--marginals", "sex,age", "--rho", "0.5", "--plan", "--format", "json")
    assert ran.code == 0
    assert ran.json["cells"] == 242
    assert ran.json["deviations"]["sex__age"] > 0
    assert run("budget", "--format", "json").json["data"]["spent"] == "0"


def test_as_json_it_gives_the_receipt(run, house):
    ran = run("release", "--marginals", "sex", "--epsilon", "1", "--out", "t", "--format", "json")
    entries = run("ledger", "--format", "json").json
    assert any(ran.json["receipt"] in json.dumps(entry) for entry in entries["entries"])


def test_what_is_wrong_exits_two_and_costs_nothing(run, house):
    (house / "full").mkdir()
    (house / "full" / "x").write_text("x")
    for given in (
        ("--marginals", "nosuch", "--epsilon", "1", "--out", "t"),
        ("--marginals", "sex", "--epsilon", "1"),
        ("--marginals", "sex", "--out", "t"),
        ("--epsilon", "1", "--out", "t"),
        ("--marginals", "sex", "--epsilon", "1", "--out", "full"),
        ("--marginals", "sex", "--epsilon", "0", "--out", "t"),
    ):
        assert run("release", *given).code == 2, given
    assert run("budget", "--format", "json").json["data"]["spent"] == "0"


def test_above_the_budget_it_exits_three_and_writes_nothing(run, house):
    assert run("release", "--marginals", "sex", "--epsilon", "99", "--out", "t").code == 3
    assert not (house / "t").exists()


def test_attributes_that_are_in_no_table_are_named_with_the_reason(run, house):
    policy = house / "adomnia.toml"
    policy.write_text(policy.read_text() + '[attributes.occupation]\nkind = "text"\n')
    planned = run("release", "--ways", "1", "--epsilon", "1", "--plan")
    assert "in no table: occupation (no list of values)" in planned.out
    made = run("release", "--ways", "1", "--epsilon", "1", "--out", "t", "--format", "json")
    wide = "200,001 values; at most 10,000 fit"
    named = {"income": wide, "occupation": "no list of values"}
    told = [one for one in made.json["left_out"] if one["what"] == "attribute"]
    assert {one["attribute"]: one["reason"] for one in told} == named
    facts = json.loads((house / "t" / "release.json").read_text())
    assert facts["left_out"] == made.json["left_out"]
    page = (house / "t" / "index.html").read_text()
    assert f"In no table: income ({wide}), occupation (no list of values)." in page


def test_where_tables_are_listed_no_attribute_is_left_out(run, house):
    ran = run("release", "--marginals", "sex", "--epsilon", "1", "--plan", "--format", "json")
    assert [(one["what"], one["column"]) for one in ran.json["left_out"]] == [("values", "sex")]


def test_what_is_printed_and_by_whom_is_in_the_folder(run, house):
    ran = run("release", "--marginals", "sex, age / 10 AS decade", "--epsilon", "1", "--out", "t",
              "--round-to", "10", "--title", "Ages", "--publisher", "The Office")  # fmt: skip
    assert ran.code == 0
    printed = (house / "t" / "presentation" / "sex__decade.csv").read_text().splitlines()
    assert printed[0] == "sex,decade,count,count_margin,mark"
    assert all(line.split(",")[2].endswith("0") for line in printed[1:])
    assert "Published by The Office on" in (house / "t" / "index.html").read_text()
    assert run(
        "release", "--marginals", "sex", "--epsilon", "1", "--out", "u", "--round-to", "0"
    ).code


def test_a_report_is_private_beside_the_folder_and_costs_nothing(run, house):
    ran = run("release", "--marginals", "sex,age", "--epsilon", "1", "--out", "tables",
              "--microdata", "--report", "report.html")  # fmt: skip
    assert ran.code == 0
    assert "report.html has exact data" in ran.err
    assert (house / "report.html").stat().st_mode & 0o077 == 0
    assert "exact data" in (house / "report.html").read_text()
    published = [file for file in (house / "tables").rglob("*") if file.is_file()]
    assert not any(b"exact data" in file.read_bytes() for file in published)
    assert run("budget", "--format", "json").json["data"]["spent"] == "1"


def test_a_report_that_cannot_be_is_refused_unpaid(run, house):
    tables = ("release", "--marginals", "sex", "--epsilon", "1")
    for given, code in (
        (("--out", "t", "--report", "t/r.html"), 2),
        (("--out", "t", "--report", "none/r.html"), 2),
        (("--plan", "--report", "r.html"), 2),
        (("--out", "t", "--report", "r.html", "--unbiased"), 2),
        (("--out", "t", "--report", "r.html", "--analyst", "alice"), 4),
    ):
        assert run(*tables, *given).code == code, given
    assert run("budget", "--format", "json").json["data"]["spent"] == "0"
    assert not (house / "r.html").exists()


def test_bands_are_planned_found_and_told(run, house):
    tables = ("release", "--marginals", "income,sex", "--bins", "income=4", "--epsilon", "1")
    planned = run(*tables, "--plan")
    assert "income_band: 4 bands, whose edges will be found for epsilon 0.1" in planned.out
    assert run("budget", "--format", "json").json["data"]["spent"] == "0"
    made = run(*tables, "--out", "t", "--microdata", "--format", "json").json
    assert len(made["bands"][0]["begins"]) == 3
    assert run("budget", "--format", "json").json["data"]["spent"] == "1"
    head = (house / "t" / "microdata.csv").read_text().splitlines()[0]
    assert head == "sex,income_band,income"
    again = run(*tables, "--out", "u")
    assert f"bands begin at {', '.join(made['bands'][0]['begins'])}" in again.out
    assert run("budget", "--format", "json").json["data"]["spent"] == "19/10"


def test_wrong_bands_exit_two_unpaid(run, house):
    for said in ("income", "income=x", "sex=2", "nosuch=3", "income=1", "income=5,5", "income=-1,"):
        ran = run("release", "--ways", "1", "--bins", said, "--epsilon", "1", "--out", "t")
        assert ran.code == 2, said
    assert run("budget", "--format", "json").json["data"]["spent"] == "0"


def test_what_cannot_be_written_is_found_out_before_anything_is_paid(run, house):
    (house / "gone").symlink_to(house / "nowhere")
    (house / "plain").write_text("x")
    for place in ("gone", "plain/x", "/proc/no/such", "x" * 300):
        ran = run("release", "--marginals", "sex", "--epsilon", "1", "--out", place)
        assert ran.code == 2, place
        assert "--out" in ran.err
    for words in (("--title", "a\x01b"), ("--publisher", "bad\udcff")):
        ran = run("release", "--marginals", "sex", "--epsilon", "1", "--out", "t", *words)
        assert ran.code == 2, words
    assert run("budget", "--format", "json").json["data"]["spent"] == "0"
    assert not list(house.glob(".release-*"))


def test_a_link_to_an_empty_folder_is_a_place(run, house):
    (house / "site").mkdir()
    (house / "published").symlink_to(house / "site")
    assert run("release", "--marginals", "sex", "--epsilon", "1", "--out", "published").code == 0
    assert (house / "site" / "release.json").exists()
    assert (house / "published").is_symlink()
