"""Errors of ours as PostgreSQL's clients see them: never with a foreign text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from adomnia.errors import AdomniaError
from adomnia.wire.errors import WireError, as_wire_error

__all__ = ["to_wire_error", "wire_errors"]


def to_wire_error(error: Exception) -> WireError:
    """The same error on the wire, with its SQLSTATE and, where it points into a text, its place."""
    if not isinstance(error, AdomniaError):
        return as_wire_error(error)
    position = getattr(error, "position", None)
    return WireError(error.message, error.hint, error.sqlstate, position)


@contextmanager
def wire_errors() -> Iterator[None]:
    """What is refused in the block is refused as the protocol knows it."""
    try:
        yield
    except AdomniaError as error:
        raise to_wire_error(error) from None
