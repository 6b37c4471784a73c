"""Quality counts: what cleaning and a unit's bound leave out of an edition, counted privately.

They are one use of the ledger, once for each edition, under a key of its own: what was paid is
found there again, and a load that ends in the middle pays no second time (`quality.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from adomnia.curator.access import CURATOR, OWN_KEYS
from adomnia.curator.answers.paid_omissions import USUAL
from adomnia.curator.answers.quality_counts import Quality, read_quality
from adomnia.curator.spend import Payer, Use, spend
from adomnia.curator.table_backend import TableBackend
from adomnia.engines.sql.coding import lost, lost_columns
from adomnia.errors import NotAllowedError, PolicyError, QuestionError
from adomnia.limits import MAX_UNIT_ROWS
from adomnia.mechanisms.choices.scan_mechanisms import ExcessRows
from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.measurement_mechanisms import AddedNoise, Place
from adomnia.mechanisms.mechanism import Mechanism
from adomnia.privacy.contribution import Setting, Tally
from adomnia.privacy.events import Laplace
from adomnia.privacy.loss import Amount, exact
from adomnia.privacy.sensitivity import sensitivity
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Counts
from adomnia.queries.ranges import Truth

__all__ = ["ROWS_PART", "measure_quality", "paid_quality", "value_counts"]

ROWS_PART = Fraction(2, 3)
"""The part of the loss for rows beyond `max_rows`, where there is a unit."""


def measure_quality(backend: TableBackend, epsilon: Amount) -> Quality:
    """Count what the edition that is asked leaves out, for this loss; once for each edition."""
    version, current = backend.version(), backend.current
    if current is None:
        raise PolicyError(
            "data that is read in place has no edition whose quality could be counted",
            "leave out in_place in [data]",
            str(backend.policy.file),
        )
    known = paid_quality(backend, current.number)
    if known is not None:
        return known
    _refuse_public(backend)
    mechanisms = _mechanisms(backend, exact(epsilon))
    columns = [name for name in backend.policy.attributes if lost(name) in _lost(backend)]
    about = {"edition": current.number, "columns": columns, "max_rows": backend.table.max_rows}
    use = Use(
        f"QUALITY OF EDITION {current.number}",
        mechanisms,
        backend.knowledge.promise,
        version,
        {"quality": about},
        what="count of what is left out",
    )
    key = _key(backend, current.number)
    paid = spend(backend, Payer(CURATOR, backend.budgets(CURATOR), key=key), use)
    found = read_quality(backend.journal, paid.receipt)
    assert found is not None
    return found


def paid_quality(backend: TableBackend, edition: int | None) -> Quality | None:
    """What was counted of an edition, with the bound on rows that is in force; None if nothing."""
    if edition is None:
        return None
    account = backend.journal.account()
    found = account.find(CURATOR, _key(backend, edition))
    if found is None or not account.is_answered(found.receipt):
        return None
    return backend.kept(found.receipt, read_quality)


def _key(backend: TableBackend, edition: int) -> str:
    return f"{OWN_KEYS}quality, edition {edition}, max_rows {backend.table.max_rows}"


def _refuse_public(backend: TableBackend) -> None:
    if backend.public()[1]:
        raise NotAllowedError(
            "what is left out is not counted where something was released exactly: "
            "how many rows go together is not known",
            f"count before anything is registered: adomnia load --quality {USUAL}",
        )


def _lost(backend: TableBackend) -> tuple[str, ...]:
    return lost_columns(backend.table, backend.engine.columns())


def _mechanisms(backend: TableBackend, epsilon: Fraction) -> tuple[Mechanism[Any], ...]:
    """Counts of values in all columns as one measurement; and the rows beyond `max_rows`."""
    neighbors, owned = backend.policy.neighbors, backend.table.unit is not None
    columns = [name for name in backend.policy.attributes if lost(name) in _lost(backend)]
    if not columns and not owned:
        raise QuestionError(
            "nothing is cleaned and no unit is bounded, so nothing is left out",
            "declare attributes in the policy, or leave out --quality",
        )
    share = (ROWS_PART if columns else Fraction(1)) if owned else Fraction(0)
    found: list[Mechanism[Any]] = []
    if columns:
        tests = [lost(name) for name in columns]
        found.append(value_counts(backend, tests, epsilon * (1 - share)))
    if owned:
        last = max(MAX_UNIT_ROWS, backend.table.max_rows)
        part = ExcessRows(backend.table.max_rows, last, epsilon * share, neighbors.group)
        found.append(part)
    return tuple(found)


def value_counts(backend: TableBackend, names: Sequence[str], epsilon: Fraction) -> AddedNoise:
    """How many kept rows are marked in each of these columns, which tell what cleaning did."""
    tests = tuple(Column(name, Truth(nullable=False)) for name in names)
    tally, neighbors = Tally(tests), backend.policy.neighbors
    setting = Setting(unit=backend.table.unit, stay=backend.policy.rows_stay)
    apart = sensitivity(tally, setting, neighbors)
    event, noise = Laplace(epsilon, apart.l1), Noise("laplace", apart.l1 / epsilon)
    return AddedNoise(Counts(tests), tally, apart, event, Place(most=neighbors.most), noise=noise)
