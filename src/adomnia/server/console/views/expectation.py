"""What is expected of an answer before it is paid for, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia import formatting

if TYPE_CHECKING:
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
    units = plan.margin_units
    margins = tuple((n, _margin(m, units[n])) for n, m in plan.margins.items())
    sure = formatting.confidence(plan.confidence)
    cost, left_then = map(formatting.symbol_amounts, (plan.spent, after))
    left_out = tuple(part.says for part in plan.left_out)
    return Expectation(cost, left_then, not over, sure, margins, left_out)


def _margin(margin: float | None, unit: str) -> str:
    if margin is None:
        return "comes with the answer: it depends on how many rows there are"
    size = formatting.margin(margin, unit)
    return f"{size} in rank" if unit == "rows" else size
