"""What a check has to say in sentences, what is wrong first.

A remark is grave where it exceeds a limit of the policy, or a hundredth where the policy sets none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from adomnia.engines.source_facts import (
    CutRows,
    InspectedColumn,
    InspectedNumbers,
    InspectedUnits,
    Spike,
)
from adomnia.formatting import share, significant
from adomnia.review.check.line_remarks import line_remarks
from adomnia.review.check.personal_text import is_key, looks_like, values_look_like
from adomnia.review.check.row_sizes import row_sizes
from adomnia.review.check.shown_numbers import shown_number
from adomnia.review.check.source_check import UNSAID, SourceCheck, bound_text, share_of
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Timestamps

__all__ = ["Remark", "remarks"]

GRAVE = 0.01
"""From here on something is grave, where the policy sets no limit."""

DRIFTED = 0.2
"""So much drift is grave, where the policy sets no limit."""

NAMED, LONGEST = 3, 30
"""So many values are named in a sentence, and so many signs of each."""

WIDE = 10
"""Bounds that are so many times as wide as nearly all values need are remarked."""

MANY_NULLS = 0.1
"""Such a share of NULL is grave in a column that is not nullable: a file may have lost it."""

HEAVY = 0.2
"""A unit with such a share of all rows may be none."""


@dataclass(frozen=True)
class Remark:
    """Something about a column, a bound or the whole source; `size` is the share that it is of.

    >>> Remark(True, "sex", "4% of the values are not listed", 0.04).grave
    True
    """

    grave: bool
    about: str
    text: str
    size: float = 0.0


def remarks(check: SourceCheck) -> list[Remark]:
    """What a check has to say: what is grave first, and of that the largest.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     said = remarks(database.check())
    >>> [one.about for one in said if one.grave]
    ['person_id']
    """
    found = [
        *(one for column in check.inspection.columns for one in _column(check, column)),
        *_units(check),
        *_repeats(check),
        *_links(check),
        *(Remark(grave, "lines", said, part) for grave, said, part in line_remarks(check.lines)),
        *_changes(check),
        *_names(check),
        *_keys(check),
        *_origins(check),
    ]
    return sorted(found, key=lambda one: (not one.grave, -one.size))


def _limit(check: SourceCheck, name: str, usual: float = GRAVE) -> float:
    limit = getattr(check.policy.check, name)
    return usual if limit is None else float(limit)


# Columns


def _column(check: SourceCheck, column: InspectedColumn) -> Iterator[Remark]:
    """What cleaning does to a declared column."""
    domain, name = check.policy.attributes[column.name].domain, column.name
    most = _limit(check, "left_out")
    whole = share_of(column.left_out, column.present)

    def told(many: int, what: str) -> Remark:
        part = share_of(many, column.present)
        return Remark(whole > most, name, f"{share(part)} of the values ({many:,}) {what}", part)

    numbers = column.numbers
    if numbers is not None:
        low, high = _ends(domain)
        if numbers.above:
            yield told(numbers.above, f"lie above high = {high}{_means(numbers, domain)}")
        if numbers.below:
            yield told(numbers.below, f"lie below low = {low}{_means(numbers, domain)}")
        yield from _spikes(column, numbers, domain)
        yield from _too_wide(name, numbers, domain)
    if column.unlisted:
        yield told(column.unlisted, f"are not listed{_frequent(column.frequent)}")
    if column.unread:
        yield told(column.unread, f"are {_kind(domain)}{_frequent(column.frequent)}")
    if column.moved:
        text = f"({column.moved:,}) count as other{_frequent(column.frequent)}"
        part = share_of(column.moved, column.present)
        yield Remark(False, name, f"{share(part)} of the values {text}", part)
    unused = [value for value, many in column.counts.items() if not many]
    if unused and column.present:
        named = ", ".join(repr(value) for value in unused[:NAMED])
        more = f" and {len(unused) - NAMED:,} more" if len(unused) > NAMED else ""
        yield Remark(False, name, f"no row has the listed {named}{more}")
    yield from _missing(check, column)


def _missing(check: SourceCheck, column: InspectedColumn) -> Iterator[Remark]:
    """That there is no value in all rows, or in many of a column that is not declared nullable."""
    if not column.present:
        yield Remark(column.rows > 0, column.name, "all values are NULL", 1.0)
        return
    part = share_of(column.rows - column.present, column.rows)
    if part >= MANY_NULLS and not check.policy.attributes[column.name].nullable:
        many = f"{share(part)} of the rows ({column.rows - column.present:,})"
        text = f"{many} are NULL, and the column is not nullable: they are in no group"
        yield Remark(True, column.name, text, part)


def _ends(domain: Domain) -> tuple[str, str]:
    if isinstance(domain, Grid):
        low, high = (shown_number(float(end), domain, None, 6) for end in (domain.low, domain.high))
        return low, high
    assert isinstance(domain, Dates | Timestamps)
    return str(domain.low), str(domain.high)


def _means(numbers: InspectedNumbers, domain: Domain) -> str:
    """How far cleaning moves the mean, where it does."""
    true, counted = (
        None if mean is None else shown_number(mean, domain, numbers)
        for mean in (numbers.mean, numbers.cleaned_mean)
    )
    if true is None or counted is None or true == counted:
        return ""
    return f"; the mean is {true} and counts as {counted}"


def _kind(domain: Domain) -> str:
    if isinstance(domain, Grid):
        return "no numbers"
    if isinstance(domain, Dates):
        return "no days"
    if isinstance(domain, Timestamps):
        return "no moments"
    truth = isinstance(domain, Categories) and isinstance(domain.values[0], bool)
    return "neither true nor false" if truth else "not read"


def _frequent(values: Iterable[tuple[str | None, int]]) -> str:
    named = [f"{_quoted(value)} ({many:,})" for value, many in list(values)[:NAMED]]
    return f", most often {', '.join(named)}" if named else ""


def _quoted(value: str | None) -> str:
    """A value with its spaces: they may be all that is wrong with it."""
    if value is None:
        return "unreadable"
    return repr(value if len(value) <= LONGEST else value[: LONGEST - 1] + "…")


def _spikes(column: InspectedColumn, numbers: InspectedNumbers, domain: Domain) -> Iterator[Remark]:
    """Numbers that may stand for missing; those that count as what they are spoil every sum."""
    for spike in numbers.spikes:
        part = share_of(spike.rows, column.present)
        inside = _is_inside(spike, domain)
        text = f"{share(part)} of the values ({spike.rows:,}) are {spike.text}, far from all others"
        yield Remark(inside and part > GRAVE, column.name, f"{text}: a code for missing?", part)


def _is_inside(spike: Spike, domain: Domain) -> bool:
    if isinstance(domain, Dates):
        return domain.low <= date.fromordinal(int(spike.value)) <= domain.high
    return isinstance(domain, Grid) and domain.low <= Fraction(spike.value) <= domain.high


def _too_wide(name: str, numbers: InspectedNumbers, domain: Domain) -> Iterator[Remark]:
    """Bounds far beyond nearly all values make noise that nobody needs."""
    if not numbers.bounds or not isinstance(domain, Grid):
        return
    low, high = (float(end) for end in next(iter(numbers.bounds.values())))  # type: ignore[arg-type]
    reach = max(abs(low), abs(high), float(domain.step))
    declared = float(max(abs(domain.low), abs(domain.high)))
    if declared > WIDE * reach:
        yield Remark(
            False, name,
            f"99.9% of the values{numbers.codes and f' but for {numbers.codes}'} lie from "
            f"{shown_number(low, domain, numbers)} to "
            f"{shown_number(high, domain, numbers)}: the noise of sums is "
            f"{significant(declared / reach, 2)} times as wide as these would need",
        )  # fmt: skip


# Units, rows, changes


def _units(check: SourceCheck) -> Iterator[Remark]:
    units, unit = check.inspection.units, str(check.policy.unit)
    if units is None:
        return
    rows = check.inspection.rows
    part = share_of(units.nobody, rows)
    if units.nobody:
        text = f"{share(part)} of the rows ({units.nobody:,}) belong to nobody, and are left out"
        yield Remark(part > _limit(check, "nobody"), unit, text, part)
    most = _limit(check, "cut")
    for bound in dict.fromkeys(cut.bound for cut in units.cuts):
        found = [cut for cut in units.cuts if cut.bound == bound and cut.rows]
        if found:  # of the groups of several columns those in which most is cut
            yield _cut(max(found, key=lambda cut: cut.rows / cut.of), most)
    yield from _sizes(units, unit, rows)


def _cut(cut: CutRows, most: float) -> Remark:
    part = share_of(cut.rows, cut.of)
    sums = [f"{share(abs(float(lost / whole)))} of the sum of {name}"
            for name, (lost, whole) in cut.sums.items() if whole and lost]  # fmt: skip
    of_sums = f": {', '.join(sums)}" if sums else ""
    text = f"cuts {share(part)} of the rows ({cut.rows:,}), of {cut.units:,} units{of_sums}"
    return Remark(part > most, bound_text(cut), text, part)


def _sizes(units: InspectedUnits, unit: str, rows: int) -> Iterator[Remark]:
    found = row_sizes(units.sizes)
    if found["unique"] and found["units"]:
        text = f"every one of {found['units']:,} has one row: max_rows = 1 would do"
        yield Remark(False, unit, text)
    elif found["units"]:
        told = ", ".join(f"{share(float(part))} have at most {many:,}"
                         for part, many in found["quantiles"].items())  # fmt: skip
        text = f"{found['units']:,} units; {told}; the largest has {found['largest']:,} rows"
        yield Remark(False, unit, text)
    heaviest = share_of(found["largest"], rows)
    if found["units"] > 1 and found["largest"] > 100 and heaviest > HEAVY:
        text = f"one unit has {share(heaviest)} of all rows: is it a person, or stands for nobody?"
        yield Remark(True, unit, text, heaviest)


def _repeats(check: SourceCheck) -> Iterator[Remark]:
    look = check.inspection
    part = share_of(look.repeated, look.rows)
    if look.repeated:
        text = (f"{share(part)} ({look.repeated:,}) are the same as an earlier one in all columns, "
                f"up to {look.most_alike:,} of one kind")  # fmt: skip
        limit = check.policy.check.repeated
        yield Remark(limit is not None and part > limit, "rows", text, part)


def _links(check: SourceCheck) -> Iterator[Remark]:
    """Keys that repeat, and what refers to no row."""
    links, rows = check.links, check.inspection.rows
    if links is None:
        return
    if links.repeated:
        part, limit = share_of(links.repeated, rows), check.policy.check.repeated
        text = (f"{share(part)} of the rows ({links.repeated:,}) have the key of another one: "
                "what refers to it meets one of them, or is nobody's")  # fmt: skip
        yield Remark(limit is not None and part > limit, str(links.key), text, part)
    for column, (other, found) in links.references.items():
        lost = found.rows - found.matched
        if lost:
            part = share_of(lost, rows)
            text = f"{share(part)} of the rows ({lost:,}) refer to no row of {other}"
            yield Remark(part > _limit(check, "nobody"), column, text, part)


def _changes(check: SourceCheck) -> Iterator[Remark]:
    changes = check.changes
    if changes is None:
        return
    edition = f"edition {check.edition}"
    gone = share_of(changes.gone, changes.before)
    least = "at least " if changes.rows is None else ""
    text = (f"{least}{changes.added:,} are new since {edition}, {least}{changes.gone:,} "
            f"({share(gone)}) are gone")  # fmt: skip
    if changes.added or changes.gone:
        yield Remark(gone > _limit(check, "gone", 0.5), "rows", text, gone)
    for one in changes.columns:
        if one.variation > _limit(check, "drift", DRIFTED):
            text = f"its shares have moved by {share(one.variation)} since {edition}"
            yield Remark(True, one.name, text, one.variation)
        if one.new:
            text = f"{one.new:,} listed values are new since {edition}{_frequent(one.frequent)}"
            yield Remark(False, one.name, text)


# What names people, and whence domains are


def _names(check: SourceCheck) -> Iterator[Remark]:
    for column in check.inspection.undeclared:
        found = None if column.name == check.policy.unit else looks_like(column)
        if found is not None:
            text = f"looks like {found}: leave it out of the source, if nobody needs it"
            yield Remark(False, column.name, text)
    for name, attribute in check.policy.attributes.items():
        if isinstance(attribute.domain, Categories):
            found = values_look_like(attribute.domain.values)
            if found is not None:
                text = f"its list looks like {found}, and is public: everybody can read it"
                yield Remark(True, name, text)


def _keys(check: SourceCheck) -> Iterator[Remark]:
    """Columns that name people, of whom some have several rows, while rows are protected alone."""
    if check.policy.unit is not None:
        return
    for column in check.inspection.undeclared:
        if is_key(column.name) and column.most_rows > 1 and column.distinct > 1:
            yield Remark(
                True, column.name,
                f"{column.distinct:,} values, up to {column.most_rows:,} rows each: if it names "
                "people, only single rows of theirs are protected; declare it as unit",
            )  # fmt: skip


def _origins(check: SourceCheck) -> Iterator[Remark]:
    """Domains that may tell what is in the data."""
    told: dict[str, list[str]] = {}
    for name in check.policy.attributes:
        told.setdefault(check.origin(name), []).append(name)
    for origin, names in told.items():
        listed = ", ".join(names)
        if origin == UNSAID:
            yield Remark(False, "domains", f"whence they are is not said: {listed}")
        elif "lacks" in origin or "not covered" in origin:
            yield Remark(False, "domains", f"{origin} by the promise: {listed}"
                         if "covered" in origin else f"{origin}: {listed}")  # fmt: skip
