"""A column of a result, as a client is told of it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ResultColumn"]


@dataclass(frozen=True)
class ResultColumn:
    """A column of an answer, as a RowDescription tells it."""

    name: str
    oid: int
    size: int = -1
    typmod: int = -1
