"""The tables and texts that lie beside the code: read once, when they are first needed."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

__all__ = ["read_rows", "read_text"]

_FOLDER = Path(__file__).with_name("data")


@cache
def read_text(name: str) -> str:
    """A file of SQL."""
    return (_FOLDER / name).read_text("utf-8")


def read_rows(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file, by the names in its first line."""
    return list(csv.DictReader(read_text(name).splitlines()))
