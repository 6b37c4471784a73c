"""What is left out, as far as it was paid for: in numbers, and in words where too little was paid
(`quality.md`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from adomnia.curator.answers.omission import Omission
from adomnia.curator.answers.quality_counts import Quality
from adomnia.formatting import amount
from adomnia.mechanisms.margins.margin import margin
from adomnia.schema.domain import Categories
from adomnia.schema.table import Table

__all__ = ["USUAL", "Counted", "about", "paid_rows", "paid_values"]

USUAL = "0.5"
"""An epsilon to begin with: some hundreds of people at most are beyond the bound that is found."""

FEW = 100
"""The part of all people that may be left beyond `max_rows`, for an amount that is worth paying."""
HANDFUL = 10
"""So many people are few, however many there are."""


@dataclass(frozen=True)
class Counted:
    """What was paid for, how sure each number is, and about how many rows there are, by what is
    public or what the asker was shown; None where neither says."""

    quality: Quality
    sure: float
    size: Callable[[], int | None] = lambda: None


def paid_rows(table: Table, counted: Counted, used: str, nobody: str) -> Omission | None:
    """The rows that `max_rows` leaves out; None where nobody counted them.

    Where the scan found no bound above `max_rows`, nothing is known of them but how many people
    may have some: if these are not few there is no number, and it is said for which amount there
    would be one.
    """
    quality, sure = counted.quality, counted.sure
    if quality.rows is None or quality.scan is None:
        return None
    found, scan = quality.rows, quality.scan
    people = scan.plan.most_above(found.bound, 1 - sure)
    if found.bound == scan.beyond and _is_few(counted, people):  # no row is between the two
        said = f"{used}; {_rows_said(found.bound, (0, 0), people)}; {nobody}"
        return Omission("rows", said, None, 0, 0, found.bound, people)
    if found.bound == scan.beyond:
        said = _nothing_found(counted, table.max_rows, people)
        return Omission("rows", f"{used}; {said}; {nobody}", bound=found.bound, people=people)
    off = math.ceil(margin([(1, scan.noise(found.bound))], sure))
    count = found.total or 0
    says = f"{used}; {_rows_said(found.bound, (count, off), people)}; {nobody}"
    return Omission("rows", says, None, count, off, found.bound, people)


def _is_few(counted: Counted, people: int | None) -> bool:
    """Whether it says something that so many people at most have more than `max_rows`: a handful,
    or less than a hundredth of those who are there at least."""
    scan = counted.quality.scan
    assert scan is not None
    size = None if people is None or people <= HANDFUL else counted.size()
    few = HANDFUL if size is None else size // (scan.beyond * FEW)
    return people is not None and people <= few


def _nothing_found(counted: Counted, most: int, people: int | None) -> str:
    paid = counted.quality.epsilon
    rows = "1 row" if most == 1 else f"{most:,} rows"
    none = f"for epsilon {amount(paid)} nothing could be found of the rows beyond max_rows"
    if people is None:
        return none
    return f"{none}: at most {people:,} people have more than {rows}; {_more(counted, people)}"


def _more(counted: Counted, people: int) -> str:
    """Which amount would do better. The number of people is in proportion to 1 / epsilon, and as
    many people as rows / max_rows are there at least."""
    size, scan = counted.size(), counted.quality.scan
    assert scan is not None
    if size is None:
        return f"ten times as much would say so of {max(1, people // 10):,}"
    few = max(1, size // (scan.beyond * FEW))
    if few >= people:
        return f"of {size:,} rows that is less than a hundredth of the people"
    needed = _rounded_up(counted.quality.epsilon * people / few)
    return f"epsilon {amount(needed)} would say so of {few:,}"


def _rounded_up(given: Fraction) -> Fraction:
    """At least so much, to two figures."""
    power = math.floor(math.log10(given)) - 1
    step = Fraction(10) ** power
    return math.ceil(given / step) * step


def _rows_said(bound: int, found: tuple[int, int], people: int | None) -> str:
    """The sentence about rows between `max_rows` and a bound that was found."""
    few = "" if people is None else f"at most {people:,} people with more than {bound:,} rows each"
    if sum(found) <= 0:
        return f"rows beyond max_rows are left out{few and f': those of {few}'}"
    beside = f", beside those of {few}" if few else f", counting {bound:,} rows of each at most"
    many = about(*found, "row", " of the whole table")
    return f"{many} {'is' if many.startswith('at most 1 ') else 'are'} left out by max_rows{beside}"


def paid_values(table: Table, counted: Counted, name: str) -> Omission:
    """The values of a column that cleaning changed or left out. A bound that is above the number of
    rows is none, and is not told as one."""
    count = counted.quality.values[name]
    off = math.ceil(margin([(1, counted.quality.noise)], counted.sure))
    listed = isinstance(table.attributes[name].domain, Categories)
    size = counted.size() if count <= off else None
    if size is not None and count + off >= size:
        why = "are not listed" if listed else "are outside of its bounds"
        paid = f"could not be found for epsilon {amount(counted.quality.epsilon)}"
        says = f"how many values of {name} {why}, or could not be read, {paid}"
        return Omission("values", says, name, count, off)
    many = about(count, off, "value", f" of {name}")
    one = many.startswith("at most 1 ")
    does = "is" if one else "are"
    why = f"{does} not listed" if listed else f"{does} outside of its bounds"
    return Omission("values", f"{many} {why}, or could not be read", name, count, off)


def about(count: int, off: int, what: str, of: str = "") -> str:
    """About how many, or no more than how many where it may be none.

    >>> about(1000, 12, "row"), about(1, 0, "row"), about(2, 5, "value", " of x")
    ('about 1,000 rows (± 12)', 'about 1 row (± 0)', 'at most 7 values of x')
    """
    if count > off:
        step = 10 ** max(0, len(str(off)) - 2)  # as many digits as the margin leaves meaning
        near = round(count / step) * step
        return f"about {near:,} {what}{'s' * (near != 1)}{of} (± {off:,})"
    most = max(0, count + off)
    return f"at most {most:,} {what}{'s' * (most != 1)}{of}"
