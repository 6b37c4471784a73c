"""EXPLAIN: what an answer would cost and how far off it would be; spends nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from adomnia.curator.plan_view import plan_lines
from adomnia.server.postgres.connection_context import ConnectionContext, wire_errors
from adomnia.server.postgres.privacy_settings import asked, pays
from adomnia.server.postgres.questions import HOW_TO_PAY, PreparedQuestion, look
from adomnia.wire.errors import WireError, placed
from adomnia.wire.statements.lexer import ClientStatement, TokenStream
from adomnia.wire.statements.results import Command, Outcome
from adomnia.wire.values import types
from adomnia.wire.values.columns import ResultColumn

__all__ = ["explain_command"]

_FREE = "nothing is spent by this, and nothing by EXPLAIN"


async def explain_command(
    context: ConnectionContext, words: TokenStream, declared: Sequence[int]
) -> Command:
    """`EXPLAIN [(options)] SELECT …`."""
    is_json = _options(words)
    query = words.rest()
    with placed(query.offset), wire_errors():
        return await context.look(_plan_command, context, query, declared, is_json)


def _options(words: TokenStream) -> bool:
    """Whether JSON is wanted. To analyse would be to ask, and to ask costs."""
    while words.next in ("ANALYZE", "ANALYSE", "VERBOSE"):
        _refuse_analyze(words.next)
        words.at += 1
    after = [token.upper for token in words.tokens[words.at : words.at + 2]]
    if after[:1] != ["("] or after[1:] in (["SELECT"], ["WITH"], ["("]):
        return False
    parts = words.bracketed().sql.upper().replace(",", " ").split()
    for part, value in zip(parts, [*parts[1:], ""], strict=True):
        if value not in ("OFF", "FALSE", "0"):
            _refuse_analyze(part)
    return "JSON" in parts


def _refuse_analyze(word: str) -> None:
    if word in ("ANALYZE", "ANALYSE"):
        hint = "EXPLAIN alone spends nothing; for the answer ask the question itself"
        raise WireError("EXPLAIN ANALYZE would have to pay for an answer", hint, "0A000")


def _plan_command(
    context: ConnectionContext, query: ClientStatement, declared: Sequence[int], is_json: bool
) -> Command:
    columns = [ResultColumn("QUERY PLAN", types.JSON if is_json else types.TEXT)]
    if context.catalogue.answers(query):
        lines = [json.dumps({"epsilon": "0"})] if is_json else [f"catalogue: {_FREE}"]
        return Command(lambda _: _outcome(columns, lines), lambda: columns)
    question = look(context, query, declared)
    oids = question.template.parameters if question.template else tuple(declared)

    async def run(values: Sequence[Any]) -> Outcome:
        lines = await context.run(_plan, context, question, values, is_json)
        return await _outcome(columns, lines)

    return Command(run, lambda: columns, oids)


async def _outcome(columns: Sequence[ResultColumn], lines: Sequence[str]) -> Outcome:
    return Outcome("EXPLAIN", columns, [(line,) for line in lines])


def _plan(
    context: ConnectionContext, question: PreparedQuestion, values: Sequence[Any], is_json: bool
) -> list[str]:
    text = question.text(values)
    if context.session.bind(text).public:
        return [json.dumps({"epsilon": "0"})] if is_json else [f"public: {_FREE}"]
    settings = context.state.settings
    if not pays(settings):
        raise WireError("a plan needs to know what would be paid", HOW_TO_PAY, "55000")
    with placed(0 if question.template is None else None), wire_errors():
        plan = context.session.plan(text, **asked(settings))
    return [json.dumps(plan.to_json(), indent=2)] if is_json else list(plan_lines(plan))
