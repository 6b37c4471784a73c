"""What is left out of an answer: in numbers where it was paid for, in words where it was not.

It rests on the statement, the policy and paid counts alone: nothing that is exact decides what is
said (`quality.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat

from adomnia.curator.answers.column_uses import (
    clamped_columns,
    compared_columns,
    key_columns,
    read_columns,
)
from adomnia.curator.answers.omission import Omission
from adomnia.curator.answers.paid_omissions import USUAL, Counted, about, paid_rows, paid_values
from adomnia.curator.answers.quality_counts import Quality
from adomnia.engines.sql.units import ChosenGroups
from adomnia.queries.question import Question
from adomnia.queries.ranges import from_domain
from adomnia.schema.domain import Categories, Domain
from adomnia.schema.table import Table

__all__ = [
    "ASKED",
    "COUNTABLE",
    "UNKNOWN",
    "Omission",
    "about",
    "all_left_out",
    "is_known",
    "known_of_columns",
    "left_out_of",
    "outside_values",
    "sentences",
]

UNKNOWN = "is not known"
COUNTABLE = f"{UNKNOWN}: the curator can count it, adomnia load --quality {USUAL}"
ASKED = f"{UNKNOWN}: ask the curator to have it counted"
"""What is said where nobody counted: to everybody, to the curator, and to an analyst."""


def left_out_of(
    question: Question,
    table: Table,
    quality: Quality | None,
    confidence: float,
    unknown: str = COUNTABLE,
    size: Callable[[], int | None] = lambda: None,
) -> tuple[Omission, ...]:
    """What concerns this question of all that is left out; `unknown` is said to whoever asks of
    what nobody counted, once, and `size` is about how many rows there are, as far as they know."""
    read = [name for name in table.attributes if name in read_columns(question)]
    paid = [] if quality is None else [name for name in read if name in quality.values]
    counted = _counted(quality, paid, confidence, size)
    owned, advice = table.unit is not None and bool(question.statistics), _once(unknown)
    rows = tuple(_of_rows(question, table, counted, advice)) if owned else ()
    values = [] if counted is None else [paid_values(table, counted, name) for name in paid]
    rest = {name: table.attributes[name].domain for name in read if name not in paid}
    return (*rows, *values, *_undeclared(question, rest, advice))


Advice = Iterator[str]
"""What is said of what nobody counted: the first time with what can be done, and then without."""


def _once(unknown: str) -> Advice:
    return chain([unknown], repeat(UNKNOWN))


def known_of_columns(
    table: Table, names: Iterable[str], quality: Quality | None, confidence: float, unknown: str
) -> tuple[Omission | None, dict[str, Omission]]:
    """What `max_rows` leaves out, if rows are somebody's, and what was counted of these columns."""
    paid = [] if quality is None else [name for name in names if name in quality.values]
    counted, rows = _counted(quality, paid, confidence), None
    if table.unit is not None:
        rows = _rows(table, counted) or _unknown_rows(table, unknown)
    if counted is None:
        return rows, {}
    return rows, {name: paid_values(table, counted, name) for name in paid}


def _counted(
    quality: Quality | None,
    paid: Sequence[str],
    confidence: float,
    size: Callable[[], int | None] = lambda: None,
) -> Counted | None:
    """What was paid for, each number so sure that all of them take half of the doubt."""
    if quality is None:
        return None
    claims = len(paid) + 2 * (quality.rows is not None)
    return Counted(quality, 1 - (1 - confidence) / (2 * max(1, claims)), size)


def all_left_out(
    table: Table, quality: Quality, confidence: float, rows: int | None = None
) -> tuple[Omission, ...]:
    """All that was counted of an edition, whatever is asked, where so many rows are public."""
    claims = len(quality.values) + 2 * (quality.rows is not None)
    counted = Counted(quality, 1 - (1 - confidence) / max(1, claims), lambda: rows)
    values = (paid_values(table, counted, name) for name in quality.values)
    return (*filter(None, [_rows(table, counted)]), *values)


def is_known(parts: Sequence[Omission]) -> bool:
    """Whether there is something, and a number for all of it."""
    return bool(parts) and all(part.most is not None for part in parts)


def sentences(parts: Sequence[Omission]) -> tuple[str, ...]:
    """What they say, each sentence once: that of several columns is the same. Where no value is
    left out for certain, nothing is said of it."""
    said = [part.says for part in parts if part.what != "values" or part.most != 0]
    return tuple(dict.fromkeys(said))


def _of_rows(
    question: Question, table: Table, counted: Counted | None, advice: Advice
) -> Iterator[Omission]:
    chosen = ChosenGroups.of(table, question.keys)
    yield _rows(table, counted, chosen) or _unknown_rows(table, next(advice), chosen)
    if chosen:
        yield Omission("groups", _by_groups(chosen))


def _by_groups(chosen: ChosenGroups) -> str:
    """That nobody knows what bounds in groups leave out beside `max_rows`."""
    bounds = {"max_groups": chosen.groups, "max_rows_per_group": chosen.each}
    named = " and ".join(name for name, bound in bounds.items() if bound is not None)
    return f"how many more rows {named} leave{'s' * (len(named.split()) == 1)} out is not known"


def _undeclared(
    question: Question, domains: Mapping[str, Domain], advice: Advice
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
        says = f"{outside_values(clamped)} count as {nearest}; how many {next(advice)}"
        yield from (Omission("values", says, name) for name in clamped)
    uses = {"are in no group": keys, "equal no declared one": compared}
    found = {
        does: {name: one for name, one in ragged.items() if name in names}
        for does, names in uses.items()
    }
    said = ", ".join(f"{outside_values(named)} {does}" for does, named in found.items() if named)
    names = [name for named in found.values() for name in named]
    says = f"{said}; how many {next(advice)}" if names else ""
    yield from (Omission("values", says, name) for name in dict.fromkeys(names))


def outside_values(domains: Mapping[str, Domain]) -> str:
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
    table: Table, counted: Counted | None, chosen: ChosenGroups = EVERYWHERE
) -> Omission | None:
    """The rows that `max_rows` leaves out, as far as that was paid for."""
    if counted is None:
        return None
    return paid_rows(table, counted, _used(table, chosen), _nobody(table))
