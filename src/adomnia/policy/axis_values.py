"""The axes of a table of counts: the values that an attribute lists."""

from __future__ import annotations

from typing import Any

from adomnia.errors import QuestionError
from adomnia.limits import MAX_AXIS_VALUES
from adomnia.policy.policy import Policy
from adomnia.queries.ranges import cells, count_cells, from_domain

__all__ = ["axis_values"]


def axis_values(policy: Policy, name: str) -> tuple[Any, ...]:
    """The values of an attribute in their order, NULL last where it is one of them."""
    attribute = policy.attributes[name]
    spread = from_domain(attribute.domain)
    count = count_cells(spread)
    if count is None or count > MAX_AXIS_VALUES:
        raise QuestionError(
            f"{name!r} has {'no list of' if count is None else f'{count:,}'} values",
            f"an attribute of a table has at most {MAX_AXIS_VALUES:,}: declare a coarser step",
        )
    return (*cells(spread), None) if attribute.nullable else cells(spread)
