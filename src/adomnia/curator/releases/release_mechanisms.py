"""Mechanisms that release tables: by the core, by the papers' methods, or one among all that agree.

Each reads all marginals once and lets out tables that agree with each other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.answers.released_tables import registered
from adomnia.curator.releases.consistent import Consistent
from adomnia.curator.releases.hidden_rows import (
    HiddenNoise,
    HiddenRows,
    bounded_rows,
    noisy_rows,
)
from adomnia.curator.releases.magnitudes import Magnitude
from adomnia.curator.releases.release_keys import TableLayout
from adomnia.curator.releases.structural_zeros import Zeros, in_table
from adomnia.marginals import release as core
from adomnia.marginals.adaptive import AdaptivePlan, release_adaptively
from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.marginals.paper.fourier import FourierMethod, Options, release_fourier
from adomnia.marginals.paper.promise import MarginalPromise
from adomnia.marginals.workload import Subset, Workload
from adomnia.mechanisms.mechanism import Releasing
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.privacy import events
from adomnia.privacy.contribution_record import contribution_json
from adomnia.privacy.events import Event
from adomnia.privacy.premises import Premise
from adomnia.privacy.reads import MarginalTables, Reads
from adomnia.queries.canonical import expression_json
from adomnia.queries.expression import Column, columns

__all__ = ["CoreRelease", "DrawnTable", "ParityRelease", "ReleasedTables", "SumRelease"]

Progress = Callable[[str, float], None]
Agree = Callable[
    [core.ReleasedMarginals],
    tuple[Mapping[Subset, NDArray[Any]], SyntheticRecords, tuple[str, ...]],
]
"""Tables and records moved to agree with what was released exactly, and what to say of it."""


@dataclass(frozen=True, eq=False)
class ReleasedTables:
    """Tables, their margins, records where there are any, and what should be said of them.

    Tables are as they were measured, with cells that are not shown; what is `kept` has none.
    """

    tables: Mapping[Subset, NDArray[Any]]
    margins: Mapping[Subset, NDArray[np.float64]]
    microdata: SyntheticRecords | None = None
    notes: tuple[str, ...] = ()
    kept: tuple[Mapping[str, Any], ...] = ()
    """What later questions may be answered from."""
    misfits: Mapping[Subset, float] = field(default_factory=dict)
    """How far each table is from its own noisy measurement, as root of the mean square."""
    unbiased: Mapping[Subset, NDArray[Any]] = field(default_factory=dict)
    """The same tables before they were fitted, where margins are known of these."""
    hidden: Mapping[int, HiddenRows] = field(default_factory=dict)
    """By the place of a key how many rows have no value of it, in cells that are not shown."""

    def to_json(self) -> dict[str, Any]:
        """What the ledger keeps: the tables from which later questions are answered."""
        return {"marginals": list(self.kept)}


@dataclass(frozen=True, eq=False)
class _Tables(Releasing, ABC):
    """A release of marginals: which columns, and how many rows it was priced for."""

    layout: TableLayout
    event: Event
    reads: Reads | None
    moves: Fraction
    confidence: float
    premises: tuple[Premise, ...] = ()

    @property
    def workload(self) -> Workload:
        """What is measured."""
        return self.layout.measured

    @property
    @abstractmethod
    def name(self) -> str:
        """The method, as people are told."""

    @abstractmethod
    def release(self, sealed: Any, bits: Bits = SYSTEM) -> ReleasedTables:
        """The tables, and all that follows from their noisy values."""

    def recalled(self, body: Mapping[str, Any]) -> ReleasedTables:
        """What was released before; of a release the ledger keeps single tables alone."""
        return ReleasedTables({}, {}, kept=tuple(body["marginals"]))

    def record(self) -> dict[str, Any]:
        """The columns, and the rows it was priced for: all that pricing it anew needs."""
        names, read = self.workload.names, self.reads
        marginals = [[names[place] for place in subset] for subset in self.workload.marginals]
        return {
            "tables": _columns(read) if isinstance(read, MarginalTables) else list(names),
            "marginals": marginals,
            **_beside(self.reads, range(len(names))),
            "moves": str(self.moves),
            "mechanism": {"name": self.name},
            "event": events.to_json(self.event),
        }

    def _kept(
        self,
        tables: Mapping[Subset, NDArray[Any]],
        margins: Mapping[Subset, NDArray[Any]],
        hidden: Mapping[int, HiddenRows],
    ) -> tuple[Mapping[str, Any], ...]:
        named = {
            s: tuple(self.workload.names[place] for place in s) for s in self.workload.marginals
        }
        named = {s: names for s, names in named.items() if np.isfinite(margins[s]).all()}
        kept = registered(
            {named[s]: tables[s][self.layout.shown(s)] for s in named},
            {named[s]: margins[s][self.layout.shown(s)] for s in named},
            self.confidence,
        )
        names, gone = self.workload.names, {s: [p for p in s if p in hidden] for s in named}
        told = ({"not_shown": {names[p]: hidden[p].to_json() for p in gone[s]}} for s in named)
        return tuple(
            {**one, **_beside(self.reads, s), **more}
            for one, s, more in zip(kept, named, told, strict=False)
        )


def _columns(reads: MarginalTables) -> list[str]:
    """The columns that decide in which cell a row is, or that it is in none."""
    read = (column.name for expr in (*reads.keys, reads.where) for column in columns(expr))
    return list(dict.fromkeys(read))


def _beside(reads: Reads | None, places: Iterable[int]) -> dict[str, Any]:
    """Of a record, what names do not tell: keys that are no columns, and of which rows it is."""
    if not isinstance(reads, MarginalTables):
        return {}
    keys = [reads.keys[place] for place in places]
    plain = all(isinstance(key, Column) for key in keys)
    told = {} if plain else {"keys": [expression_json(key) for key in keys]}
    return told if reads.where is None else {**told, "where": expression_json(reads.where)}


@dataclass(frozen=True, eq=False)
class CoreRelease(_Tables):
    """Noise on residuals or views, fitted to whole records unless `unbiased` tables are asked."""

    plan: core.MarginalPlan | AdaptivePlan = field(kw_only=True)
    unbiased: bool = field(default=False, kw_only=True)
    zeros: Zeros = field(default_factory=dict, kw_only=True)
    hidden: HiddenNoise = field(default_factory=HiddenNoise, kw_only=True)
    progress: Progress | None = field(default=None, kw_only=True)
    agree: Agree = field(kw_only=True)

    @property
    def name(self) -> str:
        """The strategy."""
        return self.plan.name

    def release(self, sealed: Any, bits: Bits = SYSTEM) -> ReleasedTables:
        """Measured once; what is random afterwards protects nobody."""
        made = self._made(sealed, bits)
        if self.unbiased:
            margins = {
                s: np.full(t.shape, made.unbiased_margins[s]) for s, t in made.unbiased.items()
            }
            said = ("unbiased: cells may be negative and fractional",)
            return self._released(made.unbiased, margins, None, said, made.unbiased)
        tables, records, agreed = self.agree(made)
        notes = (*agreed, *self._too_noisy(len(records)), *_models(made))
        released = self._released(tables, made.margins, records, notes, made.unbiased)
        misfits = _misfits(released.tables, made.unbiased)
        notes = (*released.notes, *self._missed(misfits))
        return replace(released, misfits=misfits, notes=notes)

    def _made(self, sealed: Any, bits: Bits) -> core.ReleasedMarginals:
        if isinstance(self.plan, AdaptivePlan):
            return release_adaptively(
                self.plan, sealed, bits, self.progress,
                forbidden=dict(self.zeros), last=self.hidden.outstanding,
                confidence=self.confidence,
            )  # fmt: skip
        return core.release_marginals(
            self.plan, sealed, bits, self.progress,
            microdata=not self.unbiased, forbidden=dict(self.zeros),
            last=self.hidden.outstanding, confidence=self.confidence,
        )  # fmt: skip

    def _released(
        self,
        tables: Mapping[Subset, NDArray[Any]],
        margins: Mapping[Subset, NDArray[np.float64]],
        records: SyntheticRecords | None,
        notes: tuple[str, ...],
        unbiased: Mapping[Subset, NDArray[Any]],
    ) -> ReleasedTables:
        """With a certain zero in every cell that no possible row is in."""
        empty = {s: in_table(self.zeros, s, table.shape) for s, table in tables.items()}
        tables = {s: np.where(empty[s], 0, table) for s, table in tables.items()}
        margins = {s: np.where(empty[s], 0.0, margin) for s, margin in margins.items()}
        if isinstance(self.plan, AdaptivePlan):
            hidden = bounded_rows(self.layout, tables, margins, at_once=False)
        else:
            whole = records is not None
            hidden = noisy_rows(self.layout, self.hidden, tables, unbiased, whole)
        kept = self._kept(tables, margins, hidden)
        return ReleasedTables(
            tables, margins, records, notes, kept, unbiased=unbiased, hidden=hidden
        )

    def _missed(self, misfits: Mapping[Subset, float]) -> tuple[str, ...]:
        """That records are much farther from a measurement than its noise."""
        far = {
            subset: misfit
            for subset, misfit in misfits.items()
            if subset in self.plan.deviations and misfit > 3 * self.plan.deviations[subset] + 1
        }
        if not far:
            return ()
        worst = max(far, key=lambda subset: far[subset])
        name = " × ".join(self.workload.names[place] for place in worst)
        return (
            f"the records miss what was measured in {len(far):,} tables: most in {name}, by "
            f"{far[worst]:,.0f} where noise is {self.plan.deviations[worst]:,.1f}",
        )

    def _too_noisy(self, rows: int) -> tuple[str, ...]:
        """A warning where the noise of a whole table is expected to rival its rows."""
        share = {
            subset: 0.8 * deviation * self.workload.cells(subset) / max(1, rows)
            for subset, deviation in self.plan.deviations.items()
        }
        worst = [subset for subset, part in share.items() if part > 1]
        if not worst:
            return ()
        most = max(share.values())
        return (
            f"{len(worst)} of {len(share)} tables have more noise than rows (up to {most:,.1f} "
            "times, before fitting): ask for fewer or smaller tables, or pay more",
        )


@dataclass(frozen=True, eq=False)
class SumRelease(_Tables):
    """What rows add up to in the cells of the tables, unbiased (`magnitudes.md`)."""

    plan: core.MarginalPlan = field(kw_only=True)
    magnitude: Magnitude = field(kw_only=True)

    @property
    def name(self) -> str:
        """The strategy."""
        return f"{self.plan.name}, of sums"

    def record(self) -> dict[str, Any]:
        """As of counts, and what one row could add."""
        added = contribution_json(self.magnitude.contribution)
        return {**super().record(), "contribution": added}

    def release(self, sealed: Any, bits: Bits = SYSTEM) -> ReleasedTables:
        """Measured once; the sums are made of them together with the counts."""
        made = core.release_marginals(
            self.plan, sealed, bits, microdata=False, confidence=self.confidence
        )
        return ReleasedTables({}, {}, unbiased=made.unbiased)


def _models(made: core.ReleasedMarginals) -> tuple[str, ...]:
    """That some tables were not measured, and what they are then."""
    many = sum(bool(np.isinf(margin).any()) for margin in made.margins.values())
    if not many:
        return ()
    whole = len(made.margins)
    return (
        f"{whole - many:,} of {whole:,} tables were measured; the others are a model: they follow "
        "from the made-up records, and have no margin",
    )


@dataclass(frozen=True, eq=False)
class ParityRelease(_Tables):
    """The papers' methods: noise on parities, or on the marginals' own cells."""

    method: FourierMethod = field(kw_only=True)
    promise: MarginalPromise = field(kw_only=True)

    @property
    def name(self) -> str:
        """The noise."""
        kind = "gaussian" if self.promise.loss.rho else "laplace"
        return f"{kind} noise on parities"

    def release(self, sealed: Any, bits: Bits = SYSTEM) -> ReleasedTables:
        """By the method's name; it bounds no single cell, so nothing is kept for later."""
        options = Options(method=self.method, delta=1 - self.confidence)
        made = release_fourier(self.workload, sealed, self.promise, options, bits)
        margins = {s: np.full(t.shape, float(made.bound[s])) for s, t in made.marginals.items()}
        notes = list(made.notes)
        if made.theorem:
            widest = max(made.theorem.values())
            notes.append(f"Theorem 5 bounds the L1 error of a table by {widest:,.0f} at the most")
        hidden = bounded_rows(self.layout, made.marginals, margins, at_once=True)
        return ReleasedTables(made.marginals, margins, None, tuple(notes), hidden=hidden)


@dataclass(frozen=True, eq=False)
class DrawnTable(_Tables):
    """One table, drawn among all that agree with what is public (`consistent.md`)."""

    among: Consistent = field(kw_only=True)
    epsilon: Fraction = field(kw_only=True)

    @property
    def name(self) -> str:
        """Among how many it is drawn."""
        many = len(self.among.tables)
        return f"a table drawn among the {many:,} that agree with what is public"

    def release(self, sealed: Any, bits: Bits = SYSTEM) -> ReleasedTables:
        """A table near the true one; the only one there is, where nothing is read."""
        (subset,) = self.workload.marginals
        table = self.among.draw(sealed, self.epsilon, bits)
        weights = self.among.weights(table, self.epsilon)
        off = self.among.margins(table, weights, self.confidence)
        hidden = self.among.hidden(table, weights, self.confidence)
        notes = ("margins: all tables that agree with what is public being as likely beforehand",)
        tables, margins = {subset: self.among.laid_out(table)}, {subset: off}
        kept, records = self._kept(tables, margins, hidden), records_of(tables[subset])
        return ReleasedTables(tables, margins, records, notes, kept, hidden=hidden)


def _misfits(
    tables: Mapping[Subset, NDArray[Any]], unbiased: Mapping[Subset, NDArray[Any]]
) -> dict[Subset, float]:
    """How far fitted tables are from the unbiased ones; both are public, so this costs nothing."""
    return {
        subset: float(np.sqrt(np.mean((tables[subset] - known) ** 2))) if known.size else 0.0
        for subset, known in unbiased.items()
    }


def records_of(table: NDArray[np.int64]) -> SyntheticRecords:
    """The records of a table of all attributes: the places of its cells, with their counts."""
    places = np.argwhere(table > 0)
    return SyntheticRecords(places, table[table > 0])
