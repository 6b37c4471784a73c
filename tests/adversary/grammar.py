"""The grammar of what may be asked: statements drawn at random from all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.adversary.columns import Chance
from tests.adversary.worlds import World

NUMBERS = ("0", "1", "-1", "2", "5", "9", "10", "100", "1000", "0.5", "2.25", "-7")
HUGE = ("1000000000000000", "-1000000000000", "123456789")
LETTERS = ("'F'", "'M'", "'yes'", "'no'", "'rest'", "''", "'zz'", "'Linz'", "'É'")
DAYS = ("DATE '2019-12-31'", "'2020-01-03'", "DATE '0001-01-01'", "DATE '2020-02-29'")
PATTERNS = ("'%'", "'F%'", "'_'", "'%a%'", "'L\\_%'", "'%z'", "''")


@dataclass(frozen=True)
class Grammar:
    """Statements about a world; one is drawn by `statement`."""

    world: World
    chance: Chance

    def names(self, *kinds: str) -> list[str]:
        """The columns of these kinds."""
        return [col.name for col in self.world.columns if col.kind in kinds]

    def one(self, *texts: str) -> str:
        """One of the texts, each as likely."""
        return self.chance.choice(texts)

    def pick(self, *ways: Callable[[], str]) -> str:
        """One of the ways, each as likely."""
        return self.chance.choice(ways)()

    def number(self, depth: int = 2) -> str:
        """A numeric expression over a row."""
        column = self.one(*self.names("number"), *self.names("number"), "zip")
        if depth <= 0:
            return self.one(column, column, column, self.one(*NUMBERS))

        def inner() -> str:
            return self.number(depth - 1)

        def test() -> str:
            return self.truth(depth - 1)

        return self.pick(
            lambda: column,
            lambda: column,
            lambda: self.one(*NUMBERS),
            lambda: self.one("1", self.one(*HUGE)),
            lambda: f"({inner()} {self.one(*'+-*/%')} {inner()})",
            lambda: f"({column} {self.one(*'+-*/%')} {self.one(*NUMBERS)})",
            lambda: f"{self.one('ABS', 'FLOOR', 'CEIL', 'ROUND', 'SIGN')}({inner()})",
            lambda: f"{self.one('LEAST', 'GREATEST')}({inner()}, {inner()})",
            lambda: f"{self.one('SQRT', 'LN')}({column})",
            lambda: f"EXP({column} / 100)",
            lambda: f"POWER({column}, 2)",
            lambda: f"COALESCE({inner()}, {self.one(*NUMBERS)})",
            lambda: f"(COALESCE({column}, {self.one(*NUMBERS)}) + 1000)",
            lambda: f"NULLIF({inner()}, {self.one(*NUMBERS)})",
            lambda: f"CASE WHEN {test()} THEN {inner()} END",
            lambda: f"CASE WHEN {test()} THEN {inner()} ELSE {inner()} END",
            lambda: f"EXTRACT({self.one('year', 'month', 'day', 'dow', 'quarter')} FROM seen)",
            lambda: f"(seen - {DAYS[0]})",
            lambda: f"LENGTH({self.one('sex', 'ill')})",
            lambda: f"CAST({inner()} AS INTEGER)",
            lambda: f"(-{column})",
        )

    def word(self) -> str:
        """A text expression over a row."""
        column = self.one("sex", "ill")
        return self.pick(
            lambda: column,
            lambda: column,
            lambda: f"{self.one('UPPER', 'LOWER', 'TRIM')}({column})",
            lambda: f"{self.one('LEFT', 'RIGHT')}({column}, 1)",
            lambda: f"SUBSTRING({column}, 2, 1)",
            lambda: f"COALESCE({column}, 'F')",
            lambda: f"NULLIF({column}, 'F')",
            lambda: f"CASE WHEN {self.truth(0)} THEN 'a' WHEN {self.truth(0)} THEN 'b' END",
            lambda: f"CASE WHEN {self.truth(0)} THEN 'a' ELSE 'b' END",
        )

    def truth(self, depth: int = 1) -> str:
        """A condition on a row."""
        compare = self.one("=", "<>", "<", "<=", ">", ">=")
        words, codes = self.one("sex", "ill", "city"), ("1", "2", "3", "4", "7")
        columns = [col.name for col in self.world.columns if col.kind != "unit"]
        leaves = (
            lambda: f"{self.number(0)} {compare} {self.one(*NUMBERS)}",
            lambda: f"{words} {self.one('=', '<>')} {self.one(*LETTERS)}",
            lambda: f"sex {self.one('IN', 'NOT IN')} ('F', 'zz')",
            lambda: f"zip IN ({', '.join(self.chance.sample(codes, 2))})",
            lambda: f"{self.number(0)} {self.one('BETWEEN', 'NOT BETWEEN')} 2 AND 20",
            lambda: "smoker",
            lambda: f"smoker IS {self.one('TRUE', 'NOT TRUE', 'FALSE', 'NULL')}",
            lambda: f"{self.one(*columns)} IS {self.one('NULL', 'NOT NULL')}",
            lambda: f"{words} {self.one('LIKE', 'NOT LIKE', 'ILIKE')} {self.one(*PATTERNS)}",
            lambda: f"seen {compare} {self.one(*DAYS)}",
            lambda: f"EXTRACT(month FROM seen) = {self.one('1', '12')}",
            lambda: self.one("TRUE", "1 = 1"),
        )
        if depth <= 0:
            return self.pick(*leaves)

        def inner() -> str:
            return self.truth(depth - 1)

        return self.pick(
            *leaves,
            lambda: f"({inner()} {self.one('AND', 'OR')} {inner()})",
            lambda: f"({inner()} {self.one('AND', 'OR')} {inner()})",
            lambda: f"NOT ({inner()})",
            lambda: f"{self.number(1)} {compare} {self.number(0)}",
            lambda: f"CASE WHEN {inner()} THEN {inner()} ELSE {inner()} END",
        )

    def aggregate(self) -> str:
        """One statistic, with or without a FILTER."""
        share = self.one("0", "0.25", "0.5", "0.9", "1")
        units = self.names("unit")
        column = self.one(*(col.name for col in self.world.columns))
        spread = self.one("VAR_SAMP", "VAR_POP", "STDDEV", "STDDEV_POP", "VARIANCE")
        within = f"PERCENTILE_{self.one('CONT', 'DISC')}({share}) WITHIN GROUP"
        ways: list[Callable[[], str]] = [
            lambda: "COUNT(*)",
            lambda: "COUNT(*)",
            lambda: f"COUNT({column})",
            lambda: f"COUNT({self.number(1)})",
            lambda: f"COUNT(DISTINCT {self.one(column, self.word(), self.number(0))})",
            lambda: f"COUNT_IF({self.truth(1)})",
            lambda: f"SUM({self.number(2)})",
            lambda: f"SUM({self.number(2)})",
            lambda: f"SUM({self.number(2)})",
            lambda: f"SUM({self.truth(0)})",
            lambda: f"AVG({self.number(1)})",
            lambda: f"{spread}({self.number(1)})",
            lambda: f"MEDIAN({self.number(1)})",
            lambda: f"QUANTILE({self.number(1)}, {share})",
            lambda: f"{within} (ORDER BY {self.number(0)} {self.one('', 'DESC')})",
            lambda: f"{self.one('MIN', 'MAX')}({self.number(1)})",
            lambda: f"MODE({self.one(self.word(), 'zip', 'smoker', 'age', self.truth(0))})",
            lambda: f"MODE() WITHIN GROUP (ORDER BY {self.word()})",
        ]
        if units:
            ways += [lambda: f"COUNT(DISTINCT {units[0]})"] * 2
        made = self.pick(*ways)
        if self.chance.random() < 0.4:
            made += f" FILTER (WHERE {self.truth(1)})"
        return made

    def key(self) -> str:
        """What a group is of."""
        return self.pick(
            lambda: self.one(*self.names("list", "flag")),
            lambda: self.one(*self.names("list", "flag")),
            self.word,
            lambda: self.one("age", "age / 10", "age % 3", "zip % 2", "zip * 2"),
            lambda: f"COALESCE({self.one('zip', 'age')}, 3)",
            lambda: f"({self.truth(0)})",
            lambda: f"EXTRACT({self.one('year', 'month', 'dow')} FROM seen)",
            lambda: "DATE_TRUNC('month', seen)",
        )

    def source(self) -> tuple[str, list[str]]:
        """What stands after FROM, and keys that come with it."""
        roll = self.chance.random()
        if roll < 0.7:
            return "people", []
        if roll < 0.8:
            return f"(SELECT * FROM people WHERE {self.truth(1)}) AS t", []
        return f"people {self.one('JOIN', 'LEFT JOIN')} regions USING (zip)", ["zone", "label"]

    def statement(self) -> str:
        """One SELECT."""
        if self.chance.random() < 0.02:
            rows = f"SELECT *, {self.number(1)} AS x FROM people WHERE {self.truth(0)}"
            return f"WITH t AS ({rows}) SELECT SUM(x), COUNT(x) FROM t"
        source, more = self.source()
        items = [self.aggregate() for _ in range(self.chance.choice([1, 1, 1, 2, 3]))]
        keys = self._keys(more)
        named = [f"{item} AS a{i}" for i, item in enumerate(items)]
        if self.chance.random() < 0.1:
            named.append(f"{items[0]} {self.one(*'+-*/')} 2 AS z")
        shown = [f"{key} AS k{i}" for i, key in enumerate(keys)]
        text = f"SELECT {', '.join([*shown, *named])} FROM {source}"
        if self.chance.random() < 0.5:
            text += f" WHERE {self.truth(2)}"
        if keys:
            text += " GROUP BY " + ", ".join(str(i + 1) for i in range(len(keys)))
            text += self._after(items)
        return text

    def _keys(self, more: Sequence[str]) -> list[str]:
        roll = self.chance.random()
        if roll < 0.45:
            return []
        keys = [self.key() for _ in range(1 if roll < 0.85 else 2)]
        if more and self.chance.random() < 0.5:
            keys[0] = self.one(*more)
        if self.world.currency == "epsilon" and self.chance.random() < 0.1:
            keys[0] = "city"
        return keys

    def _after(self, items: Sequence[str]) -> str:
        text = ""
        if self.chance.random() < 0.1:
            text += f" HAVING {items[0]} > {self.one('0', '3')}"
        if self.chance.random() < 0.2:
            text += f" ORDER BY {self.one('a0', 'k0')} {self.one('', 'DESC')}"
        if self.chance.random() < 0.15:
            text += f" LIMIT {self.one('1', '3')}"
        return text
