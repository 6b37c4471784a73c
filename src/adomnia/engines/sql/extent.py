"""Extents: between which numbers, days or moments the SQL of an expression lies, as it is written.

The renderer derives them from the leaves up: from the policy's domains as `coding` enforces them,
from constants, and operation by operation. So that nothing overflows rests on no derived range,
and a value that lies between its bounds already is not clamped again (`coding.md`, Claim 7).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from adomnia.errors import QuestionError
from adomnia.queries.calendar import CLOCK_PARTS, CLOCK_UNITS, UNITS, midnight, shifted
from adomnia.queries.expression import Call, Constant
from adomnia.queries.operations import LIMIT
from adomnia.queries.ranges import Day, Moment, Number
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Timestamps

__all__ = [
    "PARTS",
    "WHOSE",
    "Extent",
    "Kind",
    "beside",
    "extent_of",
    "fits",
    "foreign",
    "kind_of",
    "kind_of_domain",
    "of_constant",
    "of_domain",
    "of_value",
]

Extent = tuple[Any, Any] | None
"""The lowest and the highest index, day or moment; None for texts and truth values."""

PARTS: Mapping[str, tuple[int, int] | None] = {
    "year": None, "quarter": (1, 4), "month": (1, 12), "week": (1, 53), "day": (1, 31),
    "dow": (0, 6), "isodow": (1, 7), "doy": (1, 366),
}  # fmt: skip
"""The parts of a day, and between which numbers they lie; years between those of the days."""

CLOCK: Mapping[str, tuple[int, int]] = {"hour": (0, 23), "minute": (0, 59), "second": (0, 59)}
"""The parts of a time of day, and between which numbers they lie."""


def of_domain(domain: Domain) -> Extent:
    """The extent of a column, with what stands for all that lies outside of its domain."""
    if isinstance(domain, Grid):
        return int(domain.low / domain.step) - 1, int(domain.high / domain.step) + 1
    if isinstance(domain, Dates):
        return beside(domain)
    if isinstance(domain, Timestamps):
        step = timedelta(seconds=domain.step)
        return domain.low - step, domain.high + step
    if isinstance(domain, Categories):
        found = _hull(domain.members)
        return found if found is None else (found[0] - 1, found[1] + 1)
    return None


def beside(dates: Dates) -> tuple[date, date]:
    """The day before the first and the one after the last, as far as there are such."""
    low, high = dates.low.toordinal() - 1, dates.high.toordinal() + 1
    return date.fromordinal(max(low, 1)), date.fromordinal(min(high, date.max.toordinal()))


def of_constant(value: Any) -> Extent:
    """The extent of a constant; NULL lies anywhere."""
    return (0, 0) if value is None else _hull([value])


def fits(extent: Extent, most: int = LIMIT) -> bool:
    """Whether all of it lies between two numbers of one size."""
    return extent is not None and -most <= extent[0] and extent[1] <= most


def extent_of(call: Call, args: list[Extent]) -> Extent:
    """The extent of a call, from those of its arguments; it may pass what 64 bits hold."""
    rule = _RULES.get(call.op)
    return None if rule is None else rule(call, args)


def _hull(values: Any) -> Extent:
    listed = [value for value in values if value is not None]
    if not listed or any(isinstance(value, bool | str) for value in listed):
        return (0, 0) if not listed else None
    return min(listed), max(listed)


def _ends(corners: Callable[..., list[int]]) -> Callable[[Call, list[Any]], Extent]:
    """A rule by the corners that can be extreme."""

    def rule(call: Call, args: list[Any]) -> Extent:
        found = corners(call, *args)
        return min(found), max(found)

    return rule


def _quotients(call: Call, a: tuple[int, int], b: tuple[int, int]) -> list[int]:
    p, q, mode, _ = call.params
    divisors = {d for d in (b[0], b[1], -1, 1) if d != 0 and b[0] <= d <= b[1]}
    return [_rounded(n * p, d * q, mode) for n in a for d in divisors] or [0]


def _rounded(top: int, bottom: int, mode: str) -> int:
    """The whole number at a quotient, as `translate` writes each mode; halves away from zero."""
    sign = -1 if (top < 0) != (bottom < 0) else 1
    top, bottom = abs(top), abs(bottom)
    cut, rest = divmod(top, bottom)
    away = {"trunc": False, "floor": sign < 0, "ceil": sign > 0, "round": 2 * rest >= bottom}[mode]
    return sign * (cut + (away and rest > 0))


def _remainders(call: Call, a: tuple[int, int], b: tuple[int, int]) -> list[int]:
    size = max(0, max(abs(b[0]), abs(b[1])) - 1)
    return [max(-size, min(0, a[0])), min(size, max(0, a[1]))]


def _either(call: Call, args: list[Extent]) -> Extent:
    """What is one of several: the branches of a CASE, the least or the greatest."""
    pairs = list(zip(call.args, args, strict=True))
    listed = pairs[1:-1:2] + pairs[-1:] if call.op == "case" else pairs
    some = [extent for arg, extent in listed if arg != Constant(None, arg.range)]
    known = [extent for extent in some if extent is not None]
    if len(known) < len(some) or len({isinstance(low, date) for low, _ in known}) > 1:
        return None
    return _hull([end for extent in known for end in extent])


def _ranged(call: Call, args: list[Any]) -> Extent:
    """As its text clamps or leaves out; a text has none."""
    (found,), spread = args, call.params[0]
    if found is None or not isinstance(spread, Number | Day | Moment):
        return None
    return max(found[0], spread.low), min(found[1], spread.high)


def _part(call: Call, args: list[Any]) -> Extent:
    ((low, high),) = args
    ends: Extent = PARTS[call.params[0]] or (low.year, high.year)
    return ends


def _cut(call: Call, args: list[Any]) -> Extent:
    """First days of weeks, months, quarters or years: none lies a whole year before its day."""
    ((low, high),) = args
    return date.fromordinal(max(1, low.toordinal() - 366)), high


def _moment_part(call: Call, args: list[Any]) -> Extent:
    ((low, high),), part = args, call.params[0]
    if part == "epoch":
        return CLOCK_PARTS[part](low), CLOCK_PARTS[part](high)
    return CLOCK[part] if part in CLOCK else _part(call, args)


def _moment_cut(call: Call, args: list[Any]) -> Extent:
    """First moments of units: none lies more than a leap year before its own."""
    ((low, high),) = args
    return low - min(timedelta(days=366), low - datetime.min), high


def _day_shifted(call: Call, args: list[Any]) -> Extent:
    """Later days, in their order."""
    low, high = (_later(end, *_whole(call)) for end in args[0])
    return low, high


def _moment_shifted(call: Call, args: list[Any]) -> Extent:
    """Later moments: of those that months bring to one day, any may be the latest."""
    months, days, seconds = _whole(call)
    first, last = args[0]
    if months:
        first = midnight(_later(first.date(), months, 0))
        last = midnight(_later(last.date(), months, 0)) + timedelta(seconds=86_399)
    return _later(first, 0, days, seconds), _later(last, 0, days, seconds)


def _whole(call: Call) -> tuple[int, ...]:
    if not all(type(part) is int for part in call.params):
        raise foreign("this is no operation on one row")
    return call.params


def _later(end: Any, *shift: int) -> Any:
    try:
        return shifted(end, *shift)
    except (OverflowError, ValueError):
        raise foreign("a day can lie beyond the years 1 to 9999") from None


def _apart(call: Call, a: tuple[Any, Any], b: tuple[Any, Any]) -> list[int]:
    return [(a[0] - b[1]) // timedelta(seconds=1), (a[1] - b[0]) // timedelta(seconds=1)]


def _real(call: Call, args: list[Extent]) -> Extent:
    """As its text clamps it."""
    spread = call.range
    assert isinstance(spread, Number)
    return max(-LIMIT, spread.low), min(LIMIT, spread.high)


_RULES: Mapping[str, Callable[[Call, list[Any]], Extent]] = {
    "add": _ends(lambda call, a, b: [a[0] + b[0], a[1] + b[1]]),
    "sub": _ends(lambda call, a, b: [a[0] - b[1], a[1] - b[0]]),
    "mul": _ends(lambda call, a, b: [x * y for x in a for y in b]),
    "neg": _ends(lambda call, a: [-a[0], -a[1]]),
    "abs": _ends(lambda call, a: [abs(a[0]), abs(a[1]), *([0] if a[0] <= 0 <= a[1] else [])]),
    "sign": _ends(lambda call, a: [max(-1, min(1, end)) for end in a]),
    "scale": _ends(lambda call, a: [end * call.params[0] for end in a]),
    "restep": lambda call, args: args[0],
    "div": _ends(_quotients),
    "mod": _ends(_remainders),
    "real": _real,
    "least": _either,
    "greatest": _either,
    "case": _either,
    "map": lambda call, args: _hull([value for _, value in call.params[0]]),
    "extract": _part,
    "trunc": _cut,
    "inside": _ranged,
    "nearest": _ranged,
    "day_shift": _day_shifted,
    "moment_part": _moment_part,
    "moment_trunc": _moment_cut,
    "moment_shift": _moment_shifted,
    "seconds": _ends(_apart),
    "to_day": lambda call, args: (args[0][0].date(), args[0][1].date()),
    "to_moment": lambda call, args: (midnight(args[0][0]), midnight(args[0][1])),
    "days": _ends(lambda call, a, b: [(a[0] - b[1]).days, (a[1] - b[0]).days]),
}


# Kinds: number, text, day, moment or truth. Values of two kinds are never compared, nor chosen
# between. Units are a kind of their own: which number one has depends on others (`owners.md`), so
# they are counted, and compared with each other for equality alone.
#
# An engine would cast one of them, row by row, and some rows cannot be cast. So the renderer
# works out the kind of everything that it writes, from the policy's domains and from constants
# up, and refuses what does not fit (`coding.md`).

Kind = str
"""`number`, `text`, `day`, `moment`, `truth`, `unit`, or `any` for NULL."""

WHOSE: Kind = "unit"
_OF_UNITS = ("is_null", "eq", "ne", "case")
"""What may be computed of units."""

_KINDS: Sequence[tuple[type, Kind]] = (
    (bool, "truth"), (int, "number"), (str, "text"), (date, "day"), (datetime, "moment"),
    (type(None), "any"),
)  # fmt: skip

_SAME: Mapping[str, Kind] = {
    **dict.fromkeys(("add", "sub", "mul", "neg", "abs", "sign", "scale", "restep"), "number"),
    **dict.fromkeys(("div", "mod", "real"), "number"),
    **dict.fromkeys(("and", "or", "not"), "truth"),
    **dict.fromkeys(("extract", "trunc", "days", "day_shift", "to_moment"), "day"),
    **dict.fromkeys(("moment_part", "moment_trunc", "moment_shift", "seconds", "to_day"), "moment"),
    "like": "text",
}
"""Operations whose arguments are of one kind, and which."""

_GIVEN: Mapping[str, Kind] = {
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge", "in", "is_null", "like"), "truth"),
    **dict.fromkeys(("extract", "days", "moment_part", "seconds"), "number"),
    "to_day": "day",
    "to_moment": "moment",
}
"""Operations that give another kind than that of their arguments."""


_WORDS: Mapping[str, Collection[str]] = {
    "real": ("sqrt", "ln", "exp"),
    "extract": PARTS,
    "trunc": UNITS,
    "moment_part": CLOCK_PARTS,
    "moment_trunc": (*CLOCK_UNITS, *UNITS),
}
"""The words of operations that are written into the statement as they are."""


def foreign(what: str) -> QuestionError:
    """The refusal of what cannot be written."""
    return QuestionError(f"this cannot be computed safely: {what}", "ask for something simpler")


def of_value(value: object) -> Kind:
    """The kind of a constant."""
    return next((kind for known, kind in _KINDS if type(value) is known), "none")


def kind_of_domain(domain: Domain) -> Kind:
    """The kind of a cleaned column."""
    if isinstance(domain, Categories):
        return of_value(domain.values[0])
    kinds = {Grid: "number", Dates: "day", Timestamps: "moment"}
    return kinds.get(type(domain), "text")


def kind_of(call: Call, kinds: Sequence[Kind]) -> Kind:
    """The kind of a call on arguments of these kinds; refused where they do not fit, or where a
    word in it is none of those that may be written."""
    if call.op in _WORDS and call.params[0] not in _WORDS[call.op]:
        raise foreign("this is no operation on one row")
    if WHOSE in kinds and call.op not in _OF_UNITS:
        raise foreign("a unit is compared with nothing")
    if call.op == "case":
        _one([*kinds[0:-1:2], "truth"])
        return _one([*kinds[1:-1:2], kinds[-1]])
    if call.op == "map":
        pairs: Any = call.params[0]
        _one([*kinds, *(of_value(key) for key, _ in pairs)])
        return _one(of_value(value) for _, value in pairs)
    listed = (of_value(value) for value in call.params) if call.op == "in" else ()
    among = [_SAME[call.op]] if call.op in _SAME else []
    found = "any" if call.op == "is_null" else _one([*among, *kinds, *listed])
    return _GIVEN.get(call.op, found)


def _one(kinds: Iterable[Kind]) -> Kind:
    """The one kind of all that is not NULL."""
    found = {*kinds} - {"any"}
    if len(found) > 1 or "none" in found:
        raise foreign("values of two kinds do not go together")
    return next(iter(found), "any")
