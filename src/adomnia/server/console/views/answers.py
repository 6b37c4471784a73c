"""The page of an answer: a table, a chart with error bars, the receipt, and what is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from starlette.responses import RedirectResponse, Response

from adomnia.curator.answers.answer import Answer
from adomnia.curator.answers.answer_shape import without_data
from adomnia.curator.session import NOTHING, REPEATED
from adomnia.errors import AdomniaError, QuestionError
from adomnia.present.csv_export import sheet
from adomnia.present.drawing.bars import MOST_BARS, Bar, bar_chart
from adomnia.server.console.console import PageContext
from adomnia.server.console.ledger_lines import LedgerLine, asker, lines
from adomnia.server.http.error_responses import MissingError

__all__ = ["show", "show_again", "table"]

MOST_ROWS = 2000
MOST_CHARTS = 4
LARGEST = 1e300


@dataclass(frozen=True)
class Cell:
    """A value as a person reads it, with its margin; a noisy one is a number."""

    text: str
    margin: str = ""
    is_number: bool = False


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
    head = [part for name in answer.columns for part in _heads(name, answer)]
    rows = (
        [part for name, value in zip(answer.columns, row, strict=True)
         for part in ([value, answer.margins[name][i]] if name in answer.margins else [value])]
        for i, row in enumerate(answer.rows)
    )  # fmt: skip
    return sheet(f"answer-{line.receipt[:8]}.csv", head, rows)


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
    table, left = without_data(question, session.table.attributes), session.remaining()
    notes = (*table.notes, NOTHING)
    return Answer(
        table.columns, table.rows, table.margins, 1.0, {}, left, line.receipt, notes,
        table.margin_units,
    )  # fmt: skip


def _facts(context: PageContext, line: LedgerLine, answer: Answer | None) -> dict[str, Any]:
    if answer is None:
        return {"answer": None, "error": None}
    return {
        "answer": answer,
        "error": None,
        "notes": [note for note in answer.notes if note != REPEATED],
        "rows": [_cells(answer, i) for i in range(min(len(answer.rows), MOST_ROWS))],
        "more": max(0, len(answer.rows) - MOST_ROWS),
        "alone": len(answer.rows) == 1 and all(n in answer.margins for n in answer.columns),
        "charts": list(_charts(answer)),
        "confidence": f"{100 * answer.confidence:g} %",
        "left": answer.remaining,
    }


def _cells(answer: Answer, place: int) -> list[Cell]:
    cells = []
    for name, value in zip(answer.columns, answer.rows[place], strict=True):
        margin = answer.margins[name][place] if name in answer.margins else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        in_rows = answer.margin_units.get(name) == "rows"
        if margin is None or not (is_number or in_rows):
            cells.append(Cell(formatting.value(value), is_number=is_number))
            continue
        size = formatting.number(margin, formatting.digits(margin))
        text = formatting.value(value, None if in_rows else margin)
        cells.append(Cell(text, f"± {size} rows" if in_rows else f"± {size}", is_number))
    return cells


def _charts(answer: Answer) -> Iterator[tuple[str, str, int]]:
    """A chart for each noisy column: its name, the drawing, and how many rows it leaves out."""
    if len(answer.rows) < 2:
        return
    named = [i for i, name in enumerate(answer.columns) if name not in answer.margins]
    for name in [n for n in answer.columns if n in answer.margins][:MOST_CHARTS]:
        bars = _bars(answer, answer.columns.index(name), named)
        if bars:
            title = f"{name}: a bar for each row of the table below, with its margin of error"
            yield name, bar_chart(bars, title), max(0, len(bars) - MOST_BARS)


def _bars(answer: Answer, column: int, named: list[int]) -> list[Bar]:
    name, bars = answer.columns[column], []
    for place, row in enumerate(answer.rows):
        value = row[column]
        if not _is_drawable(value):
            continue
        label = ", ".join(formatting.value(row[i]) for i in named) or f"row {place + 1}"
        in_rows = answer.margin_units.get(name) == "rows"  # along another axis than the value
        margin = None if in_rows else answer.margins[name][place]
        said = formatting.value(value, margin)
        if margin is not None:
            said += f" ± {formatting.number(margin, formatting.digits(margin))}"
        bars.append(Bar(label, float(value), margin if _is_drawable(margin) else None, said))
    return bars


def _is_drawable(value: Any) -> bool:
    """Whether this is a number that a picture can hold; an infinite margin is told, not drawn."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) < LARGEST


def _heads(name: str, answer: Answer) -> list[str]:
    unit = " in rows" if answer.margin_units.get(name) == "rows" else ""
    return [name, f"{name} margin{unit}"] if name in answer.margins else [name]
