"""Ratings as files: one rating a row, by whom, of what, how, and perhaps when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from adomnia.audit.files import read_columns
from adomnia.audit.linkage.equivalence_classes import codes
from adomnia.audit.linkage.scoreboard import Ratings
from adomnia.errors import QuestionError

__all__ = ["RatingColumns", "read_ratings"]


@dataclass(frozen=True)
class RatingColumns:
    """What the columns of a file of ratings are called; without `day` there are no dates."""

    person: str = "person"
    item: str = "item"
    value: str = "rating"
    day: str | None = None


STANDARD = RatingColumns()


def read_ratings(file: str, columns: RatingColumns = STANDARD) -> Ratings:
    """The ratings of a file; a day is a date, or a number of days."""
    names = [columns.person, columns.item, columns.value]
    table = read_columns(file, [*names, *([columns.day] if columns.day else [])])
    if not table.num_rows:
        raise QuestionError("the file has no ratings", "one rating a row")
    try:
        value = table[columns.value].cast(pa.float64()).to_numpy()
        day = _days(table[columns.day]) if columns.day else None
    except pa.ArrowException:
        raise QuestionError(
            "a rating is a number, and a day a date or a number", "see --value and --day"
        ) from None
    if np.isnan(value).any() or (day is not None and np.isnan(day).any()):
        raise QuestionError("a rating or a day is missing", "leave such rows out")
    return Ratings.of(codes(table, columns.person)[0], codes(table, columns.item)[0], value, day)


def _days(column: Any) -> Any:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_timestamp(kind):
        column = column.cast(pa.date32())
    if pa.types.is_date(column.type):
        column = column.cast(pa.date32()).cast(pa.int32())
    return column.cast(pa.float64()).to_numpy()
