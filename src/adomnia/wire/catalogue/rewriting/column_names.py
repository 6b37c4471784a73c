"""Naming: what PostgreSQL calls the columns of a query, and the tables in it."""

from __future__ import annotations

from sqlglot import exp

from adomnia.wire.catalogue.relations import SYSTEM_COLUMNS
from adomnia.wire.catalogue.rewriting.functions import name_of
from adomnia.wire.catalogue.types import canonical

__all__ = ["column_name", "lower_names", "name_columns", "visible_queries"]

UNNAMED = "?column?"
OWN_WORDS = {"user", "current_role"}


def lower_names(tree: exp.Query) -> None:
    """Fold what is not quoted to lower case, as PostgreSQL does."""
    for node in tree.find_all(exp.Identifier):
        if not node.args.get("quoted"):
            node.set("this", node.name.lower())
            node.meta["bare"] = True
        node.set("quoted", True)


def name_columns(tree: exp.Query) -> None:
    """Give every column the name that PostgreSQL would give it."""
    for select in list(tree.find_all(exp.Select)):
        for each in select.expressions:
            if isinstance(each, exp.Alias | exp.Star) or each.is_star:
                continue
            if isinstance(each, exp.Column) and not _is_replaced(each):
                continue
            name = column_name(each) or UNNAMED
            each.replace(exp.alias_(each.copy(), name, quoted=True))


def column_name(node: exp.Expr) -> str | None:
    """The name that PostgreSQL makes of an expression; None where it makes none."""
    return _named(node)[0]


def _named(node: exp.Expr) -> tuple[str | None, bool]:  # noqa: PLR0911 (a table of kinds)
    """A name, and whether it is a strong one: a cast gives its type's to what has a weak one."""
    match node:
        case exp.Alias() | exp.Column():
            return str(node.alias_or_name), True
        case exp.Paren() | exp.Bracket() | exp.Collate() | exp.Window() | exp.Filter():
            return _named(node.this)
        case exp.Cast():
            name, strong = _named(node.this)
            return (name if strong else canonical(node.to.sql("postgres")).lstrip("_")), strong
        case exp.Subquery():
            columns = node.this.selects if isinstance(node.this, exp.Query) else []
            return (column_name(columns[0]), True) if columns else (None, False)
        case exp.Case():
            last = node.args.get("default")
            name, strong = (None, False) if last is None else _named(last)
            return (name, True) if strong else ("case", False)
        case exp.Dot():
            return str(node.expression.name), True
        case exp.And() | exp.Or() | exp.RegexpLike() | exp.RegexpILike():
            return None, False
        case exp.Func():
            return name_of(node), True
        case _:
            return None, False


def visible_queries(node: exp.Expr) -> set[str]:
    """The names of those WITH queries that a table could mean where it stands."""
    names: set[str] = set()
    above = node.parent
    while above is not None:
        shared = above.args.get("with_")
        if shared is not None:
            names |= {each.alias for each in shared.expressions}
        above = above.parent
    return names


def _is_replaced(node: exp.Column) -> bool:
    """Whether a column will be a value later; `user` and its like only look as a column does."""
    is_word = not node.table and node.name in OWN_WORDS and "bare" in node.this.meta
    return is_word or node.name in SYSTEM_COLUMNS
