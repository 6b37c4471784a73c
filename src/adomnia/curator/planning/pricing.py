"""Pricing, once more: before anything is paid, the price is held against what the statement allows.

How a question is planned is for accuracy and cost. Here, apart from all planning, it is worked out
how far neighbours can be apart by what the statement enforces, and what the mechanism's own noise
costs at that distance. What its event does not cover is refused (`pricing.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adomnia.errors import MachineryError
from adomnia.mechanisms.choices.choice_mechanisms import AboveBar, AuctionPrice, LargestCount
from adomnia.mechanisms.choices.scan_mechanisms import BoundScan, ExcessRows
from adomnia.mechanisms.counts.selected_keys import SelectedKeys
from adomnia.mechanisms.joins.measured_at_bound import MeasuredAtBound
from adomnia.mechanisms.masked_share import MaskedShare
from adomnia.mechanisms.measurement_mechanisms import Apart, Measuring
from adomnia.mechanisms.mechanism import Mechanism
from adomnia.mechanisms.outside import MechanismRequest, OutsideMechanism
from adomnia.privacy.contribution import Clamped, Contribution, DistinctUnits, Setting
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.reads import UnitPeaks
from adomnia.privacy.sensitivity import sensitivity
from adomnia.queries.derived_table import bounded_otherwise, owners_of
from adomnia.schema.domain import Grid
from adomnia.schema.table import Table

__all__ = ["check_prices"]


def check_prices(
    mechanisms: Sequence[Mechanism[Any]], table: Table, neighbors: Neighbors, stay: bool
) -> None:
    """Refuse a mechanism whose event costs less than its noise does; reads and pays nothing."""
    for mechanism in mechanisms:
        found = isinstance(mechanism, MeasuredAtBound) or owners_of(table) > 1
        if bounded_otherwise(table, neighbors.rows) or not (
            _is_found_paid(mechanism, table, neighbors)
            if found
            else _is_covered(mechanism, table, neighbors, stay)
        ):
            raise MachineryError(
                "this question was priced below what it costs, so it is not asked",
                "nothing was spent; please report the statement",
            )


def _is_covered(mechanism: Mechanism[Any], table: Table, neighbors: Neighbors, stay: bool) -> bool:
    if isinstance(mechanism, Measuring):
        return mechanism.covers(_apart(mechanism, table, neighbors, stay))
    if isinstance(mechanism, SelectedKeys):
        held, group = neighbors.unit_bounds(grouped=True), neighbors.group
        parts = all(part.covers(_apart(part, table, neighbors, stay)) for part in mechanism.parts)
        return parts and mechanism.hides(held.rows * group, held.groups * group)
    if isinstance(mechanism, MaskedShare):
        together = neighbors.among(mechanism.holders)
        return mechanism.covers(_apart(mechanism.part, table, together, stay))
    if isinstance(mechanism, LargestCount | AboveBar | AuctionPrice | BoundScan | ExcessRows):
        return _is_choice_covered(mechanism, table, neighbors)
    if isinstance(mechanism, OutsideMechanism) and neighbors.most is None:
        request = MechanismRequest(table, neighbors, Loss(), stay)
        return mechanism.covers(request.apart(mechanism.reads))
    return False


def _is_found_paid(mechanism: Mechanism[Any], table: Table, neighbors: Neighbors) -> bool:
    """All else is priced for rows that belong to one unit."""
    if not isinstance(mechanism, MeasuredAtBound):
        return False
    return mechanism.units == owners_of(table) and mechanism.is_paid(neighbors)


def _is_choice_covered(
    choice: LargestCount | AboveBar | AuctionPrice | BoundScan | ExcessRows,
    table: Table,
    neighbors: Neighbors,
) -> bool:
    """Choices are priced for single rows (`choosing.md`), scans for units (`threshold_scan.md`)."""
    if isinstance(choice, BoundScan | ExcessRows):
        owned = table.unit is not None or isinstance(choice.reads, UnitPeaks)
        return owned and neighbors.most is None and choice.covers(neighbors.group)
    rows = neighbors.touched if isinstance(choice, AuctionPrice) else neighbors.moves
    return choice.most == neighbors.most and choice.rows >= rows


def _apart(part: Measuring, table: Table, neighbors: Neighbors, stay: bool) -> Apart:
    """How far neighbours are apart in what the part reads."""
    place = part.place
    if place.most != neighbors.most or not _is_of(part.contribution, neighbors):
        return Apart.far()
    setting = Setting(place.where, place.keys, table.unit, part.cells, stay)
    found = sensitivity(_by_domain(part.contribution, table), setting, neighbors)
    rows = neighbors.moves if place.keys else neighbors.touched
    return Apart(found.l1, found.l2_squared, rows)


def _by_domain(contribution: Contribution, table: Table) -> Contribution:
    """What one bit of a summed column moves, by the domain that the column is cleaned to."""
    if not isinstance(contribution, Clamped) or contribution.bit is None:
        return contribution
    name = getattr(contribution.argument, "name", None)
    attribute = table.attributes.get(name) if name is not None else None
    if attribute is None or not isinstance(attribute.domain, Grid):
        return replace(contribution, bit=None)
    steps = int((attribute.domain.high - attribute.domain.low) / attribute.domain.step)
    return replace(contribution, bit=1 << max(0, steps.bit_length() - 1))


def _is_of(contribution: Contribution, neighbors: Neighbors) -> bool:
    """Units are counted once only where units are what is protected."""
    return neighbors.rows is not None or not isinstance(contribution, DistinctUnits)
