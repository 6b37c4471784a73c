"""Subqueries in conditions and select lists: EXISTS, IN, or one value for each row of outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.queries.expression import Column, Expr
from adomnia.queries.operations import call, constant
from adomnia.queries.ranges import Number, Truth
from adomnia.queries.rows import (
    HERE,
    ROW,
    Filtered,
    Joined,
    Numbered,
    PerUnit,
    Rows,
    is_owner,
    most_rows,
)
from adomnia.queries.sql.binder import Relation, match
from adomnia.queries.sql.relation import conjoin, row_binder
from adomnia.queries.sql.several.context import (
    TablesContext,
    bare,
    conjuncts,
    filtered_rows,
    nullable,
    resolved,
    rows_of,
)
from adomnia.queries.sql.several.unit_keys import UnitKeys
from adomnia.queries.sql.several.unit_totals import GroupedSelect, is_total

__all__ = ["Correlated"]

Pair = tuple[Column, Column]


@dataclass(frozen=True)
class Correlated:
    """A subquery and the rows that it stands beside; `bind` gives the rows of a SELECT, and
    `derive` those of any subquery by itself."""

    context: TablesContext
    found: Relation
    node: exp.Expression
    inner: exp.Expression
    bind: Callable[[exp.Select], Relation]
    derive: Callable[[exp.Expression], Relation]

    def bound(self) -> tuple[Relation, exp.Expression]:
        """The rows with its value for each, and the column that stands for it."""
        relation, ties, tests = self._parts()
        keys = UnitKeys(self.context)
        for part in (relation, self.found):
            keys.check_one(self.node, part)
        pairs = [*self._named(relation)]
        pairs += [self._tied(first, self._ends(first, second, relation), relation,
                             "a subquery is tied to its rows by columns of the same kind")
                  for first, second in ties]  # fmt: skip
        if not any(keys.is_unit(pair, self.found, relation) for pair in pairs):
            raise self._of_other_units()
        name = self.context.fresh("exists", self.node)
        made = self._matched if tests else self._grouped
        rows, value = made(relation, name, pairs, tests)
        columns = {**self.found.columns, f"adomnia {name}": {"value": value}}
        told: exp.Expression = exp.column("value", table=f"adomnia {name}", quoted=True)
        if isinstance(self.node, exp.In) and self.node.args.get("negate"):
            told = exp.Not(this=told)
        return replace(self.found, columns=columns, rows=rows), told

    def _of_other_units(self) -> QuestionError:
        units = self.context.tables.unit_name
        tables = " and ".join(dict.fromkeys(t.name for t in self.inner.find_all(exp.Table)))
        said = f"this subquery may read rows of other units, of {tables}"
        hint = f"tie it to the outer rows by a key that leads to {units}"
        return self.context.refuse(self.node, said, hint)

    # What it says

    def _parts(
        self,
    ) -> tuple[Relation, list[tuple[exp.Expression, exp.Expression]], list[exp.Expression]]:
        """The rows of the subquery, what ties them to those of outside, and what else compares
        them."""
        if self._is_plain(self.inner):
            assert isinstance(self.inner, exp.Select)
            ties, tests, inner = self._ties(self.inner)
            return self.bind(inner), ties, tests
        if not isinstance(self.node, exp.In):
            said = "a subquery here has no GROUP BY, HAVING, LIMIT, UNION, INTERSECT or EXCEPT"
            hint = "compare with IN (SELECT key FROM …)"
            if isinstance(self.node, exp.Subquery):
                hint = "compute one value: MAX(x), COUNT(*), ARG_MAX(x, y) for the x of the last y"
            raise self.context.refuse(self.node, said, hint)
        return self.derive(self.inner).named("subquery"), [], []

    def _is_plain(self, inner: exp.Expression) -> bool:
        parts = ("group", "having", "distinct", "limit", "offset", "with_", "with")
        grouped = isinstance(self.node, exp.In) and any(inner.args.get(part) for part in parts)
        refused = any(inner.args.get(part) for part in ("group", "having", "limit"))
        return isinstance(inner, exp.Select) and not grouped and not refused

    def _ties(
        self, select: exp.Select
    ) -> tuple[list[tuple[exp.Expression, exp.Expression]], list[exp.Expression], exp.Select]:
        """Equalities with columns of outside, other conditions on these, and the subquery without
        either."""
        inner, ties, tests, kept = select.copy(), [], [], []
        where = inner.args.get("where")
        aliases = {n.alias_or_name.lower() for n in inner.find_all(exp.Table)}
        for test in [] if where is None else conjuncts(where.this):
            ends = [bare(test.this), bare(test.expression)] if isinstance(test, exp.EQ) else []
            out = [self._is_outside(end, aliases) for end in ends]
            if out in ([False, True], [True, False]) and all(
                isinstance(end, exp.Column) for end in ends
            ):
                ties.append((ends[out.index(False)], ends[out.index(True)]))
            elif self._reads_outside(test, aliases):
                tests.append(test.copy())
            else:
                kept.append(test.copy())
        inner.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
        return ties, tests, inner

    def _reads_outside(self, test: exp.Expression, aliases: set[str]) -> bool:
        nested = [n for s in test.find_all(exp.Select) for n in s.walk()]
        if nested:
            return False
        return any(self._is_outside(column, aliases) for column in test.find_all(exp.Column))

    def _is_outside(self, node: exp.Expression, aliases: set[str]) -> bool:
        if not isinstance(node, exp.Column):
            return False
        if node.table:
            outside = match(node.table, self.found.columns) is not None
            return node.table.lower() not in aliases and outside
        known = {c.lower() for name, t in self.context.columns.items()
                 if self._reads(name, aliases) for c in t}  # fmt: skip
        return node.name.lower() not in known and resolved("", node, self.found) is not None

    def _reads(self, table: str, aliases: set[str]) -> bool:
        named = (n for n in self.inner.find_all(exp.Table) if n.name.lower() == table.lower())
        return any(n.alias_or_name.lower() in aliases for n in named)

    def _named(self, relation: Relation) -> Iterator[Pair]:
        """What IN compares."""
        if not isinstance(self.node, exp.In):
            return
        said = "IN compares a column with one column of a subquery, of the same kind"
        asked = self.node.this.unnest()
        outer = asked.expressions if isinstance(asked, exp.Tuple) else [asked]
        parts = relation.columns.get("subquery")
        items: list[Expr | None] = (
            [*parts.values()]
            if parts is not None
            else [self._resolved(bare(item), relation) for item in self.inner.expressions]
        )
        if len(items) != len(outer):
            raise self.context.refuse(self.node, said)
        for node, inner in zip(outer, items, strict=True):
            ends = self._resolved(bare(node), self.found), inner
            yield self._tied(self.node, ends, relation, said)

    def _resolved(self, node: exp.Expression, relation: Relation) -> Expr | None:
        return resolved(self.context.sql, node, relation)

    def _ends(
        self, inner: exp.Expression, outer: exp.Expression, relation: Relation
    ) -> tuple[Expr | None, Expr | None]:
        return self._resolved(outer, self.found), self._resolved(inner, relation)

    def _tied(
        self,
        node: exp.Expression,
        ends: tuple[Expr | None, Expr | None],
        relation: Relation,
        said: str,
    ) -> Pair:
        """A column of outside and one of the subquery that can be compared; refused otherwise."""
        outer, inner = ends
        if not isinstance(outer, Column) or not isinstance(inner, Column):
            raise self.context.refuse(node, said)
        if not UnitKeys(self.context).alike(outer, inner, self.found, relation):
            raise self.context.refuse(node, said)
        return outer, inner

    # What comes out

    def _grouped(
        self, relation: Relation, name: str, pairs: list[Pair], tests: list[exp.Expression]
    ) -> tuple[Rows, Expr]:
        """Groups of each unit by what ties them, joined to the rows of outside."""
        keyed = [(b, a) for b, a in pairs if not (is_owner(a.name) and is_owner(b.name))]
        keys = tuple((f"k{i}", a) for i, (_, a) in enumerate(keyed))
        made, value = self._value(relation, name, keys)
        ends = tuple((b, Column(f"{name}.k{i}", a.range)) for i, (b, a) in enumerate(keyed))
        return Joined(rows_of(self.found), made, ends, name), value

    def _matched(
        self, relation: Relation, name: str, pairs: list[Pair], tests: list[exp.Expression]
    ) -> tuple[Rows, Expr]:
        """What each row of outside meets, by its number, joined to it again."""
        numbered = Numbered(rows_of(self.found), name := f"{name} row")
        most = max(1, most_rows(numbered, self.context.tables))
        row = Column(f"{name}.{ROW}", Number(1, most, ragged=True))
        ends = tuple((b, a) for b, a in pairs if not (is_owner(a.name) and is_owner(b.name)))
        both = Joined(numbered, filtered_rows(relation), ends)
        seen = {**self.found.columns, **relation.columns}
        met = Relation(seen, None, both)
        where: Expr | None = None
        for test in tests:
            bound = row_binder(self.context.sql, met).truth(self._inner_first(test, relation))
            where = conjoin(where, bound)
        assert where is not None
        inner = f"{name}s"
        made, value = self._value(replace(met, rows=Filtered(both, where)), inner, (("k0", row),))
        again = ((row, Column(f"{inner}.k0", row.range)),)
        return Joined(numbered, made, again, inner), value

    def _inner_first(self, test: exp.Expression, relation: Relation) -> exp.Expression:
        """The condition with columns of the subquery under the names of their tables: these come
        before those of outside."""
        test = test.copy()
        for column in test.find_all(exp.Column):
            aliases = [a for a, part in relation.columns.items() if match(column.name, part)]
            if not column.table and aliases:
                column.set("table", exp.to_identifier(aliases[0], quoted=True))
        return test

    def _value(
        self, relation: Relation, name: str, keys: tuple[tuple[str, Expr], ...]
    ) -> tuple[Rows, Expr]:
        """Whether there is a row, or the one value that is asked for, of each unit."""
        if not isinstance(self.node, exp.Subquery):
            here = Column(f"{name}.{HERE}", Truth(nullable=False))
            return PerUnit(filtered_rows(relation), name, keys), here
        items = self.inner.expressions
        if len(items) != 1 or not is_total(bare(items[0])):
            hint = "for example (SELECT COUNT(*) FROM …), or ANY_VALUE(x) where there is but one"
            said = "a subquery here is one aggregate of its rows"
            raise self.context.refuse(self.node, said, hint)
        assert isinstance(self.inner, exp.Select)
        grouped = GroupedSelect(self.context, self.inner, relation)
        total, expr = grouped.total(bare(items[0]), f"{name}.value")
        if total.kind in ("count", "distinct"):
            known = nullable(expr)
            expr = call("case", call("is_null", known), constant(0), known)
        return PerUnit(filtered_rows(relation), name, keys, (("value", total),)), nullable(expr)
