"""Columns of a draft: the domain that a survey of the data proposes, or why there is none.

Values of fewer than ten rows are not listed: a rare value may be a person.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

from adomnia.formatting import share
from adomnia.limits import MIN_LISTED_ROWS
from adomnia.review.drafts.unread_forms import unread_form

__all__ = ["TAKEN", "DraftColumn", "draft_column", "toml_text"]

TAKEN = "# taken from the data: confirm"
FEW = 20
"""Whole numbers with at most this many values are listed, or given their exact ends."""

MOST_YEARS = 200
"""Timestamps span no more."""

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class DraftColumn:
    """What a draft says of one column: the lines of its domain, or why there is none.

    `notes` are what a person should know before he confirms it, and `rare` is how many values
    were left out since fewer than ten rows have them. The `description` is what the source's own
    head says of the column.

    >>> DraftColumn("age", ("low = 0", "high = 120"), taken=True).name
    'age'
    """

    name: str
    lines: tuple[str, ...] = ()
    taken: bool = False
    why: str = ""
    identifier: bool = False
    notes: tuple[str, ...] = ()
    rare: int = 0
    description: str = ""


def draft_column(name: str, facts: Facts, rare: bool = False) -> DraftColumn:
    """The domain that a survey proposes for a column; with `rare`, lists have rare values too."""
    maker = {"truth": _truth, "number": _number, "date": _date, "text": _text}.get(facts["kind"])
    if maker is None:
        return DraftColumn(name, why=f"a column of type {facts['type']} cannot be asked about")
    made = maker(name, facts, rare)
    if not made.lines:
        return made
    odd = facts["share"] < 1
    if odd:
        what = {"number": "numbers", "date": "dates"}[facts["kind"]]
        note = f"{_percent(facts['share'])} of these are {what}; the rest counts as NULL"
        made = replace(made, notes=(note, *made.notes))
    if facts["nulls"] or odd:
        lines = (*made.lines, f"nullable = true    {TAKEN} (NULL is shown as a group)")
        return replace(made, lines=lines, taken=True)
    return made


def _percent(share: float) -> str:
    whole = math.floor(100 * share)
    return f"{whole} %" if whole < 99 else "More than 99 %"


def _truth(name: str, facts: Facts, rare: bool) -> DraftColumn:
    return DraftColumn(name, ("values = [false, true]",))


def _text(name: str, facts: Facts, rare: bool) -> DraftColumn:
    """A list of values, or why there is none; what looks like days or numbers is told."""
    if not facts["present"]:
        return DraftColumn(name, why="no value in it; undeclared")
    made, form = _list(name, facts, rare), unread_form(facts)
    if form is None:
        return made
    return replace(made, notes=(*made.notes, form)) if made.lines else replace(made, why=form)


def _list(name: str, facts: Facts, rare: bool) -> DraftColumn:
    values, counts = facts["values"], facts["counts"]
    if not values or len(values) * 3 > facts["rows"]:
        return DraftColumn(
            name,
            why="text with many values; undeclared. It can be filtered by, and grouped by with\n"
            "# private selection (which needs a delta). To declare it, list its values here.",
        )
    kept = [v for v, n in zip(values, counts, strict=True) if rare or n >= MIN_LISTED_ROWS]
    few = sum(many < MIN_LISTED_ROWS for many in counts)
    if not kept:
        why = f"{_rare(few)}; undeclared. To declare it, list its values here."
        return DraftColumn(name, why=why, rare=few)
    listed = f"values = [{', '.join(map(toml_text, kept))}]    {TAKEN}"
    if not few:
        return DraftColumn(name, (listed,), taken=True)
    if rare:
        return DraftColumn(name, (listed,), taken=True, notes=(_rare(few) + ", listed as asked",))
    lines = (listed, f'other = "other"    # for what is not listed; {_rare(few)}')
    return DraftColumn(name, lines, taken=True, rare=few)


def _rare(few: int) -> str:
    what = "1 value has" if few == 1 else f"{few} values have"
    return f"{what} fewer than {MIN_LISTED_ROWS} rows"


def _date(name: str, facts: Facts, rare: bool) -> DraftColumn:
    if facts.get("spikes"):
        rest = {"low": facts["rest_low"], "high": facts["rest_high"], "spikes": ()}
        made = _date(name, {**facts, **_near(facts, rest)}, rare)
        return replace(made, notes=(*made.notes, *_spike_notes(facts)))
    ends = [facts.get("near_low") or facts["low"], facts.get("near_high") or facts["high"]]
    if ends[0] is None:
        return DraftColumn(name, why="no value to take bounds from; declare low and high")
    notes: tuple[str, ...] = ()
    if (ends[0], ends[1]) != (facts["low"], facts["high"]):
        notes = ("A few days lie before 1800 or after 2199, outside these bounds",)
    timed = facts["timed"] > 0
    if timed and ends[1].year - ends[0].year < MOST_YEARS:
        return DraftColumn(name, _timestamp_lines(*ends), taken=True, notes=notes)
    if timed:
        notes = (*notes, "These have times of the day, which are left out: days are kept")
    low, high = date(ends[0].year, 1, 1), date(ends[1].year, 12, 31)
    lines = ('kind = "date"', *_ends(f'"{low}"', f'"{high}"'))
    return DraftColumn(name, lines, taken=True, notes=notes)


def _near(facts: Facts, rest: dict[str, Any]) -> dict[str, Any]:
    """The ends without codes for missing; those of near days are not wider."""
    near_low, near_high = facts.get("near_low"), facts.get("near_high")
    if near_low is None or near_high is None:
        return rest
    held = {"near_low": max(near_low, rest["low"]), "near_high": min(near_high, rest["high"])}
    return rest | held


def _timestamp_lines(first: date, last: date) -> tuple[str, ...]:
    low, high = f"{date(first.year, 1, 1)} 00:00", f"{date(last.year, 12, 31)} 23:00"
    return (
        'kind = "timestamp"    # in UTC; say zone = "Europe/Berlin" for another',
        *_ends(f'"{low}"', f'"{high}"'),
        f'step = "1h"    {TAKEN}',
    )


def _number(name: str, facts: Facts, rare: bool) -> DraftColumn:
    if facts["low"] is None:
        return DraftColumn(name, why="no value to take bounds from; declare low and high")
    if facts.get("spikes"):
        made = _number(name, _without_spikes(facts), rare)
        return replace(made, notes=(*made.notes, *_spike_notes(facts)))
    return _decimal(name, facts) if facts["places"] != 0 else _whole(name, facts, rare)


def _whole(name: str, facts: Facts, rare: bool) -> DraftColumn:
    """Whole numbers: their ends, exactly where they are few, or a list where these lie apart."""
    pairs = _whole_values(facts)
    if not 0 < len(pairs) <= FEW:
        return DraftColumn(name, _ends(*map(_plain, _outward(facts, Decimal(1)))), taken=True)
    few = 0 if rare else sum(many < MIN_LISTED_ROWS for many in pairs.values())
    whole = sorted(v for v, many in pairs.items() if rare or many >= MIN_LISTED_ROWS)
    if not whole:  # every value is rare: bounds tell less than a list
        return DraftColumn(name, _ends(*map(_plain, _outward(facts, Decimal(5)))), taken=True)
    notes = (f"{_rare(few)} and may lie outside",) if few else ()
    if whole[-1] - whole[0] < 2 * len(whole):
        ends = _ends(str(whole[0]), str(whole[-1]))
        return DraftColumn(name, ends, taken=True, notes=notes, rare=few)
    return DraftColumn(name, (f"values = {whole}    {TAKEN}",), taken=True, notes=notes, rare=few)


def _without_spikes(facts: Facts) -> Facts:
    """The facts of the numbers that do not look like codes for missing."""
    codes = {spike.value for spike in facts["spikes"]}
    held = {v: n for v, n in _whole_values(facts).items() if v not in codes}
    listed = {} if facts["values"] is None else {"values": list(held), "counts": [*held.values()]}
    ends = {"low": facts["rest_low"], "high": facts["rest_high"]}
    return {**facts, **ends, **listed, "spikes": ()}


def _spike_notes(facts: Facts) -> Iterator[str]:
    for spike in facts["spikes"]:
        part = share(spike.rows / max(1, facts["present"])).replace("%", " %")
        yield (
            f"{part} of the values are {spike.text}, far from all others: a code for missing? "
            f"It lies outside this domain and counts as {'high' if spike.above else 'low'}; "
            "make it NULL in the source"
        )


def _whole_values(facts: Facts) -> dict[int, int]:
    """The whole numbers in a short list, and how many rows have each; odd cells are none."""
    found: dict[int, int] = {}
    for value, many in zip(facts["values"] or (), facts["counts"] or (), strict=True):
        try:
            whole = round(float(value))
        except (ValueError, OverflowError):
            continue
        found[whole] = found.get(whole, 0) + many
    return found


def _decimal(name: str, facts: Facts) -> DraftColumn:
    """A number with decimals: the step it is written with, or a thousandth of its range."""
    span, places = Decimal(repr(facts["high"] - facts["low"])), facts["places"]
    exponent = -places if places is not None else min(0, span.adjusted() - 3)
    step = Decimal(10) ** max(-9, exponent)
    ends = [_plain(end.quantize(step)) for end in _outward(facts, step)]
    return DraftColumn(name, (*_ends(*ends), f"step = {_plain(step)}    {TAKEN}"), taken=True)


def _ends(low: str, high: str) -> tuple[str, ...]:
    return f"low = {low}    {TAKEN}", f"high = {high}    {TAKEN}"


def _outward(facts: Mapping[str, Any], step: Decimal) -> tuple[Decimal, Decimal]:
    """The bounds moved outward to round numbers: 3 and 187,345 become 0 and 190,000."""
    low, high = Decimal(repr(facts["low"])), Decimal(repr(facts["high"]))
    unit = max(step, _round_number((high - low) / 20))
    return math.floor(low / unit) * unit, math.ceil(high / unit) * unit


def _round_number(least: Decimal) -> Decimal:
    """The smallest of 1, 2, 5, 10, 20, 50 … (and 0.5, 0.2 …) that is not below `least`."""
    power = Decimal(10) ** (least.adjusted() if least else 0)
    return next(digit * power for digit in (1, 2, 5, 10) if digit * power >= least)


def _plain(value: Decimal) -> str:
    return f"{value:f}"


def toml_text(value: str) -> str:
    """A text as TOML writes it.

    >>> toml_text('a "b"')
    '"a \\\\"b\\\\""'
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
