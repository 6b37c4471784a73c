"""Worlds: a policy, a table and its neighbours, made by the definition of the relation."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tests.adversary import columns as c
from tests.adversary.columns import Chance, Column

Row = tuple[Any, ...]
Rows = tuple[Row, ...]
BUDGET = 10**12
REGIONS = "zip,zone,label\n1,10,north\n2,10,south\n3,20,north\n5,30,\n"
"""A public table; its fourth key lies outside of what the private column may be."""


@dataclass(frozen=True)
class Relation:
    """Which two tables are neighbours."""

    name: str
    group: int = 1
    max_rows: int | None = None
    max_groups: int | None = None
    each: int | None = None
    most: int | None = None

    @property
    def label(self) -> str:
        """What the summary calls it."""
        parts = [self.name]
        if self.group > 1:
            parts.append(f"group {self.group}")
        for text, value in (("unit", self.max_rows), ("groups", self.max_groups),
                            ("each", self.each)):  # fmt: skip
            if value is not None:
                parts.append(text)
        return " ".join(parts)

    @property
    def policy(self) -> str:
        """Its lines in [privacy]."""
        lines = [f'neighbors = "{self.name}"']
        if self.group > 1:
            lines.append(f"group = {self.group}")
        if self.max_rows is not None:
            lines += ['unit = "pid"', f"max_rows = {self.max_rows}"]
        if self.max_groups is not None:
            lines.append(f"max_groups = {self.max_groups}")
        if self.each is not None:
            lines.append(f"max_rows_per_group = {self.each}")
        if self.most is not None:
            lines.append(f"most = {self.most}")
        return "\n".join(lines)


def relation(chance: Chance, name: str | None = None) -> Relation:
    """Any relation with any of its settings."""
    name = name or chance.choice(
        ["unbounded", "bounded", "attribute", "bit", "free-lunch", "unit", "bounded unit"]
    )
    if name == "free-lunch":
        return Relation(name, most=chance.choice([5, 40]))
    group = chance.choice([1, 1, 1, 2, 3])
    if "unit" in name:
        base = "bounded" if name.startswith("bounded") else "unbounded"
        rows = chance.choice([1, 2, 3, 5])
        groups = chance.choice([None, None, 1, 2])
        each = chance.choice([None, None, 1, 2])
        return Relation(base, chance.choice([1, 1, 2]), rows, groups, each)
    return Relation(name, group)


@dataclass(frozen=True)
class World:
    """What is public: the relation, the columns, the currency of the budget."""

    relation: Relation
    columns: tuple[Column, ...]
    currency: str = "epsilon"
    public: tuple[str, ...] = ()
    impossible: tuple[str, ...] = ()
    prices: ClassVar[tuple[int, ...]] = (1, 1, 20)

    @classmethod
    def drawn(cls, chance: Chance, name: str | None = None) -> World:
        """Any world."""
        kind = relation(chance, name)
        made = [
            c.listed("sex", ("F", "M"), chance),
            c.listed("ill", ("no", "yes", "Flu"), chance),
            c.number("age", chance.choice([0, -5, 9]), chance.choice([5, 21, 101]), chance),
            c.number("income", chance.choice([-50, 0, 100]), chance.choice([200, 2001]), chance),
            c.codes("zip", (1, 2, 3, 4), chance),
            c.flag("smoker", chance),
            c.day("seen", chance),
            c.text("city", declared=chance.random() < 0.5),
        ]
        if kind.max_rows is not None:
            made.append(c.unit("pid", chance))
        chance.shuffle(made)
        world = cls(kind, tuple(made), chance.choice(["epsilon", "epsilon", "rho"]))
        return world if chance.random() < 0.1 else plain(world)

    @property
    def policy(self) -> str:
        """The policy file, but for the source."""
        budget = f"{self.currency} = {BUDGET}"
        if self.currency == "epsilon" and self.relation.most is None:
            budget += "\ndelta = 0.1"
        parts = [f"[privacy]\nconfirmed = true\n{self.relation.policy}\n{budget}\n"]
        for col in self.columns:
            told = "sensitive = false\n" if col.name in self.public else ""
            parts += [f"[attributes.{col.name}]\n{col.policy}{told}"] if col.policy else []
        parts.append('[public.regions]\nsource = "regions.csv"\nkey = "zip"\n')
        parts += [f'[[impossible]]\nwhen = "{test}"\n' for test in self.impossible]
        return "\n".join(parts)

    def row(self, chance: Chance, hostile: float = 0.15) -> Row:
        """Any row."""
        return tuple(col.value(chance, hostile) for col in self.columns)

    def table(self, chance: Chance, hostile: float = 0.15) -> Rows:
        """Any table of a few rows."""
        most = self.relation.most
        size = chance.randrange(most + 1) if most else chance.randrange(4, 30)
        return tuple(self.row(chance, hostile) for _ in range(size))

    def neighbour(self, rows: Rows, chance: Chance) -> Rows:
        """A table that the relation says must look like this one."""
        if self.relation.most is not None:
            return chance.choice([(), self.table(chance), self.table(chance, 0.6)])
        steps = chance.choice([1, self.relation.group])
        for _ in range(steps):
            rows = self._step(rows, chance)
        return rows

    def _step(self, rows: Rows, chance: Chance) -> Rows:
        name, hostile = self.relation.name, chance.choice([0.0, 0.2, 0.8])
        if self.public:
            return self._private_step(rows, chance, hostile)
        if self.relation.max_rows is not None:
            return self._unit_step(rows, chance, hostile)
        if name == "unbounded" and (not rows or chance.random() < 0.5):
            place = chance.randrange(len(rows) + 1)
            return (*rows[:place], self.row(chance, hostile), *rows[place:])
        if not rows:
            return rows
        place = chance.randrange(len(rows))
        if name == "unbounded":
            return (*rows[:place], *rows[place + 1 :])
        changed = {
            "bounded": lambda: self.row(chance, hostile),
            "attribute": lambda: self._changed(rows[place], chance, hostile),
            "bit": lambda: self._flipped(rows[place], chance),
        }[name]()
        return (*rows[:place], changed, *rows[place + 1 :])

    def _changed(self, row: Row, chance: Chance, hostile: float) -> Row:
        place = chance.randrange(len(row))
        value = self.columns[place].value(chance, hostile)
        return (*row[:place], value, *row[place + 1 :])

    def _flipped(self, row: Row, chance: Chance) -> Row:
        places = list(range(len(row)))
        chance.shuffle(places)
        for place in places:
            value = self.columns[place].flipped(row[place], chance)
            if value is not None:
                return (*row[:place], value, *row[place + 1 :])
        return row

    def _private_step(self, rows: Rows, chance: Chance, hostile: float) -> Rows:
        """Other values of what is not public, in one row or in all rows of one unit."""
        if not rows:
            return rows
        fixed = {i for i, col in enumerate(self.columns) if col.name in (*self.public, "pid")}
        who = chance.randrange(len(rows))
        mine = {who}
        if self.relation.max_rows is not None:
            at = next(i for i, col in enumerate(self.columns) if col.kind == "unit")
            mine = {i for i, row in enumerate(rows) if row[at] == rows[who][at]}

        def changed(row: Row) -> Row:
            other = self.row(chance, hostile)
            return tuple(old if i in fixed else other[i] for i, old in enumerate(row))

        return tuple(changed(row) if i in mine else row for i, row in enumerate(rows))

    def _unit_step(self, rows: Rows, chance: Chance, hostile: float) -> Rows:
        """All rows of one unit gone or come (unbounded), or others in their place (bounded)."""
        at = next(i for i, col in enumerate(self.columns) if col.kind == "unit")
        known = sorted({row[at] for row in rows}, key=repr)
        stored = self.columns[at].stored
        fresh: Any = 1000 if stored == "int64" else "zz"
        while fresh in known:
            fresh = fresh + 1 if stored == "int64" else fresh + "z"
        most = self.relation.max_rows or 1
        size = chance.choice([0, 1, most, most + 1, 2 * most + 3])

        def new(who: Any) -> Rows:
            made = [list(self.row(chance, hostile)) for _ in range(size)]
            if chance.random() < 0.3 and made:
                made = [list(made[0]) for _ in made]
            for row in made:
                row[at] = who
            return tuple(tuple(row) for row in made)

        if self.relation.name == "unbounded" and (not known or chance.random() < 0.5):
            return _mixed((*rows, *new(fresh)), chance)
        if not known:
            return rows
        who = chance.choice(known)
        rest = tuple(row for row in rows if row[at] != who)
        if self.relation.name == "unbounded":
            return rest
        return _mixed((*rest, *new(chance.choice([who, fresh]))), chance)


def _mixed(rows: Rows, chance: Chance) -> Rows:
    """The rows in another order: no promise depends on it where a unit's rows come and go."""
    shuffled = list(rows)
    random.Random(chance.random()).shuffle(shuffled)
    return tuple(shuffled)


def plain(world: World) -> World:
    """The same world without bytes that are no text, for sources that cannot hold them."""
    return replace(world, columns=tuple(replace(col, broken=False) for col in world.columns))
