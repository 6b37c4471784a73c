"""Numbers, days and moments as a source has them: what is clamped, means, bounds, a histogram.

Bounds that leave out a share are the narrowest of a few: all of the share is left out at one end,
or parts of it at both; numbers that may stand for missing are not looked at. They are values of
single rows, so whoever declares them has taken them from the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Self

from adomnia.engines.source_facts import Bins, Extremes, InspectedNumbers, Spike
from adomnia.engines.sql.coding import known
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.inspection.spikes import DAY_CODES, NUMBER_CODES, find_spikes
from adomnia.engines.sql.moments import moment_code
from adomnia.queries.calendar import moment_at, seconds_of
from adomnia.schema.domain import Dates, Domain, Grid, Timestamps

__all__ = ["SHARES", "Ordered", "inspect_numbers", "number_text", "width_of"]

Ordered = Grid | Dates | Timestamps
"""Domains with a low and a high end."""

SHARES = (Fraction(1, 1000), Fraction(1, 100), Fraction(5, 100))
"""Bounds are told that leave out no more of the values."""

SPLITS = 8
"""A share is divided in this many ways between both ends, and one."""

MOST_BINS = 40
LARGEST = 1e290
"""Numbers beyond are in no mean: sums of so many rows as there can be stay finite."""

FIRST_DAY = date(1, 1, 1)
ZONE_YEARS = 20
"""So far before and after its domain a moment of a zone is told: each clock change has a line."""

Run = Callable[[str], Sequence[tuple[Any, ...]]]


def number_text(name: str, domain: Domain, declared: str, dialect: Dialect) -> str:
    """The SQL of a column's number, or of its day's or its second's; NULL where it is none."""
    column, kind = dialect.quoted(name), dialect.family(declared)
    if isinstance(domain, Timestamps):
        wide = _widened(domain)
        code = moment_code(column, wide, declared, dialect)
        return f"(CAST({code} AS BIGINT) * {wide.step} + {seconds_of(wide.low)})"
    if isinstance(domain, Dates):
        day = dialect.day(column, kind)
        ends = (dialect.constant(end) for end in (FIRST_DAY, date.max))
        held = "LEAST(GREATEST({}, {}), {})".format(day, *ends)
        counted = f"{dialect.days(held, dialect.constant(FIRST_DAY))} + 1"
        return f"CASE WHEN {day} IS NOT NULL THEN {counted} END"
    number = dialect.number(column, kind)
    return f"CASE WHEN {known(number, dialect)} THEN {number} END"


def _widened(domain: Timestamps) -> Timestamps:
    """The same lattice of moments far beyond the declared ends."""
    low, high = domain.low.year, domain.high.year
    before, after = (2, 9998) if domain.zone == "UTC" else (low - ZONE_YEARS, high + ZONE_YEARS)
    ends = datetime(max(2, before), 1, 1), datetime(min(9998, after), 12, 31)
    return Timestamps(min(domain.low, ends[0]), max(domain.high, ends[1]), domain.step, domain.zone)


def inspect_numbers(
    run: Run, dialect: Dialect, stage: str, names: tuple[str, str], domain: Domain
) -> InspectedNumbers | None:
    """What is counted of a column, by its code and its number; nothing of other domains."""
    if not isinstance(domain, Ordered):
        return None
    code, number = names
    width = width_of(domain)
    inside = f"LEAST(GREATEST(CAST({code} AS BIGINT), 0), {width})"
    finite = f"CASE WHEN {number} BETWEEN -{LARGEST} AND {LARGEST} THEN {number} END"
    found = run(
        f"SELECT COUNT({number}), COUNT(CASE WHEN {code} = -1 THEN 1 END), "
        f"COUNT(CASE WHEN {code} = {width + 1} THEN 1 END), MIN({finite}), MAX({finite}), "
        f"COUNT({finite}), SUM(CAST({finite} AS {dialect.double})), COUNT({code}), "
        f"{dialect.total(f'CASE WHEN {code} IS NOT NULL THEN {inside} END')} FROM {stage}"
    )[0]
    values, below, above, least, most, many, total, kept, steps = found
    ends = None if not many else (float(least), float(most))
    codes = {Grid: NUMBER_CODES, Dates: DAY_CODES}.get(type(domain))
    spikes = find_spikes(run, (finite, stage), ends, codes) if codes and ends else ()
    bounds = _bounds(run, stage, _without(number, spikes, dialect), _rest(int(values), spikes))
    return InspectedNumbers(
        int(below),
        int(above),
        ends and _shown(ends, domain),
        float(total) / many if many and isinstance(domain, Grid) else None,
        _mean(domain, int(steps), int(kept)) if kept and isinstance(domain, Grid) else None,
        {share: _shown(pair, domain) for share, pair in bounds.items()},
        _bins(run, dialect, stage, number, _Layout.of(domain, ends, bounds.get(SHARES[0], ends)))
        if ends
        else None,
        spikes,
    )


def width_of(domain: Ordered) -> int:
    """The code of the highest declared value; that of the lowest is 0."""
    if isinstance(domain, Dates):
        return (domain.high - domain.low).days
    if isinstance(domain, Timestamps):
        return domain.count - 1
    return int((domain.high - domain.low) / domain.step)


def _mean(domain: Grid, steps: int, rows: int) -> float:
    return float(domain.low + Fraction(steps, rows) * domain.step)


def _shown(ends: tuple[float, float], domain: Ordered) -> Extremes:
    """Both ends as they are told: days as days, seconds as moments."""
    if isinstance(domain, Grid):
        return ends
    if isinstance(domain, Timestamps):
        return moment_at(int(ends[0])), moment_at(int(ends[1]))
    return date.fromordinal(int(ends[0])), date.fromordinal(int(ends[1]))


# Bounds


def _without(number: str, spikes: Sequence[Spike], dialect: Dialect) -> str:
    """The number, and NULL where it may stand for missing."""
    if not spikes:
        return number
    codes = ", ".join(f"CAST({spike.value!r} AS {dialect.double})" for spike in spikes)
    return f"CASE WHEN CAST({number} AS {dialect.double}) NOT IN ({codes}) THEN {number} END"


def _rest(values: int, spikes: Sequence[Spike]) -> int:
    """How many values are left without those that may stand for missing."""
    return values - sum(spike.rows for spike in spikes)


def _bounds(run: Run, stage: str, number: str, values: int) -> dict[Fraction, tuple[float, float]]:
    """For each share the narrowest of the bounds that leave out no more of the values."""
    if not values:
        return {}
    pairs = {share: list(_ranks(int(share * values), values)) for share in SHARES}
    ranks = sorted({rank for listed in pairs.values() for pair in listed for rank in pair})
    texts = ", ".join(f"MIN(CASE WHEN upto >= {rank} THEN v END)" for rank in ranks)
    counted = f"SELECT {number} AS v, COUNT(*) AS k FROM {stage} WHERE {number} IS NOT NULL"
    summed = f"SELECT v, SUM(k) OVER (ORDER BY v) AS upto FROM ({counted} GROUP BY {number}) AS a"
    found = run(f"SELECT {texts} FROM ({summed}) AS b")[0]
    at = {rank: float(value) for rank, value in zip(ranks, found, strict=True)}
    return {
        share: min(((at[low], at[high]) for low, high in listed), key=_breadth)
        for share, listed in pairs.items()
    }


def _ranks(left_out: int, values: int) -> Iterator[tuple[int, int]]:
    """The ranks of the lowest and the highest value that stay, for each division of a share."""
    for below in sorted({left_out * part // SPLITS for part in range(SPLITS + 1)}):
        yield below + 1, values - (left_out - below)


def _breadth(pair: tuple[float, float]) -> tuple[float, float]:
    """How wide bounds are; of equal ones those that lie lower."""
    return (pair[1] - pair[0] if math.isfinite(pair[0]) and math.isfinite(pair[1]) else math.inf,
            pair[0])  # fmt: skip


# The histogram


def _bins(run: Run, dialect: Dialect, stage: str, number: str, layout: _Layout) -> Bins:
    """Counts in the bins of a layout."""
    low, high = layout.low, layout.high
    parts = (layout.start, layout.below, 0), (low, layout.inside, layout.below)
    last = (high, layout.above, layout.below + layout.inside)
    below, inside, above = (layout.place(number, part, dialect) for part in (*parts, last))
    first, end, before, after = (
        f"CAST({edge!r} AS {dialect.double})" for edge in (layout.start, layout.end, low, high)
    )
    place = (
        f"CASE WHEN {number} < {first} THEN -1 WHEN {number} >= {end} THEN {layout.many} "
        f"WHEN {number} < {before} THEN {below} WHEN {number} < {after} THEN {inside} "
        f"ELSE {above} END"
    )
    rows = run(f"SELECT {place}, COUNT(*) FROM {stage} WHERE {number} IS NOT NULL GROUP BY 1")
    found = {int(at): int(many) for at, many in rows}
    counts = tuple(found.get(at, 0) for at in range(layout.many))
    return Bins(layout.edges, counts, found.get(-1, 0), found.get(layout.many, 0))


def _axis(domain: Ordered) -> tuple[float, float, float]:
    """The ends and the step of a domain, as numbers are told of it."""
    if isinstance(domain, Dates):
        return float(domain.low.toordinal()), float(domain.high.toordinal()), 1.0
    if isinstance(domain, Timestamps):
        return float(seconds_of(domain.low)), float(seconds_of(domain.high)), float(domain.step)
    return float(domain.low), float(domain.high), float(domain.step)


@dataclass(frozen=True)
class _Layout:
    """How many bins of one width lie below, between and above two bounds, half a step beyond the
    first and the last declared value; the last between them may be narrower."""

    low: float
    high: float
    width: float
    below: int
    inside: int
    above: int

    @classmethod
    def of(cls, domain: Ordered, ends: tuple[float, float], nearly: tuple[float, float]) -> Self:
        """About forty bins in all: the declared bounds are in them, and nearly all values."""
        low, high, step = _axis(domain)
        first, last = max(nearly[0], ends[0]), min(nearly[1], ends[1])
        steps = (max(high, last) - min(low, first)) / step + 1
        width = max(1.0, math.ceil(steps / MOST_BINS)) * step
        low, high = low - step / 2, high + step / 2
        return cls(
            low,
            high,
            width,
            max(0, math.ceil((low - first) / width)),
            max(1, math.ceil((high - low) / width - 1e-9)),
            max(0, math.ceil((last - high) / width)),
        )

    @property
    def many(self) -> int:
        """How many bins there are."""
        return self.below + self.inside + self.above

    @property
    def start(self) -> float:
        """Where the first begins."""
        return self.low - self.below * self.width

    @property
    def end(self) -> float:
        """Where the last ends."""
        return self.high + self.above * self.width

    @property
    def edges(self) -> tuple[float, ...]:
        """Where each begins, and the end."""
        below = [self.low - self.width * at for at in range(self.below, 0, -1)]
        inside = [self.low + self.width * at for at in range(self.inside)]
        return (*below, *inside, *(self.high + self.width * at for at in range(self.above + 1)))

    def place(self, number: str, part: tuple[float, int, int], dialect: Dialect) -> str:
        """The SQL of a number's bin among those that begin at an edge, after so many others."""
        edge, many, before = part
        first, wide = (f"CAST({x!r} AS {dialect.double})" for x in (edge, self.width))
        inside = f"CAST(FLOOR(({number} - {first}) / {wide}) AS INTEGER)"
        return f"LEAST(GREATEST({inside}, 0), {max(0, many - 1)}) + {before}"
