"""Functions that a client may call: which of them DuckDB knows itself, and what they return."""

from __future__ import annotations

from sqlglot import exp

__all__ = ["CALLED", "NATIVE", "RETURNS", "STRUCTURE", "TYPED", "name_of"]

_SAME = """age array_agg array_append array_cat array_prepend avg bool_and bool_or ceil concat
concat_ws count date_part floor generate_subscripts lag lead left length lower ltrim max md5 min
rank regexp_replace reverse right row row_number rtrim split_part starts_with string_agg strpos
substr substring sum to_json translate upper"""

NATIVE = {
    **{name: name for name in _SAME.split()},
    "btrim": "trim",
    "char_length": "length",
    "character_length": "length",
    "every": "bool_and",
    "json_agg": "json_group_array",
    "json_build_object": "json_object",
    "json_object_agg": "json_group_object",
    "jsonb_agg": "json_group_array",
    "jsonb_build_object": "json_object",
    "row_to_json": "to_json",
    "to_jsonb": "to_json",
}
"""Those that DuckDB has, under its name, and that touch nothing but their arguments."""

CALLED: dict[type[exp.Func], str] = {
    exp.CurrentUser: "current_user",
    exp.SessionUser: "current_user",
    exp.CurrentCatalog: "current_database",
    exp.CurrentDatabase: "current_database",
    exp.CurrentSchema: "current_schema",
    exp.CurrentSchemas: "current_schemas",
    exp.CurrentVersion: "version",
    exp.ArraySize: "array_length",
    exp.ArrayToString: "array_to_string",
    exp.ArrayRemove: "array_remove",
    exp.StringToArray: "string_to_array",
}
"""Functions that the parser has a node for and that are macros here."""

TYPED = frozenset({
    exp.Abs, exp.And, exp.Array, exp.ArrayAgg, exp.ArrayAppend, exp.ArrayConcat, exp.Avg, exp.Case,
    exp.Cast, exp.Ceil, exp.Coalesce, exp.Concat, exp.ConcatWs, exp.Count, exp.CurrentDate,
    exp.CurrentTimestamp, exp.DenseRank, exp.Exists, exp.Explode, exp.ExplodingGenerateSeries,
    exp.Extract, exp.FirstValue, exp.Floor, exp.Format, exp.GenerateSeries, exp.Greatest,
    exp.GroupConcat, exp.If, exp.LastValue, exp.Least, exp.Left, exp.Length, exp.LogicalAnd,
    exp.LogicalOr, exp.Lower, exp.Max, exp.MD5, exp.Min, exp.Nullif, exp.Or, exp.Rank,
    exp.RegexpILike,
    exp.RegexpLike, exp.RegexpReplace, exp.Replace, exp.Reverse, exp.Right, exp.Round,
    exp.RowNumber, exp.SplitPart, exp.StartsWith, exp.StrPosition, exp.Substring, exp.Sum,
    exp.TimestampTrunc, exp.Trim, exp.Unnest, exp.Upper, *CALLED,
})  # fmt: skip
"""Functions that the parser has a node for and that a client may use."""

STRUCTURE = frozenset({
    exp.Add, exp.Alias, exp.All, exp.Any, exp.Anonymous, exp.Between, exp.BitwiseAnd,
    exp.BitwiseLeftShift, exp.BitwiseNot, exp.BitwiseOr, exp.BitwiseRightShift, exp.Boolean,
    exp.Bracket, exp.ByteString, exp.Collate, exp.Column, exp.CTE, exp.DataType, exp.DataTypeParam,
    exp.Distinct, exp.Div, exp.Dot, exp.DPipe, exp.EQ, exp.Escape, exp.Except, exp.Fetch,
    exp.Filter, exp.From, exp.Group, exp.GT, exp.GTE, exp.Having, exp.Identifier, exp.ILike,
    exp.In, exp.Intersect, exp.Interval, exp.Is, exp.Join, exp.Lateral, exp.Like, exp.Limit,
    exp.Literal, exp.LT, exp.LTE, exp.Mod, exp.Mul, exp.National, exp.Neg, exp.NEQ, exp.Not,
    exp.Null, exp.NullSafeEQ, exp.NullSafeNEQ, exp.ObjectIdentifier, exp.Offset, exp.Operator,
    exp.Order, exp.Ordered, exp.Parameter, exp.Paren, exp.RawString, exp.Select, exp.Slice,
    exp.Star, exp.Sub, exp.Subquery, exp.Table, exp.TableAlias, exp.Tuple, exp.Union, exp.Values,
    exp.Var, exp.Where, exp.Window, exp.WindowSpec, exp.With,
})  # fmt: skip
"""What else a statement may be made of; anything beyond it is refused."""

RETURNS = {
    **dict.fromkeys(
        ("current_user", "session_user", "current_catalog", "current_database", "current_schema",
         "pg_get_userbyid", "pg_encoding_to_char", "getdatabaseencoding"), "name"),
    "current_schemas": "_name",
    "to_regclass": "regclass",
    "to_regtype": "regtype",
    "to_regproc": "regproc",
    "to_regnamespace": "regnamespace",
    "to_regrole": "regrole",
    "pg_typeof": "regtype",
    "pg_postmaster_start_time": "timestamptz",
    "pg_conf_load_time": "timestamptz",
    "now": "timestamptz",
    "inet_server_addr": "inet",
    "inet_client_addr": "inet",
}  # fmt: skip
"""What those return whose type DuckDB has no name for."""

_NAMES: dict[type[exp.Func], str] = {
    **CALLED,
    exp.SessionUser: "session_user",
    exp.CurrentCatalog: "current_catalog",
    exp.CurrentTimestamp: "now",
    exp.Explode: "unnest",
    exp.ExplodingGenerateSeries: "generate_series",
    exp.GroupConcat: "string_agg",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
    exp.Substring: "substring",
    exp.StrPosition: "strpos",
    exp.StartsWith: "starts_with",
    exp.TimestampTrunc: "date_trunc",
    exp.ConcatWs: "concat_ws",
}


def name_of(node: exp.Func) -> str:
    """What PostgreSQL calls a function."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    if isinstance(node, exp.Trim):
        return {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(node.text("position"), "btrim")
    return _NAMES.get(type(node)) or node.sql_name().lower()
