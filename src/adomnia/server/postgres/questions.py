"""Questions: what a SELECT becomes. Looking at one is free; running it pays, once.

A statement about the catalogue is looked up. Everything else is asked of the private table,
under the name of whoever is logged in, and paid with what they have set.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from adomnia.curator.answers.answer import Answer
from adomnia.curator.answers.whole import Whole
from adomnia.errors import BudgetError, QuestionError
from adomnia.formatting import amounts, confidence, digits, margin_size
from adomnia.queries.sql.parse import parse
from adomnia.server.postgres.connection_context import ConnectionContext, wire_errors
from adomnia.server.postgres.parameters import Template, parameter_count, template
from adomnia.server.postgres.privacy_settings import asked, pays, shows_margins, wants_intervals
from adomnia.wire.errors import WireError, placed
from adomnia.wire.statements.lexer import ClientStatement, split
from adomnia.wire.statements.results import Command, Notice, Outcome
from adomnia.wire.values import types
from adomnia.wire.values.columns import ResultColumn

__all__ = ["HOW_TO_PAY", "PreparedQuestion", "counted_rows", "look", "notices_of", "query_command"]

HOW_TO_PAY = "for example SET adomnia.epsilon = 0.1; EXPLAIN shows the margin that gives, for free"

ENDS = ("low", "high")

PAID = Notice("what was paid in this transaction stays spent")

OIDS = {
    "bigint": types.INT8,
    "numeric": types.NUMERIC,
    "double precision": types.FLOAT8,
    "text": types.TEXT,
    "boolean": types.BOOL,
    "date": types.DATE,
    "timestamp": types.TIMESTAMP,
}


@dataclass(frozen=True)
class PreparedQuestion:
    """A question of the private table: its columns, which of them are noisy, its parameters."""

    sql: str
    columns: tuple[ResultColumn, ...]
    noisy: tuple[str, ...]
    template: Template | None
    bounded: tuple[str, ...] = ()
    """The columns that have an interval, where one is asked for."""
    whole: tuple[str, ...] = ()
    """The counts and sums of which is known what is left out, when it is looked at."""
    ranked: frozenset[str] = frozenset()
    """The noisy columns whose margins are in rows."""

    def text(self, values: Sequence[Any]) -> str:
        """The statement with its values."""
        return self.sql if self.template is None else self.template.filled(values)

    def shown(self, margins: bool, intervals: bool = False) -> tuple[ResultColumn, ...]:
        """The columns as a client sees them, on request with the margins beside them and intervals
        with nothing left out, and behind these the ends of intervals that were asked for."""
        if not margins:
            return self.columns
        extra = [f"{name}_margin{'_rows' * (name in self.ranked)}" for name in self.noisy]
        extra += [f"{name}_whole_{end}" for name in self.whole for end in ENDS]
        beside = [ResultColumn(name, types.FLOAT8) for name in extra]
        return (*self.columns, *beside, *(self._ends() if intervals else ()))

    def _ends(self) -> Iterator[ResultColumn]:
        """The ends of intervals: days and moments as the column itself, all else as floats."""
        oids = {column.name: column.oid for column in self.columns}
        for name in self.bounded:
            dated = oids[name] in (types.DATE, types.TIMESTAMP)
            for end in ENDS:
                yield ResultColumn(f"{name}_{end}", oids[name] if dated else types.FLOAT8)


async def query_command(
    context: ConnectionContext, statement: ClientStatement, declared: Sequence[int]
) -> Command:
    """A SELECT that is understood: of the catalogue, or of the private table.

    Whether the account is still there is looked up when it is run.
    """
    private = await context.look(_private, context, statement, declared)
    if private is not None:
        return private
    async with context.lookups:
        return await context.look(_public, context, statement.sql, declared)


def _public(context: ConnectionContext, sql: str, declared: Sequence[int]) -> Command:
    oids = tuple(context.catalogue.parameters(sql, list(declared)))
    columns = context.catalogue.describe(sql, list(oids))

    async def run(values: Sequence[Any]) -> Outcome:
        async with context.lookups:
            result = await context.run(context.catalogue.run, sql, list(values))
        return Outcome("SELECT {}", columns, result.rows)

    return Command(run, lambda: columns, oids)


def _private(
    context: ConnectionContext, statement: ClientStatement, declared: Sequence[int]
) -> Command | None:
    """A question of the private table; None for what the catalogue answers."""
    if context.catalogue.answers(statement):
        return None
    inner = counted_rows(statement)
    if inner is not None:
        return _row_count(context, inner)
    question = look(context, statement, declared)
    oids = question.template.parameters if question.template else tuple(declared)
    return Command(
        lambda values: _ask(context, question, values),
        lambda: question.shown(
            shows_margins(context.state.settings), wants_intervals(context.state.settings)
        ),
        oids,
    )


def _row_count(context: ConnectionContext, inner: str) -> Command:
    """How many rows the answer to the inner question has."""
    with placed(None):
        question = look(context, split(inner)[0])
    columns = [ResultColumn("count", types.INT8)]

    async def run(_: Sequence[Any]) -> Outcome:
        with placed(None):
            answer = await _ask(context, question, ())
        return Outcome("SELECT {}", columns, [(len(answer.rows),)], answer.notices)

    return Command(run, lambda: columns)


# Looking


def look(
    context: ConnectionContext, statement: ClientStatement, declared: Sequence[int] = ()
) -> PreparedQuestion:
    """The question that a statement asks; blocks, reads no data, spends nothing."""
    count = max(parameter_count(statement), len(declared))
    with wire_errors():
        pattern = template(statement, declared, context.known_columns) if count else None
    with placed(0 if pattern is None else None), wire_errors():
        text = statement.sql if pattern is None else pattern.filled(pattern.examples)
        if pattern is None:
            context.session.bind(text)  # of examples it is not said what is never true
        described = context.session.describe(text)
    columns = [ResultColumn(each.name, OIDS[each.type]) for each in described]
    noisy = tuple(each.name for each in described if each.is_noisy)
    bounded = tuple(each.name for each in described if each.has_interval)
    whole = tuple(each.name for each in described if each.has_whole)
    ranked = frozenset(each.name for each in described if each.in_rows)
    return PreparedQuestion(statement.sql, tuple(columns), noisy, pattern, bounded, whole, ranked)


# Asking


async def _ask(
    context: ConnectionContext, question: PreparedQuestion, values: Sequence[Any]
) -> Outcome:
    """A private answer, its debit on disk before the data is read."""
    text = question.text(values)
    place = 0 if question.template is None else None
    with placed(place), wire_errors(), context.watched() as watch:
        await _payable(context, text)
        try:
            answer = await context.service.ask(
                context.person, text, watch=watch, **asked(context.state.settings)
            )
        except BudgetError as error:
            left = amounts(await context.look(context.session.remaining))
            raise WireError(
                error.message, error.hint, error.sqlstate, detail=f"left: {left}"
            ) from None
    if any(answer.spent.values()):
        context.state.stays_done(PAID)
    rows = _with_margins(answer, question.noisy)
    rows = _with_intervals(answer.whole, question.whole, rows)
    rows = _with_intervals(answer.intervals, question.bounded, rows)
    columns = question.shown(margins=True, intervals=True)
    return Outcome("SELECT {}", columns, rows, notices_of(answer))


async def _payable(context: ConnectionContext, text: str) -> None:
    """Refuses a question that nothing is set to pay with, unless it is free."""
    if pays(context.state.settings):
        return
    bound = await context.look(context.session.bind, text)
    if not bound.public:
        raise WireError("every answer is paid for: say how much", HOW_TO_PAY, "55000")


def _with_margins(answer: Answer, noisy: Sequence[str]) -> list[tuple[Any, ...]]:
    columns = [answer.margins.get(name) or [None] * len(answer.rows) for name in noisy]
    return [
        (*_rounded(answer, number), *(_figures(column[number]) for column in columns))
        for number in range(len(answer.rows))
    ]


def _rounded(answer: Answer, number: int) -> Iterator[Any]:
    """The values of a row to the digits that their margins leave meaning, as other doors show."""
    for name, given in zip(answer.columns, answer.rows[number], strict=True):
        off = answer.margins[name][number] if name in answer.margins else None
        told = isinstance(given, float) and bool(off) and answer.margin_units.get(name) != "rows"
        yield round(given, digits(off)) if told and isinstance(given, float) else given


def _figures(off: float | None) -> float | None:
    """A margin to its first figures, rounded up."""
    if off is None or isinstance(off, int) or not math.isfinite(off):
        return off
    power = float(10 ** digits(off))
    return math.ceil(off * power) / power


def _with_intervals(
    intervals: Whole, names: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """The rows with both ends behind them; what was not known or not asked for is NULL."""
    columns = [intervals.get(name) or [None] * len(rows) for name in names]
    return [
        (*row, *(end for column in columns for end in column[number] or (None, None)))
        for number, row in enumerate(rows)
    ]


# What a client is told beside an answer: what it cost, what is left, how far off it may be.


def notices_of(answer: Answer) -> tuple[Notice, ...]:
    """The notices of one answer."""
    left = {name: value for name, value in answer.remaining.items() if name != "delta" or value}
    spent = amounts(answer.spent)
    what = f"this answer cost {spent}; {amounts(left)} is left"
    of = "" if answer.edition is None else f"; edition {answer.edition} of the data"
    notices = [Notice(what, f"receipt {answer.receipt}{of}")]
    notices += [Notice(text) for text in _margins(answer)]
    return (*notices, *(Notice(note) for note in answer.notes))


def _margins(answer: Answer) -> list[str]:
    """How far each noisy column may be off, in one line."""
    spans = {name: _span(values) for name, values in answer.margins.items()}
    units = {name: " rows" if unit == "rows" else "" for name, unit in answer.margin_units.items()}
    known = [f"{name} ± {span}{units.get(name, '')}" for name, span in spans.items() if span]
    if not known:
        return []
    return [f"with {confidence(answer.confidence)} confidence: {', '.join(known)}"]


def _span(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known or not any(known):
        return ""
    low, high = margin_size(min(known)), margin_size(max(known))
    return low if low == high else f"{low} to {high}"


# Clients that count the rows of a question before they ask it, as connectorx does for pandas.
#
# How many rows an answer has is part of the answer: the question is asked and paid for, its rows
# are counted, and when the client then asks it in earnest, it is the same answer at no cost.

_BEGINNING = ["SELECT", "COUNT", "(", "*", ")"]


def counted_rows(statement: ClientStatement) -> str | None:
    """The question within `SELECT COUNT(*) FROM (question) AS name`; None for anything else."""
    tokens = statement.tokens
    begins_so = [token.upper for token in tokens[:5]] == _BEGINNING
    if not begins_so or all(token.text != "(" for token in tokens[5:]):
        return None
    try:
        tree = parse(statement.sql)
    except QuestionError:
        return None
    clauses = {name for name, part in tree.args.items() if part}
    source = tree.args["from_"].this if "from_" in clauses else None
    if clauses != {"expressions", "from_"} or not isinstance(source, exp.Subquery):
        return None
    inner, selected = source.this, [part.unalias() for part in tree.expressions]
    counts = len(selected) == 1 and isinstance(selected[0], exp.Count)
    is_star = counts and isinstance(selected[0].this, exp.Star)
    if not is_star or not isinstance(inner, exp.Select):
        return None
    aggregates = any(part.find(exp.AggFunc) for part in inner.expressions)
    return inner.sql(dialect="postgres") if aggregates or inner.args.get("group") else None
