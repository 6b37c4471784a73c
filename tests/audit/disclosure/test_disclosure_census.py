"""Disclosures on half a million census records: known figures, time, and simulation."""

from __future__ import annotations

import os
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from adomnia.audit.disclosure.disclosure import disclosures, expected_disclosures
from adomnia.audit.disclosure.disclosure_report import DisclosureTerms

DATA = Path(os.environ.get("ADOMNIA_DATA", Path(__file__).parents[3] / ".." / "shared" / "data"))
EPSILONS = ["2", "1", "0.5", "0.1", "0.01"]
PEOPLE = ["gender", "marital", "race"]
EXTRACTS = {
    "EDU": ("edu_occ", [*PEOPLE, "occupation"], "education"),
    "OCC": ("edu_occ", [*PEOPLE, "education"], "occupation"),
    "SALARY": ("salary", [*PEOPLE, "education", "workclass", "hispanic"], "salary"),
}


def extract(name):
    """The coded columns, their domains, and the names of the public and the sensitive ones."""
    file, public, sensitive = EXTRACTS[name]
    path = DATA / "census" / f"{file}.parquet"
    if not path.exists():
        pytest.skip(f"no data at {path}; set ADOMNIA_DATA")
    table = parquet.read_table(path, columns=[*public, sensitive])
    parts = {
        column: np.unique(table[column].to_numpy(), return_inverse=True)
        for column in table.column_names
    }
    codes = {column: part[1] for column, part in parts.items()}
    return codes, {column: part[0].tolist() for column, part in parts.items()}, public, sensitive


@pytest.mark.parametrize(
    ("name", "pair", "whole"),
    [
        ("EDU", [138, 85, 45, 12, 0], [62, 30, 11, 1, 0]),
        ("OCC", [151, 105, 67, 24, 0], [176, 103, 57, 12, 0]),
        ("SALARY", [55, 29, 19, 7, 0], [27, 12, 6, 0, 0]),
    ],
)
def test_known_figures_in_time(name, pair, whole):
    given = extract(name)
    start = time.process_time()
    report = disclosures(*given, EPSILONS, DisclosureTerms(reading="both"))
    assert time.process_time() - start < 100
    assert [level.disclosures for level in report.readings["pair"]] == pair
    assert [level.disclosures for level in report.readings["all"]] == whole


def test_known_errors_and_what_another_sanity_bound_makes_of_them():
    given = extract("EDU")
    levels = disclosures(*given, EPSILONS).readings["pair"]
    found = [100 * level.overall_error for level in levels]
    assert found == pytest.approx([19.2, 38.3, 76.7, 383, 3834], rel=3e-3)
    looser = disclosures(*given, ["0.01"], DisclosureTerms(sanity=1e-3)).readings["pair"]
    assert looser[0].overall_error == pytest.approx(4.5, abs=0.05)


def test_the_other_reading_as_its_own_release():
    """Only the full marginal, with and without the sensitive attribute: sensitivity 4."""
    codes, domains, public, sensitive = extract("EDU")
    names = (*public, sensitive)
    table = np.zeros([len(domains[name]) for name in names], np.int64)
    np.add.at(table, tuple(codes[name] for name in names), 1)
    levels = expected_disclosures({names: table}, EPSILONS).readings["planned"]
    assert [level.disclosures for level in levels] == [311, 166, 84, 17, 1]


@pytest.mark.slow
def test_twenty_thousand_draws_agree():
    """Figure 3, EDU at epsilon 0.5: each closeness within five errors, the count within four."""
    codes, domains, public, sensitive = extract("EDU")
    own, chance, draws = len(domains[sensitive]), np.random.default_rng(11), 20_000
    terms = DisclosureTerms(names=True, kcp=1e-3)
    level = disclosures(codes, domains, public, sensitive, ["0.5"], terms).readings["pair"][0]
    close = {(*d.group.items(), d.value): d.closeness for d in level.found}
    count = 0
    for pair in combinations(public, 2):
        shape = [len(domains[name]) for name in (*pair, sensitive)]
        cells = np.ravel_multi_index([codes[name] for name in (*pair, sensitive)], shape)
        table = np.bincount(cells, minlength=int(np.prod(shape))).reshape(-1, own)
        group, prior = table.sum(axis=1), table.sum(axis=0) / table.sum()
        for at, value in zip(*np.nonzero(table), strict=True):
            phi, theta = group[at], table[at, value]
            if theta / phi < 3 * prior[value]:
                continue
            ratio = chance.laplace(theta, 48, draws) / chance.laplace(phi, 48, draws)
            seen = np.mean(np.abs(ratio - theta / phi) <= 0.2 * theta / phi)
            places = np.unravel_index(at, shape[:2])
            key = [(name, domains[name][place]) for name, place in zip(pair, places, strict=True)]
            true = close.get((*key, domains[sensitive][value]), 0.0)
            assert abs(seen - true) <= 5 * np.sqrt(max(true * (1 - true), 1e-3) / draws)
            count += seen >= 0.7
    assert abs(count - 45) <= 4
