"""Compiled functions that call each other over several files: none older than its source."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from adomnia.compiled import compiled

__all__ = ["compiled", "forget_stale"]


def forget_stale(folder: Path) -> None:
    """Remove what was compiled before the newest source of the folder was written.

    numba looks only at the file of a function, not at those of the functions it calls.
    """
    with suppress(OSError):
        newest = max((source.stat().st_mtime for source in folder.glob("*.py")), default=0.0)
        for index in (folder / "__pycache__").glob("*.nbi"):
            if index.stat().st_mtime < newest:
                index.unlink(missing_ok=True)


forget_stale(Path(__file__).parent)
