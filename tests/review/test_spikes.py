"""Codes for missing values: numbers at an end that many rows have, far from all others."""

from __future__ import annotations

import random
import tomllib
from datetime import date, timedelta

import pytest

from adomnia.policy.policy import read_policy
from adomnia.review import check_source, remarks
from adomnia.review.drafts.draft import draft_policy

POLICY = """[data]
source = "t.csv"
table = "t"
[privacy]
epsilon = 1
[attributes.x]
low = -1000
high = {high}
step = 0.1
"""
draw = random.Random(8)
HEIGHTS = [round(draw.gauss(170, 8), 1) for _ in range(980)]
AGES = [draw.randint(0, 90) for _ in range(980)]
PAY = [round(draw.lognormvariate(8, 1)) for _ in range(980)]
CHILDREN = [draw.randint(0, 4) for _ in range(980)]


def write(folder, values, high=10000):
    (folder / "t.csv").write_text("x\n" + "\n".join(map(str, values)) + "\n")
    (folder / "adomnia.toml").write_text(POLICY.format(high=high))
    return folder / "t.csv"


def found(folder, values, high=10000):
    write(folder, values, high)
    return check_source(read_policy(folder / "adomnia.toml"))


def codes(check):
    return {one.value: one.rows for one in check.inspection.columns[0].numbers.spikes}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([*HEIGHTS, *[999] * 20], {999: 20}),
        ([*HEIGHTS, *[999] * 20, *[888] * 30], {999: 20, 888: 30}),
        ([*HEIGHTS, *[999] * 40, *[-99] * 40], {999: 40, -99: 40}),
        ([*AGES, *[-1] * 20], {-1: 20}),
        ([*AGES, *[99] * 20], {99: 20}),
        ([*AGES, *[999] * 200], {999: 200}),
        ([*CHILDREN, *[99] * 20, *[88] * 10], {99: 20, 88: 10}),
        ([*CHILDREN, *[-9] * 20], {-9: 20}),
        ([*CHILDREN, *[9] * 20, *[8] * 20], {9: 20, 8: 20}),
        ([*HEIGHTS, *[997] * 20, *[998] * 10], {998: 10, 997: 20}),
    ],
)
def test_codes_far_from_all_others_are_found(tmp_path, values, expected):
    assert codes(found(tmp_path, values)) == expected


@pytest.mark.parametrize(
    "values",
    [
        HEIGHTS,
        AGES,
        PAY,
        CHILDREN,
        [0, 1] * 500,
        [-1, 0, 1] * 300,
        [1] * 900 + [5] * 100,
        [*HEIGHTS, *[999] * 4],
        [*range(100)] * 10,
        [*PAY, *[0] * 400],
        [100 + i % 20 for i in range(900)] + [0] * 100,
        [2010 + i % 12 for i in range(900)],
        [7] * 100,
        [],
        [1, 2, 3, 10, 1, 2] * 150,
        [1010] * 300 + [1020, 1030, 1040, 1050] * 100 + [8010] * 300,
        [*AGES, *[500] * 100],
        [1, 2, 3, 4, 5, 6, 8] * 100,
    ],
)
def test_what_is_measured_is_no_code(tmp_path, values):
    assert codes(found(tmp_path, values)) == {}


def test_a_code_that_counts_as_a_number_is_grave(tmp_path):
    values = [*HEIGHTS, *[999] * 20]
    for high, grave in ((10000, True), (250, False)):
        said = [one for one in remarks(found(tmp_path, values, high)) if "missing" in one.text]
        assert [(one.text, one.grave) for one in said] == [
            ("2% of the values (20) are 999, far from all others: a code for missing?", grave)
        ]


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [([*AGES, *[999] * 20], 0, 90), ([*CHILDREN, *[-9] * 20, *[99] * 20], 0, 4)],
)
def test_a_draft_takes_its_bounds_from_the_rest(tmp_path, values, low, high):
    made = draft_policy(write(tmp_path, values), tmp_path / "new.toml")
    domain = tomllib.loads(made.text)["attributes"]["x"]
    assert (domain["low"], domain["high"]) == (low, high)
    assert "far from all others: a code for missing? It lies outside this domain" in made.text


def test_a_draft_of_decimals_does_so_too(tmp_path):
    made = draft_policy(write(tmp_path, [*HEIGHTS, *[999] * 20]), tmp_path / "new.toml")
    domain = tomllib.loads(made.text)["attributes"]["x"]
    assert max(HEIGHTS) <= domain["high"] < 250
    assert "# 2 % of the values are 999," in made.text


DAYS = [date(2015, 1, 1) + timedelta(days=i * 7 % 3600) for i in range(900)]
DAY_POLICY = POLICY.partition("low")[0] + 'kind = "date"\nlow = "2000-01-01"\nhigh = "{high}"\n'


@pytest.mark.parametrize(
    ("code", "many"),
    [("9999-12-31", 2100), ("1900-01-01", 40), ("2099-12-31", 40), ("0001-01-01", 40)],
)
def test_days_without_end_are_codes(tmp_path, code, many):
    source = write(tmp_path, [*DAYS, *[code] * many])
    made = draft_policy(source, tmp_path / "new.toml")
    domain = tomllib.loads(made.text)["attributes"]["x"]
    assert (domain["low"], domain["high"]) == ("2015-01-01", "2024-12-31")
    assert f"of the values are {code}, far from all others: a code for missing?" in made.text


@pytest.mark.parametrize("code", ["2019-12-31", "2030-01-05"])
def test_a_day_that_many_have_is_no_code_by_that(tmp_path, code):
    made = draft_policy(write(tmp_path, [*DAYS, *[code] * 900]), tmp_path / "new.toml")
    assert "code for missing" not in made.text


def test_a_day_without_end_inside_the_domain_is_grave(tmp_path):
    write(tmp_path, [*DAYS, *["9999-12-31"] * 2100])
    for high, inside in (("9999-12-31", True), ("2030-12-31", False)):
        (tmp_path / "adomnia.toml").write_text(DAY_POLICY.format(high=high))
        check = check_source(read_policy(tmp_path / "adomnia.toml"))
        said = [one for one in remarks(check) if "missing" in one.text]
        assert [(one.text.partition(",")[0], one.grave) for one in said] == [
            ("70% of the values (2", inside)
        ]
        spikes = check.to_json()["columns"][0]["spikes"]
        assert spikes == [{"value": "9999-12-31", "rows": 2100}]
