"""Tables that are released, by every method, and models that are fitted through a session."""

from __future__ import annotations

import random
from dataclasses import replace
from importlib import import_module
from itertools import combinations
from typing import Any

from tests.adversary.pairs import Bench, Stretch
from tests.adversary.seams import choosing
from tests.adversary.sql import opened
from tests.adversary.worlds import World

METHODS = ("microdata", "microdata", "fourier", "fourier-shift", "fourier-lp", "marginals-lp")
MODELS = (
    ("k_means", "KMeans", {"n_clusters": 2}, False),
    ("components", "PCA", {"n_components": 1}, False),
    ("naive_bayes", "GaussianNB", {}, True),
    ("naive_bayes", "CategoricalNB", {}, True),
    ("decision_tree", "DecisionTree", {}, True),
    ("random_forest", "RandomForest", {}, True),
    ("perceptron", "Perceptron", {}, True),
    ("item_sets", "FrequentItemSets", {}, False),
)
RELATIONS = ("unbounded", "bounded", "attribute", "bit", "unit", "bounded unit")
IMPOSSIBLE = (
    "sex = 'M' AND ill = 'yes'",
    "zip IN (1, 3) AND NOT smoker",
    "ill = 'Flu'",
    "COALESCE(zip, 4) = 4 OR sex IS NULL",
    "age <> 12 AND smoker",
)
ATTRIBUTES = ("sex", "ill", "zip", "smoker")
KEYS = (
    "zip / 2",
    "age / 10 AS decade",
    "CASE WHEN ill = 'yes' OR sex = 'M' THEN 'a, b' WHEN smoker THEN 'c' END AS band",
    "CASE WHEN city LIKE 'a%' THEN 1 ELSE 2 END AS town",
    "COALESCE(zip, 9) AS code",
    "date_trunc('year', seen)",
    "EXTRACT(quarter FROM seen)",
)

SUMS = (
    "income",
    "age",
    "LEAST(income, 7) AS least",
    "COALESCE(zip, -3) * 2 AS code2",
    "CASE WHEN smoker THEN age ELSE 0 - age END AS turned",
    "COALESCE(income, 0) + age AS both",
)


def run(stretch: Stretch) -> None:
    """Releases by every method."""
    _run(stretch, "releases", release, 12)


def run_models(stretch: Stretch) -> None:
    """Models, all of whose reads are answers."""
    _run(stretch, "mining", model, 3)


def _run(stretch: Stretch, part: str, make: Any, each: int) -> None:
    for chance in stretch.worlds():
        world = World.drawn(chance, chance.choice(RELATIONS))
        if part == "releases" and world.relation.name == "bounded" and chance.random() < 0.5:
            world = replace(world, public=tuple(chance.sample(ATTRIBUTES, 2)))
        if part == "releases" and chance.random() < 0.4:
            world = replace(world, impossible=tuple(chance.sample(IMPOSSIBLE, 2)))
        rows = world.table(chance)
        tables = [rows, *(world.neighbour(rows, chance) for _ in range(4))]
        with opened(world, tables, "parquet") as databases:
            label = world.relation.label + (" some public" if world.public else "")
            bench = Bench(stretch.tally, part, label, databases)
            for _ in range(each):
                what, asked = make(world, chance)
                bench.compare(asked, f"{what} public {world.public} not {world.impossible}")


def release(world: World, chance: random.Random) -> tuple[str, Any]:
    """A release in words, and as a use."""
    method = chance.choice(METHODS)
    terms: dict[str, Any] = {world.currency: chance.choice(["0.5", "2"]), "method": method}
    if method == "microdata":
        terms["unbiased"] = chance.random() < 0.5
        terms["sums"] = chance.sample(SUMS, chance.choice([0, 0, 1, 2]))
        terms["adaptive"] = not terms["unbiased"] and not terms["sums"]
    terms["accept"] = True
    known = (*ATTRIBUTES, *KEYS) if chance.random() < 0.4 else ATTRIBUTES
    listed = [chance.sample(known, chance.choice([1, 2, 2])) for _ in range(chance.choice([1, 2]))]
    if terms.get("adaptive"):  # so that there is something to choose from
        terms["marginals"] = chance.sample(list(combinations(ATTRIBUTES, 2)), 3)
    elif chance.random() < 0.3:
        terms["ways"] = 1
    else:
        terms["marginals"] = listed
    return f"release {terms}", lambda database: _released(database, terms)


def _released(database: Any, terms: dict[str, Any]) -> Any:
    """A release; one that chooses its tables does so also where that is not worth it."""
    with choosing():
        return database.release(database.plan_release(**terms))


def model(world: World, chance: random.Random) -> tuple[str, Any]:
    """A model in words, and as a use."""
    room, name, given, target = chance.choice(MODELS)
    kind = getattr(import_module(f"adomnia.mining.{room}"), name)
    numbers = ["age", "income"]
    features = ["ill", "zip"] if name in ("CategoricalNB", "FrequentItemSets") else numbers
    terms = {"epsilon": chance.choice(["1", "30"])}
    parts = (features, "sex") if target else (features,)
    return f"{name}({given}).fit({parts}, {terms})", lambda database: kind(**given).fit(
        database.session(), *parts, **terms
    )
