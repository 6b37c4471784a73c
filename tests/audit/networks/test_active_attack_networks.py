"""Planted accounts and conspiring friends in networks of real people."""

from __future__ import annotations

import gzip
import os
import time
from pathlib import Path

import numpy as np
import pytest

from adomnia.audit.networks.active_attack import (
    Coalition,
    PlantedAccounts,
    active_attack,
    passive_attack,
)
from adomnia.audit.networks.pattern import AdjacencyLists

DATA = Path(os.environ.get("ADOMNIA_DATA", Path(__file__).parents[3] / ".." / "shared" / "data"))


def read(name):
    path = DATA / "graphs" / f"{name}.edges.gz"
    if not path.exists():
        pytest.skip(f"no data at {path}; set ADOMNIA_DATA")
    with gzip.open(path, "rt") as file:
        return AdjacencyLists.of(np.loadtxt(file, dtype=np.int64, usecols=(0, 1)))


@pytest.mark.parametrize("name", ["ego-facebook", "email-eu-core"])
def test_seven_accounts_are_found_in_nine_of_ten_trials(name):
    network = read(name)
    begun = time.process_time()
    found = active_attack(network, PlantedAccounts(k=7, targets=50), trials=300, seed=1)
    assert time.process_time() - begun < 300
    assert found.success.value >= 0.9
    assert found.details["wrong"] == 0
    assert found.details["pairs_right"]["value"] == 1
    assert found.details["edges_learned"] > 8


def test_eight_friends_find_themselves_on_facebook():
    network = read("ego-facebook")
    plain = passive_attack(network, Coalition(k=8), trials=300, seed=1)
    assert plain.success.value == pytest.approx(0.6, abs=0.08)
    assert plain.details["with_counts"]["low"] > plain.success.high
    assert plain.details["edges_learned"] > 20


def test_a_club_of_34_has_room_for_few():
    found = active_attack(
        read("karate"), PlantedAccounts(k=6, targets=5, degrees=(3, 6)), trials=50
    )
    assert found.complete
    assert found.success.value > 0.5
