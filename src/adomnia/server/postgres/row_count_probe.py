"""Clients that count the rows of a question before they ask it, as connectorx does for pandas.

How many rows an answer has is part of the answer: the question is asked and paid for, its rows
are counted, and when the client then asks it in earnest, it is the same answer at no cost.
"""

from __future__ import annotations

import re

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.queries.sql.parse import parse

__all__ = ["counted_rows"]

_LOOKS_SO = re.compile(r"\s*select\s+count\s*\(\s*\*\s*\).*\(", re.IGNORECASE | re.DOTALL)


def counted_rows(sql: str) -> str | None:
    """The question within `SELECT COUNT(*) FROM (question) AS name`; None for anything else."""
    if not _LOOKS_SO.match(sql):
        return None
    try:
        tree = parse(sql)
    except QuestionError:
        return None
    said = {name for name, part in tree.args.items() if part}
    source = tree.args["from_"].this if "from_" in said else None
    if said != {"expressions", "from_"} or not isinstance(source, exp.Subquery):
        return None
    inner, shown = source.this, [part.unalias() for part in tree.expressions]
    counts = len(shown) == 1 and isinstance(shown[0], exp.Count)
    if not counts or not isinstance(shown[0].this, exp.Star) or not isinstance(inner, exp.Select):
        return None
    aggregates = any(part.find(exp.AggFunc) for part in inner.expressions)
    return inner.sql(dialect="postgres") if aggregates or inner.args.get("group") else None
