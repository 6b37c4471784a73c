"""Text becomes a syntax tree here, or an error that points at the character."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
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
from adomnia.queries.sql.reserved_words import reserved_word

__all__ = ["UNITS_BETWEEN", "check", "parse", "place", "refuse"]

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # its warnings repeat the statement

_WORDS = re.compile(r"\w+|[^\w\s]")
_SIGNS = re.compile(r"[-+~!@\s]{2,}")
_MISSING = re.compile(r"Expect(?:ing|ed) ([()\[\]{},])$")
"""All that is understood of what the parser says: else it speaks of itself."""
_NESTING = re.compile(
    r"\b(?:not|case|join|union|except|intersect|is)\b|::|\w\s*\.\s*\w+\s*\.\s*\w", re.IGNORECASE
)


UNITS_BETWEEN = "ADOMNIA_DATE_DIFF"
"""DATE_DIFF as DuckDB has it, by a name that the parser takes for no function of its own."""


def _trees(sql: str) -> list[exp.Expr | None]:
    """The statements of a text, in PostgreSQL's words and some of DuckDB's."""
    dialect = sqlglot.Dialect.get_or_raise("postgres")
    tokens = dialect.tokenize(sql)
    for token, following in pairwise(tokens):
        called = following.token_type == sqlglot.TokenType.L_PAREN
        if called and token.text.upper() in ("DATE_DIFF", "DATEDIFF"):
            token.text = UNITS_BETWEEN
    return dialect.parser().parse(tokens, sql)


def parse(sql: str, columns: Sequence[str] = ()) -> exp.Select:
    """The one SELECT that the text holds; an error names a column that must be quoted."""
    _measure(sql)
    try:
        trees = [tree for tree in _trees(sql) if tree is not None]
    except RecursionError:
        raise QuestionError("the statement is nested too deeply", sql=sql) from None
    except SqlglotError as error:
        raise _invalid(sql, error, columns) from None
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
        hint = "the data cannot be changed from here"
        if isinstance(tree, exp.SetOperation):
            hint = "ask one SELECT after the other; UNION, INTERSECT and EXCEPT stand in a subquery"
        raise refuse(sql, tree, "only a SELECT can be asked", hint)
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


def _invalid(sql: str, error: SqlglotError, columns: Sequence[str]) -> QuestionError:
    position = _offset(sql, error)
    word = None if position is None else reserved_word(sql, columns, position, _failure)
    if word is None:
        return QuestionError("this is not valid SQL", _reason(error), sql, position)
    message = f"{word.written} is a word of SQL, and a column here"
    return QuestionError(message, f"write it as {word.quoted}", sql, word.start)


def _failure(sql: str) -> int | None:
    """Where the parser stops in a text; None where it reads it to its end."""
    try:
        _trees(sql)
    except SqlglotError as error:
        return _offset(sql, error) or 0
    except Exception:  # as in `parse`: it did not come farther
        return 0
    return None


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


# Check: a statement may hold only what the binder reads, so nothing that is written is ignored.

_UNDERSTOOD: Mapping[type[exp.Expr], str] = {
    exp.Select: "with_ with expressions from_ from joins where group having order limit offset "
    "distinct windows qualify",
    exp.CTE: "this alias materialized",
    exp.Subquery: "this alias",
    exp.Table: "this alias db catalog",
    exp.TableAlias: "this",
    exp.Join: "this on using side kind method",
    exp.Ordered: "this desc nulls_first",
    exp.Limit: "expression",
    exp.Fetch: "count direction limit_options",
    exp.LimitOptions: "rows",
    exp.Star: "",
    exp.Column: "this table",
    exp.Literal: "this is_string",
    exp.Is: "this expression negate",
    exp.Like: "this expression negate",
    exp.ILike: "this expression negate",
    exp.Between: "this low high",
    exp.In: "this expressions query unnest",
    exp.Case: "this ifs default",
    exp.If: "this true false",
    exp.Coalesce: "this expressions",
    exp.Least: "this expressions ignore_nulls",
    exp.Greatest: "this expressions ignore_nulls",
    exp.Div: "this expression typed safe",
    exp.Round: "this decimals",
    exp.Floor: "this decimals",
    exp.Ceil: "this decimals",
    exp.Trunc: "this decimals",
    exp.Cast: "this to",
    exp.DataType: "this nested",
    exp.DateTrunc: "this unit",
    exp.TimestampTrunc: "this unit",
    exp.Substring: "this start length",
    exp.Trim: "this",
    exp.Length: "this",
    exp.Left: "this expression",
    exp.Right: "this expression",
    exp.Distinct: "expressions on",
    exp.Count: "this expressions big_int",
    exp.CountIf: "this",
    exp.Min: "this",
    exp.Max: "this",
    exp.Mode: "this",
    exp.Quantile: "this quantile",
    exp.ApproxQuantile: "this quantile",
    exp.PercentileCont: "this",
    exp.PercentileDisc: "this",
}
"""What is read of each kind of node; other kinds have only operands, or are refused whole."""


_REFUSED: Mapping[str, tuple[str, str]] = {
    "windows": ("window functions over rows cannot be answered privately", ""),
    "qualify": ("QUALIFY cannot be answered privately", "use HAVING"),
    "into": ("the data cannot be changed from here", ""),
    "locks": ("the data cannot be locked from here", ""),
    "laterals": ("LATERAL cannot be answered privately", ""),
    "sample": ("TABLESAMPLE cannot be answered", "ask about all rows"),
    "pivots": ("PIVOT cannot be answered", "use GROUP BY"),
    "connect": ("CONNECT BY cannot be answered", ""),
    "match": ("MATCH_RECOGNIZE cannot be answered", ""),
    "kind": ("SELECT AS STRUCT cannot be answered", ""),
    "prewhere": ("PREWHERE cannot be answered", "use WHERE"),
    "cluster": ("CLUSTER BY cannot be answered", ""),
    "distribute": ("DISTRIBUTE BY cannot be answered", ""),
    "sort": ("SORT BY cannot be answered", "use ORDER BY"),
    "settings": ("settings cannot be given here", ""),
    "format": ("FORMAT cannot be given here", ""),
}


def check(sql: str, select: exp.Select) -> None:
    """Refuses what no statement may contain, wherever it stands."""
    for name, (message, hint) in _REFUSED.items():
        if select.args.get(name):
            raise refuse(sql, select, message, hint)
    if not select.expressions:
        raise refuse(sql, select, "a SELECT needs at least one aggregate", "for example COUNT(*)")
    for node in select.walk():
        if isinstance(node, exp.Window):
            raise refuse(
                sql,
                node,
                "window functions over rows cannot be answered privately",
                "aggregate with GROUP BY instead",
            )
        if isinstance(node, exp.Placeholder | exp.Parameter | exp.SessionParameter):
            raise refuse(sql, node, "a parameter has no value here", "write the value out")
    _all_read(sql, select)


def _all_read(sql: str, tree: exp.Expr) -> None:
    """Refuses a statement that says something which binding it would pass over."""
    for node in tree.walk():
        understood = _UNDERSTOOD.get(type(node))
        for name, part in node.args.items() if understood is not None else ():
            if part and name not in str(understood).split():
                word = name.strip("_").replace("_", " ").upper()
                raise refuse(sql, node, f"this is not understood here: {word}", "leave it out")
