"""Tables to take along, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from starlette.responses import Response

__all__ = ["sheet"]


def sheet(name: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Response:
    """A CSV file to be saved under this name."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([_cell(part) for part in head])
    writer.writerows([_cell(part) for part in row] for row in rows)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text.getvalue(), headers=headers, media_type="text/csv; charset=utf-8")


def _cell(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula is marked as text."""
    dangerous = isinstance(value, str) and value[:1] in {"=", "+", "-", "@", "\t", "\r"}
    return f"'{value}" if dangerous else value
