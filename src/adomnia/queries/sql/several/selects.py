"""FROM over several private tables: tables, subqueries and CTEs, their joins, and WHERE.

What comes out are rows of which each belongs to one unit (`queries/rows.py`). A statement whose
rows would rest on several units is refused, and told which relation makes it so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.queries.expression import Column, Expr
from adomnia.queries.expression import columns as columns_of
from adomnia.queries.ranges import Text, from_domain
from adomnia.queries.rows import OWNER, Projected, Scan, is_owner
from adomnia.queries.sql.binder import Relation, likely, match
from adomnia.queries.sql.never import never_true
from adomnia.queries.sql.relation import conjoin, projected, row_binder
from adomnia.queries.sql.several.context import (
    Named,
    TablesContext,
    conjuncts,
    filtered_rows,
)
from adomnia.queries.sql.several.correlated import Correlated
from adomnia.queries.sql.several.joins import Join, joined_public
from adomnia.queries.sql.several.set_operations import combined
from adomnia.queries.sql.several.unit_keys import UnitKeys
from adomnia.queries.sql.several.unit_totals import GroupedSelect, is_total
from adomnia.schema.domain import Open
from adomnia.schema.table import Table
from adomnia.schema.tables import PrivateTable

__all__ = ["bind_tables", "bind_view", "computes_for_units"]


_NOT_ROWS = {
    "limit": "LIMIT",
    "offset": "OFFSET",
    "order": "ORDER BY",
    "windows": "WINDOW",
    "qualify": "QUALIFY",
}


def computes_for_units(select: exp.Select, table: Table) -> bool:
    """Whether a statement of one table joins it with itself, or computes something for each unit,
    before it is asked."""
    if select.find(exp.SetOperation):
        return True
    for inner in select.find_all(exp.Select):
        nested = inner is not select
        parts = ("group", "distinct", "having") if nested else ()
        if any(inner.args.get(part) for part in parts):
            return True
        if nested and any(is_total(part) for item in inner.expressions for part in item.walk()):
            return True
    joined = [join.this for join in select.find_all(exp.Join)]
    if any(not (isinstance(n, exp.Table) and match(n.name, table.public)) for n in joined):
        return True
    tested = select.find_all(exp.Exists, exp.In)
    return any(isinstance(n, exp.Exists) or n.args.get("query") for n in tested)


def bind_tables(context: TablesContext, select: exp.Select, named: Named | None = None) -> Relation:
    """The rows that a SELECT reads, after its joins and its WHERE, each of one unit."""
    return _Select(context, select, _ctes(context, select, named or _views(context))).relation()


def _views(context: TablesContext) -> Named:
    def bound(view: exp.Select) -> Callable[[], Relation]:
        return lambda: _derived(context, view.copy(), {})

    return {name.lower(): bound(view) for name, view in context.views.items()}


def bind_view(context: TablesContext, name: str) -> Projected:
    """The rows of a view, each of one unit, with its columns under their own names."""
    relation = _derived(context, context.views[name].copy(), {})
    columns = {c: expr for part in relation.columns.values() for c, expr in part.items()}
    kept = {c: expr for c, expr in columns.items()
            if not any(is_owner(column.name) for column in columns_of(expr))}  # fmt: skip
    return Projected(filtered_rows(relation), tuple(kept.items()))


def _ctes(context: TablesContext, node: exp.Expression, named: Named) -> Named:
    clause = node.args.get("with_") or node.args.get("with")
    if clause is None:
        return named
    if clause.args.get("recursive"):
        raise context.refuse(clause, "recursive queries cannot be answered privately")
    found = dict(named)

    def bound(inner: exp.Expression, before: Named) -> Callable[[], Relation]:
        return lambda: _derived(context, inner.copy(), before)

    for cte in clause.expressions:
        found[cte.alias.lower()] = bound(cte.this, dict(found))
    return found


def _derived(context: TablesContext, node: exp.Expression, named: Named) -> Relation:
    """The rows of a subquery: filtered and projected, grouped for each unit, or of two SELECTs."""
    while isinstance(node, exp.Subquery) and not node.alias:
        node = node.this
    for part, word in _NOT_ROWS.items():
        if node.args.get(part):
            hint = "a subquery filters rows, or computes for each unit: ARG_MAX(x, y) is the x of "
            raise context.refuse(node, f"{word} cannot stand in a subquery", f"{hint}the last y")
    distinct = node.args.get("distinct")
    if isinstance(distinct, exp.Distinct) and distinct.args.get("on"):
        hint = "GROUP BY the key, with FIRST(x ORDER BY y) for each column"
        raise context.refuse(node, "DISTINCT ON cannot be answered", hint)
    named = _ctes(context, node, named)
    if isinstance(node, exp.SetOperation):
        sides = [_derived(context, part, named) for part in (node.this, node.expression)]
        return combined(context, node, sides[0], sides[1])
    if not isinstance(node, exp.Select):
        raise context.refuse(node, "a subquery is a SELECT")
    relation = _Select(context, node, named).relation()
    totals = any(is_total(part) for item in node.expressions for part in item.walk())
    keys = UnitKeys(context)
    if node.args.get("group") or node.args.get("distinct") or totals or node.args.get("having"):
        keys.check_one(node, relation)
        return GroupedSelect(context, node, relation).relation(keys.implies_unit)
    binder = row_binder(context.sql, relation)
    columns: dict[str, Expr] = {}
    for item in node.expressions:
        columns |= projected(binder, item)
    return Relation({"": columns}, relation.where, relation.rows)


@dataclass(frozen=True)
class _Select:
    """One SELECT while its FROM is bound; its rows grow with each join."""

    context: TablesContext
    select: exp.Select
    named: Named

    def relation(self) -> Relation:
        """The rows after joins and WHERE."""
        clause = self.select.args.get("from_") or self.select.args.get("from")
        if clause is None:
            known = ", ".join(self.context.tables.tables)
            raise self.context.refuse(self.select, "a question needs a FROM", f"tables: {known}")
        where = self.select.args.get("where")
        tests = [] if where is None else [*conjuncts(where.this)]
        found = self._item(clause.this)
        for join in self.select.args.get("joins") or ():
            found, tests = self._join(found, join, tests)
        found = self._with_subqueries(found, tests)
        for test in tests:
            binder = row_binder(self.context.sql, found)
            bound, refusal = binder.truth(test), never_true(binder, test)
            self.context.refusals.extend([] if refusal is None else [refusal])
            found = replace(found, where=conjoin(found.where, bound))
        for item in [*self.select.expressions, self.select.args.get("group")]:
            found = self._with_subqueries(found, [item] if item is not None else [])
        return found

    # What stands in FROM

    def _item(self, node: exp.Expression) -> Relation:
        context = self.context
        if isinstance(node, exp.Subquery):
            return _derived(context, node.this, self.named).named(node.alias or "subquery")
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise context.refuse(node, "only a table, a CTE or a subquery can stand in FROM")
        if node.name.lower() in self.named and not node.db:
            return self.named[node.name.lower()]().named(node.alias or node.name)
        name = match(node.name, context.tables.tables)
        if name is None or node.catalog or node.db.lower() not in ("", "public"):
            raise self._unknown(node)
        return self._scan(context.tables.tables[name], node)

    def _unknown(self, node: exp.Table) -> QuestionError:
        names, public = [*self.context.tables.tables], [*self.context.shared.public]
        joined = isinstance(node.parent, exp.Join) and public
        hint = likely(node.name, [*names, *public] if joined else names, "there are ")
        if match(node.name, self.context.shared.public):
            hint = "the private tables are " + ", ".join(names)
            hint += f"; a public table is joined to one of them: JOIN {node.name} ON …"
        return self.context.refuse(node, f"there is no private table {node.name!r}", hint)

    def _scan(self, table: PrivateTable, node: exp.Table) -> Relation:
        name = self.context.fresh(table.name, node)
        columns = {c: self._column(table, name, c) for c in self.context.columns[table.name]}
        return Relation({node.alias or node.name: columns}, None, Scan(table.name, name))

    def _column(self, table: PrivateTable, name: str, column: str) -> Expr:
        units, owners = self.context.tables.units, self.context.tables.owners(table.name)
        own = table.name in units and column == table.key
        if own or (table.references.get(column) in units and len(owners) == 1):
            return Column(f"{name}.{OWNER}", Text(None, nullable=False))
        attribute = table.attributes.get(column)
        return Column(f"{name}.{column}", from_domain(attribute.domain if attribute else Open()))

    def _join(
        self, left: Relation, join: exp.Join, tests: list[exp.Expression]
    ) -> tuple[Relation, list[exp.Expression]]:
        """The join, and the conditions of WHERE that it has not taken."""
        node, public = join.this, self.context.shared.public
        if isinstance(node, exp.Table) and match(node.name, public) and not self._is_private(node):
            return joined_public(self.context, left, join), tests
        return Join(self.context, join, left, self._item(node)).relation(tests)

    def _is_private(self, node: exp.Table) -> bool:
        named = node.name.lower() in self.named or match(node.name, self.context.tables.tables)
        return bool(named)

    # Subqueries beside the rows

    def _with_subqueries(self, found: Relation, tests: list[exp.Expression]) -> Relation:
        """The rows with a column for each subquery in the conditions, which is put in its place."""
        tests[:] = [test.transform(_as_in) if test.find(exp.Any) else test for test in tests]
        for place, test in enumerate(tests):
            nodes = [n for n in test.walk() if isinstance(n, exp.Exists | exp.Subquery)
                     or (isinstance(n, exp.In) and n.args.get("query"))]  # fmt: skip
            for node in [n for n in nodes if not _inside_other(n, nodes)]:
                found, made = self._subquery(found, node)
                if node is test:
                    tests[place] = made
                if node.parent is not None:
                    node.replace(made)
        return found

    def _subquery(self, found: Relation, node: exp.Expression) -> tuple[Relation, exp.Expression]:
        query = node.args.get("query") if isinstance(node, exp.In) else node.this
        inner = query.this if isinstance(query, exp.Subquery) else query
        if not isinstance(inner, exp.Select | exp.SetOperation):
            raise self.context.refuse(node, "a subquery here is a SELECT")

        def bind(select: exp.Select) -> Relation:
            return _Select(self.context, select, self.named).relation()

        def derive(part: exp.Expression) -> Relation:
            return _derived(self.context, part, self.named)

        return Correlated(self.context, found, node, inner, bind, derive).bound()


def _as_in(node: exp.Expression) -> exp.Expression:
    """`x = ANY (SELECT …)` as `x IN (SELECT …)`."""
    other = node.args.get("expression") if isinstance(node, exp.EQ) else None
    query = other.this.unnest() if isinstance(other, exp.Any) else None
    if isinstance(query, exp.Select | exp.SetOperation):
        return exp.In(this=node.this, query=exp.Subquery(this=query))
    return node


def _inside_other(node: exp.Expression, nodes: Sequence[exp.Expression]) -> bool:
    return any(node is not other and node in [*other.walk()] for other in nodes)
