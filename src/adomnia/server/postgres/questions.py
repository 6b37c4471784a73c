"""Questions: what a SELECT becomes. Looking at one is free; running it pays, once.

A statement about the catalogue is looked up. Everything else is asked of the private table,
under the name of whoever is logged in, and paid with what they have set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adomnia.curator.answers.answer import Answer
from adomnia.errors import BudgetError
from adomnia.present.formatting import amounts
from adomnia.server.postgres.notices import notices_of
from adomnia.server.postgres.parameters import Template, parameter_count, template
from adomnia.server.postgres.row_count_probe import counted_rows
from adomnia.wire.errors import WireError, placed
from adomnia.wire.statements.connection_state import Visit
from adomnia.wire.statements.results import Column, Command, Outcome
from adomnia.wire.values import types

__all__ = ["Question", "ask_command", "look"]

HOW_TO_PAY = "for example SET adomnia.epsilon = 0.1; EXPLAIN shows the margin that gives, for free"

OIDS = {
    "bigint": types.INT8,
    "numeric": types.NUMERIC,
    "double precision": types.FLOAT8,
    "text": types.TEXT,
    "boolean": types.BOOL,
    "date": types.DATE,
}


@dataclass(frozen=True)
class Question:
    """A question of the private table: its columns, which of them are noisy, its parameters."""

    sql: str
    columns: tuple[Column, ...]
    noisy: tuple[str, ...]
    template: Template | None

    def text(self, values: Sequence[Any]) -> str:
        """The statement with its values."""
        return self.sql if self.template is None else self.template.filled(values)

    def shown(self, margins: bool) -> tuple[Column, ...]:
        """The columns as a client sees them, with the margins beside them on request."""
        extra = (Column(f"{name}_margin", types.FLOAT8) for name in self.noisy)
        return (*self.columns, *extra) if margins else self.columns


async def ask_command(visit: Visit, sql: str, declared: Sequence[int]) -> Command:
    """A SELECT that is understood: of the catalogue, or of the private table."""
    private = await visit.run(_private, visit, sql, declared)
    if private is not None:
        return private
    async with visit.lookups:
        return await visit.run(_public, visit, sql, declared)


def _public(visit: Visit, sql: str, declared: Sequence[int]) -> Command:
    oids = tuple(visit.catalogue.parameters(sql, list(declared)))
    found = visit.catalogue.describe(sql, list(oids))

    async def run(values: Sequence[Any]) -> Outcome:
        async with visit.lookups:
            result = await visit.run(visit.catalogue.run, sql, list(values))
        return Outcome("SELECT {}", found, result.rows)

    return Command(run, lambda: found, oids)


def _private(visit: Visit, sql: str, declared: Sequence[int]) -> Command | None:
    """A question of the private table; None for what the catalogue answers."""
    if visit.catalogue.answers(sql):
        return None
    inner = counted_rows(sql)
    if inner is not None:
        return _counting(visit, inner)
    question = look(visit, sql, declared)
    oids = question.template.parameters if question.template else tuple(declared)
    return Command(
        lambda values: _ask(visit, question, values),
        lambda: question.shown(visit.settings.margins),
        oids,
    )


def _counting(visit: Visit, inner: str) -> Command:
    """How many rows the answer to the inner question has."""
    with placed(None):
        question = look(visit, inner)
    columns = [Column("count", types.INT8)]

    async def run(_: Sequence[Any]) -> Outcome:
        with placed(None):
            found = await _ask(visit, question, ())
        return Outcome("SELECT {}", columns, [(len(found.rows),)], found.notices)

    return Command(run, lambda: columns)


# Looking


def look(visit: Visit, sql: str, declared: Sequence[int] = ()) -> Question:
    """The question that a statement asks; blocks, reads no data, spends nothing."""
    count = max(parameter_count(sql), len(declared))
    attributes = visit.service.database.policy.attributes
    made = template(sql, declared, attributes) if count else None
    with placed(0 if made is None else None):
        text = sql if made is None else made.filled(made.examples)
        if made is None:
            visit.session.bind(text)  # of examples it is not said what is never true
        described = visit.session.describe(text)
    columns = [Column(found.name, OIDS[found.type]) for found in described]
    noisy = tuple(found.name for found in described if found.is_noisy)
    return Question(sql, tuple(columns), noisy, made)


# Asking


async def _ask(visit: Visit, question: Question, values: Sequence[Any]) -> Outcome:
    """A private answer, its debit on disk before the data is read."""
    text = question.text(values)
    with placed(0 if question.template is None else None), visit.watched() as watch:
        await _payable(visit, text)
        try:
            answer = await visit.service.ask(
                visit.person,
                text,
                watch=watch,
                **visit.settings.asked,
            )
        except BudgetError as error:
            left = amounts(await visit.run(visit.session.remaining))
            raise WireError(
                error.message, error.hint, error.sqlstate, detail=f"left: {left}"
            ) from None
    if any(answer.spent.values()):
        visit.paid()
    rows = _with_margins(answer, question.noisy)
    return Outcome("SELECT {}", question.shown(margins=True), rows, notices_of(answer))


async def _payable(visit: Visit, text: str) -> None:
    """Refuses a question that nothing is set to pay with, unless it is free."""
    if visit.settings.pays:
        return
    bound = await visit.run(visit.session.bind, text)
    if not bound.public:
        raise WireError("every answer is paid for: say how much", HOW_TO_PAY, "55000")


def _with_margins(answer: Answer, noisy: Sequence[str]) -> list[tuple[Any, ...]]:
    columns = [answer.margins.get(name) or [None] * len(answer.rows) for name in noisy]
    return [
        (*row, *(column[number] for column in columns)) for number, row in enumerate(answer.rows)
    ]
