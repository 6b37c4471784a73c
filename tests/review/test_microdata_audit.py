"""The audit of a file of records: our own release, a careless one, and files that fit badly."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from adomnia.curator.releases.release_folder import write_folder
from adomnia.errors import QuestionError
from adomnia.review.audit_report import judge
from adomnia.review.exact_columns import released_rows
from adomnia.review.microdata.microdata_steps import (
    MicrodataCase,
    attack_members,
    attack_records,
    release_generator,
)
from adomnia.review.microdata.released_microdata import audited_files, plan_again, read_microdata
from adomnia.testing import World, listed, number

JOBS = ("care", "crafts", "office", "pupil", "science", "sales")
ZIPS = tuple(f"{code:02d}" for code in range(30))
KEYS = ("zip,job", "age / 10 AS decade, sex", "sex,job")


def people(seed: int, rows: int = 400) -> dict[str, object]:
    chance = np.random.default_rng(seed)
    return {
        "sex": np.array(["F", "M"])[chance.integers(0, 2, rows)],
        "age": chance.integers(0, 100, rows),
        "zip": np.array(ZIPS)[chance.integers(0, 30, rows)],
        "job": np.array(JOBS)[chance.integers(0, 6, rows)],
        "income": chance.integers(0, 50_001, rows),
    }


def world(privacy: str = "epsilon = 100") -> World:
    attributes = {
        "sex": listed("F", "M"),
        "age": number(0, 99),
        "zip": listed(*ZIPS),
        "job": listed(*JOBS),
        "income": number(0, 50_000),
    }
    return World(people(1), attributes, privacy)


@pytest.fixture
def database(tmp_path):
    with world().open(tmp_path) as opened:
        yield opened


@pytest.fixture
def released(database, tmp_path) -> Path:
    """A folder of a release with its records."""
    return publish(database, tmp_path / "tables", epsilon=1)


def publish(database, folder: Path, **loss) -> Path:
    made = database.release(database.plan_release(marginals=KEYS, **loss))
    return write_folder(made, folder, microdata=True)


@pytest.fixture
def control(tmp_path) -> str:
    csv.write_csv(pa.table(people(2)), tmp_path / "others.csv")
    return str(tmp_path / "others.csv")


def test_our_release_adds_nothing_and_a_careless_one_does(database, released, control):
    spent = database.budget()["data"]["spent"]
    case = MicrodataCase(str(released), control, sensitive="job", shadows=24)
    alone, inferred = attack_records(case, database)
    member = attack_members(case, database)
    for found in (alone, inferred):
        assert found.success.low < 0.1  # the noise is the system's: room for luck
        assert found.covered
        assert found.details["careless"]["low"] > found.success.low, found.attack
        assert judge(found, database.policy.audit) != "red"
    assert member.covered
    assert member.details["epsilon_at_least"] <= 1
    assert member.success.low <= math.tanh(1 / 2)  # what epsilon 1 allows over a coin
    assert member.details["careless"]["low"] > 0.8
    assert database.budget()["data"]["spent"] == spent  # nothing was paid


def test_columns_that_were_not_released_are_named_and_keys_are_computed(
    database, released, control
):
    (alone, _) = attack_records(MicrodataCase(str(released), control), database)
    assert alone.details["left_out"] == {"age": "was not released", "income": "was not released"}
    assert set(alone.details["columns"]) == {"sex", "zip", "job", "decade"}


def test_a_file_that_says_nothing_of_itself_is_read_by_the_columns_it_shares(database, tmp_path):
    table = pa.table({**people(1), "note": ["x"] * 400}).drop_columns(["income"])
    csv.write_csv(table, tmp_path / "raw.csv")
    csv.write_csv(pa.table(people(2)).drop_columns(["sex"]), tmp_path / "others.csv")
    case = MicrodataCase(str(tmp_path / "raw.csv"), str(tmp_path / "others.csv"))
    alone, inferred = attack_records(case, database)
    assert alone.details["left_out"] == {
        "income": "was not released",
        "note": "is no column of the data",
        "sex": "is not in the control group",
    }
    assert alone.details["columns"] == ["age", "zip", "job"]
    assert alone.details["kinds"]["several conditions"]["people"]["value"] == 1.0
    assert inferred.success.low > 0.3
    assert not alone.covered  # the promise does not speak of this file
    with pytest.raises(QuestionError, match="nobody says how"):
        attack_members(case, database)


def test_without_a_control_group_it_is_told_and_amber(database, released):
    alone, inferred = attack_records(MicrodataCase(str(released)), database)
    for found in (alone, inferred):
        assert found.details["control"] is False
        assert not found.covered
        assert judge(found, database.policy.audit) == "amber"


def test_values_are_the_same_whatever_file_they_come_from(database, tmp_path):
    """CSV reads 07 as the number 7; Parquet keeps it."""
    table = pa.table(people(1))
    csv.write_csv(table, tmp_path / "raw.csv")
    parquet.write_table(table, tmp_path / "raw.parquet")
    read = [
        audited_files(database, read_microdata(tmp_path / name), None, None)
        for name in ("raw.csv", "raw.parquet")
    ]
    assert read[0].released.equals(read[1].released)
    order = [(name, "ascending") for name in read[0].data.column_names]
    assert read[0].released.sort_by(order).equals(read[0].data.sort_by(order))


def test_the_release_is_made_again_by_the_same_plan_and_of_the_same_rows(database, released):
    facts = read_microdata(released).facts
    planned = plan_again(database, facts)
    first = database.plan_release(marginals=KEYS, epsilon=1)
    assert planned.to_json() == first.to_json()
    rows = released_rows(database, planned)
    assert rows.shape == (400, 4)
    assert np.bincount(rows[:, 0]).tolist() == [
        int((world().columns["sex"] == sex).sum()) for sex in ("F", "M")
    ]
    generator = release_generator(database, read_microdata(released))
    assert abs(len(generator.make(rows)) - 400) < 100
    assert len(generator.make(rows[:20])) < 150


@pytest.mark.parametrize(
    ("privacy", "loss", "claimed", "replaces"),
    [
        ("epsilon = 3", {"epsilon": 2}, 2.0, False),
        ('neighbors = "bounded"\nepsilon = 3', {"epsilon": 2}, 2.0, True),
        ('neighbors = "attribute"\nepsilon = 3', {"epsilon": 2}, None, True),
        ("rho = 1", {"rho": 0.1}, 2.5, False),
    ],
)
def test_what_is_promised_of_a_row_follows_the_policy(tmp_path, privacy, loss, claimed, replaces):
    with world(privacy).open(tmp_path) as database:
        folder = publish(database, tmp_path / "tables", **loss)
        generator = release_generator(database, read_microdata(folder))
    assert generator.epsilon == pytest.approx(claimed, abs=0.2 if "rho" in loss else 0)
    assert generator.replaces == replaces
    assert (generator.delta > 0) == ("rho" in loss)


def test_beside_exact_releases_there_is_no_verdict(tmp_path):
    with world().open(tmp_path) as database:
        database.add_prior("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
        folder = publish(database, tmp_path / "tables", epsilon=1)
        found = attack_members(MicrodataCase(str(folder), shadows=8), database)
    assert "verdict" not in found.details
    assert not found.covered


def test_what_cannot_be_audited_is_refused_kindly(database, released, tmp_path):
    def refused(place, control=None) -> str:
        with pytest.raises(QuestionError) as error:
            list(attack_records(MicrodataCase(str(place), control), database))
        return error.value.message

    csv.write_csv(pa.table({"a": [1] * 30}), tmp_path / "other.csv")
    csv.write_csv(pa.table(people(3, 5)), tmp_path / "few.csv")
    csv.write_csv(pa.table(people(3)).set_column(1, "age", pa.array(["old"] * 400)),
                  tmp_path / "texts.csv")  # fmt: skip
    (tmp_path / "empty.csv").write_text("sex,age\n")
    (tmp_path / "folder").mkdir()
    assert "no rows" in refused(tmp_path / "empty.csv")
    assert "shares no column" in refused(tmp_path / "other.csv")
    assert "5 rows" in refused(tmp_path / "few.csv")
    assert "'age' is no number" in refused(tmp_path / "texts.csv")
    assert "no records" in refused(tmp_path / "folder")
    assert "control group shares no column" in refused(released, str(tmp_path / "other.csv"))
    assert "control group has 5 rows" in refused(released, str(tmp_path / "few.csv"))
    assert "no file" in refused(tmp_path / "nowhere.csv")


def test_it_can_be_watched_and_interrupted(database, released, tmp_path):
    done: list[float] = []
    attack_members(MicrodataCase(str(released), shadows=8), database, done.append)
    assert len(done) == 16  # the release and the careless one
    assert sum(done) == pytest.approx(1)

    def press(_: float) -> None:
        done.clear()
        raise KeyboardInterrupt

    before = sorted(path.name for path in tmp_path.rglob("*"))
    with pytest.raises(KeyboardInterrupt):
        attack_members(MicrodataCase(str(released), shadows=8), database, press)
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_a_changed_policy_still_audits_the_records(database, released, tmp_path):
    (released / "release.json").write_text('{"marginals": [], "attributes": 3}')
    alone, _ = attack_records(MicrodataCase(str(released)), database)
    assert alone.details["left_out"]["decade"] == "is no column of the data"
    with pytest.raises(QuestionError, match="cannot be made again"):
        attack_members(MicrodataCase(str(released)), database)
