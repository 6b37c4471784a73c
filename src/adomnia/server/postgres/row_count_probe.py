"""Clients that count the rows of a question before they ask it, as connectorx does for pandas.

How many rows an answer has is part of the answer: the question is asked and paid for, its rows
are counted, and when the client then asks it in earnest, it is the same answer at no cost.
"""

from __future__ import annotations

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.queries.sql.parse import parse
from adomnia.wire.statements.lexer import ClientStatement

__all__ = ["counted_rows"]

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
