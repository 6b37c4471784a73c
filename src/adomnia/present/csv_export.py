"""Tables to take along, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["csv_text"]


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The rows below their head, as a spreadsheet reads them."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([_cell(part) for part in head])
    writer.writerows([_cell(part) for part in row] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula is marked as text."""
    dangerous = isinstance(value, str) and value[:1] in {"=", "+", "-", "@", "\t", "\r"}
    return f"'{value}" if dangerous else value
