"""Choices among counts: the largest, those above a bar, a price; and bounds that are found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.adversary.grammar import Grammar
from tests.adversary.pairs import Bench, Stretch
from tests.adversary.sql import ANYWHERE, Aim, opened

KINDS = ("noisy_max", "above", "auction", "bounds", "quality")


def run(stretch: Stretch, aim: Aim = ANYWHERE) -> None:
    """Choices in all worlds; those whose kinds are aimed at, where some are."""
    kinds = aim.statements or KINDS
    for chance in stretch.worlds():
        world = aim.world(chance)
        rows = world.table(chance)
        tables = [rows, *(world.neighbour(rows, chance) for _ in range(5))]
        with opened(world, tables, "parquet") as databases:
            bench = Bench(stretch.tally, "choices", world.relation.label, databases)
            for _ in range(stretch.each):
                what, asked = choice(Grammar(world, chance), chance.choice(kinds))
                bench.compare(asked, what)


def choice(grammar: Grammar, kind: str) -> tuple[str, Any]:
    """A choice of this kind in words, and as a use."""
    chance = grammar.chance
    epsilon = chance.choice(["0.3", "1", "4"])
    conditions = [grammar.truth(1) for _ in range(chance.randrange(2, 6))]
    if kind == "noisy_max":
        return (
            f"noisy_max {conditions} at {epsilon}",
            lambda database: database.session().noisy_max(conditions, epsilon),
        )
    if kind == "above":
        bar, cutoff = chance.choice([0, 2, 5, 9]), chance.choice([1, 1, 2])
        return (
            f"above {bar} {conditions} cutoff {cutoff} at {epsilon}",
            lambda database: database.session().above(bar, conditions, epsilon, cutoff=cutoff),
        )
    if kind == "quality":
        return (
            f"what is left out, at {epsilon}",
            lambda database: SimpleNamespace(found=database.measure_quality(epsilon)),
        )
    if kind == "bounds":
        found = chance.choice(["age", "income"])
        return f"bounds of {found} at {epsilon}", lambda database: database.bounds(found, epsilon)
    prices = sorted(chance.sample(range(1, 60), chance.randrange(2, 6)))
    column = chance.choice(["age", "income"])
    return f"auction {column} {prices} at {epsilon}", lambda database: database.session().auction(
        column, prices, epsilon
    )
