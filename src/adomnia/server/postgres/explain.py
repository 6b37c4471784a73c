"""EXPLAIN: what an answer would cost and how far off it would be; spends nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from adomnia.curator.query_plan import QueryPlan
from adomnia.present.formatting import amounts, confidence, margin
from adomnia.server.postgres.questions import HOW_TO_PAY, Question, look
from adomnia.wire.errors import WireError, placed
from adomnia.wire.statements.connection_state import Visit
from adomnia.wire.statements.lexer import Words
from adomnia.wire.statements.results import Column, Command, Outcome
from adomnia.wire.values import types

__all__ = ["explain"]

_FREE = "nothing is spent by this, and nothing by EXPLAIN"


async def explain(visit: Visit, words: Words, declared: Sequence[int]) -> Command:
    """`EXPLAIN [(options)] SELECT …`."""
    is_json = _options(words)
    start, sql = words.rest()
    with placed(start):
        return await visit.run(_explained, visit, sql, declared, is_json)


def _options(words: Words) -> bool:
    """Whether JSON is wanted. To analyse would be to ask, and to ask costs."""
    while words.next in ("ANALYZE", "ANALYSE", "VERBOSE"):
        _refuse_analyze(words.next)
        words.at += 1
    after = [token.upper for token in words.tokens[words.at : words.at + 2]]
    if after[:1] != ["("] or after[1:] in (["SELECT"], ["WITH"], ["("]):
        return False
    start, end = words.bracketed()
    parts = words.sql[start:end].upper().replace(",", " ").split()
    for part, value in zip(parts, [*parts[1:], ""], strict=True):
        if value not in ("OFF", "FALSE", "0"):
            _refuse_analyze(part)
    return "JSON" in parts


def _refuse_analyze(word: str) -> None:
    if word in ("ANALYZE", "ANALYSE"):
        hint = "EXPLAIN alone spends nothing; for the answer ask the question itself"
        raise WireError("EXPLAIN ANALYZE would have to pay for an answer", hint, "0A000")


def _explained(visit: Visit, sql: str, declared: Sequence[int], is_json: bool) -> Command:
    columns = [Column("QUERY PLAN", types.JSON if is_json else types.TEXT)]
    if visit.catalogue.answers(sql):
        lines = [json.dumps({"epsilon": "0"})] if is_json else [f"catalogue: {_FREE}"]
        return Command(lambda _: _outcome(columns, lines), lambda: columns)
    question = look(visit, sql, declared)
    oids = question.template.parameters if question.template else tuple(declared)

    async def run(values: Sequence[Any]) -> Outcome:
        lines = await visit.run(_plan, visit, question, values, is_json)
        return await _outcome(columns, lines)

    return Command(run, lambda: columns, oids)


async def _outcome(columns: Sequence[Column], lines: Sequence[str]) -> Outcome:
    return Outcome("EXPLAIN", columns, [(line,) for line in lines])


def _plan(visit: Visit, question: Question, values: Sequence[Any], is_json: bool) -> list[str]:
    text = question.text(values)
    if visit.session.bind(text).public:
        return [json.dumps({"epsilon": "0"})] if is_json else [f"public: {_FREE}"]
    settings = visit.settings
    if not settings.pays:
        raise WireError("a plan needs to know what would be paid", HOW_TO_PAY, "55000")
    with placed(0 if question.template is None else None):
        found = visit.session.plan(text, **settings.asked)
    return [json.dumps(found.to_json(), indent=2)] if is_json else _lines(found)


def _lines(found: QueryPlan) -> list[str]:
    cells = f", {found.cells:,} cells" if found.cells > 1 else ""
    sure = f" with {confidence(found.confidence)} confidence"
    lines = [f"it would cost {amounts(found.spent)} ({found.mechanism} noise{cells})"]
    for name, value in found.margins.items():
        size = "" if value is None else margin(value, found.margin_units[name])
        known = f"{size}{sure}" if size else "comes with the answer"
        lines.append(f"  {name}: margin {known}")
    for step in found.to_json()["measurements"]:
        tight = "" if step["exact"] else "at most "
        lines.append(
            f"  {step['measurement']}: {step['norm']} sensitivity {tight}{step['value']}, "
            f"{step['argument']}"
        )
    return [*lines, "nothing was spent"]
