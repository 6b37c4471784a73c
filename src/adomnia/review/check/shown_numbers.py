"""Numbers of a column as a person reads them: years have no commas."""

from __future__ import annotations

from adomnia.engines.source_facts import InspectedNumbers
from adomnia.formatting import significant
from adomnia.schema.domain import Domain, Grid

__all__ = ["shown_number"]

FIRST, LAST = 1000, 2999
"""Whole numbers between these may be years."""


def shown_number(
    number: float, domain: Domain, numbers: InspectedNumbers | None = None, figures: int = 4
) -> str:
    """A number of a column, without commas where all of its values may be years.

    >>> from fractions import Fraction
    >>> years = Grid(Fraction(1990), Fraction(2030), Fraction(1))
    >>> incomes = Grid(Fraction(0), Fraction(9000), Fraction(1))
    >>> shown_number(2013, years), shown_number(2013, incomes)
    ('2013', '2,013')
    """
    text = significant(number, figures)
    return text.replace(",", "") if _may_be_years(domain, numbers) else text


def _may_be_years(domain: Domain, numbers: InspectedNumbers | None) -> bool:
    """Whether whole numbers are declared, and all that there are may be years."""
    if not isinstance(domain, Grid) or domain.step.denominator > 1 or domain.low.denominator > 1:
        return False
    ends = (domain.low, domain.high) if numbers is None else numbers.ends
    return ends is not None and all(FIRST <= float(end) <= LAST for end in ends)  # type: ignore[arg-type]
