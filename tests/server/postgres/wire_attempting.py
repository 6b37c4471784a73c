"""What attempts on the door for psql share."""

from __future__ import annotations

from parlour import errors_in

COUNT = "SELECT COUNT(*) AS n FROM people"
AGES = iter(range(20, 120))


def fresh() -> str:
    """A question that nobody has asked before."""
    return f"{COUNT} WHERE age > {next(AGES)}"


def codes(messages: list[tuple[bytes, bytes]]) -> list[str]:
    """The SQLSTATE of every error."""
    return [error["C"] for error in errors_in(messages)]
