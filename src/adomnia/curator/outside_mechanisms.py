"""Mechanisms of other packages, used where the policy names them (`outside.md`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from adomnia.curator.planning.plan import LossRequest
from adomnia.curator.policy_lines import refuse_several
from adomnia.curator.spend import Payer, Use, spend
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import NotAllowedError
from adomnia.mechanisms.outside import MechanismRequest, Origin, outside_mechanism
from adomnia.mechanisms.registry import mechanism_named
from adomnia.privacy.events import Free, cost_of
from adomnia.privacy.loss import Loss

__all__ = ["MechanismAnswer", "use_mechanism"]


@dataclass(frozen=True)
class MechanismAnswer:
    """What a mechanism of another package released, and whose word it is that it is private.

    >>> from adomnia.mechanisms.outside import Origin
    >>> str(MechanismAnswer(41.5, Origin("mean", "means", "1.0"), {}, {}, "r").mechanism)
    'mean of means 1.0'
    """

    value: Any
    mechanism: Origin
    spent: Mapping[str, Fraction]
    remaining: Mapping[str, Fraction]
    receipt: str


def use_mechanism(
    backend: TableBackend,
    payer: Payer,
    name: str,
    asked: LossRequest,
    options: Mapping[str, Any],
) -> MechanismAnswer:
    """Use a mechanism that the policy names, paid like everything else."""
    _check_named(backend, name)
    refuse_several(backend.policy, "mechanisms of other packages read one table", "ask in SQL")
    priors, known = backend.public()
    if known:
        raise NotAllowedError(
            "mechanisms of other packages are not used where something was released exactly: "
            "how far neighbours are apart is not known to them",
            "ask in SQL",
        )
    origin, make = mechanism_named(name)
    version, policy = backend.version(), backend.policy  # in this order: priced by what is read
    request = MechanismRequest(backend.table, policy.neighbors, _loss(asked), policy.rows_stay)
    mechanism = outside_mechanism(origin, make, request, options)
    told = json.dumps(mechanism.options, sort_keys=True)
    use = Use(
        f"USE {origin} WITH {told}",
        (mechanism,),
        backend.knowledge.promise,
        version,
        request=json.dumps([*asked.told, told]),
        priors=priors,
        what="mechanism",
    )
    paid = spend(backend, payer, use)
    spent = cost_of(Free() if paid.repeated else mechanism.event)
    return MechanismAnswer(paid.released[0].value, origin, spent, paid.remaining, paid.receipt)


def _check_named(backend: TableBackend, name: str) -> None:
    """Refuse what the policy does not name, before any code of it is loaded."""
    if name not in backend.policy.mechanisms:
        said = json.dumps([*backend.policy.mechanisms, str(name)[:80]])
        raise NotAllowedError(
            f"the policy does not name the mechanism {str(name)[:80]!r}",
            f"the curator allows it, and trusts its package, by mechanisms = {said} in [privacy]",
        )


def _loss(asked: LossRequest) -> Loss:
    none = Fraction(0)
    return Loss.approximate(asked.epsilon or none, asked.delta or none) + Loss.concentrated(
        asked.rho or none
    )
