"""Independence of two attributes, tested where their histograms are public (`chi_squared.md`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia.curator.desk import Desk
from adomnia.curator.doors import computed
from adomnia.curator.root import histogram, keys_of, root_square
from adomnia.engines.engine import Request
from adomnia.ledger.reserve import Budgets, Reservation, answered, least, reserve
from adomnia.mechanisms.root import release_root
from adomnia.privacy.contribution import ROWS
from adomnia.privacy.events import Laplace
from adomnia.queries.expression import Column

if TYPE_CHECKING:
    from adomnia.priors.chi_squared import Root

__all__ = ["Independence", "examine"]


@dataclass(frozen=True)
class Independence:
    """A private test: the noisy root of the damped chi-squared, and how rare that is by chance."""

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
    desk: Desk,
    who: tuple[str, str | None, Budgets],
    columns: tuple[str, str],
    epsilon: Fraction,
) -> Independence:
    """Pay for one noisy statistic, and compare it with tables that have the public margins."""
    from adomnia.priors.chi_squared import choose_kappa, p_value  # noqa: PLC0415 (needs SciPy)
    from adomnia.priors.chi_squared import root as make_root  # noqa: PLC0415

    priors, known = desk.public()
    keys = keys_of(desk.policy, columns)
    margins = (histogram(known, keys[0]), histogram(known, keys[1]))
    kappa = choose_kappa(margins, epsilon)
    root = make_root(margins, kappa, root_square(desk.policy, known, keys, kappa))
    scale = root.scale(epsilon)
    analyst, session, budgets = who
    event = Laplace(epsilon, Fraction(root.sensitivity))
    measured = {"root": list(columns), "kappa": str(kappa), "places": root.places}
    statement = f"TEST INDEPENDENCE OF {columns[0]}, {columns[1]}"
    promise = desk.knowledge.promise
    booking = Reservation(analyst, session, None, statement, event, None, priors, measured, promise)
    granted = reserve(desk.journal, booking, budgets)
    found = computed("test", lambda: _measured(desk, keys, root, scale))
    answered(desk.journal, granted.receipt, {"root": found, "places": root.places})
    return Independence(
        statistic=found / 2**root.places,
        noise=float(scale) / 2**root.places,
        p_value=p_value(found, root, scale),
        kappa=float(root.kappa),
        spent={"epsilon": epsilon},
        remaining=least(granted.remaining),
        receipt=granted.receipt,
    )


def _measured(desk: Desk, keys: tuple[Column, Column], root: Root, scale: Fraction) -> int:
    (sealed,) = desk.engine.measure(Request(desk.table, None, keys, (ROWS,)))
    return release_root(sealed, root.margins, root.kappa, root.places, scale)
