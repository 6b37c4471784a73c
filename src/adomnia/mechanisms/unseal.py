"""The one place where a sealed value is opened; only this room may import it."""

from __future__ import annotations

from typing import TypeVar, cast

from adomnia.schema.sealed import Sealed

__all__ = ["unseal"]

T = TypeVar("T")


def unseal(sealed: Sealed[T]) -> T:
    """The exact value; the caller must add noise before anything of it leaves."""
    return cast(T, getattr(sealed, "_Sealed__value"))  # noqa: B009
