"""Rewriting: PostgreSQL's statement about its catalogue as DuckDB's about ours.

A tree is changed from the leaves up. No table and no function keeps the name that the client
wrote: each becomes one of ours, or the statement is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

from sqlglot import exp

from adomnia.wire.catalogue.builder import BuiltCatalogue
from adomnia.wire.catalogue.errors import undefined_function, undefined_table
from adomnia.wire.catalogue.macros import EMULATED, TABLE_MACROS
from adomnia.wire.catalogue.relations import STANDARD, SYSTEM_COLUMNS
from adomnia.wire.catalogue.rewriting.casts import call, cast_to, rewritten_cast
from adomnia.wire.catalogue.rewriting.column_names import lower_names, name_columns, visible_queries
from adomnia.wire.catalogue.rewriting.column_types import Columns, Shape, relation_of
from adomnia.wire.catalogue.rewriting.functions import CALLED, NATIVE, name_of
from adomnia.wire.catalogue.rewriting.literals import array_of
from adomnia.wire.catalogue.types import DISPLAY, canonical

__all__ = ["Setter", "prepare", "rewrite"]

Setter = Callable[[str, str], None]
"""What becomes of `set_config(name, value)`."""

OPERATORS: dict[str, tuple[type[exp.Binary], bool]] = {
    "~": (exp.RegexpLike, False),
    "!~": (exp.RegexpLike, True),
    "~*": (exp.RegexpILike, False),
    "!~*": (exp.RegexpILike, True),
    "~~": (exp.Like, False),
    "!~~": (exp.Like, True),
    "=": (exp.EQ, False),
    "<>": (exp.NEQ, False),
}
NOWS = {"now", "clock_timestamp", "statement_timestamp", "transaction_timestamp"}
LOOKUPS = {f"to_{kind}" for kind in ("regclass", "regtype", "regproc", "regnamespace", "regrole")}
VECTORS = {"int2vector", "oidvector"}
TYPE_DEPENDENT = {"generate_subscripts", "pg_typeof"}


def prepare(tree: exp.Query) -> None:
    """Bring a tree to one way of writing: plain texts, operators and names."""
    lower_names(tree)
    for node in _upwards(tree):
        match node:
            case exp.ByteString() | exp.RawString() | exp.National():
                node.replace(exp.Literal.string(node.name))
            case exp.Operator():
                node.replace(_operator(node))
            case exp.Collate():
                node.replace(node.this)
            case exp.Dot(this=exp.Identifier(), expression=exp.Func()):
                _require_standard(node.this.name, node.expression)
                node.replace(node.expression)
            case exp.Table(this=exp.Func()) if node.db:
                _require_standard(node.db, node.this)
                node.set("db", None)
    name_columns(tree)


def _require_standard(schema: str, function: exp.Func) -> None:
    """Functions with a schema are the standard's; `pg_catalog` has been taken off before."""
    if schema != STANDARD:
        raise undefined_function(f"{schema}.{name_of(function)}()")


def rewrite(tree: exp.Query, built: BuiltCatalogue, setter: Setter) -> Columns:
    """Change a prepared tree to DuckDB's; its columns, as PostgreSQL would describe them."""
    shape = Shape(tree, built.relations)
    columns = shape.columns()
    operand_types = {
        id(node): shape.type_of(node.this) for node in tree.find_all(exp.Cast, exp.Bracket)
    }
    operand_types |= {
        id(node): shape.type_of(node.expressions[0]) for node in _type_dependent(tree)
    }
    rewriter = _Rewriter(built, shape, operand_types, setter)
    for node in _upwards(tree):
        rewriter.step(node)
    for each in tree.find_all(exp.CTE):
        each.args["alias"].set("this", _with(each.alias))
    return columns


def _upwards(tree: exp.Query) -> list[exp.Expr]:
    return list(reversed(list(tree.bfs())))


def _type_dependent(tree: exp.Query) -> list[exp.Anonymous]:
    calls = tree.find_all(exp.Anonymous)
    return [each for each in calls if each.expressions and name_of(each) in TYPE_DEPENDENT]


def _operator(node: exp.Operator) -> exp.Expr:
    written = str(node.args["operator"]).rsplit(".", 1)[-1]
    if written not in OPERATORS:
        raise undefined_function(f"operator {written}")
    kind, negated = OPERATORS[written]
    compared = exp.Paren(this=kind(this=node.this, expression=node.expression))
    return exp.Not(this=compared) if negated else compared


class _Rewriter:
    """One pass over one tree, from the leaves up."""

    def __init__(
        self,
        built: BuiltCatalogue,
        shape: Shape,
        operand_types: dict[int, str | None],
        setter: Setter,
    ) -> None:
        self.built, self.shape, self.operand_types, self.setter = (
            built,
            shape,
            operand_types,
            setter,
        )
        self.whole = {id(node) for node in shape.tree.find_all(exp.Div) if _is_whole(node, shape)}
        self.sources = {
            id(column): shape.source(column)
            for column in shape.tree.find_all(exp.Column)
            if column.name in SYSTEM_COLUMNS
        }

    def step(self, node: exp.Expr) -> None:
        """Put in the place of a node what DuckDB shall see."""
        match node:
            case exp.Table():
                self._table(node)
            case exp.Column():
                self._column(node)
            case exp.Cast():
                kind = self.operand_types.get(id(node))
                node.replace(rewritten_cast(node, kind, self.built))
            case exp.Bracket():
                self._bracket(node)
            case exp.Like() | exp.ILike() if not isinstance(node.parent, exp.Escape):
                _escape(node)
            case exp.Any():
                _spread(node)
            case exp.Div() if id(node) in self.whole:
                node.replace(exp.IntDiv(this=node.this, expression=node.expression))
            case exp.CurrentTimestamp():
                node.replace(_now())
            case exp.Func():
                self._function(node)

    def _table(self, node: exp.Table) -> None:
        alias = node.args.get("alias")
        if isinstance(node.this, exp.Func | exp.Dot | exp.Sub):
            _rows_of(node)
            return
        if not node.db and node.name in visible_queries(node):
            place = exp.Table(this=_with(node.name))
        else:
            relation = relation_of(node, self.built.relations)
            if relation is None or (relation.schema, relation.name) in self.built.hidden:
                raise undefined_table(f"{node.db}.{node.name}" if node.db else node.name)
            schema = exp.to_identifier(self.built.schemas[relation.schema], quoted=True)
            place = exp.Table(this=exp.to_identifier(relation.name, quoted=True), db=schema)
        place.set("alias", alias or exp.TableAlias(this=exp.to_identifier(node.name, quoted=True)))
        place.set("joins", node.args.get("joins"))
        node.replace(place)

    def _column(self, node: exp.Column) -> None:
        bare = "bare" in node.this.meta and not node.table
        if bare and node.name in ("user", "current_role"):
            node.replace(call("current_user"))
        elif isinstance(source := self.sources.get(id(node)), exp.Table):
            relation = relation_of(source, self.built.relations)
            number = relation.oid if relation and node.name == "tableoid" else 0
            node.replace(cast_to(exp.Literal.number(number), SYSTEM_COLUMNS[node.name]))
        else:
            node.set("db", None)
            node.set("catalog", None)

    def _bracket(self, node: exp.Bracket) -> None:
        """Vectors count from nought where arrays count from one."""
        if self.operand_types.get(id(node)) in VECTORS:
            moved = [exp.Add(this=each, expression=exp.Literal.number(1))
                     for each in node.expressions]  # fmt: skip
            node.set("expressions", moved)

    def _function(self, node: exp.Func) -> None:
        name, arguments = name_of(node), list(node.expressions)
        if type(node) in CALLED:
            arguments = [each for each in node.args.values() if isinstance(each, exp.Expr)]
            node.replace(call(CALLED[type(node)], *arguments))
        elif isinstance(node, exp.Format):
            node.replace(_format([node.this, *arguments]))
        elif not isinstance(node, exp.Anonymous):
            return
        elif name in TABLE_MACROS:  # empty whatever it is asked
            in_from = isinstance(node.find_ancestor(exp.Table, exp.Select), exp.Table)
            node.replace(call(name) if in_from else _no_rows())
        elif name in LOOKUPS:
            node.replace(call(f"{name.removeprefix('to_')}_in", *arguments))
        elif name in NOWS:
            node.replace(_now())
        elif name == "set_config":
            node.replace(self._set(arguments))
        elif name == "pg_typeof":
            kind = self.operand_types.get(id(node)) or "text"
            node.replace(exp.Literal.string(DISPLAY.get(canonical(kind), kind)))
        elif name == "generate_subscripts" and self.operand_types.get(id(node)) in VECTORS:
            whole = exp.Anonymous(this=name, expressions=arguments)
            node.replace(exp.Sub(this=whole, expression=exp.Literal.number(1)))
        elif name in EMULATED:
            node.replace(call(name, *arguments))
        elif name in NATIVE:
            node.set("this", NATIVE[name])
        elif name not in ("all", "any"):
            raise undefined_function(f"{name}()")

    def _set(self, arguments: list[exp.Expr]) -> exp.Expr:
        name, value = arguments[:2] if len(arguments) == 3 else (None, None)
        if not isinstance(name, exp.Literal) or not isinstance(value, exp.Literal | exp.Cast):
            raise undefined_function("set_config() of anything but texts")
        if isinstance(value, exp.Literal):  # else it is described, and not called
            self.setter(name.name, value.name)
        return value


def _is_whole(node: exp.Expr, shape: Shape) -> bool:
    """Whether a quotient is one of whole numbers, and so a whole number itself."""
    return all(
        shape.type_of(part) in ("int2", "int4", "int8") or (part.is_int and part.is_number)
        for part in (node.this, node.expression)
    )


def _with(name: str) -> exp.Identifier:
    """A name for a WITH query that no table of DuckDB can have."""
    return exp.to_identifier(f"with {name}", quoted=True)


def _no_rows() -> exp.Expr:
    """What a function that gives rows is in the place of a column, where it gives none."""
    nothing = exp.cast(exp.Array(expressions=[]), exp.DataType.build("UINTEGER[]", "duckdb"))
    return exp.Anonymous(this="unnest", expressions=[nothing])


def _rows_of(node: exp.Table) -> None:
    """A function in the place of a table: its column is called as the table is."""
    function = node.this
    called = function.expression if isinstance(function, exp.Dot) else function
    name = called.name if isinstance(called, exp.Anonymous) else name_of(called)
    if name in TABLE_MACROS:
        if node.args.get("ordinality"):
            _number_rows(node)
        return
    alias = node.args.get("alias") or exp.TableAlias()
    table = alias.this or exp.to_identifier(name, quoted=True)
    column = next(iter(alias.args.get("columns") or []), table).copy()
    fixed = isinstance(function, exp.ExplodingGenerateSeries) and not function.find(exp.Column)
    if fixed:  # a table of DuckDB's, which is not made whole before it is read
        node.set("alias", exp.TableAlias(this=table.copy(), columns=[column]))
        return
    rows = exp.Select(expressions=[exp.alias_(function.copy(), column)])
    place = exp.Subquery(this=rows, alias=exp.TableAlias(this=table.copy()))
    place.set("joins", node.args.get("joins"))
    node.replace(place)


def _number_rows(node: exp.Table) -> None:
    """WITH ORDINALITY of a function that gives no row: a column more."""
    rows = exp.Select(expressions=[exp.Star(), exp.alias_(exp.Literal.number(0), "ordinality")])
    place = exp.Subquery(this=rows.from_(exp.Table(this=node.this.copy())))
    place.set("alias", node.args.get("alias"))
    place.set("joins", node.args.get("joins"))
    node.replace(place)


def _escape(node: exp.Expr) -> None:
    """A backslash escapes in PostgreSQL's patterns, and in DuckDB's only when it is said."""
    pattern = node.expression
    if isinstance(pattern, exp.Literal) and "\\" not in pattern.name:
        return
    node.replace(exp.Escape(this=node.copy(), expression=exp.Literal.string("\\")))


def _spread(node: exp.Any) -> None:
    inner = node.this.unnest() if isinstance(node.this, exp.Paren) else node.this
    if isinstance(inner, exp.Literal) and inner.is_string:
        node.set("this", exp.Paren(this=array_of(inner.name)))
    elif isinstance(inner, exp.Array):
        queries = [each for each in inner.expressions if isinstance(each, exp.Query)]
        if queries:  # DuckDB would compare with the array as one value
            node.set("this", exp.Subquery(this=queries[0]))


def _now() -> exp.Expr:
    moment = datetime.now(UTC).replace(tzinfo=None).isoformat(" ")
    return cast_to(exp.Literal.string(moment), "timestamptz")


def _format(arguments: list[exp.Expr]) -> exp.Expr:
    """`format` of a fixed text: its pieces and arguments, joined."""
    if not arguments or not isinstance(arguments[0], exp.Literal):
        raise undefined_function("format() of anything but a fixed text")
    rest = iter(arguments[1:])
    joined: exp.Expr = exp.Literal.string("")
    for piece in re.split(r"(%[sIL%])", arguments[0].name):
        if piece in ("%s", "%I", "%L"):
            value = next(rest, exp.null())
            quote = {"%I": "quote_ident", "%L": "quote_nullable"}.get(piece)
            part = call(quote, value) if quote else cast_to(value, "text")
        else:
            part = exp.Literal.string(piece.replace("%%", "%"))
        joined = exp.DPipe(this=joined, expression=part)
    return exp.Paren(this=joined)
