"""A SELECT becomes a question: its rows, its keys, its statistics, and what is shown of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.limits import MAX_CELLS
from adomnia.queries.derived_table import DerivedTable, derived_table, single_table
from adomnia.queries.expression import Constant
from adomnia.queries.expression import columns as columns_of
from adomnia.queries.post import known_beforehand
from adomnia.queries.question import Output, Question, Refusal, Sort
from adomnia.queries.ranges import count_cells
from adomnia.queries.rows import Projected, is_owner
from adomnia.queries.sql.aggregates import is_aggregate
from adomnia.queries.sql.binder import Relation, match
from adomnia.queries.sql.never import unlisted
from adomnia.queries.sql.parse import check, parse, refuse
from adomnia.queries.sql.relation import StatementContext, bind_from, row_binder
from adomnia.queries.sql.select_list import Made, bind_post, name_of
from adomnia.queries.sql.several.context import TablesContext
from adomnia.queries.sql.several.selects import bind_tables, bind_view, computes_for_units
from adomnia.schema.table import Table
from adomnia.schema.tables import Tables

__all__ = ["Several", "bind", "interpret", "refused", "view_rows"]


@dataclass(frozen=True)
class Several:
    """Several private tables: the columns of each, and views over them in SQL."""

    tables: Tables
    columns: Mapping[str, tuple[str, ...]]
    views: Mapping[str, str] = field(default_factory=dict)


def view_rows(name: str, table: Table, several: Several) -> Projected:
    """The rows of a view; refused, as a statement is, where they rest on several units."""
    views = {name: parse(text) for name, text in several.views.items()}
    context = TablesContext(several.views[name], several.tables, several.columns, table, views)
    return bind_view(context, name)


def bind(
    sql: str, table: Table, columns: tuple[str, ...], several: Several | None = None
) -> Question:
    """The question that the text asks of the table; refused, with a pointer, when it cannot be."""
    question = interpret(sql, table, columns, several)
    if question.refusal is not None:
        raise refused(sql, question.refusal)
    return question


def refused(sql: str, refusal: Refusal) -> QuestionError:
    """The error of a question that compares what is never true."""
    return QuestionError(refusal.message, refusal.hint, sql, refusal.position)


def interpret(
    sql: str, table: Table, columns: tuple[str, ...], several: Several | None = None
) -> Question:
    """The question, also where a comparison in it is never true: it has its `refusal` then.

    What columns an answer has is told before the values of parameters are known.
    """
    try:
        return _bind(sql, table, columns, several)
    except RecursionError:
        raise QuestionError("the statement is nested too deeply", sql=sql) from None
    except ValueError:
        raise QuestionError("a number in this statement is too large", sql=sql) from None


def _bind(sql: str, table: Table, columns: tuple[str, ...], several: Several | None) -> Question:
    select = parse(sql, _column_names(table, columns, several))
    check(sql, select)
    listed = {"": tuple(table.attributes)}
    if several is not None:
        listed = dict(_declared(select, table, several))
    select = without_rows(sql, select, listed)
    source: StatementContext | TablesContext
    plain = table.unit is not None and not isinstance(table, DerivedTable)
    if several is None and plain and computes_for_units(select, table):
        several = Several(single_table(table), {table.name: columns})
    if several is None:
        source, relation = bind_from(StatementContext(sql, table, columns, {}), select)
    else:
        views = {name: parse(text) for name, text in several.views.items()}
        source = TablesContext(sql, several.tables, several.columns, table, views)
        relation = bind_tables(source, select)
        assert relation.rows is not None
        table = derived_table(relation.rows, several.tables, table)
    items = {item.alias: item.this for item in select.expressions if isinstance(item, exp.Alias)}
    made = Made(row_binder(sql, relation), table, items, refusals=source.refusals)
    made.never = is_never(sql, select) or not made.emptiness.may_hold(relation.where)
    _keys(made, select)
    outputs = _outputs(made, select)
    shown = {output.name: output.value for output in outputs}
    having = select.args.get("having")
    return Question(
        table=table.name,
        where=relation.where,
        keys=tuple(made.keys),
        having=bind_post(made, having.this, shown) if having else None,
        order=_order(made, select, outputs),
        statistics=tuple(made.statistics),
        outputs=outputs,
        limit=_count(made, select, "limit"),
        offset=_count(made, select, "offset") or 0,
        never=made.never,
        notes=_notes(made, select, outputs),
        refusal=made.refusals[0] if made.refusals else None,
        rows=relation.rows,
    )


def _column_names(
    table: Table, columns: tuple[str, ...], several: Several | None
) -> tuple[str, ...]:
    """Every column that a statement may name: of private tables, and of public ones."""
    own = columns if several is None else (c for part in several.columns.values() for c in part)
    return (*own, *(name for other in table.public.values() for name in other.columns))


def _notes(made: Made, select: exp.Select, outputs: tuple[Output, ...]) -> tuple[str, ...]:
    """What the declared domains say of a statement that is answered all the same."""
    where, notes = made.binder.relation.where, []
    if made.never and where is not None and columns_of(where):
        notes.append("by the declared domains no row can meet the condition of this statement")
    notes += [
        f"by the declared domains no row can count for {output.name}"
        for output in outputs
        if known_beforehand(output.value)
    ]
    written = frozenset(str(literal.this) for literal in select.find_all(exp.Literal))
    read = (where, *made.keys, *(statistic.argument for statistic in made.statistics))
    return (*notes, *unlisted(read, written, made.binder.relation))


# GROUP BY

_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def _keys(made: Made, select: exp.Select) -> None:
    group = select.args.get("group")
    if group is None:
        return
    extra = [part for name, part in group.args.items() if name != "expressions" and part]
    if extra or any(isinstance(part, _SETS) for part in group.expressions):
        raise made.binder.refuse(
            group,
            "ROLLUP, CUBE and GROUPING SETS cannot be answered",
            "ask for each grouping by itself",
        )
    for node in group.expressions:
        bound = made.binder.row(_named(made, select, node))
        if isinstance(bound, Constant):
            raise made.binder.refuse(node, "a constant cannot be grouped by")
        if any(is_owner(column.name) for column in columns_of(bound)):
            hint = "group by it in a subquery, and compute over its rows: SELECT AVG(n) FROM (…) t"
            raise made.binder.refuse(node, "single persons are never shown", hint)
        if bound not in made.keys:
            made.keys.append(bound)
    if not shows_nothing(select) and not is_never(made.binder.sql, select):
        _count_cells(made, group)


def _named(made: Made, select: exp.Select, node: exp.Expression) -> Any:
    """What a GROUP BY item stands for: a position, an alias, or itself."""
    if isinstance(node, exp.Literal) and not node.is_string:
        position = int(node.this) if str(node.this).isdigit() else 0
        if not 1 <= position <= len(select.expressions):
            raise made.binder.refuse(node, f"there is no column {node.this} to group by")
        item = select.expressions[position - 1]
        return item.this if isinstance(item, exp.Alias) else item
    known = {name for part in made.binder.relation.columns.values() for name in part}
    if isinstance(node, exp.Column) and not node.table and node.name not in known:
        return made.items.get(node.name, node)
    return node


def _count_cells(made: Made, group: exp.Expression) -> None:
    cells = 1
    for key, node in zip(made.keys, group.expressions, strict=False):
        cells *= (count_cells(key.range) or 1) + 1
        if cells > MAX_CELLS:
            raise made.binder.refuse(
                node,
                f"grouping by this makes more than {MAX_CELLS:,} cells",
                "every cell of the public domain is shown: group more coarsely, for example age/10",
            )


# What is shown


def _outputs(made: Made, select: exp.Select) -> tuple[Output, ...]:
    outputs: dict[str, Output] = {}
    for item in select.expressions:
        inner = item.this if isinstance(item, exp.Alias) else item
        value = bind_post(made, inner, {})
        name = _unused(item.alias or name_of(inner), outputs)
        outputs[name] = Output(name, value)
    return tuple(outputs.values())


def _unused(name: str, taken: Mapping[str, Output]) -> str:
    """The name, or with a number behind it where a column before it has the same."""
    names = (name, *(f"{name}_{number}" for number in range(2, len(taken) + 3)))
    return next(free for free in names if free not in taken)


# ORDER BY, LIMIT


def _order(made: Made, select: exp.Select, outputs: tuple[Output, ...]) -> tuple[Sort, ...]:
    clause = select.args.get("order")
    if clause is None:
        return ()
    shown = {output.name: output.value for output in outputs}
    sorts = []
    for item in clause.expressions:
        node = item.this
        if isinstance(node, exp.Literal) and not node.is_string:
            position = int(node.this) if str(node.this).isdigit() else 0
            if not 1 <= position <= len(outputs):
                raise made.binder.refuse(node, f"there is no column {node.this} to order by")
            value = outputs[position - 1].value
        else:
            value = bind_post(made, node, shown)
        sorts.append(Sort(value, bool(item.args.get("desc")), bool(item.args.get("nulls_first"))))
    return tuple(sorts)


def _count(made: Made, select: exp.Select, name: str) -> int | None:
    clause = select.args.get(name)
    if clause is None:
        return None
    node: Any = clause.args.get("expression") or clause.args.get("count")
    if node is None or isinstance(node, exp.Null):
        return None
    if not isinstance(node, exp.Literal) or node.is_string or not str(node.this).isdigit():
        raise made.binder.refuse(clause, f"{name.upper()} takes a whole number")
    return int(node.this)


# Scans: statements that name columns and no aggregate, where they can be answered without rows.
#
# Drivers and tools ask such statements for the names and types of columns (`LIMIT 0`, `WHERE 1 <>
# 1`), or for the values that a column may have (`SELECT DISTINCT`): both are public.


def is_never(sql: str, select: exp.Select) -> bool:
    """Whether the condition names no column and is not true: no row meets it, whatever the data.

    Conditions on columns are judged when they are bound.
    """
    where = select.args.get("where")
    if where is None or where.find(exp.Column, exp.Subquery, exp.Select):
        return False
    test = row_binder(sql, Relation({})).truth(where.this)
    return isinstance(test, Constant) and test.value is not True


def shows_nothing(select: exp.Select) -> bool:
    """Whether the statement asks for no row of its answer."""
    limit = select.args.get("limit")
    count = limit and (limit.args.get("expression") or limit.args.get("count"))
    return isinstance(count, exp.Literal) and not count.is_string and str(count.this) == "0"


def without_rows(sql: str, select: exp.Select, listed: Mapping[str, tuple[str, ...]]) -> exp.Select:
    """The statement with its columns as groups, where it is a scan that needs no row; a star stands
    for the declared columns, which are `listed` by the names of their tables here."""
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        raise refuse(sql, select, "DISTINCT ON cannot be answered", "use GROUP BY")
    free = distinct is not None or is_never(sql, select) or shows_nothing(select)
    if not free or select.args.get("group") or _aggregates(select):
        if distinct is not None:
            hint = "GROUP BY shows every cell once"
            raise refuse(sql, select, "DISTINCT cannot stand beside aggregates or groups", hint)
        return select
    found = select.copy()
    items = [item for part in found.expressions for item in _items(part, listed)]
    keys = [item.this if isinstance(item, exp.Alias) else item for item in items]
    named = [key.copy() for key in keys if key.find(exp.Column)]
    found.set("expressions", items)
    found.set("distinct", None)
    found.set("group", exp.Group(expressions=named) if named else None)
    return found


def _aggregates(select: exp.Select) -> bool:
    shown = [*select.expressions, select.args.get("having"), select.args.get("order")]
    return any(is_aggregate(part) for node in shown if node is not None for part in node.walk())


def _declared(
    select: exp.Select, table: Table, several: Several
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The columns that a star stands for, by the name that their table or view has here."""
    clause = select.args.get("from_") or select.args.get("from")
    joined = [join.this for join in select.args.get("joins") or ()]
    for node in [*([] if clause is None else [clause.this]), *joined]:
        if not isinstance(node, exp.Table):
            continue
        name, view = match(node.name, several.tables.tables), match(node.name, several.views)
        if view is not None:
            yield node.alias_or_name, tuple(c for c, _ in view_rows(view, table, several).columns)
        elif name is not None:
            yield node.alias_or_name, tuple(several.tables.tables[name].attributes)


def _items(item: exp.Expression, listed: Mapping[str, tuple[str, ...]]) -> list[exp.Expression]:
    """The item, or where it is a star the declared attributes."""
    star = isinstance(item, exp.Star) or (
        isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
    )
    if not star:
        return [item]
    said = item.table if isinstance(item, exp.Column) else ""
    only = listed if not said or "" in listed else [match(said, listed) or ""]
    return [
        exp.column(name, table=alias or said or None, quoted=True)
        for alias in only
        for name in listed.get(alias, ())
    ]
