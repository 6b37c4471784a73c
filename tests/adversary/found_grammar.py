"""The grammar of questions whose bound is found: rows of two units, one number at a time; and
tables over rows of one unit."""

from __future__ import annotations

from tests.adversary.table_grammar import NUMBERS, Named, Scope, TableGrammar

LIKE = ("list", "number", "flag", "day", "text", "open")
"""Kinds of columns that rows of two units are joined on."""


class FoundGrammar(TableGrammar):
    """Statements of `TableGrammar`, and such that it seldom draws."""

    def statement(self) -> str:
        """One SELECT: of two units to a row, of one, or anything."""
        roll = self.chance.random()
        if roll < 0.5:
            return self.one_number()
        return self.table() if roll < 0.9 else super().statement()

    # Rows of two units

    def one_number(self) -> str:
        """A count or a sum over rows that mostly have two units."""
        scope = self.pairs()
        tests = [self.truth(scope, 0) for _ in range(self.chance.choice([0, 0, 1, 1, 2]))]
        return f"SELECT {self.added(scope)} AS a0 FROM {scope.where(*tests)}"

    def added(self, scope: Scope) -> str:
        """What is added up: rows, or an amount that is not negative."""
        number = self.column(scope, "number") or self.one(*NUMBERS)
        other = self.column(scope, "number") or "2"
        made = self.pick(
            lambda: "COUNT(*)",
            lambda: "COUNT(*)",
            lambda: f"COUNT({self.chance.choice(scope.all).text})",
            lambda: f"COUNT_IF({self.truth(scope, 0)})",
            lambda: f"SUM({number})",
            lambda: f"SUM(ABS({number}))",
            lambda: f"SUM(GREATEST({number}, 0) + GREATEST({other}, 0))",
            lambda: f"SUM(LEAST(ABS({number}), 3) * LEAST(ABS({other}), 2))",
            lambda: f"SUM(CASE WHEN {self.truth(scope, 0)} THEN ABS({number}) ELSE 1 END)",
            lambda: f"SUM({self.number(scope)})",
        )
        return made + (f" FILTER (WHERE {self.truth(scope, 0)})" if self.often(0.15) else "")

    def pairs(self) -> Scope:
        """Rows of tables that refer to units twice, mostly joined along keys; or a join on other
        columns."""
        double = [one for one in self.tables if one.name in DOUBLE]
        if not double or self.often(0.4):
            return self.apart()
        listing, alias = self.chance.choice(double), self.alias()
        scope = Scope(f"{listing.name} {alias}", {alias: listing.columns})
        for _ in range(self.chance.choice([0, 0, 1, 1, 2])):
            scope = self.joined(scope, self.item(0))
        return scope

    def apart(self) -> Scope:
        """Two sides that are joined on columns of one kind that are no keys."""
        left, right = self.side(), self.side()
        for _ in range(9):
            a, b = self.chance.choice(left.all), self.chance.choice(right.all)
            if a.kind == b.kind and a.kind in LIKE and self._alike(a, b):
                break
        test = f"{a.text} = {b.text}"
        if self.often(0.2):
            test += f" AND {self._tie(left, right)}"
        columns = {**left.columns, **right.columns}
        if self.often(0.3):
            return Scope(f"{left.text}, {right.text}", columns, (*left.tests, *right.tests, test))
        how = self.one("JOIN", "JOIN", "INNER JOIN")
        text = f"{left.text} {how} {right.text} ON {test}"
        return Scope(text, columns, (*left.tests, *right.tests))

    def _alike(self, a: Named, b: Named) -> bool:
        return a.text.partition(".")[2] == b.text.partition(".")[2] or self.often(0.3)

    def side(self) -> Scope:
        """One side of such a join: a table, one that is filtered or grouped, seldom joined ones."""
        roll = self.chance.random()
        if roll < 0.1:
            return self.grouped(1, self.alias())
        return self.item(1) if roll < 0.3 else self.item(0)

    # Tables over rows of one unit

    def table(self) -> str:
        """Counts, sums and averages, by groups or not."""
        scope = self.source(self.chance.choice([0, 1, 1, 2]))
        items = [self.total_of(scope) for _ in range(self.chance.choice([1, 1, 2]))]
        keys = [self.key(scope) for _ in range(self.chance.choice([0, 1, 1, 2]))]
        shown = [f"{key} AS k{i}" for i, key in enumerate(keys)]
        shown += [f"{item} AS a{i}" for i, item in enumerate(items)]
        tests = [self.condition(scope)] if self.often(0.4) else []
        text = f"SELECT {', '.join(shown)} FROM {scope.where(*tests)}"
        return text + (" GROUP BY " + ", ".join(str(i + 1) for i in range(len(keys)))
                       if keys else "")  # fmt: skip

    def total_of(self, scope: Scope) -> str:
        """A statistic that a bound is found for; mostly."""
        made = self.pick(
            lambda: "COUNT(*)",
            lambda: "COUNT(*)",
            lambda: f"COUNT({self.chance.choice(scope.all).text})",
            lambda: f"SUM({self.number(scope)})",
            lambda: f"SUM({self.number(scope)})",
            lambda: f"AVG({self.number(scope)})",
            lambda: f"{self.one('VAR_POP', 'STDDEV_SAMP')}({self.number(scope)})",
            lambda: self.aggregate(scope),
        )
        return made + (f" FILTER (WHERE {self.truth(scope, 0)})" if self.often(0.2) else "")


DOUBLE = ("contacts", "replies", "sales", "pieces")
"""Tables whose rows have two units."""
