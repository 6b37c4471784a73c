"""What is left out of an answer: in numbers where it was paid for, in words where it was not.

It rests on the statement, the policy and paid counts alone: nothing that is exact decides what is
said (`quality.md`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from adomnia.curator.answers.column_uses import (
    clamped_columns,
    compared_columns,
    key_columns,
    read_columns,
)
from adomnia.curator.answers.quality_counts import Quality
from adomnia.engines.sql.units import ChosenGroups
from adomnia.mechanisms.margins.margin import margin
from adomnia.queries.question import Question
from adomnia.queries.ranges import from_domain
from adomnia.schema.domain import Categories, Domain
from adomnia.schema.table import Table

__all__ = [
    "COUNTABLE",
    "UNKNOWN",
    "Omission",
    "all_left_out",
    "is_known",
    "known_of_columns",
    "left_out_of",
    "sentences",
]

UNKNOWN = "is not known"
COUNTABLE = f"{UNKNOWN}: the curator can count it, adomnia load --quality 0.02"


@dataclass(frozen=True)
class Omission:
    """Something that cleaning or a bound leaves out of an answer.

    `count` is about how many rows or values of the whole table that is, up to `margin`; None where
    nobody paid to know. Rows are counted up to `bound` for each person, and at most `people` have
    more (None where that is not known). All of it holds together with half of the answer's doubt;
    `says` tells it in words.

    >>> Omission("rows", "of each person at most 5 rows are used").to_json()["count"] is None
    True
    """

    what: Literal["rows", "groups", "values"]
    says: str
    column: str | None = None
    count: int | None = None
    margin: int | None = None
    bound: int | None = None
    people: int | None = None

    @property
    def most(self) -> int | None:
        """So many at most."""
        if self.count is None or self.margin is None:
            return None
        return max(0, self.count + self.margin)

    @property
    def least(self) -> int | None:
        """So many at least."""
        if self.count is None or self.margin is None:
            return None
        return max(0, self.count - self.margin)

    def to_json(self) -> dict[str, Any]:
        """It as plain JSON values."""
        return dict(vars(self))


def left_out_of(
    question: Question,
    table: Table,
    quality: Quality | None,
    confidence: float,
    countable: bool = True,
) -> tuple[Omission, ...]:
    """What concerns this question of all that is left out; `countable`, if it can be paid for."""
    read = [name for name in table.attributes if name in read_columns(question)]
    paid = [] if quality is None else [name for name in read if name in quality.values]
    sure = _sure(quality, paid, confidence)
    unknown = COUNTABLE if countable else UNKNOWN
    owned = table.unit is not None and bool(question.statistics)
    rows = _of_rows(question, table, (quality, sure, unknown)) if owned else ()
    values = [] if quality is None else [_values(table, quality, name, sure) for name in paid]
    rest = {name: table.attributes[name].domain for name in read if name not in paid}
    return (*rows, *values, *_undeclared(question, rest, unknown))


def known_of_columns(
    table: Table, names: Iterable[str], quality: Quality | None, confidence: float, unknown: str
) -> tuple[Omission | None, dict[str, Omission]]:
    """What `max_rows` leaves out, if rows are somebody's, and what was counted of these columns."""
    paid = [] if quality is None else [name for name in names if name in quality.values]
    sure = _sure(quality, paid, confidence)
    rows = None
    if table.unit is not None:
        rows = _rows(table, quality, sure) or _unknown_rows(table, unknown)
    if quality is None:
        return rows, {}
    return rows, {name: _values(table, quality, name, sure) for name in paid}


def _sure(quality: Quality | None, paid: Sequence[str], confidence: float) -> float:
    """How sure each number is, so that all of them take half of the doubt."""
    claims = len(paid) + (0 if quality is None or quality.rows is None else 2)
    return 1 - (1 - confidence) / (2 * max(1, claims))


def all_left_out(table: Table, quality: Quality, confidence: float) -> tuple[Omission, ...]:
    """All that was counted of an edition, whatever is asked."""
    rows = quality.rows is not None
    sure = 1 - (1 - confidence) / max(1, len(quality.values) + 2 * rows)
    values = (_values(table, quality, name, sure) for name in quality.values)
    return (*filter(None, [_rows(table, quality, sure)]), *values)


def is_known(parts: Sequence[Omission]) -> bool:
    """Whether there is something, and a number for all of it."""
    return bool(parts) and all(part.most is not None for part in parts)


def sentences(parts: Sequence[Omission]) -> tuple[str, ...]:
    """What they say, each sentence once: that of several columns is the same. Where no value is
    left out for certain, nothing is said of it."""
    said = [part.says for part in parts if part.what != "values" or part.most != 0]
    return tuple(dict.fromkeys(said))


def _of_rows(
    question: Question, table: Table, paid: tuple[Quality | None, float, str]
) -> Iterator[Omission]:
    (quality, sure, unknown), chosen = paid, ChosenGroups.of(table, question.keys)
    rows = _rows(table, quality, sure, chosen)
    told = rows or _unknown_rows(table, unknown, chosen)
    yield told
    if chosen:
        yield Omission("groups", told.says if rows is None else _by_groups(chosen))


def _by_groups(chosen: ChosenGroups) -> str:
    """That nobody knows what bounds in groups leave out beside `max_rows`."""
    bounds = {"max_groups": chosen.groups, "max_rows_per_group": chosen.each}
    named = " and ".join(name for name, bound in bounds.items() if bound is not None)
    return f"how many more rows {named} leave{'s' * (len(named.split()) == 1)} out is not known"


def _undeclared(
    question: Question, domains: Mapping[str, Domain], unknown: str
) -> Iterator[Omission]:
    """Columns of which nobody counted the values that are not declared: one sentence for those that
    are clamped, one for keys and conditions."""
    ragged = {name: one for name, one in domains.items() if from_domain(one).ragged}
    added, keys = clamped_columns(question), key_columns(question)
    compared = compared_columns(question) - keys
    clamped = {name: one for name, one in ragged.items() if name in added}
    if clamped:
        listed = any(isinstance(one, Categories) for one in clamped.values())
        nearest = "an end of what is declared" if listed else "the nearest"  # lists have gaps
        says = f"{_outside(clamped)} count as {nearest}; how many {unknown}"
        yield from (Omission("values", says, name) for name in clamped)
    uses = {"are in no group": keys, "equal no declared one": compared}
    found = {
        does: {name: one for name, one in ragged.items() if name in names}
        for does, names in uses.items()
    }
    said = ", ".join(f"{_outside(named)} {does}" for does, named in found.items() if named)
    for name in (name for named in found.values() for name in named):
        yield Omission("values", f"{said}; how many {unknown}", name)


def _outside(domains: Mapping[str, Domain]) -> str:
    """The values of these columns that are not declared."""
    texts = [name for name, domain in domains.items() if isinstance(domain, Categories)]
    others = [name for name in domains if name not in texts]
    whose = "their" if len(others) > 1 else "its"
    parts = [f"of {_listed(texts)} that are not listed"] if texts else []
    parts += [f"of {_listed(others)} outside of {whose} bounds"] if others else []
    return f"values {' and '.join(parts)}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


EVERYWHERE = ChosenGroups(None, None)
"""All groups, and all rows in each."""


def _used(table: Table, chosen: ChosenGroups) -> str:
    """How many rows of a unit are used."""
    rows = "1 row is" if table.max_rows == 1 else f"{table.max_rows:,} rows are"
    groups, each = chosen.groups, chosen.each
    within = [] if groups is None else [f"in {groups:,} group{'s' * (groups > 1)}"]
    within += [] if each is None else [f"{each:,} in one{' group' * (groups is None)}"]
    said = f" ({', '.join(within)})" if within else ""
    return f"of each {table.unit} at most {rows} used{said}"


def _unknown_rows(table: Table, unknown: str, chosen: ChosenGroups = EVERYWHERE) -> Omission:
    said = f"{_used(table, chosen)}; how many rows are left out {unknown}; {_nobody(table)}"
    return Omission("rows", said)


def _nobody(table: Table) -> str:
    """That rows of nobody are in no number; how many these are, nobody counts."""
    return f"rows without a {table.unit} are not counted"


def _rows(
    table: Table, quality: Quality | None, sure: float, chosen: ChosenGroups = EVERYWHERE
) -> Omission | None:
    """The rows that `max_rows` leaves out, as far as that was paid for."""
    if quality is None or quality.rows is None or quality.scan is None:
        return None
    found, scan = quality.rows, quality.scan
    off = math.ceil(margin([(1, scan.noise(found.bound))], sure))
    people = scan.plan.most_above(found.bound, 1 - sure)
    count = found.total or 0
    said = _rows_said(scan.beyond, found.bound, (count, off), people)
    says = f"{_used(table, chosen)}; {said}; {_nobody(table)}"
    return Omission("rows", says, None, count, off, found.bound, people)


def _rows_said(beyond: int, bound: int, found: tuple[int, int], people: int | None) -> str:
    """The sentence about rows beyond `max_rows`."""
    few = "" if people is None else f"at most {people:,} people with more than {bound:,} rows each"
    if bound == beyond or sum(found) <= 0:
        return f"rows beyond max_rows are left out{few and f': those of {few}'}"
    beside = f", beside those of {few}" if few else f", counting {bound:,} rows of each at most"
    many = _about(*found, "row", " of the whole table")
    return f"{many} are left out by max_rows{beside}"


def _values(table: Table, quality: Quality, name: str, sure: float) -> Omission:
    count = quality.values[name]
    off = math.ceil(margin([(1, quality.noise)], sure))
    domain = table.attributes[name].domain
    why = "are not listed" if isinstance(domain, Categories) else "are outside of its bounds"
    many = _about(count, off, "value", f" of {name}")
    return Omission("values", f"{many} {why}, or could not be read", name, count, off)


def _about(count: int, off: int, what: str, of: str = "") -> str:
    """About how many, or no more than how many where it may be none."""
    if count > off:
        step = 10 ** max(0, len(str(off)) - 2)  # as many digits as the margin leaves meaning
        return f"about {round(count / step) * step:,} {what}s{of} (± {off:,})"
    return f"at most {max(0, count + off):,} {what}s{of}"
