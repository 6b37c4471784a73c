"""What is summed under a FILTER is priced with nothing as one of its values, at every door.

A neighbour's row passes the FILTER or does not; before, an argument that cannot be NULL was taken
to stay so, and the number of people who pass came out exactly, for nothing.
"""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import adomnia
from adomnia.cli.main import main
from adomnia.curator.data.sources import engine_of
from adomnia.curator.planning.plan import LossRequest, make_plan
from adomnia.curator.table_backend import table_of
from adomnia.engines.engine import Request
from adomnia.mechanisms.unseal import unseal
from adomnia.policy.policy import read_policy
from adomnia.queries.sql.bind import bind

POLICY = """[data]
source = "people.parquet"
table = "people"
[privacy]
confirmed = true
epsilon = 10
{}
[attributes.zip]
low = 1000
high = 9999
[attributes.age]
low = 0
high = 120
[attributes.ill]
values = ["yes", "no"]
"""
COLUMNS = {"who": pa.int64(), "zip": pa.int64(), "age": pa.int64(), "ill": pa.string()}
ROWS = [(1, 4179, 40, "yes"), (2, 4179, 50, "no"), (3, 8000, None, "no")]
WELL = [(1, 4179, 40, "no"), *ROWS[1:]]
"""The same people, but for one who is well here."""
PRIVACY = {
    "bounded": 'neighbors = "bounded"',
    "attribute": 'neighbors = "attribute"',
    "bit": 'neighbors = "bit"',
    "two rows": 'neighbors = "bounded"\ngroup = 2',
    "units": 'neighbors = "bounded"\nunit = "who"\nmax_rows = 2',
}
PASSES = "FILTER (WHERE zip = 4179 AND ill = 'yes')"
QUESTIONS = [
    f"SELECT SUM(1000000000000000) {PASSES} AS n FROM people",
    f"SELECT SUM(COALESCE(age, 9) + 1000) {PASSES} AS n FROM people",
    f"SELECT COUNT(*), SUM(5) {PASSES} AS n FROM people",
    f"SELECT VAR_SAMP(-1) {PASSES} AS n FROM people",
    f"SELECT AVG(7) {PASSES} AS n, COUNT(*) FROM people",
    f"SELECT SUM(CASE WHEN age > 3 THEN 5 ELSE 6 END) {PASSES} AS n FROM people",
    "SELECT SUM(1000) FILTER (WHERE ill = 'yes') AS n FROM people WHERE zip = 4179",
]


def written(folder: Path, rows, privacy: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adomnia.toml").write_text(POLICY.format(privacy))
    parts = zip(COLUMNS.items(), zip(*rows, strict=True), strict=True)
    table = pa.table({name: pa.array(part, kind) for (name, kind), part in parts})
    pq.write_table(table, folder / "people.parquet")
    return folder / "adomnia.toml"


@pytest.mark.parametrize("privacy", PRIVACY)
@pytest.mark.parametrize("sql", QUESTIONS)
def test_who_passes_a_filter_moves_a_sum_by_no_more_than_is_priced(tmp_path, sql, privacy):
    vectors = []
    for name, rows in (("one", ROWS), ("other", WELL)):
        policy = read_policy(written(tmp_path / name, rows, PRIVACY[privacy]))
        table = table_of(policy)
        plan = make_plan(bind(sql, table, tuple(COLUMNS)), policy, LossRequest(Fraction(1)))
        domains = {n: part.domain for n, part in policy.attributes.items()}
        engine = engine_of(tmp_path / name / "people.parquet", "people", domains)
        added = tuple(step.contribution for step in plan.steps)
        request = Request(table, plan.question.where, plan.question.keys, added)
        vectors.append([unseal(part).astype(object) for part in engine.measure(request)])
        engine.close()
    moved = 0
    for step, one, other in zip(plan.steps, *vectors, strict=True):
        apart = abs(one - other)
        assert apart.sum() <= step.sensitivity.l1, sql
        assert (apart * apart).sum() <= step.sensitivity.l2_squared, sql
        moved += apart.sum()
    assert moved > 0, "the pair would show nothing"


@pytest.mark.parametrize("privacy", ["bounded", "attribute", "bit"])
def test_a_tiny_epsilon_tells_nobody_s_illness(tmp_path, monkeypatch, privacy):
    """Through the command: 10^15 for everybody who is ill, at an epsilon of next to nothing."""
    monkeypatch.chdir(written(tmp_path / "data", ROWS, PRIVACY[privacy]).parent)
    out = io.StringIO()
    monkeypatch.setattr(sys, "argv", ["adomnia", "ask", QUESTIONS[0], "--epsilon", "0.000000001",
                                      "--format", "json"])  # fmt: skip
    with redirect_stdout(out), redirect_stderr(io.StringIO()), pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    (margin,) = json.loads(out.getvalue())["margins"]["n"]
    assert margin > 10**15 * 10**9


def test_the_number_of_rows_alone_is_free_and_exact(tmp_path):
    database = adomnia.open(written(tmp_path / "data", ROWS, PRIVACY["bounded"]))
    alone = database.session("me").ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
    assert (alone.rows[0][0], alone.spent) == (3, {"epsilon": 0})
    every = database.session("me").ask(
        "SELECT COUNT(*) AS n FROM people WHERE age >= 0 OR age IS NULL", epsilon=1
    )
    assert every.spent == {"epsilon": 1}
    assert every.margins["n"][0] > 0
    database.close()
