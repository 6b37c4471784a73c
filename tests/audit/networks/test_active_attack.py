"""Networks without names: accounts planted and friends who conspire; and where they must fail."""

from __future__ import annotations

import json
import time
from itertools import combinations, permutations

import numpy as np
import pytest

from adomnia.audit.networks.active_attack import (
    Coalition,
    PlantedAccounts,
    _inner,
    _plant,
    accounts_needed,
    active_attack,
    passive_attack,
)
from adomnia.audit.networks.pattern import AdjacencyLists, Pattern, find
from adomnia.errors import QuestionError


def made(nodes, degree, seed):
    """A network in which friends of friends are friends, and some know many: groups of ten."""
    chance = np.random.default_rng(seed)
    liked = 1 / np.arange(1, nodes + 1) ** 0.4
    edges = []
    for _ in range(nodes * degree // 90):
        group = chance.choice(nodes, 10, replace=False, p=liked / liked.sum())
        edges += [pair for pair in combinations(group.tolist(), 2) if chance.random() < 0.8]
    return AdjacencyLists.of(edges, nodes)


def flipped(share):
    """A network published with this share of its edges replaced by random ones."""

    def publish(network, chance):
        edges = network.edges()
        kept = edges[chance.random(len(edges)) >= share]
        more = chance.integers(0, len(network.neighbors), (len(edges) - len(kept), 2))
        return AdjacencyLists.of(np.concatenate([kept, more]), len(network.neighbors))

    return publish


def renamed(network, chance):
    """The same network with its nodes numbered anew."""
    return AdjacencyLists.of(chance.permutation(len(network.neighbors))[network.edges()])


def test_a_network_is_undirected_and_simple():
    network = AdjacencyLists.of([[7, 3], [3, 7], [7, 7], [9, 3]])
    assert network.neighbors == [{1, 2}, {0}, {0}]
    assert network.edges().tolist() == [[0, 1], [0, 2]]
    with pytest.raises(QuestionError, match="no node"):
        AdjacencyLists.of([[0, 5]], nodes=3)


def test_the_search_is_all_copies_and_no_other():
    network = made(14, 8, 3)
    members = (0, *sorted(network.neighbors[0])[:3])
    pattern = Pattern.of(network, members)
    found, whole = find(network, pattern, most=10**6)
    brute = {
        order
        for order in permutations(range(14), 4)
        if Pattern.of(network, order) == pattern
    }  # fmt: skip
    assert whole
    assert len(found) == len(set(found))
    assert set(found) == brute
    assert members in brute


def test_numbers_of_nodes_do_not_help_the_search():
    network = made(800, 20, 1)
    chance = np.random.default_rng(1)
    grown, _ = _plant(network, PlantedAccounts(), _inner(7, chance), chance)
    pattern = Pattern.of(grown, range(800, 807))
    copies = [find(network_, pattern, 5)[0] for network_ in (grown, renamed(grown, chance))]
    assert len(copies[0]) == len(copies[1]) == 1


def test_a_planted_pattern_has_one_order():
    chance = np.random.default_rng(2)
    for k in (6, 7, 12):
        inner = _inner(k, chance)
        assert all(i + 1 in inner.neighbors[i] for i in range(k - 1))
        assert min(map(len, inner.neighbors)) >= 2
        assert len(find(inner, Pattern.of(inner, range(k)), 10)[0]) == 1


def test_targets_alone_have_their_marks_and_the_network_is_not_touched():
    network = made(800, 20, 1)
    before = network.edges().tolist()
    chance = np.random.default_rng(3)
    grown, marks = _plant(network, PlantedAccounts(), _inner(7, chance), chance)
    assert network.edges().tolist() == before
    assert len(marks) == len(set(marks.values())) == 50
    holders = {}
    for node in range(800):
        mark = sum(1 << i for i in range(7) if 800 + i in grown.neighbors[node])
        holders.setdefault(mark, []).append(node)
    assert all(holders[mark] == [person] for person, mark in marks.items())
    for i in range(7):  # nobody can take the place of one account
        others = [*range(800, 800 + i), *range(801 + i, 807)]
        known = grown.neighbors[800 + i].intersection(others)
        assert all(grown.neighbors[node].intersection(others) != known for node in range(800))
    degrees = [len(grown.neighbors[node]) for node in range(800, 807)]
    assert min(degrees) > 20
    assert max(degrees) <= 66


def test_planted_accounts_read_the_edges_between_targets():
    begun = time.process_time()
    found = active_attack(made(2000, 30, 4), trials=150, seed=1)
    assert time.process_time() - begun < 200
    assert found.success.value >= 0.9
    assert found.details["wrong"] == 0
    assert found.details["pairs_right"]["value"] == 1 > found.details["pairs_baseline"]
    assert found.details["edges_learned"] > 1
    assert found.baseline == 1 / 2000
    assert "learned" not in found.details
    json.dumps(found.to_json())


def test_edges_learned_are_edges():
    network = made(500, 30, 5)
    found = active_attack(network, PlantedAccounts(names=True), trials=5)
    learned = [pair for trial in found.details["learned"] for pair in trial]
    assert learned
    assert all(other in network.neighbors[one] for one, other in learned)


def test_few_changed_edges_hide_the_pattern_from_an_exact_search():
    network = made(1000, 30, 6)
    assert active_attack(network, trials=10, publish=flipped(0.0)).success.value > 0.8
    changed = active_attack(network, trials=10, publish=flipped(0.05))
    assert changed.success.value == 0
    assert changed.details["edges_learned"] == 0
    friends = passive_attack(network, trials=10, publish=flipped(0.05))
    assert friends.success.value == 0


def test_friends_find_themselves_and_better_with_counts():
    network = made(1500, 30, 7)
    plain = passive_attack(network, Coalition(k=4), trials=100, seed=2)
    counted = passive_attack(network, Coalition(k=4, counts=True), trials=100, seed=2)
    assert counted.success.value == plain.details["with_counts"]["value"]
    assert counted.success.value >= plain.success.value
    assert counted.success.value > 0.9
    assert counted.details["edges_learned"] > plain.details["edges_learned"] > 0


def test_friends_in_a_crowd_of_equals_find_nothing():
    """A ring in which everybody looks alike."""
    ring = np.arange(300)
    network = AdjacencyLists.of(np.stack([ring, (ring + 1) % 300], axis=1))
    found = passive_attack(network, Coalition(k=3), trials=20)
    assert found.success.value == 0
    assert found.details["several"] == 20


def test_how_many_accounts_the_theorem_asks_for():
    assert accounts_needed(4039) == 26
    found = active_attack(made(300, 30, 8), PlantedAccounts(k=None, targets=20), trials=10)
    assert found.details["accounts"] == accounts_needed(300) == 18
    assert found.success.value == 1


def test_the_clock_ends_a_search_among_many_half_copies():
    """In a complete network everything fits but the last member, who knows one only."""
    network = AdjacencyLists.of(list(combinations(range(60), 2)))
    want = Pattern((59,) * 9, (*(tuple(range(i)) for i in range(8)), (0,)))
    begun = time.monotonic()
    found, whole = find(network, want, end=begun + 0.2)
    assert (found, whole) == ([], False)
    assert time.monotonic() - begun < 100


def test_refusals_and_the_clock():
    network = made(200, 20, 9)
    with pytest.raises(QuestionError, match="own set"):
        active_attack(network, PlantedAccounts(k=4, targets=12))
    with pytest.raises(QuestionError, match="friends"):
        passive_attack(network, Coalition(k=190))
    for found in (active_attack(network, time_limit=-1), passive_attack(network, time_limit=-1)):
        assert not found.complete
        assert (found.success.low, found.success.high) == (0, 1)
