"""A release, the people behind it and a control group, in codes that mean the same in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adomnia.audit.files import read_columns
from adomnia.audit.linkage.equivalence_classes import (
    Columns,
    arrow,
    column_names,
    rows,
    together,
)
from adomnia.errors import QuestionError

__all__ = ["LEAST_ROWS", "CodedFiles", "Population", "code_files"]

Ints = NDArray[np.int64]

LEAST_ROWS = 20
"""With fewer records in a file nothing can be told from chance."""


@dataclass(frozen=True, eq=False)
class Population:
    """The people of the data, and others of the same kind who were not in it, if there are any.

    Nothing of the control group went into the release: what the attack gets right about them, it
    did not learn from anybody's record.

    >>> Population({"age": [30, 41]}).control is None
    True
    """

    data: Columns
    control: Columns | None = None

    @classmethod
    def read(cls, data: str, control: str | None = None) -> Population:
        """Both from their files."""
        return cls(read_columns(data), None if control is None else read_columns(control))


@dataclass(frozen=True, eq=False)
class CodedFiles:
    """Several files by the columns that they share: a row of codes for each record.

    `ordered` says of each column whether its values lie on a line. `left_out` are columns of the
    release that another file does not have.
    """

    names: tuple[str, ...]
    ordered: tuple[bool, ...]
    sizes: tuple[int, ...]
    files: tuple[Ints, ...]
    left_out: tuple[str, ...] = ()


def code_files(
    released: Columns, others: Sequence[Columns], columns: Sequence[str] = ()
) -> CodedFiles:
    """The release first, then the others, by the columns that all have (of `columns`, if given).

    Numbers and days lie on a line; texts and truth values do not. Raises a QuestionError where the
    files share no column, or one of them has too few rows.
    """
    files = [released, *others]
    for file, what in zip(files, ("the release", "the data", "the control group"), strict=False):
        if rows(file) < LEAST_ROWS:
            raise QuestionError(
                f"{what} has {rows(file)} rows", f"at least {LEAST_ROWS} are needed to tell chance"
            )
    wanted = [name for name in column_names(released) if not columns or name in columns]
    names = [name for name in wanted if all(name in column_names(file) for file in others)]
    if not names:
        there = "the release has: " + ", ".join(column_names(released)[:30])
        raise QuestionError("the files share no column", there)
    parts = [together(files, [name] * len(files)) for name in names]
    return CodedFiles(
        tuple(names),
        tuple(_ordered(arrow(released, name).type) for name in names),
        tuple(1 + max(int(part.max()) for part in column) for column in parts),
        tuple(np.column_stack(part) for part in zip(*parts, strict=True)),
        tuple(name for name in wanted if name not in names),
    )


def _ordered(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_temporal(kind)
    )
