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

    def pick(self, *ways: Callable[[], str]) -> str:
        """One of the ways, each as likely."""
        return self.chance.choice(ways)()

    def number(self, depth: int = 2) -> str:
        """A numeric expression over a row."""
        column = self.chance.choice([*self.names("number"), *self.names("number"), "zip"])
        if depth <= 0:
            return self.chance.choice([column, column, column, self.chance.choice(NUMBERS)])
        deeper = depth - 1

        def two() -> tuple[str, str]:
            return self.number(deeper), self.number(deeper)

        return self.pick(
            lambda: column,
            lambda: column,
            lambda: self.chance.choice(NUMBERS),
            lambda: self.chance.choice(HUGE) if self.chance.random() < 0.5 else "1",
            lambda: "({} {} {})".format(
                self.number(deeper), self.chance.choice("+-*/%"), self.number(deeper)
            ),
            lambda: "({0} {1} {2})".format(
                column, self.chance.choice("+-*/%"), self.chance.choice(NUMBERS)
            ),
            lambda: f"{self.chance.choice(['ABS', 'FLOOR', 'CEIL', 'ROUND', 'SIGN'])}({self.number(deeper)})",
            lambda: "LEAST({}, {})".format(*two()),
            lambda: "GREATEST({}, {})".format(*two()),
            lambda: f"{self.chance.choice(['SQRT', 'LN'])}({column})",
            lambda: f"POWER({column}, 2)",
            lambda: f"COALESCE({self.number(deeper)}, {self.chance.choice(NUMBERS)})",
            lambda: "(COALESCE({}, {}) + 1000)".format(column, self.chance.choice(NUMBERS)),
            lambda: f"NULLIF({self.number(deeper)}, {self.chance.choice(NUMBERS)})",
            lambda: f"CASE WHEN {self.truth(deeper)} THEN {self.number(deeper)} END",
            lambda: "CASE WHEN {} THEN {} ELSE {} END".format(self.truth(deeper), *two()),
            lambda: f"EXTRACT({self.chance.choice(['year', 'month', 'day', 'dow', 'quarter'])} FROM seen)",
            lambda: f"(seen - {self.chance.choice(DAYS[:1])})",
            lambda: f"LENGTH({self.chance.choice(self.names('list'))})",
            lambda: f"CAST({self.number(deeper)} AS INTEGER)",
            lambda: f"(-{column})",
        )

    def word(self) -> str:
        """A text expression over a row."""
        column = self.chance.choice(["sex", "ill"])
        return self.pick(
            lambda: column,
            lambda: column,
            lambda: f"UPPER({column})",
            lambda: f"LOWER({column})",
            lambda: f"TRIM({column})",
            lambda: f"LEFT({column}, 1)",
            lambda: f"SUBSTRING({column}, 2, 1)",
            lambda: f"COALESCE({column}, 'F')",
            lambda: f"NULLIF({column}, 'F')",
            lambda: f"CASE WHEN {self.truth(0)} THEN 'a' WHEN {self.truth(0)} THEN 'b' END",
            lambda: f"CASE WHEN {self.truth(0)} THEN 'a' ELSE 'b' END",
        )

    def truth(self, depth: int = 1) -> str:
        """A condition on a row."""
        compare = self.chance.choice(["=", "<>", "<", "<=", ">", ">="])
        deeper = depth - 1
        leaves = (
            lambda: f"{self.number(0)} {compare} {self.chance.choice(NUMBERS)}",
            lambda: f"{self.chance.choice(['sex', 'ill', 'city'])} = {self.chance.choice(LETTERS)}",
            lambda: f"{self.chance.choice(['sex', 'ill'])} {self.chance.choice(['=', '<>'])} {self.chance.choice(LETTERS)}",
            lambda: f"sex {self.chance.choice(['IN', 'NOT IN'])} ('F', 'zz')",
            lambda: f"zip IN ({', '.join(self.chance.sample(['1', '2', '3', '4', '7'], 2))})",
            lambda: f"{self.number(0)} {self.chance.choice(['BETWEEN', 'NOT BETWEEN'])} 2 AND 20",
            lambda: "smoker",
            lambda: f"smoker IS {self.chance.choice(['TRUE', 'NOT TRUE', 'FALSE', 'NULL'])}",
            lambda: f"{self.chance.choice([col.name for col in self.world.columns if col.kind != 'unit'])} IS {self.chance.choice(['NULL', 'NOT NULL'])}",
            lambda: f"{self.chance.choice(['sex', 'ill', 'city'])} {self.chance.choice(['LIKE', 'NOT LIKE', 'ILIKE'])} {self.chance.choice(PATTERNS)}",
            lambda: f"seen {compare} {self.chance.choice(DAYS)}",
            lambda: f"EXTRACT(month FROM seen) = {self.chance.choice(['1', '12'])}",
            lambda: self.chance.choice(["TRUE", "1 = 1"]),
        )
        if depth <= 0:
            return self.pick(*leaves)
        return self.pick(
            *leaves,
            lambda: f"({self.truth(deeper)} AND {self.truth(deeper)})",
            lambda: f"({self.truth(deeper)} OR {self.truth(deeper)})",
            lambda: f"NOT ({self.truth(deeper)})",
            lambda: f"{self.number(1)} {compare} {self.number(0)}",
            lambda: f"CASE WHEN {self.truth(deeper)} THEN {self.truth(deeper)} ELSE {self.truth(deeper)} END",
        )

    def aggregate(self) -> str:
        """One statistic, with or without a FILTER."""
        share = self.chance.choice(["0", "0.25", "0.5", "0.9", "1"])
        units = self.names("unit")
        counted = self.chance.choice([col.name for col in self.world.columns])
        ways: list[Callable[[], str]] = [
            lambda: "COUNT(*)",
            lambda: "COUNT(*)",
            lambda: f"COUNT({counted})",
            lambda: f"COUNT({self.number(1)})",
            lambda: f"COUNT(DISTINCT {self.chance.choice([counted, self.word(), self.number(0)])})",
            lambda: f"COUNT_IF({self.truth(1)})",
            lambda: f"SUM({self.number(2)})",
            lambda: f"SUM({self.number(2)})",
            lambda: f"SUM({self.number(2)})",
            lambda: f"SUM({self.truth(0)})",
            lambda: f"AVG({self.number(1)})",
            lambda: f"{self.chance.choice(['VAR_SAMP', 'VAR_POP', 'STDDEV', 'STDDEV_POP', 'VARIANCE'])}({self.number(1)})",
            lambda: f"MEDIAN({self.number(1)})",
            lambda: f"QUANTILE({self.number(1)}, {share})",
            lambda: f"PERCENTILE_{self.chance.choice(['CONT', 'DISC'])}({share}) WITHIN GROUP (ORDER BY {self.number(0)} {self.chance.choice(['', 'DESC'])})",
            lambda: f"{self.chance.choice(['MIN', 'MAX'])}({self.number(1)})",
            lambda: f"MODE({self.chance.choice([self.word(), 'zip', 'smoker', 'age', self.truth(0)])})",
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
            lambda: self.chance.choice(self.names("list", "flag")),
            lambda: self.chance.choice(self.names("list", "flag")),
            lambda: self.word(),
            lambda: self.chance.choice(["age", "age / 10", "age % 3", "zip % 2", "zip * 2"]),
            lambda: f"COALESCE({self.chance.choice(['zip', 'age'])}, 3)",
            lambda: f"({self.truth(0)})",
            lambda: f"EXTRACT({self.chance.choice(['year', 'month', 'dow'])} FROM seen)",
            lambda: "DATE_TRUNC('month', seen)",
        )

    def source(self) -> tuple[str, list[str]]:
        """What stands after FROM, and keys that come with it."""
        roll = self.chance.random()
        if roll < 0.7:
            return "people", []
        if roll < 0.8:
            return f"(SELECT * FROM people WHERE {self.truth(1)}) AS t", []
        join = self.chance.choice(["JOIN", "LEFT JOIN"])
        return f"people {join} regions USING (zip)", ["zone", "label"]

    def statement(self, simple: bool = False) -> str:
        """One SELECT."""
        source, more = self.source()
        items = [self.aggregate() for _ in range(self.chance.choice([1, 1, 1, 2, 3]))]
        keys = self._keys(more)
        if not keys and self.chance.random() < 0.04:
            return f"WITH t AS (SELECT *, {self.number(1)} AS x FROM people WHERE {self.truth(0)}) SELECT SUM(x), COUNT(x) FROM t"
        named = [f"{item} AS a{i}" for i, item in enumerate(items)]
        if self.chance.random() < 0.1:
            named.append(f"{items[0]} {self.chance.choice('+-*/')} 2 AS z")
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
            keys[0] = self.chance.choice(more)
        if self.world.currency == "epsilon" and self.chance.random() < 0.1:
            keys[0] = "city"
        return keys

    def _after(self, items: Sequence[str]) -> str:
        text = ""
        if self.chance.random() < 0.1:
            text += f" HAVING {items[0]} > {self.chance.choice(['0', '3'])}"
        if self.chance.random() < 0.2:
            text += f" ORDER BY {self.chance.choice(['a0', 'k0'])} {self.chance.choice(['', 'DESC'])}"
        if self.chance.random() < 0.15:
            text += f" LIMIT {self.chance.choice(['1', '3'])}"
        return text
