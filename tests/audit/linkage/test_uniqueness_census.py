"""Half a million census records: known figures, in seconds."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from adomnia.audit.linkage.equivalence_classes import PublishedFile
from adomnia.audit.linkage.intersection import intersection
from adomnia.audit.linkage.uniqueness import uniqueness

DATA = Path(os.environ.get("ADOMNIA_DATA", Path(__file__).parents[3] / ".." / "shared" / "data"))
QUASI = ["gender", "marital", "race", "education", "workclass", "hispanic", "state"]


@pytest.fixture(scope="module")
def census():
    path = DATA / "census" / "salary.parquet"
    if not path.exists():
        pytest.skip(f"no data at {path}; set ADOMNIA_DATA")
    return parquet.read_table(path, columns=[*QUASI, "salary"])


def test_uniques_of_the_census_in_seconds(census):
    begun = time.process_time()
    found = uniqueness(census, QUASI, "salary")
    assert time.process_time() - begun < 100
    assert (found.details["uniques"], found.details["classes"]) == (41444, 73431)
    first = census.slice(0, 20_000)
    crowds = Counter(zip(*(first[name].to_pylist() for name in QUASI), strict=True))
    assert uniqueness(first, QUASI).details["uniques"] == sum(n == 1 for n in crowds.values())
    most = min(found.details["columns"], key=lambda one: one["uniques_without"])
    assert most["column"] == "state"  # it carries the most risk
    guess = found.details["attribute"]
    assert guess["guessed"] > 4 * guess["baseline"]


def test_two_releases_of_the_census(census):
    """By state and by origin: coarse crowds, and what their intersection adds, in seconds."""
    table = census.append_column("who", [np.arange(census.num_rows)])
    views = [["state", "race", "marital"], ["hispanic", "education", "workclass", "gender"]]
    begun = time.process_time()
    found = intersection([PublishedFile(table, view, "salary", "who") for view in views])
    assert time.process_time() - begun < 300
    assert found.complete
    together, alone = found.details["together"], found.details["alone"]
    assert together["determined"] > max(one["determined"] for one in alone)
    best = max(one["guessed_share"]["value"] for one in alone)
    assert together["guessed_share"]["low"] > best > found.details["majority"]
