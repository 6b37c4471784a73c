"""Bounds of a column, found privately: for curators who must not look (`threshold_scan.md`).

The source is read in place, with bounds so wide that they say nothing, and two scans go over a
public grid of round numbers: up to a number that few people are above, down to one that few are
below. It is a use of the ledger like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from adomnia.curator.access import CURATOR, confidence_of
from adomnia.curator.policy_lines import refuse_several
from adomnia.curator.spend import Payer, Use, spend
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import NotAllowedError, PolicyError, QuestionError
from adomnia.mechanisms.choices.scan_mechanisms import BoundScan
from adomnia.policy.policy import Policy
from adomnia.privacy.events import composed, cost_of
from adomnia.privacy.loss import Amount, exact
from adomnia.privacy.reads import UnitPeaks
from adomnia.queries.expression import Column
from adomnia.queries.ranges import from_domain
from adomnia.schema.domain import Categories, Dates, Grid, Timestamps
from adomnia.schema.table import Attribute

__all__ = ["ProposedBounds", "propose_bounds", "round_numbers"]

WIDEST = 10**15
"""No domain of numbers has more steps on one side of 0."""
DIGITS = (1, 2, 3, 5, 7)


@dataclass(frozen=True)
class ProposedBounds:
    """Bounds of a column, and how many people at most have a value beyond each of them.

    Without a unit these are rows. None where the scan came to the end of its grid: then nothing is
    said. All of it holds with the confidence. `found` is False where there were too few people for
    this epsilon: the bounds mean nothing then.

    >>> from adomnia.testing import town
    >>> with town(rows=2000).open() as database:
    ...     proposed = database.bounds("income", epsilon=20)
    >>> proposed.found, proposed.high, proposed.spent["epsilon"]
    (True, Fraction(2000, 1), Fraction(20, 1))
    """

    column: str
    low: Fraction
    high: Fraction
    step: Fraction
    below: int | None
    above: int | None
    who: str
    confidence: float
    spent: Mapping[str, Fraction]
    remaining: Mapping[str, Fraction]
    receipt: str

    @property
    def found(self) -> bool:
        """Whether anything lies between the bounds, and they are no ends of the grid."""
        ends = WIDEST * self.step
        return self.low < self.high and -ends < self.low and self.high < ends

    def lines(self) -> str:
        """The section of the policy that declares them."""
        key = self.column if self.column.isidentifier() else f'"{self.column}"'
        step = "" if self.step == 1 else f"step = {_written(self.step)}\n"
        ends = f"low = {_written(self.low)}\nhigh = {_written(self.high)}\n"
        return f'[attributes.{key}]\n{ends}{step}origin = "{self.receipt}"\n'

    def to_json(self) -> dict[str, Any]:
        """They as plain JSON values; numbers are exact, as texts."""
        numbers = {name: _written(getattr(self, name)) for name in ("low", "high", "step")}
        amounts = {
            name: {unit: str(amount) for unit, amount in getattr(self, name).items()}
            for name in ("spent", "remaining")
        }
        policy = self.lines() if self.found else None
        return {**vars(self), **numbers, **amounts, "found": self.found, "policy": policy}


def _written(number: Fraction) -> str:
    """A number as a policy has it."""
    if number.denominator == 1:
        return str(number.numerator)
    return format(Decimal(number.numerator) / Decimal(number.denominator), "f")


def propose_bounds(
    policy: Policy,
    column: str,
    asked: tuple[Amount, Amount | None, float],
    source: Any = None,
) -> ProposedBounds:
    """Bounds for a column of the source, declared or not, for an epsilon, in steps of a size."""
    hint = "declare bounds that are public; adomnia check says, exactly, what they leave out"
    refuse_several(policy, "bounds are sought in one table", hint)
    epsilon, step, confidence = exact(asked[0]), _step(policy, column, asked[1]), asked[2]
    sure = confidence_of(confidence)
    if policy.neighbors.most is not None:
        raise NotAllowedError(
            "bounds are not sought with free-lunch neighbors: any two tables are alike already",
            "use unbounded or bounded neighbors",
        )
    with closing(_opened(policy, column, step, source)) as backend:
        _check_numbers(policy, column, asked[1], backend.engine.columns()[column])
        if backend.public()[1]:
            raise NotAllowedError(
                "bounds are not sought where something was released exactly: "
                "how many rows go together is not known",
                "declare them from what is public about the column",
            )
        return _scanned(backend, column, epsilon, sure)


def _opened(policy: Policy, column: str, step: Fraction, source: Any) -> TableBackend:
    try:
        return TableBackend(_widened(policy, column, step), source=source)
    except PolicyError as error:
        if column in policy.attributes or repr(column) not in error.message:
            raise
        # the policy does not name the column: no line of it is wrong
        raise QuestionError(error.message, error.hint) from None


def _check_numbers(policy: Policy, column: str, step: Amount | None, declared: str) -> None:
    """Refuse, before anything is paid, a column that holds no numbers by its type; text may hold
    some, where the curator says so."""
    if declared.upper().startswith(("DATE", "TIME", "BOOL")):
        raise QuestionError(
            f"{column} is a {declared} in the source, and bounds are sought of numbers",
            "declare what the data is about: it is seldom private",
        )
    if column in policy.attributes or step is not None:
        return
    if declared.upper().startswith(("VARCHAR", "TEXT", "STRING", "CHAR", "BPCHAR")):
        raise QuestionError(
            f"{column} is text in the source and not declared, and bounds are sought of numbers",
            "if it holds numbers, say in which steps: --step 1, or --step 0.01 for two decimals",
        )


def _scanned(
    backend: TableBackend, column: str, epsilon: Fraction, confidence: float
) -> ProposedBounds:
    domain = backend.table.attributes[column].domain
    assert isinstance(domain, Grid)
    read, grid = Column(column, from_domain(domain)), round_numbers()
    units = backend.policy.neighbors.group
    scans = tuple(
        BoundScan(UnitPeaks(read, grid, lowest), epsilon / 2, units) for lowest in (True, False)
    )
    use = Use(f"BOUNDS OF {column}", scans, backend.knowledge.promise, backend.version(),
              priors=backend.public()[0], what="search for bounds")  # fmt: skip
    paid = spend(backend, Payer(CURATOR, backend.budgets(CURATOR)), use)
    down, high = (found.bound for found in paid.released)
    doubt = (1 - confidence) / 2
    below, above = (
        s.plan.most_above(end, doubt) for s, end in zip(scans, (down, high), strict=True)
    )
    who = "rows" if backend.table.unit is None else "people"
    ends = -down * domain.step, high * domain.step, domain.step
    cost = cost_of(composed(scan.event for scan in scans))
    return ProposedBounds(
        column, *ends, below, above, who, confidence, cost, paid.remaining, paid.receipt
    )


def round_numbers() -> tuple[int, ...]:
    """The public grid, in steps of the column: 0, and 1, 2, 3, 5, 7, 10, 20, … of either sign."""
    sizes = [digit * 10**power for power in range(15) for digit in DIGITS]
    positive = [size for size in sizes if size < WIDEST] + [WIDEST]
    return (*(-size for size in reversed(positive)), 0, *positive)


def _step(policy: Policy, column: str, step: Amount | None) -> Fraction:
    declared = policy.attributes.get(column)
    domain = None if declared is None else declared.domain
    if isinstance(domain, Dates | Timestamps):
        raise QuestionError(
            f"{column} is a column of days or moments, and bounds are sought of numbers",
            "declare the days that the data is about: they are seldom private",
        )
    if isinstance(domain, Categories):
        raise QuestionError(
            f"{column} has listed values, and bounds are sought of numbers",
            "leave out its values in the policy if it holds numbers",
        )
    if step is not None:
        return exact(step, "step")
    return domain.step if isinstance(domain, Grid) else Fraction(1)


def _widened(policy: Policy, column: str, step: Fraction) -> Policy:
    """The policy with the widest bounds for a column, read in place: editions know others.

    All else that it says of the column stays, so that it promises what it did.
    """
    domain = Grid(-WIDEST * step, WIDEST * step, step)
    wide = replace(policy.attributes.get(column, Attribute(column, domain)), domain=domain)
    return replace(policy, in_place=True, attributes={**policy.attributes, column: wide})
