"""Asks a statement and looks at all that comes back: the answer, the error, the noise in it."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import adomnia
from adomnia.curator.answers.answer import tabulate
from adomnia.curator.planning.plan import LossRequest, Plan, make_plan
from adomnia.errors import AdomniaError
from adomnia.mechanisms import measurement_mechanisms
from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.noisy_values import Measured, Noisy
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.loss import Loss
from adomnia.queries.measurement import Counts, Distinct, Moments, Sum
from adomnia.queries.question import Given

EPSILON = "1/100"
NUMBERS = itertools.count()
MARKERS = ("Zqx", "987654", "31415.9", "2999-12-31")
"""Parts of values that stand in the data and in no statement."""

POLICY = """
[data]
source = "people.parquet"
table = "people"
[privacy]
epsilon = 1e9
delta = 1e-5
confirmed = true
[attributes.sex]
values = ["F", "M"]
[attributes.age]
low = 0
high = 120
[attributes.income]
low = 0
high = 200000
[attributes.score]
low = -10
high = 10
step = 0.01
[attributes.region]
values = [1, 2, 3, 4]
[attributes.ok]
values = [true, false]
[attributes.admitted]
kind = "date"
low = "2019-01-01"
high = "2025-12-31"
[public.regions]
source = "regions.csv"
key = "region_id"
"""


def make_town(folder: Path, rows: int = 500) -> adomnia.Database:
    """A table whose values would make a naive engine fail, or speak."""
    chance = np.random.default_rng(1)
    ages = [*chance.integers(-5, 130, rows - 2).tolist(), 987654, None]
    first = date(2018, 6, 1)
    days = [first + timedelta(days=int(x)) for x in chance.integers(0, 3200, rows - 2)]
    table = pa.table({
        "person_id": [f"Zqx{i % 100}" for i in range(rows)],
        "sex": np.array(["F", "M", "Zqxother"])[chance.choice(3, rows, p=[0.5, 0.4, 0.1])],
        "age": pa.array(ages, pa.int64()),
        "income": [*chance.normal(3e4, 9e4, rows - 3).tolist(), math.nan, math.inf, 31415.9],
        "city": [*(f"Zqxcity{i % 4}" for i in range(rows - 1)), None],
        "admitted": [*days, date(2999, 12, 31), None],
        "ok": pa.array([*chance.integers(0, 2, rows - 1).astype(bool).tolist(), None]),
        "score": np.round(chance.normal(0, 3, rows), 2),
        "region": chance.integers(0, 6, rows),
    })  # fmt: skip
    pq.write_table(table, folder / "people.parquet")
    regions = "region_id,name,pop\n1,north,10\n2,south,20\n3,east,30\n"
    (folder / "regions.csv").write_text(regions)
    (folder / "adomnia.toml").write_text(POLICY)
    return adomnia.open(folder / "adomnia.toml")


@dataclass
class Tally:
    """What came of the statements so far."""

    answered: int = 0
    refused: int = 0
    numbers: int = 0
    equal: int = 0
    expected: float = 0.0
    causes: dict[str, int] = field(default_factory=dict)

    @property
    def limit(self) -> float:
        """More equal numbers than this are no accident (a Poisson tail below 10^-8)."""
        return self.expected + 6 * math.sqrt(self.expected) + 12


def put(database: adomnia.Database, sql: str, tally: Tally) -> None:
    """Ask; everything but an answer or a refusal fails, and so does a word from the data."""
    session = database.session(f"analyst {next(NUMBERS)}")
    seen, answer = ask(session, sql)
    if isinstance(answer, AdomniaError):
        assert answer.exit_code in (2, 3), f"exit code {answer.exit_code}: {answer}"
        assert not any(marker in str(answer) for marker in MARKERS)
        assert answer.__cause__ is None
        tally.refused += 1
        tally.causes[answer.message[:60]] = tally.causes.get(answer.message[:60], 0) + 1
        return
    tally.answered += 1
    shown = json.dumps(answer.to_json())
    assert not any(marker in shown for marker in MARKERS)
    cost = database._backend.journal.account().analysts.get(session.analyst, Loss())
    assert cost.epsilon == answer.spent["epsilon"] <= Fraction(EPSILON)
    question = database.bind(sql)
    if question.public:
        assert cost.epsilon == 0
        return
    plan = make_plan(question, database.policy, LossRequest(Fraction(EPSILON)))
    assert bool(plan.event.__dict__) == (cost.epsilon > 0)
    compare(database, plan, seen, answer, tally)


def ask(session: adomnia.Session, sql: str) -> tuple[list[Any], adomnia.Answer | AdomniaError]:
    """The numbers that passed by, and the answer or the refusal."""
    with watched() as seen:
        try:
            return seen, session.ask(sql, EPSILON)
        except AdomniaError as error:
            return seen, error


@contextmanager
def watched() -> Iterator[list[tuple[Any, Any]]]:
    """The exact and the noisy numbers of every measurement, as they pass by."""
    seen: list[tuple[Any, Any]] = []
    original = measurement_mechanisms.add_laplace

    def add(sealed: Any, scale: Fraction, bits: Any) -> Any:
        noisy = original(sealed, scale, bits)
        seen.append((unseal(sealed), noisy))
        return noisy

    measurement_mechanisms.add_laplace = add  # type: ignore[assignment]
    try:
        yield seen
    finally:
        measurement_mechanisms.add_laplace = original


def compare(
    database: adomnia.Database,
    plan: Plan,
    seen: list[tuple[Any, Any]],
    answer: adomnia.Answer,
    tally: Tally,
) -> None:
    """Count how many released numbers are the true ones, and how many chance would make so."""
    additive = [step for step in plan.steps if step.noise is not None]
    if plan.threshold is not None or len(additive) < len(plan.steps):
        return  # selected groups and quantiles have laws of their own
    assert len(seen) == len(plan.steps)
    true, noisy = (_readings(plan, [pair[side] for pair in seen]) for side in (0, 1))
    attributes = database._backend.table.attributes
    again = tabulate(plan, noisy, 0.95, attributes)
    assert repr(again.rows) == repr(answer.rows)  # what is shown is computed from noisy numbers
    question = replace(plan.question, having=None, order=(), limit=None, offset=0)
    whole = replace(plan, question=question)
    released, exact = (tabulate(whole, found, 0.95, attributes).rows for found in (noisy, true))
    for column, output in enumerate(question.outputs):
        chance = _chance(plan, output.value)
        if chance is None:
            continue
        tally.numbers += len(released)
        tally.expected += chance * len(released)
        tally.equal += sum(a[column] == b[column] for a, b in zip(released, exact, strict=True))


def _readings(plan: Plan, values: list[Any]) -> Measured:
    parts = [
        Noisy(part.astype(object), step.noise or Noise("laplace", Fraction(0)),
                np.ones(len(part), np.int64))
        for step, part in zip(plan.steps, values, strict=True)
    ]  # fmt: skip
    return Measured(tuple(parts))


def _chance(plan: Plan, value: Any) -> float | None:
    """How likely noise leaves this column as it is; None for what is public or derived."""
    if not isinstance(value, Given):
        return None
    statistic = plan.question.statistics[value.index]
    step = plan.steps[plan.strategy.source[statistic]]
    if step.noise is None or step.noise.parameter == 0:
        return None
    plain = isinstance(step.measurement, Counts | Sum | Distinct)
    if plain or (isinstance(step.measurement, Moments) and statistic.kind == "count"):
        scale = step.noise.parameter / (1 if plain else max(1, step.sensitivity.l1))
        return math.tanh(float(1 / scale) / 2) if plain else math.tanh(0.005)
    return 0.0 if statistic.kind == "sum" else None  # averages are clamped to their bounds
