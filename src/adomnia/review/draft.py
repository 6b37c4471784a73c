"""Drafts: a first policy for a source, for a curator to read, correct and confirm.

Domains are public, and a draft takes them from the data; so everything it took is marked, and
nothing can be asked before a person has set `confirmed = true`.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from adomnia.curator.sources import engine_of
from adomnia.engines.exact import Survey, survey
from adomnia.errors import AdomniaError, MachineryError, PolicyError, QuestionError
from adomnia.privacy.loss import Amount, exact

__all__ = ["Draft", "DraftColumn", "Wish", "confirmed", "draft_policy"]

TAKEN = "# taken from the data: confirm"
FEW = 20
"""Whole numbers with at most this many values are listed, or given their exact ends."""

_UNIT = re.compile(r"(^|_|\b)(id|uuid|guid|ssn|person|patient|household|user)s?$", re.IGNORECASE)
_OPEN = "(?i)confirmed = false"


@dataclass(frozen=True)
class Wish:
    """What the curator already knows: the table's name, the budget, and who is protected.

    >>> Wish(unit="person_id", max_rows=5).epsilon
    '1.0'
    """

    table: str | None = None
    epsilon: Amount = "1.0"
    unit: str | None = None
    max_rows: int | None = None


@dataclass(frozen=True)
class DraftColumn:
    """What a draft says of one column: the lines of its domain, or why there is none.

    >>> DraftColumn("age", ("low = 0", "high = 120"), taken=True).name
    'age'
    """

    name: str
    lines: tuple[str, ...] = ()
    taken: bool = False
    why: str = ""
    identifier: bool = False


@dataclass(frozen=True)
class Draft:
    """A policy's text and what a person should be told about it.

    >>> columns = (DraftColumn("age", taken=True), DraftColumn("name", why="undeclared"))
    >>> Draft("", "people", columns).confirm
    ('age',)
    """

    text: str
    table: str
    columns: tuple[DraftColumn, ...]

    @property
    def confirm(self) -> tuple[str, ...]:
        """The attributes whose domains were taken from the data."""
        return tuple(column.name for column in self.columns if column.taken)

    @property
    def undeclared(self) -> tuple[str, ...]:
        """The columns that got no domain."""
        return tuple(column.name for column in self.columns if not column.lines)

    @property
    def units(self) -> tuple[str, ...]:
        """The columns that look as if they named a person."""
        return tuple(column.name for column in self.columns if column.identifier)


def draft_policy(
    source: str | Path, out: str | Path = "adomnia.toml", wish: Wish | None = None
) -> Draft:
    """A first policy for a source, to be written to `out`; nothing is written here.

    The source is a path or an address, and the `wish` what is already known. Returns the text, and
    what of it was taken from the data: a person must confirm that. Raises a PolicyError where the
    source cannot be read or names no table, and a QuestionError where it has no column of the unit.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source = pathlib.Path(folder, "people.csv")
    ...     size = source.write_text("age,sex\\n30,F\\n41,M\\n")
    ...     draft = draft_policy(source, pathlib.Path(folder, "adomnia.toml"))
    >>> draft.table, draft.confirm
    ('people', ('age',))
    """
    wish = wish or Wish()
    path = str(source)
    if "://" in path and wish.table is None:
        raise PolicyError("an address does not say which table", "name it with --table")
    table = wish.table or re.sub(r"\W+", "_", Path(path).name.split(".")[0]) or "data"
    exact(wish.epsilon)
    found = _survey(path, table, wish)
    if wish.unit is not None and wish.unit not in found:
        raise QuestionError(f"the data has no column {wish.unit!r}",
                            "its columns are: " + ", ".join(list(found)[:30]))  # fmt: skip
    columns = tuple(_column(name, facts, wish) for name, facts in found.items())
    lines = [*_head(_place(path, Path(out)), table, wish, columns), *_body(columns)]
    return Draft("\n".join(lines) + "\n", table, columns)


def _place(source: str, out: Path) -> str:
    """Where the source is, seen from the policy; an absolute path elsewhere stays one."""
    if "://" in source:
        return source
    here = out.absolute().parent
    inside = Path(source).absolute().is_relative_to(here)
    if Path(source).is_absolute() and not inside:
        return source
    return os.path.relpath(Path(source).absolute(), here)


def confirmed(text: str) -> str:
    """The policy's text with `confirmed = true`; only a person who read it should want this.

    >>> confirmed("[privacy]\\nconfirmed = false").splitlines()
    ['[privacy]', 'confirmed = true']
    """
    return re.sub(_OPEN, "confirmed = true", text, count=1)


def _survey(path: str, table: str, wish: Wish) -> Survey:
    try:
        engine = engine_of(path, table, {})
    except MachineryError:
        if wish.table is None and path.lower().endswith((".duckdb", ".db", ".ddb")):
            message = f"the database has no table {table!r}, or cannot be read"
            raise PolicyError(message, "name the table with --table") from None
        raise
    except AdomniaError as error:
        if "://" in path:
            raise
        hint = "name a CSV, Parquet or DuckDB file, a pattern, or a folder"
        raise PolicyError(error.message, hint) from None
    try:
        return survey(engine)
    finally:
        engine.close()


# The text

_SERVER = (
    "# Questions are asked of a copy of the rows, coded by this policy, which adomnia load writes",
    "# beside the source, for its role alone (docs/sources.md says where, and with which rights).",
    "# in_place = true    # no copy: each question reads the source as it is, and promises less",
)
"""What a curator of a source at an address must decide."""


def _head(place: str, table: str, wish: Wish, columns: Iterable[DraftColumn]) -> list[str]:
    return [
        "# A first draft. Domains are public: whoever may ask can see them. Read each one, change",
        "# what must not be known or is too narrow, and then set confirmed = true below.",
        "",
        "[data]",
        f"source = {_text(place)}",
        f"table = {_text(table)}",
        *(_SERVER if "://" in place else ()),
        "",
        "[privacy]",
        'neighbors = "unbounded"    # what is hidden: whether one row is there',
        *_protected(wish, columns),
        f"epsilon = {_amount(wish.epsilon)}    # for everything, for ever",
        "# delta = 1e-9    # allows groups whose names are not declared (private selection)",
        "confirmed = false    # nothing is answered until this is true",
    ]


def _protected(wish: Wish, columns: Iterable[DraftColumn]) -> list[str]:
    if wish.unit is not None:
        return [
            f"unit = {_text(wish.unit)}    # what is hidden: all rows of one of these",
            f"max_rows = {wish.max_rows or 1}    # rows of one unit that are used at most",
        ]
    named = [column.name for column in columns if column.identifier]
    if not named:
        return []
    lines = ["# If one person can have several rows, protect them together, for example:"]
    return lines + [f"# unit = {_text(name)}" for name in named] + ["# max_rows = 5"]


def _body(columns: Iterable[DraftColumn]) -> list[str]:
    lines = []
    for column in columns:
        if column.lines:
            lines += ["", f"[attributes.{_key(column.name)}]", *column.lines]
        else:
            lines += ["", f"# {_key(column.name)}: {column.why}"]
    return lines


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _amount(epsilon: Amount) -> str:
    """The epsilon as TOML: a number where it is one, else the text of a fraction."""
    text = str(epsilon).strip()
    return text if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) else _text(text)


# Columns


def _column(name: str, facts: Mapping[str, Any], wish: Wish) -> DraftColumn:
    identifier = _names_someone(name, facts)
    if name == wish.unit:
        return DraftColumn(name, why="the unit")
    if identifier:
        return DraftColumn(
            name, why="likely names a person or a thing; undeclared", identifier=True
        )
    maker = {"truth": _truth, "number": _number, "date": _date, "text": _list}.get(facts["kind"])
    if maker is None:
        return DraftColumn(name, why=f"a column of type {facts['type']} cannot be asked about")
    made = maker(name, facts)
    if made.lines and facts["nulls"]:
        lines = (*made.lines, f"nullable = true    {TAKEN} (NULL is shown as a group)")
        return DraftColumn(name, lines, taken=True)
    return made


def _names_someone(name: str, facts: Mapping[str, Any]) -> bool:
    """Whether the column looks like an identifier: by its name, or since no value comes twice."""
    whole = facts["kind"] == "text" or (facts["kind"] == "number" and facts["places"] == 0)
    distinct, rows = facts["distinct"] or 0, facts["rows"]
    if facts["type"].upper() == "UUID":
        return True
    if not whole:
        return False
    named = _UNIT.search(name) is not None and distinct > FEW
    return named or (rows >= 1000 and distinct > 0.95 * rows)


def _truth(name: str, facts: Mapping[str, Any]) -> DraftColumn:
    return DraftColumn(name, ("values = [false, true]",))


def _list(name: str, facts: Mapping[str, Any]) -> DraftColumn:
    values = facts["values"]
    if not values or len(values) * 3 > facts["rows"]:
        return DraftColumn(
            name,
            why="text with many values; undeclared. It can be filtered by, and grouped by with\n"
            "# private selection (which needs a delta). To declare it, list its values here.",
        )
    listed = ", ".join(_text(value) for value in values)
    return DraftColumn(name, (f"values = [{listed}]    {TAKEN}",), taken=True)


def _date(name: str, facts: Mapping[str, Any]) -> DraftColumn:
    if facts["low"] is None:
        return DraftColumn(name, why="no value to take bounds from; declare low and high")
    low, high = date(facts["low"].year, 1, 1), date(facts["high"].year, 12, 31)
    return DraftColumn(name, ('kind = "date"', *_ends(f'"{low}"', f'"{high}"')), taken=True)


def _number(name: str, facts: Mapping[str, Any]) -> DraftColumn:
    if facts["low"] is None:
        return DraftColumn(name, why="no value to take bounds from; declare low and high")
    if facts["places"] != 0:
        return _decimal(name, facts)
    few = facts["values"] if facts["values"] and len(facts["values"]) <= FEW else None
    if few is None:
        return DraftColumn(name, _ends(*map(_plain, _outward(facts, Decimal(1)))), taken=True)
    whole = sorted(int(float(value)) for value in few)
    if whole[-1] - whole[0] < 2 * len(whole):
        return DraftColumn(name, _ends(str(whole[0]), str(whole[-1])), taken=True)
    return DraftColumn(name, (f"values = {whole}    {TAKEN}",), taken=True)


def _decimal(name: str, facts: Mapping[str, Any]) -> DraftColumn:
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
