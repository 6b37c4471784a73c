"""The laws of mechanisms: what they say of themselves is plain, whole and read back as it was; and
of those that a package brings, that they are priced for the distance and hide it.

`check_mechanism` holds a package's mechanism against all of them. A law that is not kept raises a
`BrokenLawError`. That a mechanism passes is no proof: what its author must prove is in
`docs/own-mechanism.md`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.claims.audit_target import AuditTarget
from adomnia.audit.claims.claim import refute_all
from adomnia.errors import AdomniaError
from adomnia.mechanisms.mechanism import Mechanism
from adomnia.mechanisms.outside import (
    Factory,
    MechanismRequest,
    Origin,
    OutsideMechanism,
    outside_mechanism,
)
from adomnia.privacy import events
from adomnia.privacy.contribution import Bernstein, Clamped, Tally, width
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.reads import CellTotals, CellValues, Reads
from adomnia.queries.grouping import cell_count
from adomnia.schema.sealed import Sealed
from adomnia.schema.table import Table
from adomnia.testing.verdicts import BrokenLawError, hold
from adomnia.testing.worlds import town

__all__ = [
    "PROMISES",
    "BrokenLawError",
    "check_mechanism",
    "has_the_same_record",
    "hides_neighbours",
    "is_priced_for_its_distance",
    "is_read_back_as_it_was",
    "neighbouring_reads",
    "releases_something_of_any_data",
    "says_plainly_what_it_is",
]

PROMISES: tuple[Neighbors, ...] = (
    Neighbors(),
    Neighbors("bounded"),
    Neighbors("attribute"),
    Neighbors(group=3),
    Neighbors("unbounded", rows=4),
    Neighbors("bounded", rows=4, groups=2, each=1),
)
"""What a policy may promise: a mechanism must be priced for each, or refuse it kindly."""
SAMPLES = 4000
DOUBT = 1e-9
"""How often the law of hiding is found broken where it is kept."""
ROWS = 12
"""So many rows are in the tables that are not empty."""
LONG = 3600.0
"""Seconds that drawing may take: no verdict rests on a clock."""

Exact = Any
"""What an engine seals: an array of totals, or the sorted values of each cell."""


# Laws of every mechanism, ours as well


def says_plainly_what_it_is(mechanism: Mechanism[Any]) -> None:
    """Its record is plain JSON with its name and its event, which is read back as it was and costs
    something."""
    record = dict(mechanism.record())
    hold(_is_plain(record), "its record is not plain JSON")
    hold(bool(record["mechanism"]["name"]) and bool(mechanism.name), "it has no name")
    event = events.from_json(record["event"])
    hold(event == mechanism.event, "its record has another event")
    hold(bool(events.loss(event).amounts), "it costs nothing")
    hold(isinstance(mechanism.reads, get_args(Reads)), "it reads what no engine computes")


def is_read_back_as_it_was(mechanism: Mechanism[Any], sealed: Sealed[Any]) -> None:
    """What it releases is plain JSON, and is the same when the ledger gives it back."""
    body = mechanism.release(sealed).to_json()
    hold(_is_plain(body), "what it releases is not plain JSON")
    hold(mechanism.recalled(body).to_json() == body, "what it released is recalled as another")


def has_the_same_record(make: Callable[[], Iterable[Mechanism[Any]]]) -> None:
    """Made anew of the same public facts, mechanisms have the same records."""
    first, second = ([mechanism.record() for mechanism in make()] for _ in range(2))
    hold(first == second, "the same request has another record")


def _is_plain(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError):
        return False


# Laws of mechanisms that packages bring


def is_priced_for_its_distance(mechanism: OutsideMechanism, request: MechanismRequest) -> None:
    """Its event is for neighbours as far apart as the statement lets them be."""
    apart = request.apart(mechanism.reads)
    paid, far = mechanism.event.sensitivity, apart.l1
    hold(mechanism.covers(apart), f"it is priced for a distance of {paid}, and it is {far}")


def releases_something_of_any_data(mechanism: OutsideMechanism, request: MechanismRequest) -> None:
    """Whatever is in the table, it lets something out, which is read back as it was."""
    tables = [table for pair in neighbouring_reads(mechanism.reads, request) for table in pair]
    for exact in (*tables, _crowd(mechanism.reads)):
        try:
            is_read_back_as_it_was(mechanism, Sealed(exact))
        except AdomniaError as error:
            raise BrokenLawError("it failed, and no value may make it fail") from error


def hides_neighbours(
    mechanism: OutsideMechanism, request: MechanismRequest, samples: int = SAMPLES
) -> None:
    """No event tells extreme neighbours apart by more than it costs (`adomnia why claim`).

    One that is kept is found broken once in a billion times; one that is broken by little may pass.
    """
    epsilon, delta = _approximate(mechanism.event)
    targets = [
        AuditTarget.of(lambda exact: _seen(mechanism, exact), one, other, epsilon, delta)
        for one, other in neighbouring_reads(mechanism.reads, request)
    ]
    found = refute_all(targets, samples, 1 - DOUBT, LONG)
    lost = found.details["epsilon_at_least"]
    hold(
        found.details["verdict"] != "violated",
        f"its releases tell neighbours apart by an epsilon of {lost:.3g}, and it says {epsilon:g}",
    )


def check_mechanism(
    make: Factory,
    options: Mapping[str, Any],
    *,
    loss: Loss | None = None,
    table: Table | None = None,
    samples: int = SAMPLES,
) -> None:
    """Hold a package's mechanism against every law; raises a `BrokenLawError`.

    `make` is the function that the package registers, and `options` are those of one use. The loss
    that is offered is an epsilon of 1 and the declared table that of `worlds.town`, unless others
    are given.

    >>> check_mechanism(lambda request: None, {})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    adomnia.testing.verdicts.BrokenLawError: it cannot be used: ...
    """
    declared, offered = table or _town(), loss or Loss.pure(Fraction(1))
    origin = Origin(getattr(make, "__name__", "mechanism"), "under-test", "0")
    for neighbors in PROMISES:
        request = MechanismRequest(declared, neighbors, offered)

        def made(request: MechanismRequest = request) -> OutsideMechanism:
            return outside_mechanism(origin, make, request, options)

        try:
            mechanism = made()
        except AdomniaError as error:
            raise BrokenLawError(f"it cannot be used: {error}") from error
        says_plainly_what_it_is(mechanism)
        has_the_same_record(lambda made=made: [made()])  # type: ignore[misc]
        is_priced_for_its_distance(mechanism, request)
        releases_something_of_any_data(mechanism, request)
        if neighbors in PROMISES[:2]:
            hides_neighbours(mechanism, request, samples)


def _town() -> Table:
    with town(rows=5).open() as database:
        return database.table


def _approximate(event: events.Outside) -> tuple[float, float]:
    """An epsilon and a delta that the event implies; of a rho, at a delta of one in a hundred."""
    rho, delta = float(event.rho), float(event.delta)
    if not rho:
        return float(event.epsilon), delta
    # Bun and Steinke: rho-zCDP is (rho + 2 sqrt(rho log(1/delta)), delta)-private.
    return float(event.epsilon) + rho + 2 * math.sqrt(rho * math.log(100)), delta + 0.01


def _seen(mechanism: OutsideMechanism, exact: Exact) -> Any:
    """A release as numbers in a row, or as a text where it holds something else."""
    value = mechanism.release(Sealed(exact)).value
    leaves = list(_leaves(value))
    if all(leaf is None or isinstance(leaf, int | float) for leaf in leaves):
        return leaves
    return json.dumps(value, sort_keys=True)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = [value[name] for name in sorted(value)]
    if isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


# Tables that are neighbours, as an engine would read them


def neighbouring_reads(
    reads: CellTotals | CellValues, request: MechanismRequest
) -> Iterator[tuple[Exact, Exact]]:
    """Pairs of what is read of neighbours: extreme rows that come, or are changed for others or
    into another cell; in an empty table, and in one with rows."""
    (low, high), times = _extremes(reads), request.neighbors.touched
    for some in ([], [low, high] * (ROWS // 2)):
        with_low, with_high = ([*some, *[row] * times] for row in (low, high))
        if request.neighbors.replaces:
            yield _read(reads, with_low), _read(reads, with_high)
            if cell_count(reads.keys) > 1:
                yield _read(reads, with_high), _read(reads, some, [high] * times)
        else:
            yield _read(reads, some), _read(reads, with_low)
            yield _read(reads, some), _read(reads, with_high)


def _extremes(reads: CellTotals | CellValues) -> tuple[Any, Any]:
    """What two rows add that are as different as they may be; of values, the values."""
    if isinstance(reads, CellValues):
        return reads.ranked.low, reads.ranked.high
    added, wide = reads.contribution, width(reads.contribution)
    if isinstance(added, Clamped):
        missing = [] if added.always else [0]
        return [min(added.low, *missing, added.high)], [max(added.low, *missing, added.high)]
    if isinstance(added, Bernstein):
        rest = [0] * (wide - 1)
        return [added.unit, *rest], [*rest, added.unit]
    if not isinstance(added, Tally):
        return [0], [1]
    if added.patterns is not None:
        return list(map(int, added.patterns[0])), list(map(int, added.patterns[-1]))
    most = wide if added.most is None else added.most
    # Every row counts where nothing is asked of it.
    return [int(test is None) for test in added.conditions], [int(n < most) for n in range(wide)]


def _read(reads: CellTotals | CellValues, rows: list[Any], last: Sequence[Any] = ()) -> Exact:
    """Rows in the first cell, and some in the last."""
    placed = {0: rows, cell_count(reads.keys) - 1: [*last]} if last else {0: rows}
    if isinstance(reads, CellValues):
        return {
            cell: np.unique(np.array(some, np.int64), return_counts=True)
            for cell, some in placed.items()
            if some
        }
    cells = np.zeros((cell_count(reads.keys), width(reads.contribution)), object)
    for cell, some in placed.items():
        for row in some:
            cells[cell] += np.array(row, object)
    return cells


def _crowd(reads: CellTotals | CellValues) -> Exact:
    """More rows than any table has, so that sums do not fit into 64 bits."""
    many = 10**15
    if isinstance(reads, CellValues):
        values: NDArray[Any] = np.array(sorted({reads.ranked.low, reads.ranked.high}))
        return {0: (values, np.full(values.size, many))}
    return _read(reads, [[part * many for part in row] for row in _extremes(reads)])
