"""Measured drawn many times over with the real samplers, and how often the truth is within.

Their bits are seeded: shares of ten thousand draws are compared with narrow bounds.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from adomnia.curator.answers.answer import tabulate
from adomnia.curator.planning.plan import LossRequest, Plan, make_plan
from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.noise import gaussian, laplace
from adomnia.mechanisms.noisy_values import Measured, Noisy
from adomnia.mechanisms.randomness import Bits
from adomnia.policy.policy import Policy
from adomnia.privacy.composition import Budget
from adomnia.privacy.neighbors import Neighbors
from adomnia.queries.expression import Column
from adomnia.queries.grouping import cell_count
from adomnia.queries.operations import evaluate
from adomnia.queries.ranges import Number
from adomnia.queries.sql.bind import bind
from adomnia.schema.domain import Categories, Grid
from adomnia.schema.table import Attribute, Table
from tests.chance.seeded import SeededBits
from tests.enforced import measured

RUNS = 10_000

ATTRIBUTES = {
    "x": Attribute("x", Grid(Fraction(0), Fraction(120))),
    "y": Attribute("y", Grid(Fraction(-5), Fraction(50), Fraction(1, 2))),
    "g": Attribute("g", Categories(("a", "b"))),
    "run": Attribute("run", Grid(Fraction(1), Fraction(RUNS))),
}
TABLE = Table("t", ATTRIBUTES, unit="p")
RUN = Column("run", Number(1, RUNS, nullable=False))
Row = dict[str, Any]
ROW = Neighbors()


def policy(neighbors: Neighbors) -> Policy:
    """A policy with all the budget one could want."""
    budget = Budget(Fraction(10**9), Fraction(1, 10**6))
    return Policy(Path("p"), "s", "t", neighbors, budget, ATTRIBUTES, unit=TABLE.unit)


def planned(sql: str, neighbors: Neighbors = ROW, **asked: str) -> Plan:
    """The plan of a statement about the table t."""
    question = bind(sql, TABLE, (*ATTRIBUTES, "p"))
    loss = LossRequest(**{name: Fraction(value) for name, value in asked.items()})
    return make_plan(question, policy(neighbors), loss)


def draw(noise: Noise, shape: tuple[int, ...], bits: Bits) -> Any:
    """Real noise of this shape."""
    sample = laplace.sample if noise.kind == "laplace" else gaussian.sample
    return sample(noise.parameter, int(np.prod(shape)), bits).reshape(shape)


def simulate(plan: Plan, rows: list[Row], runs: int = RUNS, terms: int = 1) -> Measured:
    """What a statement without keys measures, `runs` times: one cell for each run.

    With `terms` each component has that many draws, as if its cell were the sum of as many.
    """
    where = plan.question.where
    kept = [row for row in rows if where is None or evaluate(where, row) is True]
    parts, bits = [], SeededBits(1)
    for step in plan.steps:
        assert step.noise is not None
        found = np.array([measured(step.measurement, kept)], dtype=object)
        exact = np.repeat(found, runs, axis=0)
        noise = sum(draw(step.noise, exact.shape, bits) for _ in range(terms))
        parts.append(Noisy(exact + noise, step.noise, np.full(runs, terms, np.int64)))
    return Measured(tuple(parts))


def coverage(plan: Plan, readings: Measured, truth: list[float], confidence: float = 0.95) -> Any:
    """For each column, how often the truth is within the margin.

    The runs become the cells of a made-up key, so that one call tabulates all of them.
    """
    question = plan.question
    assert cell_count(question.keys) == 1
    keyed = type(question)(**{**vars(question), "keys": (RUN,)})
    table = tabulate(type(plan)(**{**vars(plan), "question": keyed}), readings, confidence, {})
    assert len(table.rows) == len(readings.parts[0].values) == RUNS
    hits = []
    for column, (name, true) in enumerate(zip(table.columns, truth, strict=True)):
        margins = table.margins[name]
        off = [abs(row[column] - true) for row in table.rows]
        inside = [m is None or o <= m + 1e-9 * abs(true) for o, m in zip(off, margins, strict=True)]
        hits.append(sum(inside) / len(inside))
    return hits
