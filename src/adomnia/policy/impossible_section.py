"""The sections `[[impossible]]` of a policy: rows that cannot be, whatever the data say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from adomnia.errors import QuestionError
from adomnia.policy.sections import ImpossibleSection
from adomnia.policy.toml_reader import Reader, closest
from adomnia.queries.expression import Expr, columns
from adomnia.queries.operations import call, constant
from adomnia.queries.ranges import count_cells
from adomnia.schema.table import Attribute

__all__ = ["Impossible", "by_attributes", "impossible_rows", "possible"]

SECTION = ("impossible",)


@dataclass(frozen=True)
class Impossible:
    """A kind of row that cannot be: the condition as it is written, and as an expression."""

    when: str
    test: Expr

    @property
    def columns(self) -> tuple[str, ...]:
        """What it reads of a row."""
        return tuple(column.name for column in columns(self.test))


def impossible_rows(reader: Reader, attributes: Mapping[str, Attribute]) -> tuple[Impossible, ...]:
    """What the policy says cannot be."""
    listed = reader.tree.get("impossible", [])
    if not isinstance(listed, list):
        reader.fail("what cannot be is written [[impossible]], with two brackets", "", SECTION)
    found = []
    for number, part in enumerate(listed):
        if isinstance(part, dict) and not part:
            reader.fail("[[impossible]] needs when", 'for example when = "age < 12"', SECTION)
        when = reader.section(ImpossibleSection, SECTION, part).when
        found.append(_Condition(reader, number).read(when, attributes))
    return tuple(found)


@dataclass(frozen=True)
class _Condition:
    """One of the sections, so that an error names its own line."""

    reader: Reader
    number: int

    def read(self, when: str, attributes: Mapping[str, Attribute]) -> Impossible:
        """The condition, over attributes whose values are listed."""
        from adomnia.queries.sql.fragments import bind_condition  # noqa: PLC0415 (slow to import)

        domains = {name: attribute.domain for name, attribute in attributes.items()}
        try:
            test = bind_condition(when, domains)
        except QuestionError as error:
            raise self.reader.error(*by_attributes(error, attributes), self.line) from None
        for column in columns(test):
            if count_cells(column.range) is None:
                raise self.reader.error(
                    f"{column.name!r} has no list of values",
                    "what cannot be is said of attributes with values, or low and high",
                    self.line,
                )
        return Impossible(when, test)

    @property
    def line(self) -> int | None:
        """The line of `when`, or else of the section's header."""
        lines = self.reader.text.splitlines()
        heads = [i for i, line in enumerate(lines) if re.match(r"\s*\[\[\s*impossible", line)]
        if self.number >= len(heads):
            return None
        start = heads[self.number]
        keys = (i for i in range(start, len(lines)) if re.match(r"\s*[\"']?when", lines[i]))
        return next(keys, start) + 1


def by_attributes(error: QuestionError, attributes: Mapping[str, Attribute]) -> tuple[str, str]:
    """What is wrong with a part of SQL in a policy, and what to do: its columns are attributes."""
    unknown = re.match(r"there is no column '(.*)'", error.message)
    if not unknown:
        return error.message, error.hint
    return f"there is no attribute {unknown[1]!r}", closest(unknown[1], attributes)


def possible(impossible: tuple[Impossible, ...]) -> Expr | None:
    """That a row is none of these; where a condition is not known to hold, the row can be."""
    tests = [call("case", one.test, constant(False), constant(True)) for one in impossible]
    return None if not tests else tests[0] if len(tests) == 1 else call("and", *tests)
