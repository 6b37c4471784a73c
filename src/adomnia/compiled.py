"""Functions as machine code (numba), run without Python's lock so that threads share the work."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeVar

from adomnia.errors import MachineryError

__all__ = ["compiled"]

Function = TypeVar("Function", bound=Callable[..., Any])


@lru_cache(maxsize=None)
def compiled(function: Function) -> Function:
    """The function, compiled at its first call and kept on disk for the next program.

    numba itself is loaded here and not before: it takes longer than most questions.
    """
    try:
        njit = import_module("numba").njit
    except ImportError as missing:
        raise MachineryError("this needs numba", "install it, and ask again") from missing
    machine: Function
    try:
        machine = njit(nogil=True, cache=True)(function)
    except RuntimeError:  # there is no folder that may be written
        machine = njit(nogil=True)(function)
    return machine
