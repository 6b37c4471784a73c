"""How tables are released is here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.exports import Exports

if TYPE_CHECKING:
    from adomnia.marginals.release import (
        MarginalPlan,
        ReleasedMarginals,
        plan_marginals,
        refuse_records,
        release_marginals,
    )
    from adomnia.marginals.workload import Subset, Workload, downward_closure, up_to_ways

_MEMBERS = {
    "release": "MarginalPlan ReleasedMarginals plan_marginals refuse_records release_marginals",
    "workload": "Subset Workload downward_closure up_to_ways",
}
"""What each module of the room gives to everybody."""

__all__ = [
    "MarginalPlan",
    "ReleasedMarginals",
    "Subset",
    "Workload",
    "downward_closure",
    "plan_marginals",
    "refuse_records",
    "release_marginals",
    "up_to_ways",
]

_EXPORTS = Exports(__name__, _MEMBERS)
__getattr__, __dir__ = _EXPORTS.load, _EXPORTS.names
