"""Shape: the types, in PostgreSQL's words, of what a query is made of.

DuckDB knows one type of text where PostgreSQL has `text`, `name` and `"char"`, and keeps a
`regclass` as its number. This follows columns back to where they come from.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from adomnia.wire.catalogue.relations import SYSTEM_COLUMNS, CatalogueRelation
from adomnia.wire.catalogue.rewriting.functions import RETURNS, name_of
from adomnia.wire.catalogue.types import canonical, element, listed

__all__ = ["Shape", "relation_of"]

Columns = list[tuple[str, str | None]]
Relations = Mapping[tuple[str, str], CatalogueRelation]
SEARCHED = ("pg_catalog", "public")


def relation_of(table: exp.Table, relations: Relations) -> CatalogueRelation | None:
    """The relation that a table's name means; without a schema, those in view are tried."""
    schemas = (table.db,) if table.db else SEARCHED
    candidates = (relations.get((schema, table.name)) for schema in schemas)
    return next((each for each in candidates if each is not None), None)


class Shape:
    """The scopes of one query."""

    def __init__(self, tree: exp.Query, relations: Relations) -> None:
        self.relations = relations
        self.scopes = {id(scope.expression): scope for scope in traverse_scope(tree)}
        self.tree = tree
        self._busy: set[int] = set()

    def columns(self) -> Columns:
        """The columns that the query gives, stars expanded."""
        return self._outputs(self.scopes.get(id(self.tree)))

    def type_of(self, node: exp.Expr) -> str | None:  # noqa: PLR0911 (a table of kinds)
        """The type of an expression; None where only DuckDB knows it."""
        match node:
            case exp.Column():
                return self._column(node)
            case exp.Cast():
                return canonical(node.to.sql("postgres"))
            case exp.Literal():
                return "text" if node.is_string else None
            case exp.Paren() | exp.Alias() | exp.Collate() | exp.Window() | exp.Filter():
                return self.type_of(node.this)
            case (
                exp.Max() | exp.Min() | exp.Distinct() | exp.Order() | exp.Coalesce() | exp.Nullif()
            ):
                inner = node.this or next(iter(node.expressions), None)
                return self.type_of(inner) if inner is not None else None
            case exp.Case():
                return self._case(node)
            case exp.Bracket() | exp.Explode():
                return element(self.type_of(node.this))
            case exp.Array() | exp.ArrayAgg():
                return self._array(node)
            case exp.Subquery() | exp.Select() | exp.Union():
                return self._scalar(node)
            case exp.Func():
                return RETURNS.get(name_of(node))
            case _:
                return None

    def source(self, column: exp.Column) -> exp.Expr | Scope | None:
        """Where a column comes from: a table, or the scope of another query."""
        scope = self._scope(column)
        while scope is not None:
            for name, (_, each) in scope.selected_sources.items():
                if column.table == name:
                    return each
                if not column.table and column.name in dict(self._offered(each)):
                    return each
            scope = scope.parent
        return None

    def _column(self, column: exp.Column) -> str | None:
        if column.name in SYSTEM_COLUMNS:
            return SYSTEM_COLUMNS[column.name]
        source = self.source(column)
        return None if source is None else dict(self._offered(source)).get(column.name)

    def _offered(self, source: exp.Expr | Scope) -> Columns:
        """The columns that a source offers to the query above it."""
        if isinstance(source, Scope):
            columns = self._outputs(source)
            above = source.expression.parent
            names = above.alias_column_names if isinstance(above, exp.DerivedTable) else []
            renamed = [(name, kind) for name, (_, kind) in zip(names, columns, strict=False)]
            return renamed + columns[len(renamed) :]
        relation = relation_of(source, self.relations) if isinstance(source, exp.Table) else None
        return list(relation.columns.items()) if relation is not None else []

    def _outputs(self, scope: Scope | None) -> Columns:
        if scope is None or id(scope) in self._busy:  # a recursive query asks for itself
            return []
        self._busy.add(id(scope))
        try:
            if isinstance(scope.expression, exp.SetOperation):
                return self._outputs(self.scopes.get(id(scope.expression.this.unnest())))
            selected = scope.expression.selects if isinstance(scope.expression, exp.Query) else []
            return [column for each in selected for column in self._projected(each, scope)]
        finally:
            self._busy.discard(id(scope))

    def _projected(self, node: exp.Expr, scope: Scope) -> Columns:
        if not node.is_star:
            return [(node.alias_or_name, self.type_of(node))]
        table = node.table if isinstance(node, exp.Column) else ""
        sources = [
            each for name, (_, each) in scope.selected_sources.items() if table in ("", name)
        ]
        return [column for each in sources for column in self._offered(each)]

    def _scope(self, node: exp.Expr) -> Scope | None:
        above: exp.Expr | None = node
        while above is not None:
            if id(above) in self.scopes:
                return self.scopes[id(above)]
            above = above.parent
        return None

    def _case(self, node: exp.Case) -> str | None:
        """The one type of all branches; what is written out takes the type of the others."""
        branches = [*(each.args["true"] for each in node.args["ifs"]), node.args.get("default")]
        plain = (exp.Literal, exp.Null)
        typed = [each for each in branches if each is not None and not isinstance(each, plain)]
        types = {self.type_of(each) for each in typed}
        return types.pop() if len(types) == 1 else None

    def _array(self, node: exp.Expr) -> str | None:
        inner = node.this if isinstance(node, exp.ArrayAgg) else next(iter(node.expressions), None)
        kind = self.type_of(inner) if inner is not None else None
        return None if kind is None else listed(kind)

    def _scalar(self, node: exp.Expr) -> str | None:
        query = node.this if isinstance(node, exp.Subquery) else node
        columns = self._outputs(self.scopes.get(id(query)))
        return columns[0][1] if columns else None
