"""Functions as machine code (numba), run without Python's lock so that threads share the work."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from adomnia.errors import MachineryError

__all__ = ["compiled", "forget_stale"]

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function, compiled at its first call and kept on disk for the next program."""
    try:
        njit = import_module("numba").njit
    except ImportError as missing:
        raise MachineryError("growth models need numba", "install it, and ask again") from missing
    machine: Function
    try:
        machine = njit(nogil=True, cache=True)(function)
    except RuntimeError:  # there is no folder that may be written
        machine = njit(nogil=True)(function)
    return machine


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
