"""Worlds of several tables: schemas, rows whose keys are no good, and units that come and go."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.adversary.columns import Chance
from tests.adversary.table_shapes import MADE, UNIT, Shape
from tests.adversary.worlds import BUDGET, Relation, Row, Rows

Database = Mapping[str, Rows]
Unit = tuple[str, str]
"""A table of units, and a key of it as a text."""
GONE = re.compile(r"^(-?(?:0|[1-9][0-9]*))\.0$")
BAD: dict[str, tuple[Any, ...]] = {
    "int64": (None, 10**15, -1),
    "double": (None, float("nan"), 2.5, float("-inf"), -0.0),
    "text": (None, "", " 7", "07", "7.00", "+7", "x", "Zoë", "'", "nan", "e\u0301", "-0.0"),
}
"""Keys that nobody expects, as they are stored."""
VIEWS = {
    "visits": (
        "SELECT person, COUNT(*) AS visits_n, MAX(cost) AS dearest FROM visits GROUP BY person",
        (("person", "key", UNIT), ("visits_n", "number", ""), ("dearest", "number", "")),
    ),
    "contacts": (
        "SELECT ward, zip, minutes FROM contacts WHERE minutes > 0",
        (("ward", "list", ""), ("zip", "list", ""), ("minutes", "number", "")),
    ),
    "sales": (
        "SELECT c.sex, s.ward, s.price FROM sales s JOIN customers c ON c.id = s.customer",
        (("sex", "list", ""), ("ward", "list", ""), ("price", "number", "")),
    ),
}
"""The view `busy` where there is such a table, and its columns: name, kind, and whose key."""


def named(value: Any) -> str | None:
    """What a key is called, however it is written: a whole number by its digits."""
    if value is None:
        return None
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    if isinstance(value, int):
        return str(value)
    whole = GONE.match(value)
    return whole[1] if whole else value


def written(number: int, stored: str, chance: Chance) -> Any:
    """A key as a column holds it."""
    if stored == "int64":
        return number
    if stored == "double":
        return float(number)
    return chance.choice([str(number), str(number), f"{number}.0"])


@dataclass(frozen=True)
class TablesWorld:
    """What is public: the relation, the tables, each after those it refers to, the currency, and
    which tables are those of units; `most_rows` where some bounds are found."""

    relation: Relation
    shapes: tuple[Shape, ...]
    currency: str = "epsilon"
    unit: tuple[str, ...] = (UNIT,)
    most_rows: int | None = None
    crowded: bool = False
    prices: tuple[int, ...] = (1, 1, 20)

    @classmethod
    def drawn(cls, chance: Chance, name: str | None = None, whole: bool = False) -> TablesWorld:
        """Any world of two to four tables; or of all four."""
        bounded = chance.random() < 0.3 if name is None else name.startswith("bounded")
        kind = Relation(
            "bounded" if bounded else "unbounded",
            chance.choice([1, 1, 1, 2]),
            max_groups=chance.choice([None, None, None, 1, 2]),
            each=chance.choice([None, None, None, 1, 2]),
        )
        kinds = chance.choice(
            [("visits",), ("visits", "notes"), ("visits", "calls"), ("visits", "notes", "calls")]
        )
        kinds = ("visits", "notes", "calls") if whole else kinds
        shapes = [MADE[UNIT](chance), *(MADE[kind](chance) for kind in kinds)]
        return cls(kind, tuple(shapes), chance.choice(["epsilon", "epsilon", "rho"]))

    def policy(self, source: str | None = None) -> str:
        """The policy file; the tables lie in files beside it, or all in this source."""
        budget = f"{self.currency} = {BUDGET}"
        if self.currency == "epsilon":
            budget += "\ndelta = 0.1"
        bounds = ", ".join(f"{shape.name} = {shape.bound}" for shape in self.shapes)
        units = ", ".join(f'"{name}"' for name in self.unit)
        most = "" if self.most_rows is None else f"most_rows = {self.most_rows}\n"
        parts = [
            f"[privacy]\nconfirmed = true\nunit = {units if len(self.unit) < 2 else f'[{units}]'}\n"
            f"max_rows = {{ {bounds} }}\n{most}{self.relation.policy}\n{budget}\n"
        ]
        for shape in self.shapes:
            place = f'"{shape.name}.parquet"' if source is None else f'"{source}"'
            lines = f'source = {place}\ntable = "{shape.name}"\n'
            parts.append(f"[tables.{shape.name}]\n{lines}{shape.policy}")
        parts.append('[public.regions]\nsource = "regions.csv"\nkey = "zip"\n')
        parts += [f'[views.busy]\nsql = "{sql}"\n' for sql, _ in self.view]
        return "\n".join(parts)

    @property
    def view(self) -> list[tuple[str, tuple[tuple[str, str, str], ...]]]:
        """The one view, if a table is there that it is of."""
        return [VIEWS[shape.name] for shape in self.shapes if shape.name in VIEWS][:1]

    def database(self, chance: Chance, hostile: float = 0.15) -> Database:
        """Any rows of all tables."""
        found: dict[str, Rows] = {}
        for shape in self.shapes:
            size = chance.randrange(2, 9) if shape.name in self.unit else chance.randrange(0, 22)
            found[shape.name] = tuple(self._row(shape, found, chance, hostile) for _ in range(size))
        return found

    def _row(self, shape: Shape, found: Mapping[str, Rows], chance: Chance, hostile: float) -> Row:
        """Any row; what it refers to is mostly there."""
        made = [column.value(chance, hostile) for column in shape.columns]
        bad = chance.choice([0.0, 0.05, 0.3])
        if shape.key is not None:
            made[shape.at(shape.key)] = _key(shape, shape.key, chance, bad, range(9))
        for column, other in shape.references.items():
            known = [row[self.shape(other).at(str(self.shape(other).key))] for row in found[other]]
            numbers = [int(name) for name in map(named, known) if name and name.isdigit()]
            made[shape.at(column)] = _key(shape, column, chance, bad, numbers or [99])
        return tuple(made)

    def shape(self, name: str) -> Shape:
        """The table of this name."""
        return next(shape for shape in self.shapes if shape.name == name)

    # Who is removed with what

    def reaches(self, rows: Database) -> dict[str, list[set[Unit]]]:
        """For each row of each table the units that it reaches."""
        found: dict[str, list[set[Unit]]] = {}
        for shape in self.shapes:
            reached: list[set[Unit]] = []
            for row in rows[shape.name]:
                if shape.name in self.unit:
                    own = named(row[shape.at(str(shape.key))])
                    reached.append(set() if own is None else {(shape.name, own)})
                    continue
                ends: set[Unit] = set()
                for column, other in shape.references.items():
                    wanted, at = named(row[shape.at(column)]), self.shape(other)
                    place = at.at(str(at.key))
                    for their, theirs in zip(rows[other], found[other], strict=True):
                        if wanted is not None and named(their[place]) == wanted:
                            ends |= theirs
                reached.append(ends)
            found[shape.name] = reached
        return found

    def units(self, rows: Database) -> list[Unit]:
        """All units."""
        reached = self.reaches(rows)
        return sorted({one for name in self.unit for ends in reached[name] for one in ends})

    def without(self, rows: Database, unit: Unit) -> Database:
        """The rows without a unit and all that reaches it."""
        reached = self.reaches(rows)
        return {
            name: tuple(
                row for row, ends in zip(part, reached[name], strict=True) if unit not in ends
            )
            for name, part in rows.items()
        }

    def neighbour(self, rows: Database, chance: Chance) -> Database:
        """A database that the relation says must look like this one."""
        for _ in range(chance.choice([1, self.relation.group])):
            rows = self._step(rows, chance)
        return {name: _mixed(part, chance) for name, part in rows.items()}

    def _step(self, rows: Database, chance: Chance) -> Database:
        known = self.units(rows)
        comes = chance.random() < 0.5
        if self.relation.name == "unbounded":
            if comes or not known:
                return self._with_unit(rows, chance, self.fresh(known, chance))
            return self.without(rows, chance.choice(known))
        if not known:
            return rows
        gone = chance.choice(known)
        less = self.without(rows, gone)
        names = [self.fresh(known, chance), *([gone] if gone[1].isdigit() else [])]
        return self._with_unit(less, chance, chance.choice(names))

    def fresh(self, known: list[Unit], chance: Chance) -> Unit:
        """A unit that is not there."""
        table = self.unit[0] if len(self.unit) == 1 else chance.choice(self.unit)
        start = chance.choice([0, 30, 1000])
        return table, str(next(n for n in range(start, 9999) if (table, str(n)) not in known))

    def _with_unit(self, rows: Database, chance: Chance, unit: Unit) -> Database:
        """A unit more: without it, all is as it was."""
        hostile = chance.choice([0.0, 0.2, 0.8])
        for shared in (True, False):  # keys that others have too, as far as nobody refers to them
            more = self._unit_rows(rows, chance, hostile, unit, shared)
            if self._is_same(self.without(more, unit), rows) and unit in self.units(more):
                return more
        return rows

    def _unit_rows(
        self, rows: Database, chance: Chance, hostile: float, unit: Unit, shared: bool
    ) -> Database:
        made: dict[str, Rows] = {}
        for shape in self.shapes:
            size = chance.choice([0, 1, shape.most, shape.most + 1, 2 * shape.most + 3])
            if shape.name in self.unit:
                size = chance.choice([1, 1, 2, shape.most + 1]) if shape.name == unit[0] else 0
            elif self.crowded:
                leads = any(made[other] for other in shape.references.values())
                size = size + chance.choice([0, 0, 4, 9]) if leads else 0
            mine = [[column.value(chance, hostile) for column in shape.columns]
                    for _ in range(size)]  # fmt: skip
            if chance.random() < 0.3:
                mine = [list(mine[0]) for _ in mine]
            if self.crowded and rows[shape.name] and chance.random() < 0.3:
                mine = [list(chance.choice(rows[shape.name])) for _ in mine]  # as others have them
            for row in mine:
                self._name(shape, row, (rows, made), chance, unit, shared)
            made[shape.name] = tuple(map(tuple, mine))
        return {name: (*rows[name], *made[name]) for name in rows}

    def _name(
        self, shape: Shape, row: list[Any], known: tuple[Database, Database], chance: Chance,
        unit: Unit, shared: bool,
    ) -> None:  # fmt: skip
        """Write the unit's own keys and references into a row; of several references one leads to
        the unit at least."""
        if shape.key is not None:
            number = chance.randrange(9) + (0 if shared else 500)
            number = int(unit[1]) if shape.name == unit[0] else number
            row[shape.at(shape.key)] = _stored(shape, shape.key, number, chance)
            if shape.name not in self.unit and chance.random() < 0.1:
                row[shape.at(shape.key)] = None
        leading = [column for column, other in shape.references.items() if known[1][other]]
        own = chance.choice(leading) if len(shape.references) > 1 and leading else None
        for column, other in shape.references.items():
            place = self.shape(other).at(str(self.shape(other).key))
            theirs = known[1][other] if own in (None, column) else known[0][other]
            keys = [named(their[place]) for their in theirs]
            if other == unit[0] and own in (None, column):
                keys = [unit[1]]
            numbers = [int(key) for key in keys if key is not None and key.isdigit()] or [9999]
            row[shape.at(column)] = _stored(shape, column, chance.choice(numbers), chance)

    def _is_same(self, one: Database, other: Database) -> bool:
        return all(Counter(map(repr, one[name])) == Counter(map(repr, other[name])) for name in one)


def _mixed(rows: Rows, chance: Chance) -> Rows:
    shuffled = list(rows)
    random.Random(chance.random()).shuffle(shuffled)
    return tuple(shuffled)


def _stored(shape: Shape, column: str, number: int, chance: Chance) -> Any:
    return written(number, shape.columns[shape.at(column)].stored, chance)


def _key(shape: Shape, column: str, chance: Chance, bad: float, numbers: Any) -> Any:
    stored = shape.columns[shape.at(column)].stored
    if chance.random() < bad:
        return chance.choice(BAD[stored])
    return written(chance.choice(list(numbers)), stored, chance)
