"""Check: a statement may hold only what the binder reads, so nothing that is written is ignored."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from adomnia.queries.sql.parse import refuse

__all__ = ["check"]

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
