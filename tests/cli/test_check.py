"""`adomnia check` and `adomnia load --check`: what a steward is told, and a scheduled job."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

POLICY = """[data]
source = "trips.parquet"
table = "trips"

[privacy]
epsilon = 4.0
confirmed = true

[attributes.carrier]
values = ["AA", "BB"]

[attributes.fare]
low = 0
high = {high}
step = 0.01
{more}
"""


def write(
    folder: Path, high: str = "1", more: str = "", scale: float = 3.16, seed: int = 1
) -> None:
    """Made-up trips whose mean fare is about 3.16; one carrier of three is not listed."""
    draw = np.random.default_rng(seed)
    trips = {"carrier": draw.choice(["AA", "BB", "ZZ"], 4000, p=[0.5, 0.47, 0.03]),
             "fare": draw.gamma(2, scale / 2, 4000)}  # fmt: skip
    parquet.write_table(pa.table(trips), folder / "trips.parquet")
    (folder / "adomnia.toml").write_text(POLICY.format(high=high, more=more))


@pytest.fixture
def trips(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    return tmp_path


def test_a_bound_that_is_too_narrow_is_shouted(trips, run):
    """The answer itself is 0.9 and looks sure of it; the check says first that it is 3.16."""
    answer = run("ask", "SELECT AVG(fare) AS mean FROM trips", "--epsilon", "1", "--format", "json")
    assert answer.json["rows"][0][0] < 1
    ran = run("check")
    first, heading, *lines = ran.out.splitlines()
    assert first == "trips: 4,000 rows, compared with edition 1"
    assert heading == "What is wrong:"
    assert lines[0].startswith("  fare: ")
    assert "lie above high = 1; the mean is 3.1" in lines[0]
    assert "counts as 0.9" in lines[0]
    assert lines[1].startswith("  carrier: ")
    assert "are not listed, most often 'ZZ' (" in lines[1]


def test_without_limits_it_says_so_and_does_not_fail(trips, run):
    ran = run("check")
    assert ran.code == 0
    assert "the policy sets no limits: [check] left_out = 0.01 makes a check fail" in ran.out


def test_a_limit_that_is_passed_is_exit_code_six(trips, run):
    write(trips, more="[check]\nleft_out = 0.05")
    ran = run("check")
    assert ran.code == 6
    assert "the source exceeds limits of [check]: left_out (fare)" in ran.err
    assert "carrier" not in ran.err
    write(trips, high="60", more="[check]\nleft_out = 0.05")
    ran = run("check")
    assert (ran.code, ran.err) == (0, "")
    assert "Nothing grave was found." in ran.out


def test_json_has_all_of_it(trips, run):
    write(trips, more="[check]\nleft_out = 0.01")
    ran = run("check", "--format", "json")
    assert ran.code == ran.error["code"] == 6
    assert ran.error["kind"] == "CheckError"
    told = ran.json
    assert {one["about"] for one in told["exceeded"]} == {"fare", "carrier"}
    assert told["limits"] == {"left_out": 0.01, "cut": 0.01}
    fares = parquet.read_table("trips.parquet")["fare"].to_numpy()
    fare = next(one for one in told["columns"] if one["name"] == "fare")
    assert fare["above"] == int((fares >= 1.005).sum())
    assert fare["mean"] == pytest.approx(float(fares.mean()))
    assert sum(fare["histogram"]["counts"]) + fare["histogram"]["after"] == 4000
    assert told["edition"] is None
    assert told["remarks"][0]["grave"]


def test_the_page_is_private(trips, run):
    ran = run("check", "--out", "check.html")
    assert ran.code == 0
    assert Path("check.html").stat().st_mode & 0o777 == 0o600
    assert "Check of “trips”" in Path("check.html").read_text()
    assert run("check", "--out", "check.txt").code == 2
    assert not Path("check.txt").exists()


def test_the_page_is_written_where_the_check_fails_too(trips, run):
    write(trips, more="[check]\nleft_out = 0.01")
    assert run("check", "--out", "check.html").code == 6
    assert "limit of the policy" in Path("check.html").read_text()


def test_nothing_is_loaded_or_made(trips, run):
    run("check")
    assert sorted(file.name for file in trips.iterdir()) == ["adomnia.toml", "trips.parquet"]


def test_a_load_that_is_checked_keeps_the_last_edition_where_it_fails(trips, run):
    limits = "[check]\nleft_out = 0.05\ndrift = 0.2"
    write(trips, "60", limits)
    assert run("load", "--check", "--format", "json").json["edition"] == 1
    write(trips, "60", limits, scale=9.0)
    ran = run("load", "--check")
    assert ran.code == 6
    assert "drift (fare)" in ran.err
    assert "edition" not in ran.out
    asked = run("ask", "SELECT COUNT(*) AS n FROM trips", "--epsilon", "1", "--format", "json")
    assert asked.code == 0
    write(trips, "60", limits, seed=2)
    assert run("load", "--check", "--format", "json").json["edition"] == 2
    assert run("load", "--format", "json").json["edition"] == 3


def test_a_load_by_limits_that_nobody_set_is_refused(trips, run):
    ran = run("load", "--check")
    assert ran.code == 2
    assert "sets no limits" in ran.err


def test_a_unit_is_told_with_what_is_cut(trips, run):
    draw = np.random.default_rng(3)
    rows = {"who": draw.zipf(1.6, 4000) % 500, "carrier": ["AA"] * 4000,
            "fare": draw.gamma(2, 1.5, 4000)}  # fmt: skip
    parquet.write_table(pa.table(rows), "trips.parquet")
    unit = 'unit = "who"\nmax_rows = 5\n'
    Path("adomnia.toml").write_text(
        POLICY.format(high=40, more="").replace("confirmed", f"{unit}confirmed")
    )
    ran = run("check")
    sizes = np.bincount(rows["who"])
    cut = int(np.maximum(sizes - 5, 0).sum())
    assert f"  max_rows: cuts {100 * cut / 4000:.3g}% of the rows ({cut:,}), of " in ran.out
    assert "of the sum of fare" in ran.out
    assert f"the largest has {sizes.max():,} rows" in ran.out


def test_a_key_without_a_unit_is_told(trips, run):
    rows = {"person_id": [i // 3 for i in range(300)], "carrier": ["AA"] * 300,
            "fare": [0.5] * 300}  # fmt: skip
    parquet.write_table(pa.table(rows), "trips.parquet")
    assert "  person_id: 100 values, up to 3 rows each: if it names people" in run("check").out


def test_a_draft_is_checked_before_it_is_confirmed(trips, run):
    Path("adomnia.toml").unlink()
    run("init", "trips.parquet")
    ran = run("check")
    assert ran.code == 0
    assert "taken from the data, not covered by the promise: " in ran.out


def test_what_is_no_table_or_not_there_is_refused(trips, run):
    text = Path("adomnia.toml").read_text()
    Path("adomnia.toml").write_text(text.replace("attributes.fare", "attributes.fair"))
    ran = run("check", "--format", "json")
    assert (ran.code, ran.error["kind"]) == (2, "PolicyError")
    assert json.loads(ran.err)["error"]["line"] is not None
    Path("trips.parquet").unlink()
    assert run("check").code == 2


def test_no_analyst_can_ask_for_it():
    """Neither a session nor the service knows a check: it is for a curator's terminal alone."""
    root = Path(__file__).parents[2] / "src/adomnia"
    reached = [
        str(path.relative_to(root))
        for room in ("server", "mining", "federation", "curator", "wire")
        for path in (root / room).rglob("*.py")
        if "review.check" in path.read_text("utf-8") or "check_page" in path.read_text("utf-8")
    ]
    assert reached == []


def test_codes_for_missing_are_not_in_the_bounds_that_are_told(trips, run):
    draw = np.random.default_rng(4)
    ages = [*draw.integers(18, 67, 970), *[999] * 30]
    parquet.write_table(pa.table({"age": ages, "carrier": ["AA"] * 1000}), "trips.parquet")
    (trips / "adomnia.toml").write_text(
        POLICY.format(high=1, more="").replace("attributes.fare", "attributes.age")
    )
    ran = run("check", "--out", "check.html")
    row = next(line for line in ran.out.splitlines() if line.strip().startswith("age "))
    assert "18 to 66, without 999" in row
    assert "leaves out of all but 999" in Path("check.html").read_text()
    (age,) = [
        one for one in run("check", "--format", "json").json["columns"] if one["name"] == "age"
    ]
    assert all(bound["high"] < 67 for bound in age["bounds"])
    assert age["spikes"] == [{"value": 999.0, "rows": 30}]


def test_the_table_is_no_wider_than_a_page_and_has_no_empty_column(trips, run):
    write(trips, high="60", more='origin = "data"')
    out = run("check").out.splitlines()
    table = out[next(i for i, line in enumerate(out) if "99% lie in" in line) :]
    assert max(map(len, table)) <= 110
    assert "not listed" in table[0]
    assert "below" not in table[0]
    assert "NULL" not in table[0]


def test_columns_that_the_policy_does_not_name_are_listed(trips, run):
    read = parquet.read_table("trips.parquet")
    assert "not declared" not in run("check").out
    more = {f"c{i}": read["fare"] for i in range(25)}
    same = {name: read[name] for name in read.column_names}
    parquet.write_table(pa.table({**same, **more}), "trips.parquet")
    out = run("check").out
    assert "not declared: c0, c1, c2, " in out
    assert "c19 and 5 more" in out
