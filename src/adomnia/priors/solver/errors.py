"""What the solver cannot do: list so much, reconcile such numbers, or run another program."""

from __future__ import annotations

__all__ = ["Contradiction", "ProgramFailed", "TooLarge"]


class TooLarge(Exception):
    """There is more to list than was allowed, or it takes more steps."""


class Contradiction(Exception):
    """No table agrees with all released answers; `rows` are the ones that cannot hold together."""

    def __init__(self, message: str, rows: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.rows = rows


class ProgramFailed(Exception):
    """Another program is missing, failed, or wrote what cannot be."""
