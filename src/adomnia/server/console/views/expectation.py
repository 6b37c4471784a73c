"""What is expected of an answer before it is paid for, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia import formatting
from adomnia.curator.answers.omissions import sentences
from adomnia.curator.plan_view import margin_told

if TYPE_CHECKING:
    from adomnia.curator.query_plan import QueryPlan
    from adomnia.server.accounts import Person
    from adomnia.server.service import Service

__all__ = ["Expectation", "expected"]

ZERO = Fraction(0)


@dataclass(frozen=True)
class Expectation:
    """The cost, what would be left, and sentences: on the margin of each column, and on what is
    left out."""

    cost: str
    left: str
    fits: bool
    confidence: str
    margins: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The expectation as plain JSON values."""
        return {**vars(self), "margins": [list(pair) for pair in self.margins],
                "left_out": list(self.left_out)}  # fmt: skip


def expected(service: Service, person: Person, sql: str, said: Mapping[str, Any]) -> Expectation:
    """What `plan` forecasts for this person; reads no data and spends nothing."""
    session = service.session(person)
    plan, left = session.plan(sql, **said), session.remaining()
    over = [name for name, value in plan.spent.items() if value > left.get(name, value)]
    spent = {name: plan.spent.get(name, ZERO) for name in left}
    after = {name: max(value - spent[name], ZERO) for name, value in left.items()}
    margins = tuple((n, _margin(plan, n, m)) for n, m in plan.margins.items())
    sure = formatting.confidence(plan.confidence)
    cost, left_then = map(formatting.symbol_amounts, (plan.spent, after))
    return Expectation(cost, left_then, not over, sure, margins, sentences(plan.left_out))


def _margin(plan: QueryPlan, name: str, margin: float | None) -> str:
    if margin is None and name not in plan.estimated_margins:
        return "comes with the answer: it depends on how many rows there are"
    if margin is None or name in plan.estimated_margins:
        return margin_told(plan, name, margin)
    size = formatting.margin(margin, plan.margin_units[name])
    return f"{size} in rank" if plan.margin_units[name] == "rows" else size
