"""Independence of two attributes, tested where their histograms are public (`chi_squared.md`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from adomnia.curator.planning.chi_squared_root import histogram, keys_of, root_square
from adomnia.curator.policy_lines import refuse_several
from adomnia.curator.spend import Payer, Use, spend
from adomnia.curator.table_backend import TableBackend
from adomnia.mechanisms.tables.chi_squared_root import ChiSquaredRoot
from adomnia.privacy.contribution import ROWS
from adomnia.privacy.premises import ExactReleasesHold
from adomnia.privacy.reads import CellTotals

__all__ = ["Independence", "examine"]


@dataclass(frozen=True)
class Independence:
    """A private test: the noisy root of the damped chi-squared, and how rare that is by chance.

    >>> from fractions import Fraction
    >>> cost = {"epsilon": Fraction(1)}
    >>> test = Independence(2.1, 0.5, 0.03, 1.0, cost, cost, "a receipt")
    >>> test.to_json()["p_value"], test.to_json()["spent"]
    (0.03, {'epsilon': '1'})
    """

    statistic: float
    noise: float
    p_value: float
    kappa: float
    spent: Mapping[str, Fraction]
    remaining: Mapping[str, Fraction]
    receipt: str

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        amounts = {
            "spent": {name: str(value) for name, value in self.spent.items()},
            "remaining": {name: str(value) for name, value in self.remaining.items()},
        }
        return {**vars(self), **amounts}


def examine(
    backend: TableBackend, payer: Payer, columns: tuple[str, str], epsilon: Fraction
) -> Independence:
    """Pay for one noisy statistic, and compare it with tables that have the public margins."""
    from adomnia.priors.chi_squared import choose_kappa, p_value  # noqa: PLC0415 (needs SciPy)
    from adomnia.priors.chi_squared import root as make_root  # noqa: PLC0415

    hint = "the histograms must have been released exactly, which is of one table alone"
    refuse_several(backend.policy, "a test of independence is of one table", hint)
    priors, known = backend.public()
    keys = keys_of(backend.policy, columns)
    margins = (histogram(known, keys[0]), histogram(known, keys[1]))
    kappa = choose_kappa(margins, epsilon)
    root = make_root(margins, kappa, root_square(backend.policy, known, keys, kappa))
    scale = root.scale(epsilon)
    mechanism = ChiSquaredRoot(
        columns, CellTotals(ROWS, None, keys), root.margins, root.kappa, root.places, scale,
        epsilon, Fraction(root.sensitivity), (ExactReleasesHold(),),
    )  # fmt: skip
    statement = f"TEST INDEPENDENCE OF {columns[0]}, {columns[1]}"
    promise, version = backend.knowledge.promise, backend.version()
    use = Use(statement, (mechanism,), promise, version, priors=priors, what="test")
    paid = spend(backend, payer, use)
    found = paid.released[0].value
    return Independence(
        statistic=found / 2**root.places,
        noise=float(scale) / 2**root.places,
        p_value=p_value(found, root, scale),
        kappa=float(root.kappa),
        spent={"epsilon": epsilon},
        remaining=paid.remaining,
        receipt=paid.receipt,
    )
