"""The root of chi-squared among all that is public: its margins, and how far it moves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from adomnia.curator.planning.strategy import derive
from adomnia.errors import QuestionError
from adomnia.limits import MAX_TESTED_VALUES
from adomnia.policy.policy import Policy
from adomnia.priors.prior_knowledge import PriorKnowledge
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Counts
from adomnia.queries.ranges import count_cells, from_domain

__all__ = ["COUNTS", "histogram", "keys_of", "root_square"]

COUNTS = Counts((None,))


def keys_of(policy: Policy, columns: tuple[str, str]) -> tuple[Column, Column]:
    """The two attributes, which must be declared and have a list of values."""
    found = []
    for name in columns:
        if name not in policy.attributes:
            hint = "declared are: " + ", ".join(policy.attributes)
            raise QuestionError(f"{name[:60]!r} is not a declared attribute", hint)
        spread = from_domain(policy.attributes[name].domain)
        if (count_cells(spread) or MAX_TESTED_VALUES + 1) > MAX_TESTED_VALUES:
            raise QuestionError(
                f"{name!r} has too many values for a table", f"at most {MAX_TESTED_VALUES:,}"
            )
        found.append(Column(name, spread))
    if columns[0] == columns[1]:
        raise QuestionError("an attribute is not independent of itself", "name two attributes")
    return found[0], found[1]


def histogram(known: PriorKnowledge, key: Column) -> list[int]:
    """The public counts of an attribute's values, NULL last."""
    found = derive(known, COUNTS, None, (key,), "laplace") if known else None
    if found is None or found.bound != 0:
        raise QuestionError(
            f"the counts by {key.name} are not public, or their numbers were not given",
            "register the released table of its counts: adomnia prior add SQL --values FILE",
        )
    values, _ = found.fill(np.zeros(0, np.int64))
    return [int(value) for value in values[:, 0]]


def root_square(
    policy: Policy, known: PriorKnowledge, keys: tuple[Column, Column], kappa: Fraction
) -> Fraction:
    """The squared sensitivity of the root of chi-squared, damped by kappa."""
    from scipy import sparse  # noqa: PLC0415 (slow to import)

    from adomnia.priors.chi_squared import square_known  # noqa: PLC0415
    from adomnia.priors.layout import lay_out  # noqa: PLC0415

    margins = (histogram(known, keys[0]), histogram(known, keys[1]))
    layout = lay_out(known, COUNTS, None, keys)
    asked = layout.asked.tocoo()
    at = (layout.outputs[asked.coords[0]], asked.coords[1])
    shape = (len(margins[0]) * len(margins[1]), layout.system.cells)
    cells = sparse.csc_array((asked.data, at), shape=shape)
    bound = square_known(layout.system, margins, kappa, cells)
    return bound * policy.neighbors.group**2
