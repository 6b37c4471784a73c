"""Random statements over the table of the engine's laws, written as SQL from a seed."""

from __future__ import annotations

from random import Random

NUMBERS = ["age", "t", "price", "tens", "big", "far", "note", "code", "kind"]
PARTS = ["year", "quarter", "month", "week", "day", "dow", "isodow", "doy"]
NUMBER_FORMS = [
    "({n} + {n})", "({n} - {n})", "({n} * {n})", "(-{n})", "ABS({n})", "SIGN({n})", "({n} / {n})",
    "({n} % {n})", "ROUND({n}, 1)", "ROUND({n})", "ROUND({n}, -1)", "FLOOR({n})", "CEIL({n})",
    "TRUNC({n})", "LEAST({n}, {n})", "GREATEST({n}, {n}, 1)", "COALESCE({n}, {n})",
    "NULLIF({n}, {n})", "LENGTH(city)", "CAST({n} AS INTEGER)", "CASE WHEN {t} THEN {n} END",
    "CASE WHEN {t} THEN {n} WHEN {t} THEN {n} ELSE {n} END", "EXTRACT({part} FROM {day})",
    "({day} - {day})", "({day} - DATE '2020-05-05')",
]  # fmt: skip
TRUTH_FORMS = [
    "{n} {sign} {n}", "age {sign} {whole}", "far {sign} 999999999999500", "{text} {sign} {word}",
    "{text} IN ({word}, 'Ulm')", "{text} NOT IN ({word}, NULL)", "{text} LIKE {mark}",
    "{text} NOT LIKE {mark}", "age IN (1, 5, {whole})", "sex ILIKE {mark}", "city ILIKE {mark}",
    "{n} IS NULL", "{text} IS NOT NULL", "{n} BETWEEN {n} AND 10", "flag", "flag IS TRUE",
    "{day} {sign} DATE '2020-06-15'", "DATE_TRUNC('{unit}', {day}) {sign} {day}",
    "({t} AND {t})", "({t} OR {t})", "(NOT ({t}))", "({t} AND {t} AND {t})",
]  # fmt: skip
CHOICES = {
    "part": PARTS,
    "sign": ["=", "<>", "<", "<=", ">", ">="],
    "whole": [str(number) for number in range(-1, 22)],
    "word": ["'F'", "'M'", "'other'", "'Köln'", "''", "'z'", "'O''Hara'"],
    "text": ["sex", "city", "name", "UPPER(city)"],
    "mark": ["'F%'", "'_'", "'%ö%'", "'A\\_B'", "'k%'", "'%\\'", "'\\K%'", "'%'", "''"],
    "day": ["day", "moment"],
    "unit": ["day", "week", "month", "quarter", "year"],
}
KEYS = [
    "sex", "city", "flag", "code", "kind", "age", "note", "age / 5", "price", "FLOOR(t / 2)",
    "EXTRACT(month FROM day)", "DATE_TRUNC('month', day)", "DATE_TRUNC('week', moment)",
    "CASE WHEN age > 9 THEN 'old' WHEN flag THEN 'new' END", "LENGTH(city)", "SIGN(big)", "tens",
    "UPPER(sex)", "CAST(age AS VARCHAR)",
]  # fmt: skip
SHOWN = [
    "COUNT(*)", "COUNT({n})", "COUNT(*) FILTER (WHERE {t})", "SUM({n})", "AVG({n})", "MEDIAN({n})",
    "VAR_SAMP(age)", "VAR_SAMP(far)", "COUNT(DISTINCT name)", "COUNT(DISTINCT {n})",
    "SUM({n}) FILTER (WHERE {t})", "MIN({n})", "MEDIAN({day})",
]  # fmt: skip


class Writer(Random):
    """A source of statements."""

    def fill(self, form: str, depth: int) -> str:
        """The form with something random in each of its places."""
        out, rest = "", form
        while "{" in rest:
            before, _, rest = rest.partition("{")
            name, _, rest = rest.partition("}")
            out += before + self.one(name, depth)
        return out + rest

    def one(self, name: str, depth: int) -> str:
        """Something random of a kind: a number, a condition, or one of the choices."""
        if name in CHOICES:
            return self.choice(CHOICES[name])
        if name == "t":
            return self.fill(self.choice(TRUTH_FORMS[: None if depth > 0 else 18]), depth - 1)
        if depth <= 0 or self.random() < 0.4:
            return self.choice([*NUMBERS, "0", "3", "-2", "0.5", "2000000000"])
        return self.fill(self.choice(NUMBER_FORMS), depth - 1)

    def statement(self) -> str:
        """A whole statement."""
        shown = [self.fill(form, 3) for form in self.sample(SHOWN, self.randint(1, 3))]
        keys = self.sample(KEYS, self.choice([0, 0, 1, 1, 2]))
        where = f" WHERE {self.fill('{t}', 3)}" if self.random() < 0.5 else ""
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        return f"SELECT {', '.join(shown)} FROM people{where}{group}"
