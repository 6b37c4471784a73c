"""Microdata from tables: all that agree, against brute force, and the seven-person block."""

from __future__ import annotations

import csv
import itertools
import json
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from adomnia.audit.reconstruction.listing import list_tables
from adomnia.audit.reconstruction.microdata import microdata
from adomnia.audit.reconstruction.noisy_tables import NoisyMarginal, best_guess
from adomnia.audit.reconstruction.published_statistics import (
    CellLayout,
    Count,
    Mean,
    Median,
    marginal,
)
from adomnia.errors import QuestionError

DATA = Path(os.environ.get("ADOMNIA_DATA", Path(__file__).parents[3] / ".." / "shared" / "data"))
BOTH = (False, True)
SMALL = CellLayout({"a": (0, 1), "b": (0, 1, 2), "c": (0, 1)})


def counts(cells, table, names):
    order = list(cells.values)
    others = tuple(place for place, name in enumerate(order) if name not in names)
    return table.reshape(cells.shape).sum(axis=others)


def published(cells, table, ways, base=1):
    return [
        said
        for names in itertools.combinations(cells.values, ways)
        for said in marginal(cells, names, counts(cells, table, names) // base * base, base)
    ]


def random_table(cells, people, seed):
    drawn = np.random.default_rng(seed).integers(0, cells.many, people)
    return np.bincount(drawn, minlength=cells.many)


def holds(said, cells, people):
    """The definition of a statement, on a list of records."""
    order = list(cells.values)
    meant = [r for r in people if all(r[order.index(n)] in v for n, v in said.where.items())]
    if isinstance(said, Count):
        return said.low <= len(meant) <= said.high
    values = sorted(record[order.index(said.attribute)] for record in meant)
    if isinstance(said, Mean):
        return abs(Fraction(sum(values), len(values)) - said.value) <= said.unit / 2
    middle = Fraction(values[(len(values) - 1) // 2] + values[len(values) // 2], 2)
    return len(values) == said.count and abs(middle - said.value) <= said.unit / 2


def by_brute_force(cells, statements, people):
    every = itertools.combinations_with_replacement(range(cells.many), people)
    agree = set()
    for chosen in every:
        records = [cells.record(cell) for cell in chosen]
        if all(holds(said, cells, records) for said in statements):
            agree.add(tuple(np.bincount(chosen, minlength=cells.many).tolist()))
    return agree


@pytest.mark.parametrize(("ways", "base"), [(1, 1), (2, 1), (2, 2)])
def test_the_list_is_that_of_brute_force(ways, base):
    for seed in range(3):
        truth = random_table(SMALL, 4, seed)
        said = [Count("all", {}, 4, 4), *published(SMALL, truth, ways, base)]
        found = list_tables(SMALL, said, most=2000, time_limit=500)
        listed = {tuple(table) for table in found.tables.tolist()}
        assert found.whole
        assert len(listed) == len(found.tables)
        assert listed == by_brute_force(SMALL, said, 4)


@pytest.mark.parametrize("people", [3, 4])
def test_means_and_medians_against_brute_force(people):
    cells = CellLayout({"age": tuple(range(6)), "sex": ("f", "m")})
    for seed in range(2):
        ages = np.sort(np.random.default_rng(seed).integers(0, 6, people))
        middle = Fraction(int(ages[(people - 1) // 2] + ages[people // 2]), 2)
        said = [
            Count("all", {}, people, people),
            Count("women", {"sex": ["f"]}, 1, 2),
            Mean("mean age", {}, "age", Fraction(round(float(ages.mean()))), Fraction(1)),
            Median("median age", {}, "age", middle, people),
        ]
        found = list_tables(cells, said, most=5000, time_limit=500)
        assert found.whole
        assert {tuple(t) for t in found.tables.tolist()} == by_brute_force(cells, said, people)


def test_three_way_tables_of_few_people_give_everything_away():
    cells = CellLayout(
        {name: tuple(range(size)) for name, size in zip("abcde", (2, 3, 2, 4, 2), strict=True)}
    )
    truth = random_table(cells, 20, 1)
    found = microdata(cells, published(cells, truth, 3), time_limit=500, truth=truth)
    assert found.details["unique"]
    assert found.details["truth_listed"]
    assert found.details["forced_cells"] == cells.many
    assert found.success.value == found.success.high == 1
    assert found.baseline == 0
    assert found.complete
    json.dumps(found.to_json())


def test_several_tables_are_counted_up_to_a_limit_and_forced_cells_are_proven():
    said = [
        Count("all", {}, 6, 6),
        Count("a = 0", {"a": [0]}, 2, 2),
        Count("a = 0, b = 0, c = 0", {"a": [0], "b": [0], "c": [0]}, 2, 2),
    ]
    found = microdata(SMALL, said, most=10, time_limit=500)
    assert found.details["unique"] is False
    assert not found.complete
    assert found.details["tables"] == 10
    assert found.details["forced"] == [{"record": ["0", "0", "0"], "count": 2}]
    assert found.details["forced_cells"] == 6
    assert found.success.low == pytest.approx(2 / 6)
    whole = microdata(SMALL, said, most=1000, time_limit=500)
    assert whole.details["tables"] == 126  # four people in six cells: 9 choose 4
    assert whole.details["certain_records"] == 2
    assert {"record": ["1", "2", "1"], "least": 0, "most": 4} in whole.details["ranges"]


def test_without_time_nothing_is_claimed():
    truth = random_table(SMALL, 30, 2)
    found = microdata(SMALL, published(SMALL, truth, 2), time_limit=0.0)
    assert found.details["unique"] is None
    assert not found.complete
    assert found.success.high == 1


def test_tables_that_contradict_each_other_are_named():
    said = [Count("women", {"a": [0]}, 3, 3), Count("old women", {"a": [0], "b": [2]}, 4, 4)]
    with pytest.raises(QuestionError, match=r"women = 3; old women = 4"):
        microdata(SMALL, said)
    cells = CellLayout({"age": (0, 1, 2, 3)})
    odd = [
        Count("all", {}, 2, 2),
        Median("median", {}, "age", Fraction(1), 2),
        Mean("mean", {}, "age", Fraction(2)),
    ]
    with pytest.raises(QuestionError, match=r"median.*mean|mean.*median"):
        microdata(cells, odd)
    with pytest.raises(QuestionError, match="another shape"):
        marginal(SMALL, ["a", "b"], np.zeros((3, 2)))
    with pytest.raises(QuestionError, match="no attribute"):
        SMALL.chosen({"z": [1]})


# The seven-person block


def block_file(name):
    path = DATA / "cacm_block" / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def block(means, unit, medians=Fraction(0)):
    """The published block: who each statistic is about, suppressed counts are below three."""
    cells = CellLayout(
        {"age": tuple(range(116)), "married": BOTH, "smoker": BOTH, "employed": BOTH}
    )
    adult = range(18, 116)
    about = {
        "total-population": {},
        "non-smoker": {"smoker": [False]},
        "smoker": {"smoker": [True]},
        "unemployed": {"employed": [False]},
        "employed": {"employed": [True]},
        "single-adults": {"married": [False], "age": adult},
        "married-adults": {"married": [True], "age": adult},
        "unemployed-non-smoker": {"employed": [False], "smoker": [False]},
    }
    said = []
    for row in block_file("block-stats.csv"):
        name = row["name"]
        where = about[name]
        if not row["count"]:
            said.append(Count(name, where, 0, 2))
            continue
        many = int(row["count"])
        said += [
            Count(name, where, many, many),
            Mean(f"{name}, mean", where, "age", means.get(name, Fraction(row["mean"])), unit),
            Median(f"{name}, median", where, "age", Fraction(row["median"]), many, medians),
        ]
    children = np.flatnonzero(cells.chosen({"married": [True], "age": range(18)}))
    return cells, said, children


def block_truth(cells):
    rows = block_file("database.csv")
    records = [(int(r["age"]), *(r[n] == "True" for n in list(cells.values)[1:])) for r in rows]
    return cells.table(records)


ARTICLE = {  # the means that the article prints with a decimal
    "non-smoker": Fraction("33.5"),
    "unemployed": Fraction("48.5"),
    "unemployed-non-smoker": Fraction("36.7"),
}


def test_the_block_of_the_article_has_one_solution_and_it_is_the_data():
    cells, said, children = block(ARTICLE, Fraction(1, 10))
    truth = block_truth(cells)
    found = microdata(cells, said, time_limit=550, forbidden=children, truth=truth)
    assert found.details["unique"] is True
    assert found.details["truth_listed"]
    assert found.details["certain_records"] == found.details["people"] == 7
    assert found.details["forced_cells"] == cells.many
    assert found.complete


@pytest.mark.slow
@pytest.mark.parametrize(("medians", "many"), [(Fraction(0), 6), (Fraction(1), 17)])
def test_with_means_in_whole_years_it_is_not_unique(medians, many):
    """As the file has them: 6 solutions, or 17 if medians were rounded too (by brute force)."""
    cells, said, children = block({}, Fraction(1), medians)
    truth = block_truth(cells)
    found = microdata(cells, said, time_limit=550, forbidden=children, truth=truth)
    assert found.details["unique"] is False
    assert found.details["tables"] == many
    assert found.details["truth_listed"]
    assert found.complete


# Noisy tables


def noisy(cells, table, scale, seed):
    chance = np.random.default_rng(seed)
    return [
        NoisyMarginal(names, np.rint(exact + chance.laplace(0, scale, exact.shape)), scale)
        for names in itertools.combinations(cells.values, 2)
        for exact in [counts(cells, table, names)]
    ]


def test_a_guess_from_noise_gets_worse_with_the_noise():
    cells = CellLayout(dict.fromkeys("abc", (0, 1, 2)))
    truth = np.zeros(27, np.int64)
    truth[[0, 13, 14, 26]] = [12, 9, 3, 6]
    shares = []
    for scale in (0.05, 2.0, 50.0):
        found = [
            best_guess(cells, noisy(cells, truth, scale, seed), 20, truth) for seed in range(4)
        ]
        assert all(one.complete for one in found)
        assert all(one.details["bound"] <= one.details["distance"] + 1e-6 for one in found)
        shares.append(np.mean([one.success.value for one in found]))
    assert shares[0] == 1
    assert shares[0] > shares[1] > shares[2]
    assert found[0].baseline == pytest.approx(4 * (30 / 27) / 30)
    assert 0 < found[0].details["one_way_baseline"] < 1
    json.dumps(found[0].to_json())


def test_a_guess_is_not_scored_without_the_truth():
    cells = CellLayout(dict.fromkeys("ab", (0, 1)))
    found = best_guess(cells, [NoisyMarginal(("a", "b"), np.array([[3, -1], [0, 2]]))])
    assert (found.success.low, found.success.high) == (0, 1)
    assert found.details["people"] == 5
    assert found.details["guess"][0] == {"record": ["0", "0"], "count": 3}
    with pytest.raises(QuestionError, match="another shape"):
        best_guess(cells, [NoisyMarginal(("a",), np.zeros(3))])
    with pytest.raises(QuestionError, match="nothing was released"):
        best_guess(cells, [])
