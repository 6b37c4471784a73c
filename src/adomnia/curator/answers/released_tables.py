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
from adomnia.queries.canonical import expression_from, expression_json
from adomnia.queries.expression import Column, Expr
from adomnia.queries.grouping import axes
from adomnia.queries.measurement import Counts
from adomnia.queries.ranges import from_domain

__all__ = ["registered", "released"]


def registered(
    tables: Mapping[tuple[str, ...], Any],
    margins: Mapping[tuple[str, ...], Any],
    confidence: float,
    where: Expr | None = None,
) -> list[dict[str, Any]]:
    """Tables by their attributes, with their widest margins, as the ledger keeps them.

    `where` says of which rows they are, if not of all.
    """
    if sum(table.size for table in tables.values()) > MAX_REUSED_CELLS:
        return []
    return [
        {
            "attributes": list(names),
            "values": [round(value) for value in table.reshape(-1).tolist()],
            "margin": float(margins[names].max(initial=0.0)) + 0.5,  # a half for rounding
            "confidence": confidence,
            **({} if where is None else {"where": expression_json(where)}),
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
        names = list(marginal["attributes"])
        if not all(name in policy.attributes for name in names):
            continue
        keys = tuple(Column(n, from_domain(policy.attributes[n].domain)) for n in names)
        noisy = _noisy(policy, keys, marginal)
        if noisy is not None:
            where = expression_from(marginal.get("where"))
            yield Known(where, keys, Counts((None,)), partial(_same, noisy), receipt, single=True)


def _same(noisy: Noisy) -> Noisy:
    return noisy


def _noisy(policy: Policy, keys: tuple[Column, ...], marginal: Mapping[str, Any]) -> Noisy | None:
    spans = [len(axis) for axis in axes(keys)]
    given = [n - (not policy.attributes[k.name].nullable) for n, k in zip(spans, keys, strict=True)]
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
