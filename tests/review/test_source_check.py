"""The curator's check: what cleaning leaves out, what bounds cut, what changed, exactly."""

from __future__ import annotations

import csv
import json
import math
import random
from collections import Counter
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

import adomnia
from adomnia.errors import CheckError, MachineryError, PolicyError
from adomnia.policy.policy import read_policy
from adomnia.present.check_page import check_page, column_bounds, column_domain, write_check
from adomnia.review import check_source, remarks
from adomnia.review.check import examination
from adomnia.review.check.personal_text import PATTERNS, is_key, looks_like, values_look_like

HEAD = """[data]
source = "visits.csv"
table = "visits"
[privacy]
epsilon = 4
confirmed = true
{privacy}
[attributes.sex]
values = ["F", "M", "D"]
[attributes.age]
low = 0
high = 100
[attributes.pay]
low = 0
high = 1
step = 0.01
[attributes.day]
kind = "date"
low = "2020-01-01"
high = "2020-12-31"
[attributes.insured]
values = [true, false]
{more}
"""
UNIT = 'unit = "person"\nmax_rows = 2'
COLUMNS = ("person", "sex", "age", "pay", "day", "insured", "note")


def made_up(rows: int, seed: int) -> list[tuple[str, ...]]:
    """Rows as messy as files are; no two are the same."""
    draw = random.Random(seed)
    return [
        (
            draw.choice(["", *map(str, range(rows // 3))]),
            draw.choice(["F", "M", "F", "M", "f", " M", "x", ""]),
            draw.choice([str(draw.randint(0, 100)), "-4", "130", "?", "n/a", "", "1e400", "nan"]),
            f"{draw.gammavariate(2, 1.58):.3f}",
            draw.choice(["2020-02-03", "2020-02-30", "2019-12-31", "2021-01-01", "", "soon"]),
            draw.choice(["true", "NO", "1", "maybe", ""]),
            f"note {number}",
        )
        for number in range(rows)
    ]


def write(folder: Path, rows, privacy: str = "", more: str = "") -> Path:
    with (folder / "visits.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    (folder / "adomnia.toml").write_text(HEAD.format(privacy=privacy, more=more))
    return folder / "adomnia.toml"


def checked(folder: Path, rows, privacy: str = "", more: str = ""):
    return check_source(read_policy(write(folder, rows, privacy, more)))


def column(found, name):
    return next(one for one in found.inspection.columns if one.name == name)


def texts(found, about):
    return [one.text for one in remarks(found) if one.about == about]


# Columns


def number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def test_each_way_of_being_wrong_is_counted(tmp_path):
    rows = made_up(400, 1)
    found = checked(tmp_path, rows)
    ages = [row[2] for row in rows if row[2]]
    numbers = [number(text) for text in ages]
    age = column(found, "age")
    assert age.present == len(ages)
    assert age.unread == numbers.count(None)
    assert age.numbers.below == sum(n is not None and n < 0 for n in numbers)
    assert age.numbers.above == sum(n is not None and n > 100 for n in numbers)
    assert dict(age.frequent) == Counter(text for text in ages if number(text) is None)
    sexes = [row[1] for row in rows if row[1]]
    sex = column(found, "sex")
    assert dict(sex.frequent) == Counter(text for text in sexes if text not in "FMD")
    assert sex.unlisted == sum(dict(sex.frequent).values())
    assert sex.counts == {value: sexes.count(value) for value in ("F", "M", "D")}
    days = Counter(row[4] for row in rows)
    day = column(found, "day")
    assert (day.unread, day.numbers.below, day.numbers.above) == (
        days["2020-02-30"] + days["soon"], days["2019-12-31"], days["2021-01-01"])  # fmt: skip
    assert day.rows - day.present == days[""]
    assert day.numbers.ends == (date(2019, 12, 31), date(2021, 1, 1))
    assert column(found, "insured").unread == sum(row[5] == "maybe" for row in rows)


def test_bounds_leave_out_no_more_than_they_say(tmp_path):
    rows = made_up(3000, 2)
    numbers = column(checked(tmp_path, rows), "pay").numbers
    values = sorted(float(row[3]) for row in rows)
    for share, (low, high) in numbers.bounds.items():
        outside = sum(not low <= value <= high for value in values)
        assert outside <= share * len(values)
        many = int(share * len(values))
        widths = [values[len(values) - 1 - (many - k)] - values[k]
                  for k in (many * part // 8 for part in range(9))]  # fmt: skip
        assert high - low == pytest.approx(min(widths))
    assert list(numbers.bounds) == [Fraction(1, 1000), Fraction(1, 100), Fraction(1, 20)]
    assert numbers.mean == pytest.approx(sum(values) / len(values))
    clamped = [min(round(value * 100) / 100, 1) for value in values]
    assert numbers.cleaned_mean == pytest.approx(sum(clamped) / len(values), abs=1e-3)


def test_what_is_wrong_comes_first_and_the_largest_first(tmp_path):
    found = checked(tmp_path, made_up(400, 3))
    said = remarks(found)
    assert [one.grave for one in said] == sorted((one.grave for one in said), reverse=True)
    sizes = [one.size for one in said if one.grave]
    assert sizes == sorted(sizes, reverse=True)
    assert said[0].about == "pay"
    assert "lie above high = 1; the mean is 3." in said[0].text
    assert any("are not listed, most often" in text for text in texts(found, "sex"))
    assert "no row has the listed 'D'" in texts(found, "sex")


def test_bounds_that_are_far_too_wide_are_told(tmp_path):
    rows = [("1", "F", "3", "0.5", "2020-02-03", "true", str(i)) for i in range(50)]
    path = write(tmp_path, rows)
    path.write_text(path.read_text().replace("high = 1\n", "high = 1000000\n"))
    found = check_source(read_policy(path))
    assert any("times as wide" in text for text in texts(found, "pay"))
    assert not any(one.grave for one in remarks(found))


def test_a_value_that_goes_to_other_is_not_left_out(tmp_path):
    path = write(tmp_path, made_up(200, 4))
    path.write_text(path.read_text().replace('"D"]', '"D"]\nother = "D"'))
    sex = column(check_source(read_policy(path)), "sex")
    assert (sex.unlisted, sex.left_out) == (0, 0)
    assert sex.moved == sum(row[1] not in "FMD" for row in made_up(200, 4))
    assert sex.counts["D"] == sex.moved


def test_rows_that_repeat_are_counted(tmp_path):
    rows = made_up(100, 5)
    found = checked(tmp_path, rows + rows[:7] + rows[:1], more="[check]\nrepeated = 0.05")
    assert (found.inspection.repeated, found.inspection.most_alike) == (8, 3)
    assert [(one.limit, one.found) for one in found.exceeded] == [("repeated", 8 / 108)]


def test_a_column_of_nothing_but_null_is_grave(tmp_path):
    rows = [("1", "", "3", "0.5", "2020-02-03", "true", str(i)) for i in range(5)]
    assert [one.about for one in remarks(checked(tmp_path, rows)) if one.grave] == ["sex"]


def test_an_empty_source_is_checked(tmp_path):
    found = checked(tmp_path, [], UNIT, "[check]\nleft_out = 0\nnobody = 0\nrepeated = 0")
    assert found.exceeded == ()
    assert found.inspection.rows == 0
    assert "visits" in check_page([found])


# Units


def test_what_max_rows_cuts_is_what_python_cuts(tmp_path):
    rows = made_up(400, 6)
    found = checked(tmp_path, rows, UNIT, "[check]\ncut = 0.3\nnobody = 0.5")
    owners = Counter(row[0] for row in rows if row[0])
    units = found.inspection.units
    assert units.sizes == Counter(owners.values())
    assert units.nobody == sum(not row[0] for row in rows)
    (cut,) = units.cuts
    assert cut.rows == sum(many - 2 for many in owners.values() if many > 2)
    assert cut.units == sum(many > 2 for many in owners.values())
    assert cut.of == sum(owners.values())
    part, whole = cut.sums["age"]
    clean = [min(max(number(row[2]), 0), 100) for row in rows
             if row[0] and number(row[2] or "?") is not None]  # fmt: skip
    assert whole == sum(round(value) for value in clean)
    assert 0 < part < whole
    assert {one.limit for one in found.exceeded} == {"cut"}
    assert found.to_json()["unit"]["largest"] == max(owners.values())


def test_a_limit_of_what_is_left_out_is_one_of_what_is_cut(tmp_path):
    found = checked(tmp_path, made_up(400, 6), UNIT, "[check]\nleft_out = 0.01")
    assert "cut" in {one.limit for one in found.exceeded}


def test_group_bounds_are_told_by_the_worst_column(tmp_path):
    bounds = UNIT.replace("2", "3") + "\nmax_groups = 1\nmax_rows_per_group = 1"
    found = checked(tmp_path, made_up(400, 7), bounds)
    keys = {cut.key for cut in found.inspection.units.cuts if cut.bound == "max_groups"}
    assert keys >= {"sex", "insured", "age"}
    told = [one for one in remarks(found) if one.about.startswith("max_groups")]
    assert len(told) == 1
    worst = max((cut for cut in found.inspection.units.cuts if cut.bound == "max_groups"),
                key=lambda cut: cut.rows / cut.of)  # fmt: skip
    assert told[0].about == f"max_groups by {worst.key}"


def test_a_unit_that_is_unique_is_told(tmp_path):
    rows = [(str(i), "F", "3", "0.5", "2020-02-03", "true", "") for i in range(40)]
    assert texts(checked(tmp_path, rows, UNIT), "person") == [
        "every one of 40 has one row: max_rows = 1 would do"
    ]


def test_one_unit_with_most_rows_may_stand_for_nobody(tmp_path):
    rows = [(str(max(0, i - 200)), "F", "3", "0.5", "2020-02-03", "true", str(i))
            for i in range(400)]  # fmt: skip
    found = checked(tmp_path, rows, UNIT)
    assert any("stands for nobody" in text for text in texts(found, "person"))


def test_a_key_that_repeats_without_a_unit_is_grave(tmp_path):
    found = checked(tmp_path, made_up(100, 8))
    grave = [one.about for one in remarks(found) if one.grave]
    assert "person" in grave
    assert "declare it as unit" in texts(found, "person")[0]


# Names


@pytest.mark.parametrize(
    ("what", "values"),
    [
        ("e-mail addresses", [f"a{i}@example.org" for i in range(30)]),
        ("telephone numbers", [f"+49 170 12345{i:02}" for i in range(30)]),
        ("names of people", [f"Änne Müller-{chr(65 + i)}ott" for i in range(26)]),
        ("free text", [f"she said that number {i} was all fine" for i in range(30)]),
        (None, [f"{i:05}" for i in range(30)]),
        (None, [f"2020-01-{i:02}" for i in range(1, 30)]),
        (None, ["Anna Schmidt"] * 30),
    ],
)
def test_what_names_somebody_is_seen(tmp_path, what, values):
    rows = [("1", "F", "3", "0.5", "2020-02-03", "true", value) for value in values]
    found = checked(tmp_path, rows)
    note = next(one for one in found.inspection.undeclared if one.name == "note")
    assert looks_like(note) == what
    assert note.distinct == len(set(values))
    assert set(note.matched) == set(PATTERNS)
    if what is not None:
        assert values_look_like(values) == what
        assert texts(found, "note") == [
            f"looks like {what}: leave it out of the source, if nobody needs it"
        ]


def test_a_public_list_of_people_is_grave(tmp_path):
    path = write(tmp_path, made_up(10, 9))
    names = [f'"Ann Lee{chr(97 + i)}"' for i in range(25)]
    path.write_text(path.read_text().replace('"F", "M", "D"', ", ".join(names)))
    said = [one for one in remarks(check_source(read_policy(path))) if "list looks" in one.text]
    assert [(one.about, one.grave) for one in said] == [("sex", True)]


@pytest.mark.parametrize(
    ("name", "key"),
    [("id", True), ("patientID", True), ("person", True), ("customer_no", True),
     ("region_id", False), ("age", False), ("day_id", False), ("", False),
     ("household income", False)],
)  # fmt: skip
def test_keys_are_told_by_what_they_are_called(name, key):
    assert is_key(name) is key


# Whence domains are


def test_the_origin_of_a_domain_is_told(tmp_path):
    path = write(tmp_path, made_up(10, 9))
    text = path.read_text().replace(
        "high = 100\n", "high = 100    # taken from the data: confirm\n"
    )
    text = text.replace('"D"]', '"D"]\norigin = "public"').replace(
        "step = 0.01", f'step = 0.01\norigin = "{"a" * 32}"'
    )
    path.write_text(text)
    found = check_source(read_policy(path))
    assert found.origin("sex") == "public knowledge"
    assert found.origin("age") == "taken from the data, not covered"
    assert found.origin("pay") == f"receipt {'a' * 32}, which the ledger lacks"
    assert found.origin("day") == "not said"
    assert "taken from the data, not covered by the promise: age" in texts(found, "domains")


def test_a_receipt_of_the_ledger_is_an_origin(tmp_path):
    path = write(tmp_path, made_up(30, 9))
    with adomnia.open(path) as database:
        receipt = database.session().ask("SELECT COUNT(*) AS n FROM visits", epsilon=1).receipt
    path.write_text(path.read_text().replace("high = 100\n", f'high = 100\norigin = "{receipt}"\n'))
    found = check_source(read_policy(path))
    assert found.origin("age") == f"paid, receipt {receipt}"


@pytest.mark.parametrize("line", ['origin = "guess"', "origin = 3", 'origin = ""'])
def test_another_origin_is_refused(tmp_path, line):
    path = write(tmp_path, made_up(10, 9))
    path.write_text(path.read_text().replace("high = 100\n", f"high = 100\n{line}\n"))
    with pytest.raises(PolicyError) as refused:
        read_policy(path)
    assert refused.value.line is not None


@pytest.mark.parametrize("line", ["left_out = 2", "drift = -0.1", "gone = true", 'cut = "x"',
                                  "unknown = 1"])  # fmt: skip
def test_limits_that_are_no_shares_are_refused(tmp_path, line):
    path = write(tmp_path, made_up(10, 9), more=f"[check]\n{line}")
    with pytest.raises(PolicyError) as refused:
        read_policy(path)
    assert path.read_text().splitlines()[refused.value.line - 1] == line


# What has changed


def test_a_source_that_is_as_it_was_has_not_changed(tmp_path):
    path = write(tmp_path, made_up(200, 10), UNIT)
    with adomnia.open(path) as database:
        found = database.check()
    assert found.edition == 1
    changes = found.changes
    assert (changes.added, changes.gone) == (0, 0)
    assert {one.name for one in changes.all_columns} == set(COLUMNS)
    assert {(one.variation, one.new) for one in changes.all_columns} == {(0, 0)}


def test_rows_that_are_new_or_gone_are_counted(tmp_path):
    rows = [row for row in made_up(300, 11) if row[0]]
    path = write(tmp_path, rows, UNIT, "[check]\ndrift = 0.2\ngone = 0.05")
    with adomnia.open(path) as database:
        later = rows[40:] + [("1", "D", "50", "0.5", "2020-02-03", "true", "z")] * 90
        write(tmp_path, later, UNIT, "[check]\ndrift = 0.2\ngone = 0.05")
        found = database.check()
        assert database.edition.number == 1
    changes = found.changes
    assert (changes.before, changes.added, changes.gone) == (len(rows), 90, 40)
    drift = {one.name: one for one in changes.all_columns}
    assert drift["sex"].variation == pytest.approx(
        variation([r[1] for r in rows], [r[1] for r in later])
    )
    assert (drift["sex"].new, list(drift["sex"].frequent)) == (1, [("D", 90)])
    assert drift["note"].frequent == [("z", 90)]
    passed = {(one.limit, one.about) for one in found.exceeded}
    assert ("gone", "rows") in passed
    assert ("drift", "sex") in passed
    assert ("drift", "note") not in passed
    assert any("are new since edition 1" in text for text in texts(found, "rows"))


def variation(before, after):
    """Of shares by what a value is cleaned to."""
    clean = [[value if value in ("F", "M", "D") else None if value == "" else "?" for value in part]
             for part in (before, after)]  # fmt: skip
    shares = [Counter(part) for part in clean]
    return sum(abs(shares[0][value] / len(before) - shares[1][value] / len(after))
               for value in shares[0].keys() | shares[1].keys()) / 2  # fmt: skip


def test_another_sample_of_the_same_people_is_no_drift(tmp_path):
    path = write(tmp_path, made_up(3000, 12))
    with adomnia.open(path) as database:
        write(tmp_path, made_up(3000, 13))
        drift = {one.name: one.variation for one in database.check().changes.columns}
    assert max(drift[name] for name in ("sex", "age", "pay", "day", "insured")) < 0.1


def test_a_policy_without_an_edition_is_not_compared_and_makes_none(tmp_path):
    path = write(tmp_path, made_up(20, 14))
    found = check_source(read_policy(path))
    assert (found.changes, found.edition) == (None, None)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["adomnia.toml", "visits.csv"]


def test_an_unconfirmed_policy_is_checked(tmp_path):
    path = write(tmp_path, made_up(20, 14))
    path.write_text(path.read_text().replace("confirmed = true", "confirmed = false"))
    assert check_source(read_policy(path)).inspection.rows == 20


# Loading


def test_a_source_that_fails_leaves_the_last_edition(tmp_path):
    good = [("1", "F", "3", "0.5", "2020-02-03", "true", str(i)) for i in range(50)]
    limits = "[check]\nleft_out = 0.01"
    with adomnia.open(write(tmp_path, good, more=limits)) as database:
        assert database.load_checked().number == 2
        write(tmp_path, [*good, ("1", "F", "300", "0.5", "2020-02-03", "true", "x")], more=limits)
        with pytest.raises(CheckError, match=r"left_out \(age\)") as refused:
            database.load_checked()
        assert "300" not in str(refused.value)
        assert database.edition.number == 2
        write(tmp_path, good[:40], more=limits)
        assert database.load_checked().number == 3


def test_without_limits_nothing_is_loaded_by_them(tmp_path):
    with (
        adomnia.open(write(tmp_path, made_up(10, 15))) as database,
        pytest.raises(PolicyError, match="no limits"),
    ):
        database.load_checked()


def test_a_source_that_changes_after_its_check_is_not_put_in_force(tmp_path, monkeypatch):
    good = [("1", "F", "3", "0.5", "2020-02-03", "true", str(i)) for i in range(50)]
    limits = "[check]\nleft_out = 0.01"
    look = examination.check_source

    def overtaken(policy, source=None):
        found = look(policy, source)
        write(tmp_path, [("1", "x", "", "", "", "", "")] * 60, more=limits)
        return found

    monkeypatch.setattr(examination, "check_source", overtaken)
    with adomnia.open(write(tmp_path, good, more=limits)) as database:
        with pytest.raises(MachineryError, match="changed after it was checked"):
            database.load_checked()
        assert database.edition.number == 1
    assert not list((tmp_path / "adomnia.editions").glob("unfinished-*"))


# Shown


def test_the_page_is_for_its_owner_alone_and_escapes_values(tmp_path):
    rows = [("1", "<b>x</b>", "3", "5", "2020-02-03", "true", str(i)) for i in range(50)]
    found = checked(tmp_path, rows, UNIT, "[check]\nleft_out = 0.01")
    file = write_check([found], tmp_path / "check.html")
    assert file.stat().st_mode & 0o777 == 0o600
    page = file.read_text()
    assert "<b>x</b>" not in page
    assert page.count("<svg") == len(found.inspection.columns)
    assert 'class="outside"' in page
    assert "high 1<" in page
    write_check([found], file)
    with pytest.raises(MachineryError, match="could not be written"):
        write_check([found], tmp_path / "nowhere" / "check.html")


def test_the_json_is_plain(tmp_path):
    found = checked(tmp_path, made_up(100, 16), UNIT)
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    age = next(one for one in told["columns"] if one["name"] == "age")
    assert age["left_out"] == age["below"] + age["above"] + age["unread"]
    assert [one["left_out"] for one in age["bounds"]] == [0.001, 0.01, 0.05]
    assert told["undeclared"][0]["name"] == "person"


@pytest.mark.parametrize(("largest", "shown"), [(2020, "2013"), (5000, "2,013")])
def test_years_have_no_commas(tmp_path, largest, shown):
    (tmp_path / "visits.csv").write_text("\n".join(["year", *["2013"] * 50, *["2012"] * 9]) + "\n")
    (tmp_path / "adomnia.toml").write_text(
        '[data]\nsource = "visits.csv"\ntable = "visits"\n[privacy]\nepsilon = 1\n'
        "[attributes.year]\nlow = 2000\nhigh = 2012\n"
    )
    with (tmp_path / "visits.csv").open("a") as stream:
        stream.write(f"{largest}\n")
    found = check_source(read_policy(tmp_path / "adomnia.toml"))
    (year,) = found.inspection.columns
    domain = found.policy.attributes["year"].domain
    assert column_bounds(year, domain)[-1][2] == shown
    assert column_domain(domain) == "2000 to 2012"
    assert "lie above high = 2012" in texts(found, "year")[0]


@pytest.mark.parametrize(("nullable", "empty"), [(False, 41), (True, 41), (False, 9)])
def test_many_nulls_are_grave_unless_the_column_may_have_them(nullable, empty, tmp_path):
    rows = "".join(f"{'' if i < empty else 'F'},1\n" for i in range(100))
    (tmp_path / "visits.csv").write_text(f"sex,id\n{rows}")
    (tmp_path / "a.toml").write_text(
        '[data]\nsource = "visits.csv"\n[privacy]\nepsilon = 1\nconfirmed = true\n'
        f'[attributes.sex]\nvalues = ["F"]\nnullable = {str(nullable).lower()}\n'
    )
    with adomnia.open(tmp_path / "a.toml") as database:
        said = [one for one in remarks(database.check()) if "NULL" in one.text]
    if nullable or empty < 10:
        assert said == []
    else:
        assert [(one.grave, one.about, one.text) for one in said] == [
            (True, "sex", "41% of the rows (41) are NULL, and the column is not nullable: "
             "they are in no group")
        ]  # fmt: skip
