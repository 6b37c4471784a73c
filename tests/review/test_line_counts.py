"""Lines of text files that are too long or too short, quotes left open, titles: all are counted."""

from __future__ import annotations

import random

import pytest

from adomnia.curator.data.source_tables import line_counts
from adomnia.engines.source_facts import LineCounts
from adomnia.policy.policy import read_policy
from adomnia.review import check_source, remarks
from adomnia.review.drafts.draft import draft_policy

POLICY = """[data]
source = "t.csv"
table = "t"
[privacy]
epsilon = 1
[attributes.sex]
values = ["F", "M"]
[attributes.pay]
low = 0
high = 100000
"""


def source(folder, lines, head="sex,pay"):
    (folder / "t.csv").write_text("\n".join([head, *lines]) + "\n")
    (folder / "adomnia.toml").write_text(POLICY)
    return folder / "t.csv"


def check(folder, lines):
    source(folder, lines)
    return check_source(read_policy(folder / "adomnia.toml"))


def said(found):
    return {one.text: one.grave for one in remarks(found) if one.about == "lines"}


def test_lines_of_other_widths_are_counted_as_they_were_written(tmp_path):
    draw = random.Random(3)
    for quotes in (False, True):
        widths = [draw.choice([1, 2, 2, 2, 3, 4]) for _ in range(500)]
        word = '"a"' if quotes else "a"
        lines = [",".join([word] * width) for width in widths]
        lines.insert(200, "")  # no row
        counts = line_counts(source(tmp_path, lines))
        longer, shorter = sum(w > 2 for w in widths), sum(w < 2 for w in widths)
        assert counts == LineCounts(500, longer, shorter)


def test_a_comma_inside_a_number_is_shouted(tmp_path):
    found = check(tmp_path, [*["F,900"] * 95, *["M,1,234"] * 5])
    assert found.to_json()["lines"]["longer"] == 5
    assert said(found) == {
        "5% of the lines (5) have more fields than the first, and lose them: "
        "a comma inside a number?": True
    }


def test_few_short_lines_are_told_without_being_grave(tmp_path):
    found = check(tmp_path, [*["F,900"] * 999, "M"])
    text = "0.1% of the lines (1) have fewer fields than the first: the rest of them is NULL"
    assert said(found) == {text: False}


@pytest.mark.parametrize(("breaks", "grave"), [(3, False), (100, False), (101, True)])
def test_fields_with_many_line_breaks_are_a_quote_left_open(tmp_path, breaks, grave):
    lines = ['"F' + "\n" * breaks + '",1', *["M,2"] * 50, '"F\n",3']
    found = check(tmp_path, lines)
    assert found.lines == LineCounts(52, broken=2, most_breaks=breaks)
    assert list(said(found).values()) == [grave]


def test_an_unclosed_quote_swallows_the_rest_and_is_grave(tmp_path):
    found = check(tmp_path, [*["F,1"] * 50, 'M,"2', *["F,1"] * 150])
    assert (found.lines.rows, found.lines.most_breaks) == (51, 151)
    (text,) = said(found)
    assert said(found)[text]
    assert "a quote that is not closed swallows the lines after it" in text


def test_regular_lines_say_nothing(tmp_path):
    assert said(check(tmp_path, ["F,1"] * 50)) == {}


def test_sources_that_are_no_text_have_no_lines(tmp_path):
    assert line_counts("postgresql://here/there") is None
    assert line_counts(object()) is None


def test_a_draft_tells_the_same(tmp_path):
    made = draft_policy(source(tmp_path, [*["F,900"] * 88, *["M,1,234"] * 12]))
    assert made.remarks[0].startswith("12% of the lines (12) have more fields than the first")


@pytest.mark.parametrize("head", ["Report of 2020", "sep=;", "sep=,", "Report,,"])
@pytest.mark.parametrize("sign", ",;")
def test_a_first_line_that_names_no_columns_is_told_in_a_draft(tmp_path, head, sign):
    lines = [f"a{sign}b{sign}c", *[f"1{sign}2{sign}3"] * 30]
    made = draft_policy(source(tmp_path, lines, head))
    assert any("it names no columns (a title, or sep=;)" in text for text in made.remarks)
    assert "the names seem to be in line 2: delete" in made.remarks[0]
    assert made.titled


@pytest.mark.parametrize("head", ["sex,pay", "name"])
def test_names_of_columns_are_no_title(tmp_path, head):
    made = draft_policy(source(tmp_path, ["F,1" if "," in head else "F"] * 30, head))
    assert made.remarks == ()
    assert not made.titled


def test_values_that_are_not_listed_keep_their_spaces(tmp_path):
    found = check(tmp_path, [*["F,1"] * 50, *["F ,1"] * 3, *["  M  M,1"] * 2])
    texts = [one.text for one in remarks(found) if one.about == "sex"]
    assert any("most often 'F ' (3), '  M  M' (2)" in text for text in texts)
