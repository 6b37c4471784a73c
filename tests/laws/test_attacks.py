"""Every attack of the registry keeps the laws of attacks: on a careless release and on ours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from adomnia.audit import (
    AdjacencyLists,
    Averaging,
    CellLayout,
    Channel,
    CheckedOptions,
    CountOracle,
    Decoding,
    ExactReleases,
    Finding,
    Inference,
    Intersection,
    LinearAnswers,
    Linkage,
    Membership,
    Microdata,
    NetworkAttack,
    Population,
    PriorLeak,
    PublishedFile,
    PublishedNetwork,
    PublishedTables,
    Rate,
    Ratings,
    RatingsAttack,
    Reconstruct,
    RecordGenerator,
    SinglingOut,
    SumOracle,
    Tracker,
    TwoFiles,
    Uniqueness,
    attack_names,
    option,
    wilson,
)
from adomnia.audit.registry import OWN
from adomnia.errors import BudgetError, NotAllowedError
from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.priors.solver.system import System
from tests.laws.attack_laws import (
    LAWS,
    Case,
    Example,
    check_attack,
    fails_on_private,
    has_a_name_and_a_sentence,
    needs_no_truth,
    refuses_wrong_options,
    returns_a_finding,
    same_seed_same_finding,
    succeeds_on_careless,
)

PEOPLE = 64


def bits(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(np.arange(PEOPLE) % 2)


# Oracles


def sums(scale: float, most: int | None, seed: int = 5) -> Example[SumOracle]:
    """Sums of a secret column with Laplace noise, until so many were answered."""
    noise, secret, given = np.random.default_rng(seed), bits(seed + 1), []

    def ask(weights: Any) -> float:
        if most is not None and len(given) >= most:
            raise BudgetError("the budget is spent")
        given.append(float(weights @ secret + noise.laplace(0, scale)))
        return given[-1]

    return Example(SumOracle(ask, PEOPLE), secret.tolist())


def repeated(scale: float, most: int | None) -> Example[CountOracle]:
    """One count of 417 with new noise each time."""
    noise, given = np.random.default_rng(11), []

    def ask(condition: str) -> float:
        if most is not None and len(given) >= most:
            raise BudgetError("the budget is spent")
        given.append(417 + noise.laplace(0, scale))
        return given[-1]

    return Example(CountOracle(ask), 417)


AGES = np.random.default_rng(3).integers(0, 100, 400)
WOMEN = np.random.default_rng(4).integers(0, 2, 400).astype(bool)
TARGETS = tuple(f"age = {age}" for age in range(40))


def counted(scale: float, least: int) -> Example[CountOracle]:
    """Counts by conditions on age and sex; small ones are refused."""
    noise = np.random.default_rng(12)

    def ask(condition: str) -> float:
        python = condition.replace("NOT ", "~").replace(" OR ", " | ").replace(" = ", " == ")
        rows = int(eval(python, {}, {"age": AGES, "women": WOMEN}).sum())
        if rows < least:
            raise NotAllowedError("too few")
        return rows + (noise.laplace(0, scale) if scale else 0.0)

    truth = [int((age == AGES).sum()) for age in range(40)]
    return Example(CountOracle(ask), truth)


def answers(noise: float) -> Example[LinearAnswers]:
    """Answers of which a tenth is arbitrary, the others within ±noise."""
    chance, channel = np.random.default_rng(2), Channel(PEOPLE, 10, noise=noise)
    asked, secret = channel.ask(chance), bits(2)
    return Example(LinearAnswers(asked, channel.answer(asked, secret, 0.1, chance)), secret)


# Tables


CELLS = CellLayout({"sex": ("F", "M"), "age": tuple(range(6)), "town": ("A", "B", "C")})


def tables(scale: float) -> Example[PublishedTables]:
    """All two-way tables of twenty people, exactly or with noise."""
    chance = np.random.default_rng(21)
    truth = np.bincount(chance.integers(0, CELLS.many, 20), minlength=CELLS.many)
    whole, names = truth.reshape(CELLS.shape), list(CELLS.values)
    released = []
    for pair in combinations(range(3), 2):
        (rest,) = {0, 1, 2} - {*pair}
        counts = whole.sum(axis=rest).astype(float)
        noisy = counts + (chance.laplace(0, scale, counts.shape) if scale else 0)
        released.append((tuple(names[axis] for axis in pair), noisy))
    return Example(PublishedTables(CELLS, released), truth)


def chain(accounted: bool) -> Example[ExactReleases]:
    """A chain of cells, of which every sum of two neighbours was released exactly."""
    cells = 60
    rows = sparse.csr_array(np.eye(cells, dtype=np.int64)[:-1] + np.eye(cells, k=1, dtype=int)[:-1])
    system = System.of(rows, [(100, 100)] * (cells - 1), [f"sum {i}" for i in range(cells - 1)], [])
    return Example(ExactReleases(system, float(cells) if accounted else None))


# Files


def people(seed: int, rows: int = 300) -> pa.Table:
    chance = np.random.default_rng(seed)
    return pa.table(
        {
            "born": chance.integers(1930, 2010, rows),
            "sex": chance.integers(0, 2, rows),
            "zip": chance.integers(0, 200, rows),
            "ill": chance.integers(0, 5, rows),
        }
    )


def linked(private: bool) -> Example[TwoFiles]:
    """A file and the same people; or a file of others, who were made up."""
    known = people(31)
    published = people(32) if private else known
    return Example(TwoFiles(published, known), list(range(known.num_rows)))


def crowds(size: int) -> Example[list[PublishedFile]]:
    """Three releases of the same people, each in other crowds of so many."""
    chance, ill = np.random.default_rng(41), np.random.default_rng(42).integers(0, 12, 600)
    releases = []
    for _ in range(3):
        crowd = chance.permutation(600) // size
        data = {"crowd": crowd, "ill": ill, "person": np.arange(600)}
        releases.append(PublishedFile(data, ["crowd"], "ill", "person"))
    return Example(releases)


def rated(seed: int) -> Ratings:
    chance = np.random.default_rng(seed)
    who, what = chance.integers(0, 400, 12_000), chance.integers(0, 500, 12_000)
    return Ratings.of(who, what, chance.integers(1, 6, 12_000), shape=(400, 500))


def rating_file(private: bool) -> Example[Ratings]:
    truth = rated(51)
    return Example(rated(52) if private else truth, truth)


def network(private: bool) -> Example[PublishedNetwork]:
    """Friendships as they are; or as many between anybody."""
    chance = np.random.default_rng(61)
    edges = chance.integers(0, 500, (5000, 2))

    def others(grown: AdjacencyLists, own: np.random.Generator) -> AdjacencyLists:
        many = len(grown.neighbors)
        return AdjacencyLists.of(own.integers(0, many, (len(grown.edges()), 2)), many)

    return Example(PublishedNetwork(AdjacencyLists.of(edges, 500), others if private else None))


# Made-up records


def surveyed(seed: int) -> dict[str, np.ndarray]:
    """People drawn alike; who stands alone, stands alone by chance."""
    chance = np.random.default_rng(seed)
    return {
        "born": chance.integers(1930, 2010, 400),
        "zip": np.array([f"z{code}" for code in chance.integers(0, 60, 400)]),
        "ill": np.array([f"i{code}" for code in chance.integers(0, 6, 400)]),
    }


def records(private: bool) -> Example[Any]:
    """The people themselves, or others."""
    people = surveyed(51)
    return Example(surveyed(53) if private else people, Population(people, surveyed(52)))


def generator(private: bool) -> Example[RecordGenerator]:
    """What copies its rows, or does not look at them."""
    people = np.random.default_rng(54).integers(0, 12, (200, 3))
    always = np.random.default_rng(55).integers(0, 12, (200, 3))

    def make(rows: np.ndarray) -> SyntheticRecords:
        made = always if private else rows
        return SyntheticRecords(made, np.ones(len(made), np.int64))

    return Example(RecordGenerator(make, people, (12, 12, 12), epsilon=1.0))


CASES = {
    "reconstruct": Case(
        Reconstruct(questions=8 * PEOPLE, seed=1),
        lambda: sums(0.5, None),
        lambda: sums(16.0, 16),
    ),
    "fourier": Case(Reconstruct(fourier=True), lambda: sums(0.5, None), lambda: sums(64.0, None)),
    "decoding": Case(Decoding(), lambda: answers(0.1), lambda: answers(200.0)),
    "averaging": Case(
        Averaging("everybody", 0.5, 4000), lambda: repeated(2.0, None), lambda: repeated(40.0, 20)
    ),
    "tracker": Case(
        Tracker(TARGETS, ("women",)), lambda: counted(0.0, 50), lambda: counted(80.0, 0)
    ),
    "microdata": Case(
        Microdata(), lambda: tables(0.0), lambda: tables(20.0), Microdata(noise=20.0)
    ),
    "uniqueness": Case(
        Uniqueness(("born", "sex", "zip"), "ill"),
        lambda: Example(people(31)),
        why_not="it measures a file of records; what is private publishes none of a person",
    ),
    "linkage": Case(Linkage(("born", "sex", "zip")), lambda: linked(False), lambda: linked(True)),
    "probable linkage": Case(
        Linkage(("born", "sex", "zip"), {"born": 1.0}), lambda: linked(False), lambda: linked(True)
    ),
    "intersection": Case(Intersection(), lambda: crowds(5), lambda: crowds(600)),
    "ratings": Case(
        RatingsAttack(facts=8, wrong=2, seed=1),
        lambda: rating_file(False),
        lambda: rating_file(True),
    ),
    "singling-out": Case(SinglingOut(attacks=200), lambda: records(False), lambda: records(True)),
    "inference": Case(
        Inference(("ill",), attacks=200), lambda: records(False), lambda: records(True)
    ),
    "membership": Case(
        Membership(shadows=24, targets=8), lambda: generator(False), lambda: generator(True)
    ),
    "network": Case(
        NetworkAttack(targets=20, trials=10, seed=1), lambda: network(False), lambda: network(True)
    ),
    "friends": Case(
        NetworkAttack(friends=6, counts=True, trials=30, seed=1),
        lambda: network(False),
        lambda: network(True),
    ),
    "prior": Case(
        PriorLeak(epsilon=1.0, trials=40, seed=1),
        lambda: chain(accounted=False),
        lambda: chain(accounted=True),
        PriorLeak(epsilon=0.1, accounted=True, trials=40, seed=1),
    ),
}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_every_attack_keeps_the_laws(law, case):
    law(case)  # raises an AssertionError where it is broken


def test_every_attack_of_the_registry_has_a_case():
    assert {type(case.attack).name for case in CASES.values()} == set(OWN)
    assert set(attack_names()) >= set(OWN)


# The laws have teeth: each catches an attack that breaks it


@dataclass(frozen=True)
class Guess(CheckedOptions):
    """Says what was published; as an attack it is honest."""

    name: ClassVar[str] = "guess"
    sentence: ClassVar[str] = "What was published is the guess."

    tries: int = option(10, "How often.", 1, 100)

    def run(self, published: float, truth: float | None = None) -> Finding:
        rate = wilson(float(published), self.tries)
        return Finding("guess", "A claim.", "all", rate, 0.1, True, "a paper", "a remedy")


class Nameless(Guess):
    """Its sentence is none."""

    sentence = "no full stop"


class Outside(Guess):
    """Its interval is beside its figure."""

    def run(self, published, truth=None):
        return replace(super().run(published), success=Rate(0.9, 0.95, 1.0))


class Arrayed(Guess):
    """It hands out numbers of a library."""

    def run(self, published, truth=None):
        return replace(super().run(published), details={"figure": np.float64(1)})


class Moody(Guess):
    """It draws without a seed."""

    def run(self, published, truth=None):
        return replace(super().run(published), claim=str(np.random.default_rng().random()))


class Peeking(Guess):
    """It does nothing without the truth."""

    def run(self, published, truth=None):
        assert truth is not None
        return super().run(published)


@dataclass(frozen=True)
class Unchecked(Guess):
    """It takes any option."""

    def __post_init__(self):
        """Nothing is checked."""


class Blind(Guess):
    """It learns nothing of anybody."""

    def run(self, published, truth=None):
        return super().run(0.0)


class Lucky(Guess):
    """It claims to know whatever is published."""

    def run(self, published, truth=None):
        return super().run(1.0)


@pytest.mark.parametrize(
    ("attack", "law"),
    [
        (Nameless, has_a_name_and_a_sentence),
        (Outside, returns_a_finding),
        (Arrayed, returns_a_finding),
        (Moody, same_seed_same_finding),
        (Peeking, needs_no_truth),
        (Unchecked, refuses_wrong_options),
        (Blind, succeeds_on_careless),
        (Lucky, fails_on_private),
    ],
)
def test_each_law_catches_an_attack_that_breaks_it(attack, law):
    def case(kind):
        return Case(kind(), lambda: Example(1.0, 1.0), lambda: Example(0.0, 1.0))

    check_attack(case(Guess))
    with pytest.raises(AssertionError):
        law(case(attack))


def test_who_shows_nothing_private_says_why():
    case = Case(Guess(), lambda: Example(1.0))
    with pytest.raises(AssertionError, match="say why"):
        fails_on_private(case)
