"""Two files linked: exactly, with errors, against a release with noise, and what is refused."""

from __future__ import annotations

import json
import os
import sys
import time
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from adomnia.audit.linkage.linkage import Shared, Weighing, link_exactly, link_probably
from adomnia.errors import QuestionError
from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.marginals.release import plan_marginals, release_marginals
from adomnia.marginals.workload import Workload
from adomnia.privacy.loss import Loss
from adomnia.schema.sealed import Sealed

sys.path.insert(0, str(Path(__file__).parents[2] / "chance"))
from seeded import SeededBits

DATA = Path(os.environ.get("ADOMNIA_DATA", Path(__file__).parents[3] / ".." / "shared" / "data"))
SIZES = {"year": 80, "month": 12, "zip": 30, "sex": 2}


def population(many, seed, sizes=SIZES):
    chance = np.random.default_rng(seed)
    return {name: chance.integers(0, size, many) for name, size in sizes.items()}


def some(file, rows):
    return {name: column[rows] for name, column in file.items()}


def spoilt(file, share, chance):
    """Each value of each column replaced by another person's, for this share of the people."""
    return {
        name: np.where(chance.random(column.size) < share, chance.permutation(column), column)
        for name, column in file.items()
    }


def test_a_governor_is_found():
    voters = {"name": ["weld", "x", "y"], "birth": ["1945", "1945", "1950"], "sex": list("mfm")}
    hospital = pa.table({"sex": list("mmf"), "birth": ["1950", "1945", "1960"], "ill": list("abc")})
    found = link_exactly(hospital, voters, truth=[1, -1, 0], names=True)
    assert found.details["links"] == [[0, 1], [2, 0]]
    assert (found.details["correct"], found.details["false"]) == (2, 0)
    assert found.success.value == pytest.approx(2 / 3)
    assert found.baseline == pytest.approx(2 / 9)
    assert found.details["candidates"] == {"none": 1, "one": 2, "two to five": 0, "more": 0}
    assert "links" not in link_exactly(hospital, voters).details
    json.dumps(found.to_json())


def test_two_alike_are_not_linked():
    found = link_exactly({"a": [1, 2, 2]}, {"a": [1, 1, 2]})
    assert found.details["linked"] == 0
    assert not found.details["scored"]
    assert found.details["chance_to_pick"] == pytest.approx((1 + 1 + 0.5) / 3)


def test_a_missing_value_agrees_with_nothing():
    published = {"a": pa.array([None, 1]), "b": [5, 6]}
    known = {"a": pa.array([None, 1]), "b": [5, 6]}
    found = link_exactly(published, known, truth=[0, 1], names=True)
    assert found.details["links"] == [[1, 1]]
    sure = Weighing(confidence=0.5, present=1.0, names=True)
    on = [Shared("a", error=0.1), Shared("b", error=0.1)]
    assert link_probably(published, known, on[:1], weighing=sure).details["links"] == [[1, 1]]
    both = link_probably(published, known, on, weighing=sure)
    assert both.details["links"] == [[0, 0], [1, 1]]


def test_birth_date_sex_and_zip_name_nearly_all():
    """5,000 people in 57,600 places: the share alone is about exp(-5000/57600)."""
    people = population(5000, 1)
    who = np.random.default_rng(2).permutation(5000)[:1000]
    found = link_exactly(people, some(people, who), truth=who)
    assert found.success.value == pytest.approx(np.exp(-5000 / 57600), abs=0.03)
    assert found.details["false"] == 0
    assert found.baseline == 1 / 5000


def test_weights_find_people_whose_values_are_off():
    people = population(4000, 3)
    chance = np.random.default_rng(4)
    who = chance.permutation(4000)[:600]
    known = spoilt(some(people, who), 0.08, chance)
    known["year"] = known["year"] + chance.integers(-1, 2, who.size)
    plain = link_exactly(people, known, truth=who)
    on = [Shared("year", tolerance=1), "month", "zip", Shared("sex", error=0.04)]
    found = link_probably(people, known, on, truth=who)
    assert found.success.low > plain.success.high
    assert found.details["false_share"]["value"] < 0.1
    right, expected = found.details["correct"], found.details["expected_correct"]
    assert right == pytest.approx(expected, rel=0.06)
    told = {one["column"]: one for one in found.details["columns"]}
    assert told["zip"]["bits"] > told["sex"]["bits"]
    assert (told["sex"]["error"], told["sex"]["estimated"]) == (0.04, False)


def test_people_who_are_not_in_the_file():
    """Half the known people are absent, and the files have five columns: few false links."""
    people = population(6000, 5, {**SIZES, "job": 20})
    chance = np.random.default_rng(6)
    who = chance.permutation(6000)[:600]
    truth = np.where(who < 3000, who, -1)
    known = spoilt(some(people, who), 0.05, chance)
    found = link_probably(some(people, slice(3000)), known, truth=truth)
    assert found.details["present"] == pytest.approx((truth >= 0).mean(), abs=0.1)
    assert found.details["false_share"]["value"] < 0.08
    assert found.details["correct"] > 0.8 * (truth >= 0).sum()
    errors = [one["error"] for one in found.details["columns"]]
    assert errors == pytest.approx([0.05] * 5, abs=0.045)


def test_values_swapped_at_random_are_not_linked():
    people = population(3000, 7)
    chance = np.random.default_rng(8)
    published = {name: chance.permutation(column) for name, column in people.items()}
    who = np.arange(400)
    for found in (
        link_exactly(published, some(people, who), truth=who),
        link_probably(published, some(people, who), truth=who),
    ):
        assert found.details["correct"] <= 2


def test_records_made_up_from_noisy_tables_name_nobody():
    """Raw, a link tells the secret of nine in ten; from tables with noise, no more than a guess."""
    sizes = {"year": 20, "month": 12, "zip": 10, "sex": 2, "secret": 8}
    people = population(1500, 9, sizes)
    records = np.stack(list(people.values()), axis=1)
    places = tuple(sizes.values())
    wanted = Workload(tuple(sizes), places, tuple(combinations(range(5), 2)))
    planned = plan_marginals(wanted, Loss.pure(Fraction(1)))

    def tables(subsets):
        true = SyntheticRecords(records, np.ones(len(records), np.int64))
        return {subset: Sealed(true.tabulate(places, subset)) for subset in subsets}

    made = np.asarray(release_marginals(planned, tables, SeededBits(3)).microdata)
    published = dict(zip(sizes, made.T, strict=True))
    on = ["year", "month", "zip", "sex"]

    def told(file):
        links = np.array(link_exactly(file, people, on, names=True).details["links"])
        return (file["secret"][links[:, 1]] == people["secret"][links[:, 0]]).mean(), len(links)

    assert told(people)[0] == 1
    right, many = told(published)
    assert many > 100  # there are unique rows, and they are nobody's
    assert right == pytest.approx(1 / 8, abs=0.08)


def test_refusals():
    one = {"a": [1, 2]}
    with pytest.raises(QuestionError, match="no common column"):
        link_exactly(one, {"b": [1]})
    with pytest.raises(QuestionError, match="no value of column 'a'"):
        link_exactly(one, {"a": [3]})
    with pytest.raises(QuestionError, match="no value of column 'a'"):
        link_probably(one, {"a": [3]})
    with pytest.raises(QuestionError, match="without rows"):
        link_exactly(one, {"a": []})
    with pytest.raises(QuestionError, match="different types"):
        link_exactly(one, {"a": ["x"]})
    with pytest.raises(QuestionError, match="no column 'c'"):
        link_exactly(one, one, ["c"])
    with pytest.raises(QuestionError, match="truth"):
        link_exactly(one, one, truth=[0, 5])
    with pytest.raises(QuestionError, match="not of numbers"):
        link_probably({"a": ["x"]}, {"a": ["x"]}, [Shared("a", tolerance=1)])
    with pytest.raises(QuestionError, match="error rate"):
        link_probably(one, one, [Shared("a", error=1.0)])
    wide = {f"c{at}": [1, 2] for at in range(13)}
    with pytest.raises(QuestionError, match="at most 12"):
        link_probably(wide, wide)


def test_the_clock_ends_it():
    people = population(500, 1)
    assert not link_exactly(people, people, time_limit=-1).complete
    found = link_probably(people, people, time_limit=-1)
    assert (found.complete, found.details["looked_at"], found.details["linked"]) == (False, 0, 0)


def test_adult():
    path = DATA / "adult" / "adult.parquet"
    if not path.exists():
        pytest.skip(f"no data at {path}; set ADOMNIA_DATA")
    on = ["age", "sex", "race", "education", "occupation", "native_country", "hours_per_week"]
    file = parquet.read_table(path, columns=on)
    who = np.random.default_rng(1).permutation(file.num_rows)[:300]
    begun = time.process_time()
    exact = link_exactly(file, file.take(who), truth=who)
    assert 0.4 < exact.success.value < 0.7
    probable = link_probably(file, file.take(who), truth=who, weighing=Weighing(present=1.0))
    assert probable.details["false"] == 0
    assert probable.success.value <= exact.success.value
    assert time.process_time() - begun < 200
