"""Quiet failure: the messages of readers and engines can quote data, so they never leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from adomnia.errors import AdomniaError, MachineryError

__all__ = ["ADDRESS", "quietly", "unanswered"]

ADDRESS = frozenset("=&;#@")
"""Signs that no name has, but what stands beside one in an address that is badly written: what
has one of them may hold a password, and is not shown."""

T = TypeVar("T")


def quietly(work: Callable[[], T], failure: Callable[[str], AdomniaError]) -> T:
    """What `work` gives. What it fails with becomes a `failure`, told only the error's kind.

    The failure is raised after the error has been let go, so that it is not its context either.
    """
    try:
        return work()
    except AdomniaError:
        raise
    except Exception as error:
        kind = type(error).__name__
    raise failure(kind)


def unanswered(kind: str) -> AdomniaError:
    """The failure of a question."""
    return MachineryError(
        "the question could not be computed",
        f"the engine gave up ({kind}); see the policy's [data]",
    )
