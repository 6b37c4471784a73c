"""The page of an answer: a table, a chart with error bars, the receipt, and what is left."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from starlette.responses import RedirectResponse, Response

from adomnia.curator.answers.answer import Answer
from adomnia.curator.answers.answer_shape import without_data
from adomnia.curator.answers.answer_view import answer_cells, margin_columns
from adomnia.curator.answers.omissions import sentences
from adomnia.curator.session import NOTHING, REPEATED
from adomnia.errors import AdomniaError, QuestionError
from adomnia.formatting import confidence
from adomnia.present.answer_bars import answer_bars
from adomnia.present.drawing.bars import MOST_BARS, bar_chart
from adomnia.server.console.console import PageContext
from adomnia.server.console.ledger_lines import LedgerLine, asker, lines
from adomnia.server.http.error_responses import MissingError

__all__ = ["show", "show_again", "table"]

MOST_ROWS = 2000
MOST_CHARTS = 4


async def show(context: PageContext) -> Response:
    """The answer with this receipt, for whoever paid for it."""
    line = await _line(context)
    if line.kind == "release":
        return RedirectResponse(f"/releases#{line.receipt}", 303)
    own = line.analyst == asker(context.person)
    facts: dict[str, Any] = {"line": line, "own": own, "again": False}
    try:
        answer = await _answer(context, line) if facts["own"] else None
        facts |= await context.service.run(_facts, context, line, answer)
    except AdomniaError as error:
        facts |= {"answer": None, "error": error}
    return await context.page("answer.html", **facts)


async def show_again(context: PageContext, statement: str, answer: Answer) -> Response:
    """An answer that follows from earlier ones, while it is remembered; the receipt is theirs."""
    now = datetime.now(UTC).isoformat()
    line = LedgerLine(
        0, now, "question", asker(context.person), statement, {}, "none", answer.receipt
    )
    facts = await context.service.run(_facts, context, line, answer)
    return await context.page("answer.html", line=line, own=True, again=True, **facts)


async def table(context: PageContext) -> Response:
    """The answer as CSV, with a column of margins beside each noisy one."""
    line = await _line(context)
    answer = await _answer(context, line) if line.analyst == asker(context.person) else None
    if answer is None:
        raise QuestionError(
            "the numbers of this answer are not shown here", "ask the question again"
        )
    columns = dict(margin_columns(answer))
    rows = zip(*columns.values(), strict=True)
    return context.csv(f"answer-{line.receipt[:8]}.csv", list(columns), [list(row) for row in rows])


async def _line(context: PageContext) -> LedgerLine:
    """The line of the ledger with this receipt; somebody else's does not exist for an analyst."""
    receipt = context.request.path_params["receipt"]
    for line in await context.service.run(lines, context.service.database):
        mine = context.is_curator or line.analyst == asker(context.person)
        if mine and line.receipt == receipt:
            return line
    raise MissingError("there is no such receipt among your questions", "the ledger lists them")


async def _answer(context: PageContext, line: LedgerLine) -> Answer | None:
    """The recorded answer, read again by its key; what was never answered is never asked anew."""
    public = await context.service.run(_public, context, line)
    if public is not None:
        return public
    if not line.answered or line.key is None or not line.asked():
        return None
    asked = line.asked()
    answer = await context.service.ask(context.person, line.statement, key=line.key, **asked)
    return answer if answer.receipt == line.receipt else None


def _public(context: PageContext, line: LedgerLine) -> Answer | None:
    """The answer of a question that needs no data; the ledger does not keep it."""
    session = context.service.session(context.person)
    question = session.bind(line.statement)
    if line.cost or not question.public:
        return None
    attributes = session.table_of(line.statement).attributes
    table, left = without_data(question, attributes), session.remaining()
    notes = (*table.notes, NOTHING)
    return Answer(
        table.columns, table.rows, table.margins, 1.0, {}, left, line.receipt, notes,
        table.margin_units,
    )  # fmt: skip


def _facts(context: PageContext, line: LedgerLine, answer: Answer | None) -> dict[str, Any]:
    if answer is None:
        return {"answer": None, "error": None}
    charts = list(_charts(answer))
    captions = sentences(answer.left_out) if charts else ()
    return {
        "answer": answer,
        "error": None,
        "notes": [note for note in answer.notes if note not in (REPEATED, *captions)],
        "rows": [answer_cells(answer, i) for i in range(min(len(answer.rows), MOST_ROWS))],
        "more": max(0, len(answer.rows) - MOST_ROWS),
        "alone": len(answer.rows) == 1 and all(n in answer.margins for n in answer.columns),
        "charts": charts,
        "captions": captions,
        "confidence": confidence(answer.confidence),
        "left": answer.remaining,
    }


def _charts(answer: Answer) -> Iterator[tuple[str, str, int]]:
    """A chart for each noisy column: its name, the drawing, and how many rows it leaves out."""
    if len(answer.rows) < 2:
        return
    for name in [n for n in answer.columns if n in answer.margins][:MOST_CHARTS]:
        bars = answer_bars(answer, name)
        if bars:
            title = f"{name}: a bar for each row of the table below, with its margin of error"
            yield name, bar_chart(bars, title), max(0, len(bars) - MOST_BARS)
