"""The attack of this folder by the protocol: exact releases with noisy counts of every cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from adomnia.audit.attack import CheckedOptions, option
from adomnia.audit.exact_releases.prior_leak import prior_leak
from adomnia.audit.finding import Finding, Rate
from adomnia.priors.solver.system import System

__all__ = ["ExactReleases", "PriorLeak", "System", "accounted"]


@dataclass(frozen=True, eq=False)
class ExactReleases:
    """Rows over cells that were released exactly, and how far all cells move at once.

    `sensitivity` is that between induced neighbours; without it only lines are accounted for.

    >>> from adomnia.audit import System
    >>> ExactReleases(System.of([[1, 1]], [10])).system.cells
    2
    """

    system: System
    sensitivity: float | Fraction | None = None


@dataclass(frozen=True)
class PriorLeak(CheckedOptions):
    """Rebuild a table from exact releases and noisy counts of every cell.

    The noise is that of a database which ignores the exact releases; when `accounted`, that of
    one which knows them. The truth is a table to be attacked in the place of drawn ones.

    >>> from adomnia.audit import System
    >>> PriorLeak(epsilon=50.0, trials=5).run(ExactReleases(System.of([[1, 1]], [10]))).attack
    'prior-leak'
    """

    name: ClassVar[str] = "prior"
    sentence: ClassVar[str] = "What exact releases and noisy answers tell together."

    epsilon: float = option(0.1, "Of each answer.", 1e-9)
    accounted: bool = option(False, "With noise that knows what was released exactly.")
    trials: int = option(200, "How often it is tried.", 1)
    seed: int = option(0, "For chance.", 0)
    time_limit: float = option(60.0, "In seconds.", 0)

    def run(self, published: ExactReleases, truth: Sequence[int] | None = None) -> Finding:
        """The share of the cells that came out exactly."""
        found = prior_leak(
            published.system, self.epsilon, self.trials, self.seed, truth,
            published.sensitivity, self.time_limit,
        )  # fmt: skip
        return accounted(found) if self.accounted else found


def accounted(found: Finding) -> Finding:
    """The leak with the noise of a database that knows the exact releases.

    The finding of `prior_leak` itself is that of one which ignores them.
    """
    after = found.details.get("after")
    if not after or not found.details["trials"]:
        return found
    cells, before = after["cells"], found.details["before"]["cells"]["value"]
    return replace(
        found,
        claim=f"With what was released exactly, noisy counts for epsilon "
        f"{found.details['epsilon']:g} give {cells['value']:.0%} of {found.details['cells']:,} "
        f"cells exactly. A database that ignored the exact releases would give {before:.0%}.",
        success=Rate(**cells),
        covered=True,
        remedy="register every exact release, also old ones: this database then adds more noise",
    )
