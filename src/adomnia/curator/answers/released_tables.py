"""Released tables in the ledger: what is published answers later questions at no cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from adomnia.curator.answers.reuse import Known
from adomnia.limits import MAX_REUSED_CELLS
from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.noisy_values import Noisy
from adomnia.policy.policy import Policy
from adomnia.queries.canonical import expression_from
from adomnia.queries.expression import Column, Expr
from adomnia.queries.grouping import axes, shows_null
from adomnia.queries.measurement import Counts
from adomnia.queries.ranges import from_domain, outside, show

__all__ = ["registered", "released", "shown_axes"]


def registered(
    tables: Mapping[tuple[str, ...], Any], margins: Mapping[tuple[str, ...], Any], confidence: float
) -> list[dict[str, Any]]:
    """Tables by their attributes, with their widest margins, as the ledger keeps them.

    Beside that it may keep `keys` that are no attributes, and `where`: of which rows they are.
    """
    if sum(table.size for table in tables.values()) > MAX_REUSED_CELLS:
        return []
    return [
        {
            "attributes": list(names),
            "values": [round(value) for value in table.reshape(-1).tolist()],
            "margin": float(margins[names].max(initial=0.0)) + 0.5,  # a half for rounding
            "confidence": confidence,
        }
        for names, table in tables.items()
    ]


def released(
    policy: Policy, receipt: str, marginals: Iterable[Mapping[str, Any]]
) -> Iterator[Known]:
    """What published tables tell: their cells, each as far off as the widest of them may be.

    NULL is a cell of an attribute that is nullable; elsewhere its rows were left out.
    """
    for marginal in marginals:
        keys = _keys(policy, marginal)
        noisy = None if keys is None else _noisy(policy, keys, marginal)
        if keys is not None and noisy is not None:
            where = expression_from(marginal.get("where"))
            yield Known(where, keys, Counts((None,)), partial(_same, noisy), receipt, single=True)


def shown_axes(policy: Policy, marginal: Mapping[str, Any]) -> list[list[Any]] | None:
    """The values along each side of a table that the ledger keeps, as a person reads them; None
    where it was published under another policy."""
    keys = _keys(policy, marginal)
    if keys is None:
        return None
    given = _given(policy, keys)
    spans = zip(keys, axes(keys), given, strict=True)
    return [[show(key.range, value) for value in axis[:many]] for key, axis, many in spans]


def _keys(policy: Policy, marginal: Mapping[str, Any]) -> tuple[Expr, ...] | None:
    """What stands along the sides; None where the policy has no such attribute."""
    if "keys" in marginal:
        return tuple(key for one in marginal["keys"] if (key := expression_from(one)) is not None)
    names = list(marginal["attributes"])
    if not all(name in policy.attributes for name in names):
        return None
    return tuple(Column(name, from_domain(policy.attributes[name].domain)) for name in names)


def _given(policy: Policy, keys: tuple[Expr, ...]) -> list[int]:
    """How many values of each side a table has: NULL comes after all others, and is not always
    one; what lies outside never is."""
    hidden = [key.range.nullable and not shows_null(key, policy.attributes) for key in keys]
    return [
        len(axis) - no - len(outside(key.range))
        for key, axis, no in zip(keys, axes(keys), hidden, strict=True)
    ]


def _same(noisy: Noisy) -> Noisy:
    return noisy


def _noisy(policy: Policy, keys: tuple[Expr, ...], marginal: Mapping[str, Any]) -> Noisy | None:
    spans, given = [len(axis) for axis in axes(keys)], _given(policy, keys)
    if len(marginal["values"]) != np.prod(given):
        return None  # it was published under another policy
    values = np.zeros(spans, dtype=object)
    terms = np.zeros(spans, dtype=np.int64)
    inside = tuple(slice(0, size) for size in given)
    values[inside] = np.array(marginal["values"], dtype=object).reshape(given)
    terms[inside] = 1
    wide = NormalDist().inv_cdf(0.5 + marginal["confidence"] / 2)
    variance = Fraction(marginal["margin"] / wide) ** 2
    return Noisy(values.reshape(-1, 1), Noise("gaussian", variance), terms.reshape(-1))
