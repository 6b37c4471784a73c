"""Where real data lies, when it is there: beside the project, never inside it."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["find"]

HERE = Path(__file__).resolve().parents[1]


def find(name: str) -> Path | None:
    """The path of a shared data file, or None where it is missing; see `ADOMNIA_DATA`."""
    folder = Path(os.environ.get("ADOMNIA_DATA", HERE.parent / "shared" / "data"))
    path = folder / name
    return path if path.exists() else None
