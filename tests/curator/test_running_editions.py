"""A database that is open while its curator loads: what it asks, at which price, or refuses."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from people_policy import people_policy
from pyarrow import csv, parquet

import adomnia
from adomnia.curator.loading import load_edition
from adomnia.curator.planning.plan import LossRequest
from adomnia.curator.spend import spend
from adomnia.errors import MachineryError, NotAllowedError, PolicyError, QuestionError
from adomnia.policy.policy import read_policy

COUNT = "SELECT COUNT(*) AS n FROM people"
SUM = "SELECT SUM(COALESCE(age, 30) + 900) AS n FROM people"
RELATIONS = [f'neighbors = "{name}"' for name in ("bounded", "attribute", "bit")]
ROWS = {"id": [*range(20)], "age": [30] * 20, "sex": ["F", "M"] * 10}


def declare(
    folder: Path, *, data: str = "", privacy: str = "", high: int = 120, more: str = ""
) -> Path:
    file = folder / "adomnia.toml"
    lines = f"epsilon = 10000\n{privacy}"
    file.write_text(people_policy("people", data=data, privacy=lines, high=high, more=more))
    return file


def fill(folder: Path, kind: str = "parquet") -> None:
    """A folder of rows, of one kind of files alone."""
    shutil.rmtree(folder / "people", ignore_errors=True)
    (folder / "people").mkdir()
    write = parquet.write_table if kind == "parquet" else csv.write_csv
    write(pa.table(ROWS), folder / "people" / f"one.{kind}")


@pytest.fixture
def town(tmp_path: Path) -> Path:
    fill(tmp_path)
    return tmp_path


@pytest.mark.parametrize("privacy", RELATIONS)
def test_rows_that_may_come_and_go_are_priced_as_in_a_new_process(town, privacy):
    file = declare(town, privacy=privacy)
    with adomnia.open(file) as database:
        session = database.session()
        before = [session.plan(sql, epsilon=1).margins["n"] for sql in (COUNT, SUM)]
        fill(town, "csv")
        load_edition(read_policy(file))
        answer = session.ask(SUM, epsilon=1)
        after = [session.plan(sql, epsilon=1).margins["n"] for sql in (COUNT, SUM)]
        assert (answer.edition, database.policy.rows_stay) == (2, False)
        with adomnia.open(file) as fresh:
            other = fresh.session()
            assert after == [other.plan(sql, epsilon=1).margins["n"] for sql in (COUNT, SUM)]
            assert database._backend.knowledge.policy == fresh._backend.knowledge.policy
    assert before[0] == 0 < after[0]
    assert 5 * before[1] < after[1] == answer.margins["n"][0]


@pytest.mark.parametrize("privacy", RELATIONS)
def test_a_plan_of_before_is_refused_before_the_debit(town, privacy):
    file = declare(town, privacy=privacy)
    with adomnia.open(file) as database:
        session = database.session()
        asked = LossRequest(Fraction(1), None)
        plans = [session._plan(sql, asked) for sql in (COUNT, SUM)]
        fill(town, "csv")
        load_edition(read_policy(file))
        counting, adding = (session._use("", p, database._backend.version(), "") for p in plans)
        with pytest.raises(NotAllowedError, match="how many rows a text file has"):
            spend(database._backend, session._payer(), counting)
        with pytest.raises(MachineryError, match="priced below"):
            spend(database._backend, session._payer(), adding)
        assert "reserved" not in [entry.kind for entry in database.ledger()]


def test_a_release_that_was_planned_before_is_refused_before_the_debit(town):
    file = declare(town, privacy='neighbors = "bounded"')
    with adomnia.open(file) as database:
        planned = database.plan_release(marginals=["sex"], epsilon=1)
        fill(town, "csv")
        load_edition(read_policy(file))
        with pytest.raises(MachineryError, match="another kind of source"):
            database.release(planned)
        assert "reserved" not in [entry.kind for entry in database.ledger()]
        again = database.plan_release(marginals=["sex"], epsilon=1)
        assert database.release(again).tables


def test_what_may_come_and_go_once_is_priced_so_until_the_end(town):
    file = declare(town, privacy=RELATIONS[0])
    with adomnia.open(file) as database:
        for kind in ("csv", "parquet"):
            fill(town, kind)
            load_edition(read_policy(file))
            assert database.session().plan(COUNT, epsilon=1).margins["n"] > 0
    with adomnia.open(file) as fresh:
        assert fresh.session().plan(COUNT, epsilon=1).margins["n"] == 0


def test_ledgers_that_differ_in_their_end_have_folders_of_their_own(town):
    names = {
        "ledger": "census.editions",
        "db": "census.db.editions",
        "x.db": "census.x.db.editions",
    }
    for end in names:
        file = declare(town, data="keep = 1", more=f'[ledger]\nurl = "census.{end}"')
        for _ in range(2):
            load_edition(read_policy(file))
    for end, folder in names.items():
        file = declare(town, data="keep = 1", more=f'[ledger]\nurl = "census.{end}"')
        assert len([path for path in (town / folder).iterdir() if path.is_dir()]) == 1
        with adomnia.open(file) as database:
            assert database.edition.number == 2


def test_an_edition_that_another_policy_erased_is_not_asked_any_more(town):
    with adomnia.open(declare(town)) as database:
        session = database.session()
        session.ask(COUNT, epsilon=1)
        declare(town, high=130)
        load_edition(read_policy(town / "adomnia.toml"))
        assert session.ask(COUNT, epsilon=2).edition == 1
        load_edition(read_policy(town / "adomnia.toml"))
        paid = len(database.ledger())
        with pytest.raises(MachineryError) as refused:
            session.ask(COUNT, epsilon=3)
        assert "the policy was changed since" in refused.value.message
        assert "open the database again" in refused.value.hint
        assert len(database.ledger()) == paid
    with adomnia.open(town / "adomnia.toml") as database:
        assert database.session().ask(COUNT, epsilon=3).edition == 3


def test_where_a_check_is_demanded_only_the_first_edition_is_loaded_unasked(town):
    limits = "[check]\nleft_out = 0.01"
    adomnia.open(declare(town, more=limits)).close()
    file = declare(town, high=20, more=limits)
    with pytest.raises(PolicyError) as refused:
        adomnia.open(file)
    assert "the domains changed since edition 1 was loaded" in refused.value.message
    assert "adomnia load --check" in refused.value.hint
    assert load_edition(read_policy(file)).number == 2
    adomnia.open(file).close()
    with adomnia.open(declare(town, high=30)) as database:
        assert database.edition.number == 3


def test_keys_of_the_database_itself_are_nobody_elses(town):
    with adomnia.open(declare(town)) as database:
        taken = "adomnia quality, edition 1, max_rows 1"
        for ask in (database.session().ask, database.session().use):
            with pytest.raises(QuestionError, match="does not begin with 'adomnia '"):
                ask(COUNT, epsilon=1, key=taken)
        assert "reserved" not in [entry.kind for entry in database.ledger()]
        assert database.measure_quality(epsilon=1)
