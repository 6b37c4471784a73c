"""Values of Stata, SPSS and SAS: what a variable is by the head of its file, and what its values.

A value that has no meaning is NULL: a day out of reach, a number that is none. Labelled values are
the texts of their labels, one without a label is the text of its number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adomnia.engines.duckdb.values import FAR

__all__ = ["Variable", "decoded_column", "variable_of"]

DAY = 86_400
START = date(1970, 1, 1)
BEGIN_SPSS, BEGIN = (START - date(1582, 10, 14)).days, (START - date(1960, 1, 1)).days
"""How many days lie between the first day of SPSS, or of Stata and SAS, and 1970."""

SPSS_DAYS = ("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "QYR", "MOYR", "WKYR")
SPSS_MOMENTS = ("DATETIME", "YMDHMS")
SAS_MOMENTS = ("DATETIME", "DATEAMPM", "E8601D[TXZN]", "B8601D[TXZN]", "IS8601DT", "DT[DMWY]",
               "MDYAMPM", "NLDATM", "EURDFDT")  # fmt: skip
SAS_DAYS = ("DATE", "DAY", "DDMMYY", "MMDDYY", "YYMMDD", "MMYY", "YYMM", "MONYY", "MONNAME",
            "YYMON", "YYQ", "YEAR", "QTR", "JULIAN", "JULDAY", "WEEKDAT", "WEEKDAY", "WORDDAT",
            "DOWNAME", "E8601DA", "B8601DA", "IS8601DA", "NENGO", "NLDATE",
            "EURDF[DMW]")  # fmt: skip
STATA_MONTHS = {"m": 1, "q": 3, "h": 6}
"""Periods that Stata counts from 1960, in months."""

ARROW = {"number": pa.float64(), "whole": pa.int64(), "text": pa.string(), "day": pa.date32(),
         "moment": pa.timestamp("us")}  # fmt: skip


@dataclass(frozen=True)
class Variable:
    """A column: what it is, and how its numbers are counted (`unit` of them a day, or months)."""

    name: str
    kind: str
    codec: str | None = None
    unit: float = 1.0
    begin: int = 0
    months: int = 0
    labels: Mapping[Any, str] = field(default_factory=dict)
    numeric: bool = True

    @property
    def arrow(self) -> Any:
        """The type of its column."""
        return ARROW[self.kind]


def variable_of(name: str, meta: Any, missing: Mapping[str, Any], system: str) -> Variable:
    """A column by the head of its file, whatever is in its rows."""
    codec = meta.file_encoding
    stored = meta.readstat_variable_types[name]
    labels = _labels(meta.variable_value_labels.get(name, {}), missing.get(name, ()))
    scale = meta.variable_measure.get(name) == "scale" and not _consecutive(labels)
    if stored == "string":
        return Variable(name, "text", codec, labels=labels, numeric=False)
    form = (meta.original_variable_types.get(name) or "").upper()
    if system == ".dta":
        made = _stata(name, meta.original_variable_types.get(name) or "")
    elif system in (".sav", ".zsav"):
        made = _spss(name, re.sub(r"[\d.]+$", "", form))
    else:
        made = _sas(name, form)
    if made is not None:
        return made
    if len(labels) > 1 and not scale:
        return Variable(name, "text", codec, labels=labels)
    return Variable(name, "whole" if stored.startswith("int") else "number")


def _labels(labels: Mapping[Any, str], missing: Sequence[Any]) -> dict[Any, str]:
    """The labels of values that are not missing."""
    return {value: label for value, label in labels.items() if not _is_missing(value, missing)}


def _consecutive(values: Iterable[Any]) -> bool:
    """Whether these are whole numbers without a gap, as codes are and marks on a scale are not."""
    found = sorted(value for value in values if not isinstance(value, str))
    return all(after - before == 1 for before, after in pairwise(found))


def _is_missing(value: Any, missing: Sequence[Any]) -> bool:
    for one in missing:
        ends = (one["lo"], one["hi"]) if isinstance(one, Mapping) else (one, one)
        if any(isinstance(end, str) != isinstance(value, str) for end in ends):
            continue
        if ends[0] <= value <= ends[1]:
            return True
    return False


def _spss(name: str, form: str) -> Variable | None:
    if form in SPSS_DAYS:
        return Variable(name, "day", unit=DAY, begin=BEGIN_SPSS)
    return Variable(name, "moment", unit=DAY, begin=BEGIN_SPSS) if form in SPSS_MOMENTS else None


def _sas(name: str, form: str) -> Variable | None:
    if re.match("|".join(SAS_MOMENTS), form):
        return Variable(name, "moment", unit=DAY, begin=BEGIN)
    return Variable(name, "day", begin=BEGIN) if re.match("|".join(SAS_DAYS), form) else None


def _stata(name: str, form: str) -> Variable | None:
    shape = form.lstrip("%").lstrip("-")
    if shape.startswith(("tc", "tC")):
        return Variable(name, "moment", unit=DAY * 1000, begin=BEGIN)
    if shape.startswith(("td", "d")):
        return Variable(name, "day", begin=BEGIN)
    if shape[:1] == "t" and shape[1:2] in STATA_MONTHS:
        return Variable(name, "day", months=STATA_MONTHS[shape[1]])
    return None


# Values


def decoded_column(variable: Variable, values: Sequence[Any]) -> Any:
    """The values of a column as an Arrow array of its type."""
    if not variable.numeric:
        return pa.array([_text(variable, value) for value in values], pa.string())
    numbers = np.array([np.nan if v is None else v for v in values], np.float64)
    known = np.isfinite(numbers)
    if variable.kind == "text":
        return pa.array([_label(variable, number) for number in numbers.tolist()], pa.string())
    if variable.kind == "number":
        return pa.array(numbers, mask=np.isnan(numbers))
    if variable.kind == "whole":
        known &= np.abs(numbers) < 2.0**62
        return pa.array(np.where(known, numbers, 0).astype(np.int64), mask=~known)
    if variable.months:
        return _month_column(numbers, variable.months)
    return _time_column(variable, numbers)


def _time_column(variable: Variable, numbers: NDArray[np.float64]) -> Any:
    """Days or moments, NULL where they are out of reach."""
    with np.errstate(over="ignore", invalid="ignore"):
        days = numbers / variable.unit - variable.begin
        known = np.abs(days) <= FAR
    whole = np.where(known, numbers, 0.0)
    if variable.kind == "day":
        found = np.floor(whole / variable.unit).astype(np.int64) - variable.begin
        return pa.array(found.astype(np.int32), mask=~known).view(pa.date32())
    tick = DAY * 10**6 // int(variable.unit)  # whole units first: a product of all would be inexact
    units = np.floor(whole)
    parts = np.round((whole - units) * tick).astype(np.int64)
    moments = units.astype(np.int64) * tick + parts - variable.begin * DAY * 10**6
    return pa.array(moments, mask=~known).view(pa.timestamp("us"))


def _month_column(numbers: NDArray[np.float64], months: int) -> Any:
    """The first days of periods of so many months, counted from 1960."""
    known = np.abs(numbers) < 12 * FAR / 366 / months
    counted = np.floor(np.where(known, numbers, 0)).astype(np.int64) * months
    days = (counted - 120).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return pa.array(days.astype(np.int32), mask=~known).view(pa.date32())


def _label(variable: Variable, number: float) -> str | None:
    """The label of a number, or its text."""
    if math.isnan(number):
        return None
    whole = number.is_integer() and abs(number) < 10**15
    text = str(int(number)) if whole else repr(number)
    return variable.labels.get(number, text)


def _text(variable: Variable, value: Any) -> str | None:
    """A text that came byte by byte: in the file's own code, whose broken signs are replaced; where
    the file does not say, in UTF-8, or else in Latin-1."""
    if not value:
        return None
    try:
        raw = str(value).encode("latin-1")
        text = raw.decode(variable.codec, "replace") if variable.codec else raw.decode("utf-8")
    except (UnicodeError, LookupError):
        text = str(value)
    text = _whole(text)
    return variable.labels.get(text, text)


def _whole(text: str) -> str:
    """A text without halves of surrogate pairs, which no text has."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)
