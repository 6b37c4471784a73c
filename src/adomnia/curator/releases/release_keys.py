"""The sides of released tables: which attributes, with which values, and which are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from adomnia.curator.table_backend import TableBackend
from adomnia.errors import QuestionError
from adomnia.limits import MAX_AXIS_VALUES
from adomnia.marginals.workload import Workload, up_to_ways
from adomnia.policy.impossible_section import Impossible, possible
from adomnia.privacy.reads import MarginalTables
from adomnia.queries.expression import Column, Expr, columns
from adomnia.queries.ranges import cells, count_cells, from_domain, show
from adomnia.schema.table import Attribute

__all__ = ["LeftOut", "ReleaseKey", "TableLayout", "table_layout"]


@dataclass(frozen=True)
class ReleaseKey:
    """A side of a table: its name, its value in a row, and whether NULL is one of its values."""

    name: str
    expr: Expr
    null: bool

    @cached_property
    def axis(self) -> tuple[Any, ...]:
        """Its values in their order, NULL last."""
        listed = cells(self.expr.range)
        return (*listed, None) if self.null else listed

    @cached_property
    def values(self) -> tuple[Any, ...]:
        """The same as a person reads them."""
        return tuple(show(self.expr.range, value) for value in self.axis)

    @property
    def columns(self) -> tuple[str, ...]:
        """What it reads of a row."""
        return tuple(column.name for column in columns(self.expr))


@dataclass(frozen=True)
class LeftOut:
    """An attribute that is in no table, though all were asked for, and why."""

    attribute: str
    reason: str

    def __str__(self) -> str:
        return f"{self.attribute} ({self.reason})"


@dataclass(frozen=True)
class TableLayout:
    """The tables that are asked for, and the keys along their sides."""

    workload: Workload
    keys: tuple[ReleaseKey, ...]
    left_out: tuple[LeftOut, ...] = ()
    impossible: tuple[Impossible, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """What the tables read of a row, and what decides whether it is in them."""
        read = [key.columns for key in self.keys] + [one.columns for one in self.impossible]
        return tuple(dict.fromkeys(name for names in read for name in names))

    @property
    def reads(self) -> MarginalTables:
        """The tables of all rows that can be."""
        exprs, axes = tuple(k.expr for k in self.keys), tuple(k.axis for k in self.keys)
        return MarginalTables(exprs, axes, possible(self.impossible))


def table_layout(
    backend: TableBackend, ways: int | None, marginals: tuple[tuple[str, ...], ...]
) -> TableLayout:
    """All tables of one to `ways` keys, or those that are listed.

    Keys are those that the list names; where it names none, all attributes with few enough values.
    """
    attributes = backend.policy.attributes
    wanted = list(dict.fromkeys(name for names in marginals for name in names))
    for name in wanted:
        if name not in attributes:
            hint = "declared are: " + ", ".join(attributes)
            raise QuestionError(f"{name[:60]!r} is not a declared attribute", hint)
    left_out = () if wanted else _left_out(attributes)
    without = {one.attribute for one in left_out}
    names = [n for n in attributes if (n in wanted if wanted else n not in without)]
    keys = tuple(_attribute_key(attributes[name]) for name in names)
    workload = _workload(keys, ways, [[names.index(name) for name in part] for part in marginals])
    return TableLayout(workload, keys, left_out, backend.policy.impossible)


def _workload(
    keys: tuple[ReleaseKey, ...], ways: int | None, marginals: list[list[int]]
) -> Workload:
    names, sizes = tuple(key.name for key in keys), tuple(len(key.axis) for key in keys)
    if ways is not None:
        if not 1 <= ways <= len(names):
            raise QuestionError(
                f"marginals of {ways} attributes cannot be made",
                f"--ways goes from 1 to {len(names)}, the attributes with a list of values",
            )
        return up_to_ways(names, sizes, ways)
    subsets = [tuple(sorted(part)) for part in marginals]
    if not subsets:
        raise QuestionError("say which marginals", "for example --ways 2, or --marginals sex,age")
    if len(set(subsets)) < len(subsets) or any(len(set(s)) < len(s) for s in subsets):
        raise QuestionError("a marginal, or an attribute in one, is named twice", "name it once")
    return Workload(names, sizes, tuple(subsets))


def _attribute_key(attribute: Attribute) -> ReleaseKey:
    spread = from_domain(attribute.domain)
    wrong = _unlistable(count_cells(spread))
    if wrong:
        raise QuestionError(
            f"{attribute.name!r} has {wrong}",
            f"an attribute of a table has at most {MAX_AXIS_VALUES:,}: declare a coarser step",
        )
    return ReleaseKey(attribute.name, Column(attribute.name, spread), attribute.nullable)


def _left_out(attributes: Mapping[str, Attribute]) -> tuple[LeftOut, ...]:
    """The attributes whose values are no side of a table."""
    counts = {name: count_cells(from_domain(one.domain)) for name, one in attributes.items()}
    return tuple(
        LeftOut(name, f"{wrong}{f'; at most {MAX_AXIS_VALUES:,} fit' if count else ''}")
        for name, count in counts.items()
        if (wrong := _unlistable(count))
    )


def _unlistable(count: int | None) -> str:
    """What keeps so many values from being a side of a table; nothing where they are."""
    if count is None:
        return "no list of values"
    return f"{count:,} values" if count > MAX_AXIS_VALUES else ""
