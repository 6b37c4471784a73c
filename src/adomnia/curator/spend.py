"""Spending: the one way in which data is used (`spend.md`).

A use is a value: what is measured, by which mechanisms, under which promise, of which state of the
data. `spend` reserves what it costs, reads, adds noise, records, and only then gives it away. It
is the only function that sees both the ledger and the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

from adomnia.curator.access import Watch
from adomnia.engines.engine import quietly
from adomnia.errors import MachineryError, ReusedKeyError
from adomnia.ledger.journal import Journal
from adomnia.ledger.reserve import Budgets, Granted, Reservation, answered, least, reserve
from adomnia.mechanisms.mechanism import Mechanism, Released
from adomnia.mechanisms.randomness import SYSTEM
from adomnia.privacy.events import Event, composed
from adomnia.privacy.premises import Facts, check_premises
from adomnia.privacy.reads import Reads
from adomnia.queries.blocks import Touched
from adomnia.queries.canonical import digest
from adomnia.schema.sealed import Sealed

__all__ = ["Backend", "Paid", "Payer", "Use", "spend"]

RECORD = 1
"""The version of the records of uses; they are read for ever (`spend.md`)."""


class Backend(Protocol):
    """Where the data and its ledger are; what is read of it is sealed, and of one moment."""

    @property
    def journal(self) -> Journal:
        """The ledger."""
        ...

    def budgets(self, analyst: str) -> Budgets:
        """The budgets of the data and of an analyst, as the policy says."""
        ...

    def check(self, mechanisms: Sequence[Mechanism[Any]]) -> None:
        """Refuse a mechanism that costs more than its event says, by this data's promise."""
        ...

    def ready(self, wanted: Sequence[Reads]) -> None:
        """Open anew what has died, and refuse what cannot be read safely, whatever the rows: what
        fails for such reasons shall fail before a debit."""
        ...

    def facts(self, version: str) -> Facts:
        """What is the same on all neighbours, of this state of the data."""
        ...

    @property
    def derived(self) -> Mapping[str, Any]:
        """Of which rows every use is, as the ledger records it, where these are derived."""
        ...

    def touched(self, wanted: Sequence[Reads]) -> Touched | None:
        """The blocks of rows that such statements can read, by the conditions they run with; None
        is all (`blocks.md`)."""
        ...

    def read(self, wanted: Sequence[Reads], version: str) -> Sequence[Sealed[Any]]:
        """The exact values, sealed, all of one moment of this state of the data."""
        ...


@dataclass(frozen=True)
class Payer:
    """Who pays: an analyst, perhaps in a session, and the budgets that bind them.

    Those of the data and of the analyst are the policy's, whatever is said here. A request that is
    repeated with the same `key` gets the same answer and is paid once.
    """

    analyst: str
    budgets: Budgets
    session: str | None = None
    key: str | None = None


@dataclass(frozen=True)
class Use:
    """One use of the data, made of public facts alone.

    `of` says of which rows and cells; `request` what must be equal for a key to mean the same;
    `priors` how many exact releases it was priced with; `findable` the digests by which later
    questions find what was released.
    """

    statement: str
    mechanisms: tuple[Mechanism[Any], ...]
    promise: Mapping[str, Any]
    version: str
    of: Mapping[str, Any] = field(default_factory=dict)
    request: str | None = None
    priors: int = 0
    findable: tuple[str, ...] = ()
    what: str = "question"

    @property
    def event(self) -> Event:
        """All that it costs."""
        return composed(mechanism.event for mechanism in self.mechanisms)

    @property
    def reads(self) -> tuple[Reads, ...]:
        """The exact values that its mechanisms need, in their order."""
        wanted = (mechanism.reads for mechanism in self.mechanisms)
        return tuple(reads for reads in wanted if reads is not None)

    def record(self) -> dict[str, Any]:
        """What the ledger keeps of it: canonical JSON, from which it can be priced anew."""
        return {
            "record": RECORD,
            **self.of,
            "parts": [mechanism.record() for mechanism in self.mechanisms],
            "premises": sorted({p.name for m in self.mechanisms for p in m.premises}),
            "data": self.version,
            "measured": list(self.findable),
        }

    @property
    def shape(self) -> str:
        """A digest of what is measured: an answer under a key is read only as what it was."""
        parts = [{k: v for k, v in m.record().items() if k != "event"} for m in self.mechanisms]
        return digest([dict(self.of), parts])


@dataclass(frozen=True)
class Paid:
    """What was released, each by its mechanism, and the ledger's entry for it."""

    released: tuple[Any, ...]
    granted: Granted

    @property
    def receipt(self) -> str:
        """What the analyst keeps as proof of payment."""
        return self.granted.receipt

    @property
    def remaining(self) -> Mapping[str, Fraction]:
        """What can still be spent: of each currency the least that any budget leaves."""
        return least(self.granted.remaining)

    @property
    def repeated(self) -> bool:
        """Whether this was paid and answered before."""
        return self.granted.repeated


def spend(backend: Backend, payer: Payer, use: Use, watch: Watch | None = None) -> Paid:
    """Reserve (durable), read, add noise, record; nothing is shown before it is recorded."""
    watch, use = watch or Watch(), replace(use, of={**use.of, **backend.derived})
    facts = backend.facts(use.version)
    for mechanism in use.mechanisms:
        check_premises(mechanism.premises, facts)
    backend.check(use.mechanisms)
    backend.ready(use.reads)
    budgets = replace(backend.budgets(payer.analyst), session=payer.budgets.session)
    granted = reserve(
        backend.journal, _reservation(payer, use, backend.touched(use.reads)), budgets
    )
    watch.stage("paid")
    if granted.answer is not None:
        return Paid(_recalled(use, granted.answer), granted)
    with watch.running():
        released = _computed(use.what, lambda: _released(backend, use))
    answered(backend.journal, granted.receipt, _body(use, released))
    watch.tell("answered")
    return Paid(released, granted)


def _reservation(payer: Payer, use: Use, blocks: Touched | None) -> Reservation:
    return Reservation(
        analyst=payer.analyst,
        session=payer.session,
        key=payer.key,
        statement=use.statement,
        event=use.event,
        use=use.record(),
        request=use.request,
        priors=use.priors,
        promise=use.promise,
        blocks=blocks,
    )


def _released(backend: Backend, use: Use) -> tuple[Released, ...]:
    """What every mechanism lets out, in order; those that need no data read none."""
    sealed = iter(backend.read(use.reads, use.version))
    return tuple(
        mechanism.release(None if mechanism.reads is None else next(sealed), SYSTEM)
        for mechanism in use.mechanisms
    )


def _body(use: Use, released: tuple[Released, ...]) -> dict[str, Any]:
    parts = [part.to_json() for part in released]
    return {"released": parts, "shape": use.shape}


def _recalled(use: Use, body: Mapping[str, Any]) -> tuple[Any, ...]:
    """What was released under this key before, read only as what it was."""
    if body.get("shape") != use.shape:
        raise ReusedKeyError("this key was used under another policy", "use a new key")
    parts = zip(use.mechanisms, body["released"], strict=True)
    return tuple(mechanism.recalled(part) for mechanism, part in parts)


def _computed(what: str, work: Any) -> Any:
    """What `work` gives; a failure tells its kind alone, since its message could quote data."""
    return quietly(work, lambda kind: MachineryError(f"the {what} could not be computed ({kind})"))
