"""Text becomes a syntax tree here, or an error that points at the character."""

from __future__ import annotations

import logging
import re
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from adomnia.errors import QuestionError
from adomnia.limits import (
    MAX_NESTING,
    MAX_PARENTHESES,
    MAX_STATEMENT_CHARACTERS,
    MAX_STATEMENT_WORDS,
)

__all__ = ["parse", "place", "refuse"]

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # its warnings repeat the statement

_WORDS = re.compile(r"\w+|[^\w\s]")
_SIGNS = re.compile(r"[-+~!@\s]{2,}")
_MISSING = re.compile(r"Expect(?:ing|ed) ([()\[\]{},])$")
"""All that is understood of what the parser says: else it speaks of itself."""
_NESTING = re.compile(
    r"\b(?:not|case|join|union|except|intersect|is)\b|::|\w\s*\.\s*\w+\s*\.\s*\w", re.IGNORECASE
)


def parse(sql: str) -> exp.Select:
    """The one SELECT that the text holds."""
    _measure(sql)
    try:
        trees = [tree for tree in sqlglot.parse(sql, read="postgres") if tree is not None]
    except RecursionError:
        raise QuestionError("the statement is nested too deeply", sql=sql) from None
    except SqlglotError as error:
        raise QuestionError(
            "this is not valid SQL", _reason(error), sql, _offset(sql, error)
        ) from None
    except Exception:  # the parser's own failures on odd text are the text's fault here
        raise QuestionError("this is not valid SQL", sql=sql) from None
    if not trees:
        raise QuestionError("the statement is empty", "ask for example SELECT COUNT(*) FROM …", sql)
    if len(trees) > 1:
        raise refuse(sql, trees[1], "one statement at a time", "ask them one after the other")
    tree = trees[0]
    while isinstance(tree, exp.Subquery) and [k for k in tree.args if tree.args[k]] == ["this"]:
        tree = tree.this
    if not isinstance(tree, exp.Select):
        raise refuse(
            sql, tree, "only a SELECT can be asked", "the data cannot be changed from here"
        )
    return tree


def refuse(sql: str, node: exp.Expr | None, message: str, hint: str = "") -> QuestionError:
    """An error that points at where the node begins."""
    return QuestionError(message, hint, sql, place(node) if node is not None else None)


def place(node: exp.Expr) -> int:
    """The offset of the node's first character; where the parser kept none, of what holds it."""
    starts = [found for part in node.walk() if (found := part.meta.get("start")) is not None]
    if starts:
        return int(min(starts))
    return place(node.parent) if node.parent is not None else 0


def _measure(sql: str) -> None:
    # The compiled parser recurses on the machine's stack and is not linear in odd texts, so the
    # size is bounded before it runs.
    if not isinstance(sql, str):
        raise QuestionError("a question is a text of SQL", "for example SELECT COUNT(*) FROM …")
    if not sql.isprintable() and any("\ud800" <= sign <= "\udfff" for sign in sql):
        raise QuestionError("the statement is not valid Unicode")
    if len(sql) > MAX_STATEMENT_CHARACTERS:
        raise QuestionError(f"the statement is longer than {MAX_STATEMENT_CHARACTERS} characters")
    depth = 0
    for position, sign in enumerate(sql):
        depth += (sign in "([{") - (sign in ")]}")
        if depth > MAX_PARENTHESES:
            raise QuestionError("the statement is nested too deeply", "", sql, position)
    if len(_WORDS.findall(sql)) > MAX_STATEMENT_WORDS:
        raise QuestionError(f"the statement has more than {MAX_STATEMENT_WORDS} words and signs")
    for count in (_longest_run(sql), len(_NESTING.findall(sql))):
        if count > MAX_NESTING:
            raise QuestionError("the statement is nested too deeply", sql=sql)


def _longest_run(sql: str) -> int:
    """The longest run of operator signs, each of which would nest."""
    return max((len(run) for run in _SIGNS.findall(sql)), default=0)


def _reason(error: SqlglotError) -> str:
    details = getattr(error, "errors", None) or [{}]
    missing = _MISSING.match(str(details[0].get("description") or "").strip())
    return f"{missing[1]} is missing here" if missing else "check the spelling"


def _offset(sql: str, error: SqlglotError) -> int | None:
    details: dict[str, Any] = (getattr(error, "errors", None) or [{}])[0]
    line, column = details.get("line"), details.get("col")
    if line is None or column is None:
        return None
    start = sum(len(text) + 1 for text in sql.split("\n")[: line - 1])
    return max(0, start + int(column) - len(str(details.get("highlight") or "")))
