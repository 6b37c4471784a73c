"""A release says which rows are in none of its tables, wherever it is read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from adomnia.curator.releases.release_folder import write_folder
from adomnia.present.release_page import release_page
from adomnia.testing import World, listed, number

UNIT = 'epsilon = 10000\nunit = "who"\nmax_rows = 5'
EVERY = "CASE WHEN x = 0 THEN 'none' ELSE 'other' END AS k"
LATER = "the release tells how many"


def world(privacy="epsilon = 10000", nullable=False):
    """A quarter of x is above its bound, a third of s is not listed; units have 1 to 40 rows."""
    who = np.repeat(np.arange(400), np.arange(400) % 40 + 1)
    rows = np.arange(len(who))
    columns = {"who": who, "x": rows % 4, "s": np.array(list("abz"))[rows % 3]}
    null = "\nnullable = true" if nullable else ""
    return World(columns, {"x": number(0, 2) + null, "s": listed("a", "b") + null}, privacy)


def released(database, *tables):
    return database.release(database.plan_release(marginals=tables, epsilon=100))


def test_rows_beyond_those_of_a_unit_are_told_of_in_words_or_as_they_were_paid_for():
    with world(UNIT).open() as database:
        unpaid = released(database, EVERY)
        counted, *_ = database.measure_quality(1000)
        paid = released(database, EVERY)
    (part,) = unpaid.left_out
    assert part.says == (
        "of each who at most 5 rows are used; how many rows are left out is not known; "
        "rows without a who are not counted"
    )
    (part,) = paid.left_out
    assert (part.count, part.bound) == (counted.count, counted.bound)
    assert part.says in paid.notes
    assert f"about {part.count:,} rows of the whole table" in part.says


def test_a_folder_says_it_in_its_facts_its_page_and_beside_its_tables(tmp_path: Path):
    with world(UNIT).open() as database:
        made = released(database, "x", "s")
    assert [(part.what, part.column) for part in made.left_out] == [
        ("rows", None), ("values", "x"), ("values", "s"),
    ]  # fmt: skip
    said = [part.says for part in made.left_out]
    where = ("with a value of x outside of its bounds", "with a value of s that is not listed")
    for part, name, why in zip(said[1:], "xs", where, strict=True):
        assert part.startswith("about ")
        assert part.endswith(f"{why}, or without one, are in no table with {name}")
    room = write_folder(made, tmp_path / "out", pages={"index.html": release_page(made)})
    facts = json.loads((room / "release.json").read_text())
    assert facts["left_out"] == [part.to_json() for part in made.left_out]
    assert facts["notes"][-3:] == said
    about = json.loads((room / "csv-metadata.json").read_text())
    assert [note["dc:description"] for note in about["notes"]] == said
    assert all(one in (room / "index.html").read_text() for one in said)


def test_the_plan_names_the_keys_whose_tables_do_not_show_all_rows():
    with world(nullable=True).open() as database:
        planned = database.plan_release(marginals=["x", "s", "x / 2 AS h"], epsilon=1)
        made = database.release(planned)
    assert [part.says for part in planned.left_out] == [
        f"rows with a value of x outside of its bounds are in no table with x; {LATER}",
        f"rows with a value of s that is not listed are in no table with s; {LATER}",
    ]
    assert [part.column for part in made.left_out] == ["x", "s"]
    assert all(part.count is not None for part in made.left_out)


@pytest.mark.parametrize(
    ("key", "nullable", "lost"),
    [
        ("x", True, "with a value of x outside of its bounds"),
        ("x", False, "with a value of x outside of its bounds, or without one,"),
        ("x / 2 AS h", True, ""),
        ("x / 2 AS h", False, "without a value of h"),
        ("COALESCE(x, 1) AS c", False, ""),
        ("CASE WHEN s = 'a' THEN x ELSE 1 END AS m", False, "without a value of m"),
        (EVERY, False, ""),
    ],
)
def test_what_is_said_to_be_lost_is_all_that_is_lost(key: str, nullable: bool, lost: str):
    """Without a word about them, all rows are in the table; else the others are in it, and told."""
    here = world(nullable=nullable)
    with here.open() as database:
        made = released(database, key)
    said = [part.says for part in made.left_out]
    assert bool(said) == bool(lost)
    assert all(f" {lost} are in no table with " in one for one in said)
    whole = len(here.columns["x"])
    shown, hidden = int(made.tables[0,].sum()), sum(part.count for part in made.left_out)
    assert shown + hidden == pytest.approx(whole, abs=20)
    assert (hidden > 100) == bool(lost)


def test_a_value_outside_of_one_key_does_not_take_the_row_out_of_the_tables_of_others():
    here = world(nullable=True)
    with here.open() as database:
        made = released(database, "x", EVERY)
    inside = int((here.columns["x"] <= 2).sum())
    assert made.tables[0,].sum() == pytest.approx(inside, abs=20)
    assert made.tables[1,].sum() == pytest.approx(len(here.columns["x"]), abs=20)
    assert [part.column for part in made.left_out] == ["x"]
