"""How laws are told: one that is not kept raises an error that says what is wrong."""

from __future__ import annotations

__all__ = ["BrokenLawError", "hold"]


class BrokenLawError(AssertionError):
    """Something does not keep a law; the message says which."""


def hold(kept: bool, otherwise: str) -> None:
    """Raise a `BrokenLawError` unless the law is kept.

    >>> hold(1 < 2, "numbers are out of order")
    """
    if not kept:
        raise BrokenLawError(otherwise)
