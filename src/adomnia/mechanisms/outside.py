"""Mechanisms of other packages: what they bring, and what is ours around it (`outside.md`).

A package brings what is read, what that costs and how noise is added. The statement that reads
enforces the contribution, the distance is held against the one that was paid for, and what leaves
is what the ledger keeps. Whether the noise hides that distance is the package's word.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

from adomnia.errors import AdomniaError, MachineryError, QuestionError
from adomnia.limits import MAX_CELLS
from adomnia.mechanisms.measurement_mechanisms import Apart
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.privacy import events
from adomnia.privacy.contribution import Bernstein, Clamped, DistinctValues, Setting, Tally
from adomnia.privacy.contribution_record import contribution_json
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.premises import Premise
from adomnia.privacy.reads import CellTotals, CellValues
from adomnia.privacy.sensitivity import sensitivity
from adomnia.queries.canonical import expression_json
from adomnia.queries.expression import Column
from adomnia.queries.grouping import public_cells
from adomnia.queries.ranges import from_domain
from adomnia.schema.sealed import Sealed
from adomnia.schema.table import Table

__all__ = [
    "Factory",
    "MechanismRequest",
    "Origin",
    "OutsideMechanism",
    "OutsideValue",
    "OwnMechanism",
    "outside_mechanism",
]

_ADDING = Tally | Clamped | Bernstein | DistinctValues
"""What a row may add to totals that another package reads."""


@dataclass(frozen=True)
class Origin:
    """Whose mechanism it is: its name, and the package with its version."""

    name: str
    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} of {self.package} {self.version}"


@dataclass(frozen=True)
class MechanismRequest:
    """What a mechanism is made from: the declared table, which tables are neighbours, and the loss
    that is offered. All of it is public."""

    table: Table
    neighbors: Neighbors
    loss: Loss
    rows_stay: bool = True

    @property
    def epsilon(self) -> Fraction:
        """The epsilon that is offered; a QuestionError where it is a rho."""
        if not self.loss.epsilon:
            raise QuestionError("this mechanism costs an epsilon", "for example epsilon = 0.1")
        return self.loss.epsilon

    def column(self, name: str) -> Column:
        """A declared column; a QuestionError where there is none of this name."""
        attribute = self.table.attributes.get(name)
        if attribute is None:
            raise QuestionError(f"{str(name)[:80]!r} is not a declared attribute", "see the policy")
        return Column(name, from_domain(attribute.domain))

    def apart(self, reads: CellTotals | CellValues) -> Apart:
        """How far neighbours are apart in what is read; of sorted values, in rows that come or go
        (`sensitivity.md`)."""
        moved = self.neighbors.moves
        if isinstance(reads, CellValues):
            return Apart(Fraction(moved), Fraction(moved**2), moved)
        added = reads.contribution
        if isinstance(added, Clamped):
            added = replace(added, bit=None)  # what a bit moves is not taken on anybody's word
        setting = Setting(reads.where, reads.keys, self.table.unit, None, self.rows_stay)
        found = sensitivity(added, setting, self.neighbors)
        return Apart(found.l1, found.l2_squared, moved)


class OwnMechanism(Protocol):
    """What a package brings. Until `release` is called it rests on public facts alone."""

    @property
    def event(self) -> events.Outside:
        """What it costs, and for which distance."""
        ...

    @property
    def reads(self) -> CellTotals | CellValues:
        """The exact values it needs."""
        ...

    def release(self, sealed: Sealed[Any], bits: Bits) -> Any:
        """What leaves, as plain JSON values; no exact value can make this fail."""
        ...


Factory = Callable[..., OwnMechanism]
"""Makes a mechanism of a `MechanismRequest` and options by name."""


@dataclass(frozen=True)
class OutsideValue:
    """What a mechanism of another package let out: plain JSON values."""

    value: Any

    def to_json(self) -> dict[str, Any]:
        """The value as the ledger keeps it."""
        return {"value": self.value}


@dataclass(frozen=True)
class OutsideMechanism:
    """A mechanism of another package, with all it said of itself, which it said once."""

    origin: Origin
    options: Mapping[str, Any]
    event: events.Outside
    reads: CellTotals | CellValues
    own: OwnMechanism = field(repr=False)
    premises: tuple[Premise, ...] = ()

    @property
    def name(self) -> str:
        """The mechanism and its package, as people are told."""
        return str(self.origin)

    def covers(self, apart: Apart) -> bool:
        """Whether it was priced for neighbours that are so far apart."""
        return self.event.sensitivity >= apart.l1

    def release(self, sealed: Sealed[Any] | None, bits: Bits = SYSTEM) -> OutsideValue:
        """What leaves; a failure tells nothing, not even its kind, which could be made of data."""
        assert sealed is not None
        try:
            return OutsideValue(_plain(self.own.release(sealed, bits)))
        except KeyboardInterrupt:
            stopped = True  # its text could be made of data, too
        except BaseException:  # (even what asks the process to end)
            stopped = False
        # Not inside the handler: so what was raised is not the context of this either.
        if stopped:
            raise KeyboardInterrupt
        raise MachineryError(f"{self.name} failed", "what was reserved stays spent")

    def recalled(self, body: Mapping[str, Any]) -> OutsideValue:
        """What was released before, from the ledger."""
        return OutsideValue(body["value"])

    def record(self) -> dict[str, Any]:
        """Whose mechanism it was, with which options, what it read, and what it said it costs."""
        reads = self.reads
        read = reads.contribution if isinstance(reads, CellTotals) else reads.ranked
        return {
            "outside": {
                "package": self.origin.package,
                "version": self.origin.version,
                "options": dict(self.options),
                "where": expression_json(reads.where),
                "keys": [expression_json(key) for key in reads.keys],
                "reads": contribution_json(read),
            },
            "mechanism": {"name": self.origin.name},
            "event": events.to_json(self.event),
        }


def outside_mechanism(
    origin: Origin, make: Factory, request: MechanismRequest, options: Mapping[str, Any]
) -> OutsideMechanism:
    """What a package makes of a request, refused where it cannot be used; nothing is paid yet.

    Raises a QuestionError for options that are wrong, as the package's own function may.
    """
    try:
        said = _plain(dict(options))
    except (TypeError, ValueError, RecursionError):
        raise QuestionError("options are numbers, texts and lists of them") from None
    own = _said(origin, lambda: make(request, **said))
    event, reads = _said(origin, lambda: (own.event, own.reads))
    wrong = _wrong_event(event, request.loss) or _wrong_reads(reads)
    if wrong:
        raise MachineryError(f"{origin} is not used: {wrong}", "nothing was spent; tell its author")
    return OutsideMechanism(origin, said, event, reads, own)


def _said(origin: Origin, ask: Callable[[], Any]) -> Any:
    """What the package says of itself. It knows public facts alone, so its refusals are told."""
    try:
        return ask()
    except AdomniaError:
        raise
    except Exception as error:
        hint = f"{type(error).__name__}: {str(error)[:200]}"
        raise QuestionError(f"{origin} cannot be made with these options", hint) from None


def _wrong_event(event: Any, offered: Loss) -> str:
    if type(event) is not events.Outside:
        return "its event is no `events.Outside`"
    parts = vars(event).values()
    if any(not isinstance(part, Fraction) or part < 0 for part in parts):
        return "its event has something else than exact amounts"
    costs = events.loss(event).amounts
    if not costs:
        return "it says that it costs nothing"
    dear = [name for name, amount in costs.items() if amount > getattr(offered, name)]
    return f"it costs more {dear[0]} than was offered" if dear else ""


def _wrong_reads(reads: Any) -> str:
    allowed = isinstance(reads, CellTotals | CellValues) and reads.most is None
    if isinstance(reads, CellTotals):
        allowed = allowed and isinstance(reads.contribution, _ADDING) and reads.grouping is None
    if not allowed:
        return "it reads what mechanisms of other packages may not"
    cells = public_cells(reads.keys)
    return "" if cells is not None and cells <= MAX_CELLS else "it reads too many cells"


def _plain(value: Any) -> Any:
    """The value as JSON has it; what JSON does not have is refused."""
    return json.loads(json.dumps(value, allow_nan=False))
