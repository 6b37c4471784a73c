"""Functions as machine code (numba), run without Python's lock so that threads share the work."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from adomnia.errors import MachineryError

__all__ = ["compiled"]

Function = TypeVar("Function", bound=Callable[..., Any])
_MADE: dict[Callable[..., Any], Any] = {}


def compiled(function: Function) -> Function:
    """The function, compiled at its first call and kept on disk for the next program.

    numba itself is loaded here and not before: it takes longer than most questions.
    """
    if function not in _MADE:
        _MADE[function] = _machine(function)
    machine: Function = _MADE[function]
    return machine


def _machine(function: Callable[..., Any]) -> Any:
    try:
        njit = import_module("numba").njit
    except ImportError as missing:
        raise MachineryError("this needs numba", "install it, and ask again") from missing
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:  # there is no folder that may be written
        return njit(nogil=True)(function)
