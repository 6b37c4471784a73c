"""What every door of the curator shares: who comes in, what they may say, how it is shut."""

from __future__ import annotations

from types import TracebackType
from typing import Literal, Self, get_args

from adomnia.errors import NotAllowedError, QuestionError
from adomnia.policy.policy import Policy

__all__ = ["CURATOR", "Closing", "Error", "analyst_of", "confidence_of", "error_of"]

CURATOR = "curator"
"""The name under which questions are asked when no analyst is named."""


Error = Literal["rank", "value"]
"""Which error of a quantile shall be small."""


class Closing:
    """Something to be closed; in a `with` statement it closes itself."""

    def close(self) -> None:
        """Let go of what is held."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def analyst_of(policy: Policy, analyst: str | None) -> str:
    """Who asks: the curator where nobody is named, else an analyst whom the policy knows."""
    if analyst is None:
        return CURATOR
    if policy.analysts and analyst not in policy.analysts:
        raise NotAllowedError(
            f"{str(analyst)[:80]!r} is not an analyst of this data",
            "the curator names analysts in the policy: [analysts.NAME]",
        )
    return analyst


def confidence_of(value: float) -> float:
    """How often a margin shall hold, checked."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not 0.5 <= number <= 0.999999:
        raise QuestionError("confidence must be between 0.5 and 0.999999", "for example 0.95")
    return number


def error_of(name: Error) -> Error:
    """Which error of a quantile shall be small, checked."""
    if name not in get_args(Error):
        said = f"the error of a quantile is that of its {' or of its '.join(get_args(Error))}"
        raise QuestionError(said, "say which")
    return name
