"""The promise of a policy in plain words."""

from __future__ import annotations

import math
from fractions import Fraction

from adomnia.formatting import amount
from adomnia.policy.policy import Policy
from adomnia.privacy.composition import Budget, convert
from adomnia.schema.tables import Tables

__all__ = ["promise_text"]

DELTA = Fraction(1, 10**6)
"""At which a budget in rho is told as an epsilon."""

_ONE = {
    "unbounded": "whether one row is in the data at all",
    "bounded": "what is in one row, the number of rows being known",
    "attribute": "one value of one row; several values of a row together are less protected",
    "bit": "one bit of one row; a whole row is less protected",
}


def promise_text(policy: Policy, spent: str = "0", released: int = 0) -> list[str]:
    """A sentence for each part of the promise; `spent` of its budget, after exact releases."""
    said = [_protected(policy), *_budgets(policy.budget), *_blocks(policy)]
    if Fraction(spent):
        said.append(f"Of this {amount(spent)} is spent by now.")
    if released:
        said.append(
            f"Released exactly before: {released} statements. The promise is about what later "
            "answers add to them; what they gave away by themselves is gone."
        )
    if policy.universe is not None:
        said.append(f"It speaks of these attributes only: {', '.join(policy.universe)}.")
    if policy.max_group is not None:
        said.append(f"It covers changes in which at most {policy.max_group} people are replaced.")
    if policy.analysts:
        said.append(f"{len(policy.analysts)} named analysts may ask, each within a budget.")
    if not policy.confirmed:
        said.append("The domains are NOT confirmed yet: until a person has read them nothing is "
                    "answered.")  # fmt: skip
    said.append(
        "It does not say that nothing can be learned about a person: what holds for people like "
        "them, or follows from the data of others, is not hidden."
    )
    return said


def _blocks(policy: Policy) -> list[str]:
    """What is promised of rows that lie in blocks."""
    if policy.blocks is None:
        return []
    count, by = len(policy.blocks.names), policy.blocks.by
    said = (
        f"Rows lie in {count:,} blocks by {by}, and this budget is each block's own: a question "
        "costs in the blocks that it can read, and a row loses what was spent in its block."
    )
    if policy.neighbors.replaces:
        said += (
            " A row that is changed may leave one block for another: it loses what was spent in "
            "both."
        )
    return [said]


def _protected(policy: Policy) -> str:
    neighbors = policy.neighbors
    if neighbors.most is not None:
        return (
            "Free-lunch privacy: any two tables of at most "
            f"{neighbors.most:,} rows look alike, so an answer shows nearly nothing. A larger "
            "table is answered as an empty one."
        )
    many = f", for any {neighbors.group} of them at once" if neighbors.group > 1 else ""
    tables = policy.below if policy.several is None else policy.several.tables
    if tables is not None:
        rows, used = f"{_belonging(tables)} together", _used(tables)
        return f"Differential privacy: what an answer must not show is {rows}{many}. {used}"
    if policy.unit is not None:
        rows = f"all rows with the same {policy.unit} together (at most {neighbors.rows} are used)"
        return f"Differential privacy: what an answer must not show is {rows}{many}."
    return (
        f"Differential privacy: what an answer must not show is {_ONE[neighbors.relation]}{many}. "
        "No unit is declared, so a person with several rows is protected for each row only."
    )


def _belonging(tables: Tables) -> str:
    """Which rows are protected together, of several tables."""
    units = " or ".join(tables.units)
    own = f"the row of {units} itself"
    if len(tables.tables) == len(tables.units):
        return f"all rows that belong to one of {units}: {own}"
    return f"all rows that belong to one of {units}: {own} and all that refer to it"


def _used(tables: Tables) -> str:
    """How many rows of one unit are used, of each table."""
    said = []
    for name, table in tables.tables.items():
        if table.auto:
            said.append(f"of {name} as many rows as a private search finds")
        else:
            said.append(f"of {name} {table.max_rows:,} {'row' if table.max_rows == 1 else 'rows'}")
    return f"Of each at most are used: {', '.join(said)}. Rows that belong to nobody are not used."


def _budgets(budget: Budget) -> list[str]:
    if budget.rho is not None:
        worth = float(convert(budget.rho, DELTA))
        return [
            "All answers together, to everybody and for ever, cost at most rho = "
            f"{amount(budget.rho)} (zero-concentrated differential privacy, Gaussian noise). Then "
            "nothing more is answered.",
            f"That is at most epsilon = {worth:.3g}, which may fail with probability 1 in "
            f"{DELTA.denominator:,}.",
        ]
    assert budget.epsilon is not None
    epsilon = budget.epsilon
    said = (
        f"All answers together, to everybody and for ever, cost at most epsilon = "
        f"{amount(epsilon)}. Then nothing more is answered."
    )
    odds = math.exp(min(float(epsilon), 700))
    sure = odds / (1 + odds)
    means = (
        f"In the worst case that multiplies the odds on a secret of one person by {odds:,.3g}: "
        f"somebody who thought it even before can be {_percent(sure)} sure afterwards."
    )
    if budget.delta is not None:
        means += f" This may fail with probability delta = {amount(budget.delta)}."
    return [said, means]


def _percent(share: float) -> str:
    return f"{100 * share:.4g}%" if share < 0.9999 else "more than 99.99%"
