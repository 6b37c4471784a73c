"""How tables are released is here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

_HOMES = {name: module for module, names in _MEMBERS.items() for name in names.split()}

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


def __getattr__(name: str) -> Any:
    """Public names are loaded when they are first used: they need NumPy and SciPy."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
