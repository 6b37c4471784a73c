"""Backstrom, Dwork and Kleinberg's attacks on networks without names (`active_attack.md`).

Active: a few accounts are planted before the network is published, with a random pattern of edges
among them; found again by that pattern, they name the people they were linked to, and the edges
between those are read. Passive: a user and some friends find themselves, having planted nothing.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from adomnia.audit.finding import Finding, wilson
from adomnia.audit.networks.pattern import AdjacencyLists, Nodes, Pattern, find
from adomnia.errors import QuestionError

__all__ = [
    "Coalition",
    "PlantedAccounts",
    "Publish",
    "accounts_needed",
    "active_attack",
    "passive_attack",
]

PAPER = "Backstrom, Dwork and Kleinberg, Wherefore art thou R3579X?, WWW 2007"
REMEDY = "publish noisy counts of the network, or answer questions; removing names protects nobody"
SEVERAL = 64  # copies after which a search for more is given up


Publish = Callable[[AdjacencyLists, np.random.Generator], AdjacencyLists]
"""How a network is published: nodes keep their numbers, which the attack does not use."""


@dataclass(frozen=True)
class PlantedAccounts:
    """What is planted: k accounts (None: as many as the theorem asks for) to name the targets.

    Each has a number of outer edges drawn from `degrees`, more where the targets need it.
    With `names` the edges that were learned are listed.

    >>> PlantedAccounts(k=4, targets=6).degrees
    (20, 60)
    """

    k: int | None = 7
    targets: int = 50
    degrees: tuple[int, int] = (20, 60)
    names: bool = False


@dataclass(frozen=True)
class Coalition:
    """Who conspires: a user and k - 1 friends, who compare their degrees and inner edges.

    With `counts` also how many outsiders each subset of them knows.
    `names` as in `PlantedAccounts`.

    >>> Coalition(k=3).counts
    False
    """

    k: int = 8
    counts: bool = False
    names: bool = False


PLANTED = PlantedAccounts()
FRIENDS = Coalition()


@dataclass(frozen=True)
class _AttackTrial:
    """One attack: how many copies were found, whether one and the right one, and what was read."""

    copies: int
    right: bool
    known: bool = True
    right_by_counts: bool = False
    named: int = 0
    pairs: int = 0
    edges: int = 0
    true_edges: int = 0
    right_pairs: int = 0
    learned: tuple[Nodes, ...] = ()


def active_attack(
    network: AdjacencyLists,
    accounts: PlantedAccounts = PLANTED,
    trials: int = 100,
    seed: int = 0,
    time_limit: float = 60.0,
    publish: Publish | None = None,
) -> Finding:
    """Plant accounts, find them again by their pattern, read the edges between the targets.

    `publish` may change the network; it is published unchanged otherwise. A trial succeeds if the
    search finds one copy of the pattern and it is the planted one.

    Returns the share of the trials that succeeded. Raises a QuestionError where the network is too
    small for so many accounts and targets.

    >>> import numpy as np
    >>> from adomnia.audit import AdjacencyLists
    >>> network = AdjacencyLists.of(np.random.default_rng(1).integers(0, 60, (200, 2)), nodes=60)
    >>> planted = PlantedAccounts(k=5, targets=6, degrees=(4, 8))
    >>> active_attack(network, planted, trials=5).success.value
    0.4
    """
    n, targets = len(network.neighbors), accounts.targets
    k = accounts_needed(n) if accounts.k is None else accounts.k
    sets = 2**k - 3 * k - 1
    if not 1 <= targets <= min(n, sets):
        raise QuestionError(
            "each target needs its own set of planted accounts",
            f"{k} accounts have {max(sets, 0)} sets and there are {n} people",
        )

    def attempt(chance: np.random.Generator, end: float) -> _AttackTrial:
        grown, marks = _plant(network, accounts, _inner(k, chance), chance)
        seen = grown if publish is None else publish(grown, chance)
        members = tuple(range(n, n + k))
        found, whole = find(seen, Pattern.of(grown, members), 2, end)
        if len(found) != 1 or not whole:
            return _AttackTrial(len(found), False, whole)
        return _read(network, seen, found[0], marks, found[0] == members)

    done = _repeat(attempt, trials, seed, time_limit)
    return _finding("planted", k, network, done, trials, accounts.names)


def passive_attack(
    network: AdjacencyLists,
    coalition: Coalition = FRIENDS,
    trials: int = 100,
    seed: int = 0,
    time_limit: float = 60.0,
    publish: Publish | None = None,
) -> Finding:
    """A random user and some of his friends, who planted nothing, look for themselves.

    They learn the edges between outsiders whom a subset of them knows, and nobody else does.
    `details["with_counts"]` is the success with `counts`, whether or not it was asked for.

    Returns the share of the trials in which they found themselves. Raises a QuestionError where
    nobody has so many friends.

    >>> import numpy as np
    >>> from adomnia.audit import AdjacencyLists
    >>> network = AdjacencyLists.of(np.random.default_rng(1).integers(0, 60, (200, 2)), nodes=60)
    >>> passive_attack(network, Coalition(k=4), trials=5).success.value > 0
    True
    """
    k = coalition.k
    central = [at for at, own in enumerate(network.neighbors) if len(own) >= k - 1]
    if k < 2 or not central:
        raise QuestionError(f"nobody has {k - 1} friends here", "give a smaller k, from 2 on")

    def attempt(chance: np.random.Generator, end: float) -> _AttackTrial:
        user = central[chance.integers(len(central))]
        friends = chance.choice(sorted(network.neighbors[user]), k - 1, replace=False)
        members = (user, *friends.tolist())
        seen = network if publish is None else publish(network, chance)
        found, whole = find(seen, Pattern.of(network, members), SEVERAL, end)
        own = _outside(network, members)
        sets = Counter(own.values())
        same = [copy for copy in found if Counter(_outside(seen, copy).values()) == sets]
        chosen = same if coalition.counts else found
        sure = whole and len(found) < SEVERAL
        by_counts = sure and same == [members]
        if len(chosen) != 1 or not sure:
            return _AttackTrial(len(chosen), False, whole, by_counts)
        marks = {node: mark for node, mark in own.items() if sets[mark] == 1}
        read = _read(network, seen, chosen[0], marks, chosen[0] == members)
        return _AttackTrial(**{**vars(read), "right_by_counts": by_counts})

    done = _repeat(attempt, trials, seed, time_limit)
    return _finding("passive", k, network, done, trials, coalition.names)


def accounts_needed(n: int, delta: float = 0.1) -> int:
    """How many planted accounts are almost surely found again: (2 + delta) log2 n, rounded up."""
    return max(3, math.ceil((2 + delta) * math.log2(max(n, 2))))


def _inner(k: int, chance: np.random.Generator) -> AdjacencyLists:
    """A path and each further edge with probability one half, until no other order looks alike.

    Everybody knows two others at least: a stranger with one link then fits nowhere.
    """
    path = [(i, i + 1) for i in range(k - 1)]
    others = [pair for pair in combinations(range(k), 2) if pair[1] - pair[0] > 1]
    while True:
        coins = chance.integers(0, 2, len(others))
        drawn = [pair for pair, coin in zip(others, coins, strict=True) if coin]
        inner = AdjacencyLists.of([*path, *drawn], k)
        # up to five nodes are always symmetric: there the degrees must tell them apart
        alike = k >= 6 and len(find(inner, Pattern.of(inner, range(k)))[0]) > 1
        if not alike and min(map(len, inner.neighbors)) >= 2:
            return inner


def _plant(
    network: AdjacencyLists,
    accounts: PlantedAccounts,
    inner: AdjacencyLists,
    chance: np.random.Generator,
) -> tuple[AdjacencyLists, dict[int, int]]:
    """The network with the planted accounts behind its nodes, and each target's mark.

    A mark is the set of planted accounts a target is linked to, as bits. Other links go to people
    who get one only, so that nobody else has a mark.
    """
    n, k, targets = len(network.neighbors), len(inner.neighbors), accounts.targets
    order = chance.permutation(n).tolist()
    marks = dict(zip(order[:targets], _marks(inner, targets, chance), strict=True))
    grown = [*network.neighbors, *({n + to for to in own} for own in inner.neighbors)]
    links = [(node, n + i) for node, mark in marks.items() for i in range(k) if mark >> i & 1]
    outer = Counter(account for _, account in links)
    rest = iter(order[targets:])
    for account in range(n, n + k):
        missing = chance.integers(*accounts.degrees, endpoint=True) - outer[account]
        links += [(node, account) for node, _ in zip(rest, range(missing), strict=False)]
    for node in {node for node, _ in links}:
        grown[node] = set(grown[node])  # the network itself stays as it is
    for node, account in links:
        grown[node].add(account)
        grown[account].add(node)
    return AdjacencyLists(grown), marks


def _marks(inner: AdjacencyLists, targets: int, chance: np.random.Generator) -> list[int]:
    """Different sets of two or more accounts, small ones first and otherwise at random.

    Whom one account knows of the others, with or without itself, is no mark: its holder could pass
    for that account.
    """
    own = [sum(1 << j for j in known) for known in inner.neighbors]
    taken = {mark | bit << i for i, mark in enumerate(own) for bit in (0, 1)}
    chosen: list[int] = []
    for size in range(2, len(own) + 1):
        sets = [sum(1 << i for i in some) for some in combinations(range(len(own)), size)]
        chosen += [mark for mark in chance.permutation(sets).tolist() if mark not in taken]
        if len(chosen) >= targets:
            break
    return chosen[:targets]


def _outside(network: AdjacencyLists, members: Sequence[int]) -> dict[int, int]:
    """For each outsider that the members know, which of them do, as bits."""
    marks: dict[int, int] = {}
    for i, member in enumerate(members):
        for node in network.neighbors[member]:
            marks[node] = marks.get(node, 0) | 1 << i
    return {node: mark for node, mark in marks.items() if node not in members}


def _read(
    truth: AdjacencyLists, seen: AdjacencyLists, copy: Nodes, marks: dict[int, int], right: bool
) -> _AttackTrial:
    """Name those whose mark nobody else has, and compare the edges between them with the truth."""
    around = _outside(seen, copy)
    times = Counter(around.values())
    holder = {mark: node for node, mark in around.items() if times[mark] == 1}
    named = {person: holder[mark] for person, mark in marks.items() if mark in holder}
    pairs = list(combinations(named, 2))
    told = [named[other] in seen.neighbors[named[one]] for one, other in pairs]
    true = [other in truth.neighbors[one] for one, other in pairs]
    return _AttackTrial(
        copies=1,
        right=right,
        named=sum(person == node for person, node in named.items()),
        pairs=len(pairs),
        edges=sum(map(bool.__and__, told, true)),
        true_edges=sum(true),
        right_pairs=sum(map(bool.__eq__, told, true)),
        learned=tuple(pair for pair, edge in zip(pairs, told, strict=True) if edge),
    )


def _repeat(
    attempt: Callable[[np.random.Generator, float], _AttackTrial],
    trials: int,
    seed: int,
    time_limit: float,
) -> list[_AttackTrial]:
    """Trials that were done before the clock; each has its own stream of chance."""
    end = time.monotonic() + time_limit
    done: list[_AttackTrial] = []
    for stream in np.random.SeedSequence(seed).spawn(trials):
        if time.monotonic() > end:
            break
        done.append(attempt(np.random.default_rng(stream), end))
    return [trial for trial in done if trial.known]


def _finding(
    attack: str, k: int, network: AdjacencyLists, done: list[_AttackTrial], trials: int, names: bool
) -> Finding:
    n, many = len(network.neighbors), len(done)
    success = wilson(_mean(trial.right for trial in done), many)
    pairs = sum(trial.pairs for trial in done)
    right = sum(trial.right_pairs for trial in done)
    dense = sum(trial.true_edges for trial in done) / max(pairs, 1)
    details: dict[str, Any] = {
        "nodes": n,
        "accounts": k,
        "trials": many,
        "none": sum(trial.copies == 0 for trial in done),
        "several": sum(trial.copies > 1 for trial in done),
        "wrong": sum(trial.copies == 1 and not trial.right for trial in done),
        "named": _mean(trial.named for trial in done),
        "pairs_read": pairs / max(many, 1),
        "edges_learned": _mean(trial.edges for trial in done),
        "pairs_right": vars(wilson(right / max(pairs, 1), pairs)),
        "pairs_baseline": max(dense, 1 - dense),
    }
    if attack == "passive":
        by_counts = _mean(trial.right_by_counts for trial in done)
        details["with_counts"] = vars(wilson(by_counts, many))
    if names:
        details["learned"] = [[list(pair) for pair in trial.learned] for trial in done]
    who = f"{k} planted accounts" if attack == "planted" else f"a user and {k - 1} friends"
    return Finding(
        attack=attack,
        claim=f"In {success.value:.0%} of {many} trials {who} found themselves in the network of "
        f"{n} without names, and read {details['edges_learned']:.0f} edges between others.",
        affected=f"{details['named']:.0f} people a trial who were named, and their edges",
        success=success,
        baseline=1 / n if n else 0.0,
        covered=True,
        source=PAPER,
        remedy=REMEDY,
        details=details,
        complete=many == trials,
    )


def _mean(values: Iterable[float]) -> float:
    held = list(values)
    return float(sum(held) / len(held)) if held else 0.0
