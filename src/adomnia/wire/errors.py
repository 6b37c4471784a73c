"""What goes wrong on the wire, with the SQLSTATE and the fields that PostgreSQL's clients know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["WireError", "as_wire_error", "error_fields", "malformed", "of_parameter", "placed"]


@dataclass(eq=False)
class WireError(Exception):
    """A refusal with the SQLSTATE that PostgreSQL's clients know for it.

    `position` is a 0-based offset into the client's text. A `fatal` one ends the connection.
    """

    message: str
    hint: str = ""
    sqlstate: str = "08P01"
    position: int | None = None
    detail: str = ""
    fatal: bool = False
    context: str = ""

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


def malformed(what: str) -> WireError:
    """A stream that does not follow the protocol: nothing after it can be trusted."""
    return WireError(what, "", "08P01", fatal=True)


def as_wire_error(error: Exception) -> WireError:
    """The error itself where it is ours; of others only the kind, since they may quote data."""
    if isinstance(error, WireError):
        return error
    return WireError(f"the machinery failed ({type(error).__name__})", "", "XX000")


@contextmanager
def placed(offset: int | None) -> Iterator[None]:
    """Errors in the block point into the client's text, where the statement begins at `offset`.

    With None they point nowhere: what is run is not what the client wrote.
    """
    try:
        yield
    except WireError as error:
        if error.position is not None:
            error.position = None if offset is None else error.position + offset
        raise


@contextmanager
def of_parameter(number: int) -> Iterator[None]:
    """Errors in the block are about the value of this parameter, and say so."""
    try:
        yield
    except WireError as error:
        error.context = f"parameter ${number}"
        error.message = f"{error.context}: {error.message}"
        raise


def error_fields(error: WireError, severity: str = "ERROR") -> Mapping[str, str]:
    """The fields of an ErrorResponse."""
    return {
        "S": severity,
        "V": severity,
        "C": error.sqlstate,
        "M": error.message,
        "D": error.detail,
        "H": error.hint,
        "W": error.context,
        "P": "" if error.position is None else str(error.position + 1),
    }
