"""The grammar of what may be asked of several tables: joins of every form, and what is computed
for each unit before it is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.adversary.columns import Chance

NUMBERS = ("0", "1", "2", "5", "9", "20", "-7", "0.5")
LETTERS = ("'F'", "'a'", "'x'", "'zz'", "'rest'", "''", "'Linz'")
DAYS = ("DATE '2019-12-31'", "'2020-01-03'")
PATTERNS = ("'%a%'", "'L%'", "'_'")
COMPARED = ("=", "<>", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Named:
    """A column that can be named: of which kind, and for a key, the table whose rows it names."""

    text: str
    kind: str
    names: str = ""


@dataclass(frozen=True)
class Scope:
    """What stands in FROM, its columns by alias, and what its commas leave to WHERE."""

    text: str
    columns: Mapping[str, tuple[Named, ...]]
    tests: tuple[str, ...] = ()

    @property
    def all(self) -> list[Named]:
        """All columns, each with its alias."""
        return [replace(one, text=f"{alias}.{one.text}")
                for alias, part in self.columns.items() for one in part]  # fmt: skip

    def where(self, *more: str) -> str:
        """FROM and WHERE, with further conditions."""
        tests = (*self.tests, *more)
        return f"{self.text} WHERE {' AND '.join(tests)}" if tests else self.text


@dataclass(frozen=True)
class Listing:
    """One table as statements see it."""

    name: str
    columns: tuple[Named, ...]


@dataclass
class TableGrammar:
    """Statements about tables of which one is that of the units."""

    world: Any
    chance: Chance
    tables: Sequence[Listing]
    zips: bool = True
    _aliases: int = field(default=0)

    @classmethod
    def of(cls, world: Any, chance: Chance) -> TableGrammar:
        """The grammar of a world of several tables."""
        tables = []
        for shape in world.shapes:
            names = ({shape.key: shape.name} if shape.key else {}) | dict(shape.references)
            listed = ((col, names.get(col.name, "")) for col in shape.columns)
            columns = (Named(col.name, "key" if of else col.kind, of) for col, of in listed)
            tables.append(Listing(shape.name, tuple(columns)))
        return cls(world, chance, tables)

    @classmethod
    def single(cls, world: Any, chance: Chance) -> TableGrammar:
        """The grammar of a world of one table, with a column that says whose row it is."""
        listed = tuple(
            Named(col.name, "key" if col.kind == "unit" else col.kind,
                  "people" if col.kind == "unit" else "")
            for col in world.columns
        )  # fmt: skip
        return cls(world, chance, [Listing("people", listed)])

    # Chance

    def one(self, *texts: str) -> str:
        """One of the texts."""
        return self.chance.choice(texts)

    def pick(self, *ways: Callable[[], str]) -> str:
        """One of the ways."""
        return self.chance.choice(ways)()

    def often(self, share: float) -> bool:
        """Whether it is so, in this share of cases."""
        return self.chance.random() < share

    def alias(self) -> str:
        """A new name."""
        self._aliases += 1
        return f"t{self._aliases}"

    # Expressions over a row

    def column(self, scope: Scope, *kinds: str) -> str | None:
        """Any column of these kinds, if there is one."""
        known = [one.text for one in scope.all if one.kind in kinds]
        return self.chance.choice(known) if known else None

    def number(self, scope: Scope, depth: int = 1) -> str:
        """A number."""
        column = self.column(scope, "number") or self.one(*NUMBERS)
        if depth <= 0 or self.often(0.4):
            return column
        return self.pick(
            lambda: f"({column} {self.one(*'+-*/%')} {self.number(scope, depth - 1)})",
            lambda: f"ABS({column})",
            lambda: f"COALESCE({column}, {self.one(*NUMBERS)})",
            lambda: f"CASE WHEN {self.truth(scope, 0)} THEN {column} END",
            lambda: f"CASE WHEN {self.truth(scope, 0)} THEN {column} ELSE {self.one(*NUMBERS)} END",
            lambda: f"LEAST({column}, {self.number(scope, 0)})",
            lambda: self.one(*NUMBERS),
        )

    def truth(self, scope: Scope, depth: int = 1) -> str:
        """A condition."""
        words = self.column(scope, "list", "text", "open") or "'a'"
        anything = self.chance.choice(scope.all).text
        keys = [one.text for one in scope.all if one.kind == "key"]
        ways = [
            lambda: f"{self.number(scope, 0)} {self.one(*COMPARED)} {self.one(*NUMBERS)}",
            lambda: f"{words} {self.one('=', '<>')} {self.one(*LETTERS)}",
            lambda: f"{words} {self.one('IN', 'NOT IN')} ('F', 'a', 'zz')",
            lambda: f"{words} LIKE {self.one(*PATTERNS)}",
            lambda: f"{anything} IS {self.one('NULL', 'NOT NULL')}",
            lambda: self.column(scope, "flag") or "TRUE",
            lambda: (
                f"{self.column(scope, 'day') or DAYS[0]} {self.one(*COMPARED)} {self.one(*DAYS)}"
            ),
        ]
        if len(keys) > 1:
            ways.append(lambda: f"{self.one(*keys)} {self.one('=', '<')} {self.one(*keys)}")
        if depth > 0:
            ways += [
                lambda: f"({self.truth(scope, 0)} {self.one('AND', 'OR')} {self.truth(scope, 0)})",
                lambda: f"NOT ({self.truth(scope, 0)})",
                lambda: f"{self.number(scope)} {self.one(*COMPARED)} {self.number(scope, 0)}",
            ]
        return self.pick(*ways)

    # FROM

    def source(self, depth: int = 2) -> Scope:
        """Anything that can stand in FROM: tables, subqueries, and joins of these."""
        scope = self.item(depth)
        for _ in range(self.chance.choice([0, 0, 1, 1, 2]) if depth else 0):
            scope = self.joined(scope, self.item(depth - 1))
        if self.zips and self.often(0.1):
            key = [one.text for one in scope.all if one.text.endswith(".zip")]
            if key:
                alias = self.alias()
                how = f"{self.one('JOIN', 'LEFT JOIN')} regions {alias} ON {alias}.zip = {key[0]}"
                zones = (Named("zone", "number"), Named("label", "list"))
                scope = Scope(f"{scope.text} {how}", {**scope.columns, alias: zones}, scope.tests)
        return scope

    def item(self, depth: int) -> Scope:
        """A table, a view, or a subquery."""
        listing, alias = self.chance.choice(list(self.tables)), self.alias()
        roll = self.chance.random()
        if depth <= 0 or roll < 0.55:
            return Scope(f"{listing.name} {alias}", {alias: listing.columns})
        if roll < 0.65:
            inner = Scope(listing.name, {listing.name: listing.columns})
            text = f"(SELECT * FROM {listing.name} WHERE {self.truth(inner)}) {alias}"
            return Scope(text, {alias: listing.columns})
        if roll < 0.7 and len(self.tables) > 1 and self.world.view:
            columns = tuple(Named(*one) for one in self.world.view[0][1])
            return Scope(f"busy {alias}", {alias: columns})
        return self.combined(alias) if roll < 0.78 else self.grouped(depth, alias)

    def combined(self, alias: str) -> Scope:
        """Two SELECTs under each other, or compared: mostly with a key of the same rows first."""
        sides = [self.source(0), self.source(0)]
        keys = [
            (a, b) for a in sides[0].all for b in sides[1].all if a.names and a.names == b.names
        ]
        pairs = [self.chance.choice(keys)] if keys and self.often(0.95) else []
        alike = [(a, b) for a in sides[0].all for b in sides[1].all if a.kind == b.kind != "key"]
        for _ in range(self.chance.choice([0, 1, 1, 2]) if alike else 0):
            pairs.append(self.chance.choice(alike))
        pairs = pairs or [(sides[0].all[0], sides[1].all[0])]
        texts = []
        for place, side in enumerate(sides):
            items = ", ".join(f"{pair[place].text} AS c{i}" for i, pair in enumerate(pairs))
            tests = [self.truth(side, 0)] if self.often(0.5) else []
            texts.append(f"SELECT {items} FROM {side.where(*tests)}")
        how = self.one(" UNION ALL ", " UNION ", " EXCEPT ", " INTERSECT ")
        named = tuple(replace(a, text=f"c{i}") for i, (a, _) in enumerate(pairs))
        return Scope(f"({how.join(texts)}) {alias}", {alias: named})

    def joined(self, left: Scope, right: Scope) -> Scope:
        """Two sides joined, mostly on keys of the same rows."""
        pairs = [(a, b) for a in left.all for b in right.all if a.names and a.names == b.names]
        columns = {**left.columns, **right.columns}
        if not pairs or self.often(0.03):
            pairs = [(self.chance.choice(left.all), self.chance.choice(right.all))]
        a, b = self.chance.choice(pairs)
        test = f"{a.text} = {b.text}" if self.often(0.5) else f"{b.text} = {a.text}"
        if self.often(0.25):
            test += f" AND {self._tie(left, right)}"
        short = [part.text.partition(".")[2] for part in (a, b)]
        roll = self.chance.random()
        if roll < 0.12 and short[0] == short[1]:
            how = f"{left.text} {self.one('JOIN', 'LEFT JOIN')} {right.text} USING ({short[0]})"
        elif roll < 0.25:
            how = f"{left.text}, {right.text}"
            return Scope(how, columns, (*left.tests, *right.tests, test))
        else:
            kind = self.one("JOIN", "JOIN", "INNER JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN")
            how = f"{left.text} {kind} {right.text} ON {test}"
        return Scope(how, columns, (*left.tests, *right.tests))

    def _tie(self, left: Scope, right: Scope) -> str:
        """A further condition of ON: of one side, or that ties both."""
        a, b = self.chance.choice(left.all), self.chance.choice(right.all)
        alike = [(x, y) for x in left.all for y in right.all if x.kind == y.kind]
        return self.pick(
            lambda: self.truth(right),
            lambda: self.truth(left, 0),
            lambda: f"{a.text} = {b.text}",
            lambda: " = ".join(part.text for part in self.chance.choice(alike or [(a, b)])),
            lambda: f"{self.number(left, 0)} {self.one('<', '>=')} {self.number(right, 0)}",
        )

    # What is computed for each unit

    def total(self, scope: Scope) -> tuple[str, str]:
        """An aggregate of a unit's rows, and of which kind it is."""
        value, anything = self.number(scope), self.chance.choice(scope.all)
        by = self.chance.choice(scope.all).text
        pick, kind = self.chance.choice(FIRSTS), anything.kind
        ways: list[tuple[str, str]] = [
            ("COUNT(*)", "number"),
            ("COUNT(*)", "number"),
            (f"COUNT({anything.text})", "number"),
            (f"COUNT(DISTINCT {anything.text})", "number"),
            (f"SUM({value})", "number"),
            (f"AVG({value})", "number"),
            (f"{self.one('MIN', 'MAX')}({value})", "number"),
            (f"{self.one('MIN', 'MAX')}({self.column(scope, 'day') or value})", "other"),
            (f"{self.one('BOOL_OR', 'BOOL_AND')}({self.truth(scope, 0)})", "flag"),
            (f"COUNT_IF({self.truth(scope, 0)})", "number"),
            (pick.format(x=value, y=by), "number"),
            (pick.format(x=anything.text, y=by), "other" if kind == "key" else kind),
        ]
        text, made = self.chance.choice(ways)
        if self.often(0.2):
            text += f" FILTER (WHERE {self.truth(scope, 0)})"
        return text, made

    def grouped(self, depth: int, alias: str) -> Scope:
        """A subquery with a row for each unit, or for each group of its rows."""
        scope = self.source(depth - 1)
        keys = [one for one in scope.all if one.kind == "key"] or scope.all
        chosen = [self.chance.choice(keys)]
        if self.often(0.4):
            chosen.append(self.chance.choice(scope.all))
        items = [f"{one.text} AS k{i}" for i, one in enumerate(chosen)]
        columns = [Named(f"k{i}", one.kind, one.names) for i, one in enumerate(chosen)]
        if self.often(0.15):
            return Scope(f"(SELECT DISTINCT {', '.join(items)} FROM {scope.where()}) {alias}",
                         {alias: tuple(columns)})  # fmt: skip
        for i in range(self.chance.choice([1, 1, 2])):
            text, kind = self.total(scope)
            items.append(f"{text} AS n{i}")
            columns.append(Named(f"n{i}", kind))
        tests = [self.condition(scope, depth - 1)] if self.often(0.3) else []
        text = f"SELECT {', '.join(items)} FROM {scope.where(*tests)}"
        text += " GROUP BY " + ", ".join(self.one(str(i + 1), one.text)
                                         for i, one in enumerate(chosen))  # fmt: skip
        if self.often(0.2):
            text += f" HAVING COUNT(*) {self.one('>', '=', '<=')} {self.one('0', '1', '2')}"
        return Scope(f"({text}) {alias}", {alias: tuple(columns)})

    def condition(self, scope: Scope, depth: int = 1) -> str:
        """A condition of WHERE, which may look for rows of the same unit."""
        keys = [one for one in scope.all if one.names]
        if not keys or depth < 0 or self.often(0.6):
            return self.truth(scope)
        key, inner = self.chance.choice(keys), self.item(depth)
        theirs = [one for one in inner.all if one.names == key.names] or inner.all
        other = self.chance.choice(theirs)
        test = f"{other.text} = {key.text}"
        if self.often(0.5):
            test += f" AND {self._tie(inner, scope) if self.often(0.4) else self.truth(inner, 0)}"
        made = self.pick(
            lambda: f"{self.one('', 'NOT ')}EXISTS (SELECT 1 FROM {inner.where(test)})",
            lambda: (
                f"{key.text} {self.one('IN', 'NOT IN')} (SELECT {other.text} FROM "
                f"{inner.where(self.truth(inner, 0))})"
            ),
            lambda: (
                f"(SELECT {self.total(inner)[0]} FROM {inner.where(test)}) "
                f"{self.one(*COMPARED)} {self.one(*NUMBERS)}"
            ),
        )
        return made if self.often(0.6) else f"({made} {self.one('AND', 'OR')} {self.truth(scope)})"

    # The question

    def aggregate(self, scope: Scope) -> str:
        """One statistic over the rows."""
        column, keys = self.chance.choice(scope.all).text, [o.text for o in scope.all if o.names]
        ways = [
            lambda: "COUNT(*)",
            lambda: "COUNT(*)",
            lambda: f"COUNT({column})",
            lambda: f"COUNT(DISTINCT {column})",
            lambda: f"SUM({self.number(scope)})",
            lambda: f"SUM({self.number(scope)})",
            lambda: f"AVG({self.number(scope)})",
            lambda: f"{self.one('MEDIAN', 'MIN', 'MAX', 'VAR_POP')}({self.number(scope)})",
            lambda: f"COUNT_IF({self.truth(scope)})",
            lambda: f"MODE({self.column(scope, 'list', 'flag') or '1'})",
        ]
        if keys:
            ways += [lambda: f"COUNT(DISTINCT {self.one(*keys)})"] * 2
        made = self.pick(*ways)
        return made + (f" FILTER (WHERE {self.truth(scope)})" if self.often(0.25) else "")

    def key(self, scope: Scope) -> str:
        """What a group is of."""
        is_open = self.world.currency == "epsilon"
        number = self.column(scope, "number") or "1"
        return self.pick(
            lambda: self.column(scope, "list", "flag") or number,
            lambda: self.column(scope, "list", "flag") or number,
            lambda: self.one(number, f"{number} / 10", f"{number} % 3"),
            lambda: f"CASE WHEN {self.truth(scope, 0)} THEN 'a' ELSE 'b' END",
            lambda: (is_open and self.column(scope, "open", "text", "key")) or number,
        )

    def twice(self) -> tuple[str, Scope]:
        """A CTE that is joined with itself."""
        inner, (name, *aliases) = self.source(1), (self.one("mine", "people"), "one", "two")
        items = ", ".join(f"{part.text} AS c{i}" for i, part in enumerate(inner.all))
        named = tuple(replace(part, text=f"c{i}") for i, part in enumerate(inner.all))
        sides = (Scope(f"{name} {alias}", {alias: named}) for alias in aliases)
        return f"WITH {name} AS (SELECT {items} FROM {inner.where()}) ", self.joined(*sides)

    def statement(self) -> str:
        """One SELECT."""
        text, scope = self.twice() if self.often(0.08) else ("", self.source())
        items = [self.aggregate(scope) for _ in range(self.chance.choice([1, 1, 1, 2]))]
        keys = [self.key(scope) for _ in range(self.chance.choice([0, 0, 0, 1, 1, 2]))]
        shown = [f"{key} AS k{i}" for i, key in enumerate(keys)]
        shown += [f"{item} AS a{i}" for i, item in enumerate(items)]
        tests = [self.condition(scope)] if self.often(0.5) else []
        text += f"SELECT {', '.join(shown)} FROM {scope.where(*tests)}"
        if keys:
            text += " GROUP BY " + ", ".join(str(i + 1) for i in range(len(keys)))
            text += f" HAVING {items[0]} > 0" if self.often(0.05) else ""
            text += f" ORDER BY a0 LIMIT {self.one('1', '3')}" if self.often(0.1) else ""
        return text


FIRSTS = ("FIRST({x})", "LAST({x})", "ANY_VALUE({x})", "FIRST({x} ORDER BY {y})",
          "LAST({x} ORDER BY {y})", "ARG_MIN({x}, {y})", "ARG_MAX({x}, {y})")  # fmt: skip
