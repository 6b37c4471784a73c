"""The house's own mechanisms as subjects of an audit, each at its worst pair of neighbours."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.claims.audit_target import AuditTarget
from adomnia.errors import QuestionError
from adomnia.mechanisms.counts.selection import threshold
from adomnia.mechanisms.noise.exponential import choose
from adomnia.mechanisms.quantiles.quantile import Share, quantile, sensitivity
from adomnia.mechanisms.sealed_noise import add_gaussian, add_laplace, select_partitions
from adomnia.privacy.composition import convert
from adomnia.privacy.loss import Amount, exact
from adomnia.schema.sealed import Sealed

__all__ = ["REFERENCE_MECHANISMS", "reference_mechanism"]

DELTA = Fraction(1, 1000)


def reference_mechanism(name: str, epsilon: Amount = 1, delta: Amount = DELTA) -> AuditTarget:
    """One of `REFERENCE_MECHANISMS` with its claim; delta only for those that have one.

    The Gaussian's `epsilon` is what its zCDP is worth at this delta: rho is epsilon²/2. Raises a
    QuestionError where there is no such mechanism.

    >>> reference_mechanism("laplace", "0.5").epsilon
    0.5
    """
    if name not in REFERENCE_MECHANISMS:
        raise QuestionError(
            f"there is no mechanism {name[:40]!r}", "there are: " + ", ".join(REFERENCE_MECHANISMS)
        )
    return REFERENCE_MECHANISMS[name](exact(epsilon), exact(delta, "delta"))


def _laplace(epsilon: Fraction, delta: Fraction) -> AuditTarget:
    def sample(count: int, size: int) -> NDArray[Any]:
        return add_laplace(Sealed(np.full(size, count)), 1 / epsilon)

    return AuditTarget("integer Laplace", sample, 0, 1, float(epsilon))


def _gaussian(epsilon: Fraction, delta: Fraction) -> AuditTarget:
    rho = epsilon * epsilon / 2

    def sample(count: int, size: int) -> NDArray[Any]:
        return add_gaussian(Sealed(np.full(size, count)), 1 / (2 * rho))

    return AuditTarget("integer Gaussian", sample, 0, 1, float(convert(rho, delta)), float(delta))


def _choice(epsilon: Fraction, delta: Fraction) -> AuditTarget:
    """One candidate against twenty; a row moves its penalty up and theirs down, the worst case."""
    many = np.array([1, 20])

    def sample(penalties: tuple[int, ...], size: int) -> list[int]:
        given = np.array(penalties)
        return [choose(given, many, epsilon / 2) for _ in range(size)]

    return AuditTarget("exponential choice", sample, (1, 0), (0, 1), float(epsilon))


def _quantile(epsilon: Fraction, delta: Fraction) -> AuditTarget:
    """A median between 0 and 99: a high row makes 0 worse, and nearly all others better."""
    target = Share(Fraction(1, 2))
    eta = epsilon / (2 * sensitivity(target))

    def sample(rows: tuple[int, ...], size: int) -> list[int]:
        values, counts = np.unique(np.array(rows, np.int64), return_counts=True)
        return [quantile(values, counts, 0, 99, target, eta) for _ in range(size)]

    return AuditTarget("quantile", sample, (0, 1, 1), (0, 1, 1, 99), float(epsilon))


def _selection(epsilon: Fraction, delta: Fraction) -> AuditTarget:
    """A key of one person beside a common one: it is shown with probability delta at most."""
    return _select("threshold selection, a new key", epsilon, delta, {"rare": 1})


def _selected_count(epsilon: Fraction, delta: Fraction) -> AuditTarget:
    """A row more of a common key: its count, and whether it is shown, move by epsilon at most."""
    return _select("threshold selection, a new row", epsilon, delta, {"common": 1})


def _select(name: str, epsilon: Fraction, delta: Fraction, more: dict[str, int]) -> AuditTarget:
    scale = 1 / epsilon
    least = threshold(scale, delta, 1, 1)
    before = {"common": least}
    after = before | {key: before.get(key, 0) + rows for key, rows in more.items()}

    def sample(table: dict[str, int], size: int) -> list[list[int | None]]:
        keys = list(table)
        sealed = Sealed((keys, np.array(list(table.values()))))
        return [_shown(keys, *select_partitions(sealed, scale, least)) for _ in range(size)]

    return AuditTarget(name, sample, before, after, float(epsilon), float(delta))


def _shown(keys: list[str], places: list[int], counts: NDArray[Any]) -> list[int | None]:
    shown = {keys[place]: int(count) for place, count in zip(places, counts, strict=True)}
    return [shown.get("common"), shown.get("rare")]


REFERENCE_MECHANISMS: dict[str, Callable[[Fraction, Fraction], AuditTarget]] = {
    "laplace": _laplace,
    "gaussian": _gaussian,
    "choice": _choice,
    "quantile": _quantile,
    "selection": _selection,
    "selected_count": _selected_count,
}
"""The mechanisms that can be audited by name."""
