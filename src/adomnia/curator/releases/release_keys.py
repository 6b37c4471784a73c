"""The sides of released tables: attributes, and whatever GROUP BY takes, such as `age / 10`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from adomnia.curator.releases.bands import Bands
from adomnia.curator.releases.magnitudes import Magnitude, present
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import QuestionError
from adomnia.limits import MAX_AXIS_VALUES
from adomnia.marginals.workload import Subset, Workload, up_to_ways
from adomnia.policy.impossible_section import Impossible, possible
from adomnia.privacy.reads import REST, MarginalTables
from adomnia.queries.expression import Column, Expr, columns
from adomnia.queries.grouping import shows_null
from adomnia.queries.operations import call
from adomnia.queries.ranges import cells, count_cells, from_domain, show
from adomnia.schema.domain import Domain
from adomnia.schema.table import Attribute

__all__ = ["LeftOut", "ReleaseKey", "TableLayout", "refuse_names", "table_layout"]

ENDS = ("", "_margin", "_mark")
"""What the names of published columns end with."""


@dataclass(frozen=True)
class ReleaseKey:
    """A side of a table: its name, its value in a row, and whether NULL is one of its values.

    What is no attribute is told as it was `written`. Where it is `hidden`, a row may have none of
    its values: such a row is in a cell of its own, which is measured and not shown.
    """

    name: str
    expr: Expr
    null: bool
    written: str | None = None
    description: str = field(default="", compare=False)
    hidden: bool = False

    @cached_property
    def axis(self) -> tuple[Any, ...]:
        """Its values in their order, NULL last."""
        listed = cells(self.expr.range)
        return (*listed, None) if self.null else listed

    @property
    def measured(self) -> tuple[Any, ...]:
        """What a row is told by: its values, and last all that is not shown."""
        return (*self.axis, REST) if self.hidden else self.axis

    @property
    def size(self) -> int:
        """How many values are measured."""
        return len(self.axis) + self.hidden

    @property
    def leaves(self) -> bool:
        """Whether by its range a row may have none of its values."""
        return self.expr.range.ragged or (self.expr.range.nullable and not self.null)

    @property
    def keeps(self) -> bool:
        """Whether every row has one cell of it, whatever it holds. Of an expression nobody vouches
        that all its values are listed, unless what is not has a cell."""
        return self.hidden or (isinstance(self.expr, Column) and not self.leaves)

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

    def to_json(self) -> dict[str, Any]:
        """It as plain JSON values, told apart from rows that are left out."""
        return {"what": "attribute", **vars(self)}


@dataclass(frozen=True)
class TableLayout:
    """The tables that are asked for, and the keys along their sides.

    The `workload` is what is published. What is `measured` has the hidden cells as well.
    """

    workload: Workload
    keys: tuple[ReleaseKey, ...]
    left_out: tuple[LeftOut, ...] = ()
    impossible: tuple[Impossible, ...] = ()
    magnitudes: tuple[Magnitude, ...] = ()
    description: str = field(default="", compare=False)

    @cached_property
    def measured(self) -> Workload:
        """The same tables with the cells that are not shown."""
        sizes = tuple(key.size for key in self.keys)
        return Workload(self.workload.names, sizes, self.workload.marginals)

    def shown(self, subset: Subset) -> tuple[slice, ...]:
        """The part of a measured table that is published."""
        return tuple(slice(len(self.keys[place].axis)) for place in subset)

    @property
    def plain(self) -> bool:
        """Whether all keys are attributes as they are."""
        return all(isinstance(key.expr, Column) for key in self.keys)

    @property
    def columns(self) -> tuple[str, ...]:
        """What the tables read of a row, and what decides whether it is in them."""
        read = [key.columns for key in self.keys] + [one.columns for one in self.impossible]
        read += [one.columns for one in self.magnitudes]
        return tuple(dict.fromkeys(name for names in read for name in names))

    @property
    def reads(self) -> MarginalTables:
        """The tables of all rows that can be, and have all numbers that are summed."""
        exprs, axes = tuple(k.expr for k in self.keys), tuple(k.measured for k in self.keys)
        tests = [possible(self.impossible), *present(self.magnitudes)]
        held = [test for test in tests if test is not None]
        where = held[0] if len(held) == 1 else call("and", *held) if held else None
        return MarginalTables(exprs, axes, where)

    def summed(self, magnitude: Magnitude) -> MarginalTables:
        """The same tables, of what these rows add up to."""
        return replace(self.reads, contributions=(magnitude.contribution,))


def table_layout(
    backend: TableBackend,
    ways: int | None,
    marginals: tuple[tuple[str, ...], ...],
    bands: Sequence[Bands] = (),
) -> TableLayout:
    """All tables of one to `ways` keys, or those that are listed.

    Keys are those that the list names; where it names none, all attributes with few enough values.
    A column with `bands` is its bands, by its own name and by theirs.
    """
    attributes, impossible = backend.policy.attributes, backend.policy.impossible
    described = partial(TableLayout, description=backend.policy.description)
    hidden = partial(_with_hidden, listed=backend.public()[1].listed)
    banded = {one.column: _band_key(backend, one) for one in bands}
    if not any(marginals):
        left_out = _left_out({n: one for n, one in attributes.items() if n not in banded})
        without = {one.attribute for one in left_out}
        keys = tuple(
            banded.get(n) or _attribute_key(one)
            for n, one in attributes.items()
            if n not in without
        )
        return described(_workload(keys, ways, []), hidden(keys), left_out, impossible)
    names = _Names(backend, banded)
    tables = [[names.key(text) for text in part] for part in marginals]
    keys = names.in_order()
    idle = next((one for one in banded.values() if one not in keys), None)
    if idle is not None:
        raise QuestionError(
            f"no table has the key {idle.name[:60]!r}", "list one with it, or leave its bands out"
        )
    listed = [[keys.index(names.keys[expr]) for expr in part] for part in tables]
    return described(_workload(keys, ways, listed), hidden(keys), (), impossible)


def _with_hidden(keys: tuple[ReleaseKey, ...], listed: frozenset[str]) -> tuple[ReleaseKey, ...]:
    """The keys, with a hidden cell of each that a row may have no value of.

    Beside exact releases rows without a value of the `listed` columns are left out by the
    statement, so that no such row is in a hidden cell (`prior_knowledge.md`).
    """
    return tuple(replace(k, hidden=k.leaves and not {*k.columns} <= listed) for k in keys)


def refuse_names(layout: TableLayout) -> None:
    """A column of a published file has one name, and a name means one thing."""
    taken = {key.name for key in layout.keys}
    made = [f"{kind}_{one.name}" for one in layout.magnitudes for kind in ("sum", "avg")]
    made += [f"cumulative_{name}" for name in taken]
    clash = taken & {"mark", *(f"{name}{end}" for name in ("count", *made) for end in ENDS)}
    if clash:
        raise QuestionError(
            f"{min(clash)[:60]!r} would be the name of two columns",
            "take another alias, for example count AS visits",
        )


class _Names:
    """The keys that a list of tables names: attributes, and expressions with or without an alias.

    The same expression is the same key, however it is written.
    """

    def __init__(self, backend: TableBackend, banded: Mapping[str, ReleaseKey]) -> None:
        self._attributes = backend.policy.attributes
        self._banded = {**banded, **{key.name: key for key in banded.values()}}
        self._columns = backend.columns
        self.keys: dict[Expr, ReleaseKey] = {}
        self._aliases: dict[str, Expr] = {}

    def key(self, text: str) -> Expr:
        """What a text stands for: an attribute, an alias that was given before, an expression."""
        if text in self._banded:
            return self._kept(self._banded[text])
        if text in self._attributes:
            return self._kept(_attribute_key(self._attributes[text]))
        if text in self._aliases:
            return self._aliases[text]
        domains = {name: one.domain for name, one in self._attributes.items()}
        alias, expr = self._bound(text, domains)
        if isinstance(expr, Column) and alias is None:
            if expr.name not in self._attributes:
                raise self._undeclared(expr.name)
            return self._kept(_attribute_key(self._attributes[expr.name]))
        written = " ".join(text.split())
        name = alias or written
        self._refuse_taken(name, expr)
        _refuse_wide(name, expr)
        if alias is not None:
            self._aliases[alias] = expr
        null = shows_null(expr, self._attributes)
        return self._kept(ReleaseKey(name, expr, null, written), bool(alias))

    def in_order(self) -> tuple[ReleaseKey, ...]:
        """Attributes in the policy's order, then expressions in that of the list."""
        plain = {key.name: key for key in self.keys.values() if isinstance(key.expr, Column)}
        first = [plain[name] for name in self._attributes if name in plain]
        return (*first, *(key for key in self.keys.values() if key not in first))

    def _bound(self, text: str, domains: Mapping[str, Domain]) -> tuple[str | None, Expr]:
        from adomnia.queries.sql.fragments import bind_key  # noqa: PLC0415 (slow to import)

        if text.isidentifier() and text.lower() not in {name.lower() for name in self._columns}:
            raise self._undeclared(text)
        return bind_key(text, self._columns, domains)

    def _undeclared(self, name: str) -> QuestionError:
        hint = "declared are: " + ", ".join(self._attributes)
        return QuestionError(f"{name[:60]!r} is not a declared attribute", hint)

    def _refuse_taken(self, name: str, expr: Expr) -> None:
        """A name means one thing: other keys, columns and what a file says beside them have it."""
        taken = {key.name for key in self.keys.values() if key.expr != expr}
        if name in {*taken, *self._columns, "count", "count_margin", "mark"}:
            raise QuestionError(
                f"{name[:60]!r} is the name of something else", "take another alias"
            )

    def _kept(self, key: ReleaseKey, again: bool = False) -> Expr:
        if again or key.expr not in self.keys:
            self.keys[key.expr] = key
        return key.expr


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


def _band_key(backend: TableBackend, bands: Bands) -> ReleaseKey:
    """The key of a column's bands; what is NULL is a value of it where the column is nullable."""
    from adomnia.queries.sql.fragments import bind_key  # noqa: PLC0415 (slow to import)

    columns, attributes = backend.columns, backend.policy.attributes
    if bands.name in columns:
        raise QuestionError(
            f"{bands.name[:60]!r}, the key of these bands, is a column",
            "take the bands as a key of --marginals: CASE WHEN … END AS name",
        )
    domains = {name: one.domain for name, one in attributes.items()}
    _, expr = bind_key(bands.sql, columns, domains)
    column = attributes[bands.column]
    return ReleaseKey(bands.name, expr, column.nullable, bands.sql, column.description)


def _attribute_key(attribute: Attribute) -> ReleaseKey:
    expr = Column(attribute.name, from_domain(attribute.domain))
    _refuse_wide(attribute.name, expr)
    return ReleaseKey(attribute.name, expr, attribute.nullable, description=attribute.description)


def _refuse_wide(name: str, expr: Expr) -> None:
    """Refuse what has no list of values, or too long a one."""
    wrong = _unlistable(count_cells(expr.range))
    if wrong:
        raise QuestionError(
            f"{name[:60]!r} has {wrong}",
            f"an attribute of a table has at most {MAX_AXIS_VALUES:,}: declare a coarser step, "
            "or take a coarser key such as age / 10",
        )


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
