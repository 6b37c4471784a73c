"""Exact releases that contradict each other are refused here, in the words of a person."""

from __future__ import annotations

from adomnia.errors import QuestionError
from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.errors import Contradiction
from adomnia.priors.solver.system import System
from adomnia.priors.solver.tables import contradiction

__all__ = ["check"]


def check(system: System, effort: Effort | None = None) -> None:
    """Raises a QuestionError that names the rows if it is proven that no table agrees with them."""
    try:
        contradiction.check(system, effort)
    except Contradiction as found:
        raise QuestionError(str(found), "correct or withdraw one of these releases") from None
