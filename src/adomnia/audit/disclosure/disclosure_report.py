"""What noisy marginals disclose, as a report: its terms, its levels, and what was disclosed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from adomnia.audit.finding import Finding, Rate
from adomnia.errors import QuestionError

__all__ = [
    "STANDARD",
    "Disclosure",
    "DisclosureReport",
    "DisclosureTerms",
    "Level",
    "Reading",
    "TableNeighbors",
]

TableNeighbors = Literal["bounded", "unbounded"]
"""The neighbours of the paper."""

Reading = Literal["pair", "all", "both"]
"""What a personal group is."""


@dataclass(frozen=True)
class DisclosureTerms:
    """What counts as a disclosure, and how it is told.

    `tau`: the relative error that is close. `kj`, `kcp`: the thresholds K_J and K_CP.
    `neighbors`: whose sensitivity the noise has. `reading`: a personal group is given by the two
    published attributes (`pair`) or by all public ones (`all`). `sanity`: the share of all rows
    below which a count's error is no longer related to the count. `names`: whether to name groups.

    >>> DisclosureTerms(tau=0.1).neighbors
    'bounded'
    """

    tau: float = 0.2
    kj: Fraction | float = 3
    kcp: float = 0.7
    neighbors: TableNeighbors = "bounded"
    reading: Reading = "pair"
    sanity: float = 1e-4
    names: bool = False

    def __post_init__(self) -> None:
        refusals = {
            "tau lies between 0 and 1": not 0 < self.tau < 1,
            "kj is a number above 1": not 1 < self.kj < float("inf"),
            "kcp is above 0 and at most 1": not 0 < self.kcp <= 1,
            "neighbors are bounded or unbounded": self.neighbors not in get_args(TableNeighbors),
            "a reading is pair, all or both": self.reading not in get_args(Reading),
            "the sanity bound is above 0 and at most 1": not 0 < self.sanity <= 1,
        }
        for message, refused in refusals.items():
            if refused:
                raise QuestionError(message)


STANDARD = DisclosureTerms()


@dataclass(frozen=True)
class Disclosure:
    """One value that is disclosed in one group: how much likelier it is there, how surely seen."""

    group: dict[str, Any]
    value: Any
    j: float
    closeness: float


@dataclass(frozen=True)
class Level:
    """What one epsilon gives: the number of disclosures, and the expected overall error.

    The error is a fraction (0.19 is 19 %). `found` is empty unless names were asked for.
    """

    epsilon: str
    disclosures: int
    overall_error: float
    found: tuple[Disclosure, ...] = ()


@dataclass(frozen=True)
class DisclosureReport:
    """The levels under each reading of *personal group*, in the order of the epsilons given.

    >>> DisclosureReport({"pair": ()}).to_json()
    {'readings': {'pair': []}}
    """

    readings: Mapping[str, tuple[Level, ...]]
    terms: DisclosureTerms = STANDARD

    def to_json(self) -> dict[str, Any]:
        """Counts and errors as plain JSON values; never a name."""
        keys = ("epsilon", "disclosures", "overall_error")
        return {
            "readings": {
                reading: [{key: getattr(level, key) for key in keys} for level in levels]
                for reading, levels in self.readings.items()
            }
        }

    def finding(self, epsilon: str | None = None, reading: str | None = None) -> Finding:
        """One level as a finding; the first epsilon and the first reading if none is named.

        Raises a QuestionError where the report has no such level.
        """
        reading = reading or next(iter(self.readings))
        levels = {level.epsilon: level for level in self.readings.get(reading, ())}
        level = levels.get(epsilon or next(iter(levels), ""))
        if level is None:
            raise QuestionError("the report has no such epsilon or reading")
        terms, many = self.terms, level.disclosures
        return Finding(
            attack="disclosure",
            claim=f"At epsilon {level.epsilon} the noisy tables show, in {many} cases, that a "
            f"sensitive value is at least {terms.kj} times as common in a group as among all; each "
            f"confidence is right to {terms.tau:.0%} with probability {terms.kcp:.0%} or more.",
            affected="everybody who is known to belong to such a group, in the data or not",
            success=Rate(many, many, many, 1.0),
            baseline=0.0,
            covered=False,
            source="Han and Wang, Sensitive Disclosures under Differential Privacy Guarantees",
            remedy="a smaller epsilon or coarser groups; both also make the tables less accurate",
            details={"tau": terms.tau, "kj": float(terms.kj), "kcp": terms.kcp, **self.to_json()},
        )
