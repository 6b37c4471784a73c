"""What goes wrong on the wire, and how any error is shown there: never with a foreign text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from adomnia.errors import AdomniaError, MachineryError, QuestionError

__all__ = ["WireError", "as_error", "malformed", "of_parameter", "placed", "shown"]


@dataclass(eq=False)
class WireError(AdomniaError):
    """A refusal with the SQLSTATE that PostgreSQL's clients know for it.

    `position` is a 0-based offset into the client's text. A `fatal` one ends the connection.
    """

    sqlstate: str = "08P01"
    position: int | None = None
    detail: str = ""
    fatal: bool = False
    context: str = ""

    exit_code = 2
    http_status = 400


def malformed(what: str) -> WireError:
    """A stream that does not follow the protocol: nothing after it can be trusted."""
    return WireError(what, "", "08P01", fatal=True)


def as_error(error: Exception) -> AdomniaError:
    """The error itself where it is ours; of others only the kind, since they may quote data."""
    if isinstance(error, AdomniaError):
        return error
    return MachineryError(f"the machinery failed ({type(error).__name__})")


@contextmanager
def placed(offset: int | None) -> Iterator[None]:
    """Errors in the block point into the client's text, where the statement begins at `offset`.

    With None they point nowhere: what is run is not what the client wrote.
    """
    try:
        yield
    except (QuestionError, WireError) as error:
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


def shown(error: AdomniaError, severity: str = "ERROR") -> Mapping[str, str]:
    """The fields of an ErrorResponse."""
    place = getattr(error, "position", None)
    return {
        "S": severity,
        "V": severity,
        "C": error.sqlstate,
        "M": error.message,
        "D": getattr(error, "detail", ""),
        "H": error.hint,
        "W": getattr(error, "context", ""),
        "P": "" if place is None else str(place + 1),
    }
