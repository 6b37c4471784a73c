"""Linear programs for a solver that proposes: iterations and nodes are counted, no clock is read.

Whatever comes back is a proposal in floats; who asked checks it in whole numbers or drops it.
"""

from __future__ import annotations

from typing import Any

from scipy import optimize

from adomnia.priors.solver.effort import Effort

__all__ = ["propose", "propose_whole"]

NODES = 500
"""Of a search for whole numbers."""
ROOT = 200
"""Iterations that a node is counted as, and ten times as many for the first."""


def propose(costs: Any, effort: Effort, **limits: Any) -> Any:
    """The least of a linear program, in the form of `scipy.optimize.linprog`; None if not found."""
    each = len(costs) + sum(limits[key].shape[0] for key in ("A_ub", "A_eq") if _given(limits, key))
    most = effort.left // each
    if most < 1:
        return None
    found = optimize.linprog(costs, method="highs-ds", options={"maxiter": most}, **limits)
    effort.spend(each * (1 + int(found.nit)))
    return found if found.status == 0 else None


def propose_whole(costs: Any, effort: Effort, gap: float = 0.0, **limits: Any) -> Any:
    """The best point of `scipy.optimize.milp` after some nodes; None if there was none."""
    rows = sum(part.A.shape[0] for part in limits.get("constraints", ()))
    each = ROOT * (len(costs) + rows)
    most = min(NODES, effort.left // each - 10)
    if most < 1:
        return None
    found = optimize.milp(costs, options={"node_limit": most, "mip_rel_gap": gap}, **limits)
    effort.spend(each * (10 + int(found.mip_node_count or 0)))
    return found.x


def _given(limits: dict[str, Any], key: str) -> bool:
    return limits.get(key) is not None
