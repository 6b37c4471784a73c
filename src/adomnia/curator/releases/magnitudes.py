"""Magnitudes: numbers that are added up by cell beside the counts (`magnitudes.md`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from adomnia.curator.table_backend import TableBackend
from adomnia.errors import QuestionError
from adomnia.formatting import value
from adomnia.limits import MAX_SUMMED_STEPS
from adomnia.privacy.contribution import Clamped
from adomnia.privacy.neighbors import Neighbors
from adomnia.queries.expression import Column, Constant, Expr, columns
from adomnia.queries.grouping import shows_null
from adomnia.queries.operations import call, constant, evaluate, nearest
from adomnia.queries.ranges import Number

__all__ = ["Magnitude", "bind_magnitudes", "neighbors_of", "present"]


@dataclass(frozen=True)
class Magnitude:
    """A number of a row that is added up: from `low` to `high` steps, measured from the middle.

    What is no attribute is told as it was `written`.
    """

    name: str
    expr: Expr
    low: int
    high: int
    step: Fraction
    written: str | None = None

    @property
    def centre(self) -> int:
        """The number in the middle, in steps: a row adds how far it is from there."""
        return (self.low + self.high) // 2

    @property
    def reach(self) -> int:
        """The most that a row adds or takes away, in steps."""
        return max(1, self.high - self.centre)

    @property
    def contribution(self) -> Clamped:
        """What a row adds, as the statement enforces it."""
        middle = constant(self.centre, self.step)
        argument = call("sub", self.expr, middle) if self.centre else self.expr
        return Clamped(argument, self.low - self.centre, self.high - self.centre)

    @property
    def columns(self) -> tuple[str, ...]:
        """What it reads of a row."""
        return tuple(dict.fromkeys(column.name for column in columns(self.expr)))

    def shown(self, steps: Any) -> Any:
        """So many steps as a person reads them."""
        exact = Fraction(steps) * self.step
        return int(exact) if self.step.denominator == 1 and exact.denominator == 1 else float(exact)

    def to_json(self) -> dict[str, Any]:
        """What is summed, and between which bounds, as plain JSON values."""
        written = {} if self.written is None else {"written": self.written}
        bounds = {"low": self.shown(self.low), "high": self.shown(self.high)}
        return {"name": self.name, **written, **bounds, "step": str(self.step)}

    @property
    def notes(self) -> tuple[str, str]:
        """What is clamped, and what a row without any of its columns adds, if it is in a table."""
        low, high = (value(self.shown(end)) for end in (self.low, self.high))
        missing = evaluate(self.expr, dict.fromkeys(self.columns))
        without = "is in no table" if missing is None else f"adds {value(self.shown(missing))}"
        return (
            f"{self.name} counts as {low} to {high}: what lies beyond is the nearest of these",
            f"a row without {' and '.join(self.columns)} {without}",
        )


def neighbors_of(magnitude: Magnitude, neighbors: Neighbors) -> Neighbors:
    """The neighbours of counts for which sums are priced: a row counts `reach` times."""
    assert not neighbors.replaces  # a changed row is one that goes and one that comes
    return replace(neighbors, group=neighbors.group * magnitude.reach)


def present(magnitudes: tuple[Magnitude, ...]) -> tuple[Expr, ...]:
    """That a row has all of them: without one it is in no table."""
    return tuple(call("not", call("is_null", one.expr)) for one in magnitudes)


def bind_magnitudes(backend: TableBackend, texts: tuple[str, ...]) -> tuple[Magnitude, ...]:
    """What the texts name, each once; refused, where that is no number with public bounds."""
    found: dict[str, Magnitude] = {}
    for text in texts:
        one = _bound(backend, text.strip())
        if one.name in found:
            raise QuestionError(f"{one.name[:60]!r} is summed twice", "name it once")
        found[one.name] = one
    return tuple(found.values())


def _bound(backend: TableBackend, text: str) -> Magnitude:
    from adomnia.queries.sql.fragments import bind_key  # noqa: PLC0415 (slow to import)

    attributes = backend.policy.attributes
    domains = {name: attribute.domain for name, attribute in attributes.items()}
    alias, bound = bind_key(text, backend.columns, domains)
    expr = nearest(bound)  # as an aggregate reads it
    written = " ".join(text.split())
    plain = isinstance(expr, Column) and alias is None
    name = expr.name if plain and isinstance(expr, Column) else alias or written
    spread = expr.range
    if not isinstance(spread, Number) or isinstance(expr, Constant):
        raise QuestionError(
            f"{name[:60]!r} is no number that can be added up",
            "declare low and high of the column in the policy",
        )
    _refuse_null(name, expr, attributes)
    found = Magnitude(name, expr, spread.low, spread.high, spread.step, None if plain else written)
    farthest = max(abs(found.low), abs(found.high))
    if farthest > MAX_SUMMED_STEPS:
        raise QuestionError(
            f"{name[:60]!r} goes up to {farthest:,} steps",
            f"numbers of at most {MAX_SUMMED_STEPS:,} are added up: declare a coarser step or "
            "narrower bounds",
        )
    return found


def _refuse_null(name: str, expr: Expr, attributes: Mapping[str, Any]) -> None:
    if shows_null(expr, attributes):
        raise QuestionError(
            f"{name[:60]!r} may be NULL by the policy, which adds nothing and has no average",
            f"say what such a row adds, for example COALESCE({name[:60]}, 0)",
        )
