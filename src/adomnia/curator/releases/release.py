"""Publishing: tables that agree with each other, planned, paid for, measured and fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, Literal, NoReturn, get_args

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.exact_releases.repricing import moves
from adomnia.curator.releases.band_search import (
    RowsMissed,
    find_bands,
    levels_of,
    refuse_search,
    rehearse_search,
)
from adomnia.curator.releases.bands import BandRequest, Bands, even_bands, public_bands
from adomnia.curator.releases.consistent import MOST_CELLS, Consistent, agreeing
from adomnia.curator.releases.release_keys import TableLayout, table_layout
from adomnia.curator.releases.release_mechanisms import (
    CoreRelease,
    DrawnTable,
    ParityRelease,
    ReleasedTables,
    records_of,
)
from adomnia.curator.releases.structural_zeros import Zeros, in_table, structural_zeros
from adomnia.curator.session import Session
from adomnia.curator.spend import Payer, Use, spend
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import QuestionError
from adomnia.ledger.account import RELEASED
from adomnia.marginals import release as core
from adomnia.marginals.core.cost import total_is_public
from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.marginals.paper.fourier import FourierMethod, Options, is_fourier, release_fourier
from adomnia.marginals.paper.promise import MarginalPromise
from adomnia.marginals.workload import Subset, Workload
from adomnia.policy.policy import refuse_free_lunch
from adomnia.privacy import events
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.premises import ExactReleasesHold, Facts, Premise, RowsStay, check_premises
from adomnia.queries.canonical import digest

__all__ = [
    "CONSISTENT",
    "Release",
    "ReleaseMethod",
    "ReleasePlan",
    "ReleaseSpec",
    "plan_release",
    "publish",
    "release_mechanism",
]

ReleaseMethod = Literal["microdata", "consistent", FourierMethod]
"""How tables are made that agree with each other."""

CONSISTENT: Final = "consistent"
"""The method that draws a whole table among all that agree with what is public."""

SEARCHED: Final = Fraction(1, 10)
"""The part of a release's loss that finds bands, where any are to be found."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class ReleaseSpec:
    """What is to be published: all marginals up to `ways`, or those listed by their attributes."""

    loss: Loss
    ways: int | None = None
    marginals: tuple[tuple[str, ...], ...] = ()
    method: ReleaseMethod = "microdata"
    unbiased: bool = False
    confidence: float = 0.95
    bins: tuple[BandRequest, ...] = ()

    @property
    def searched(self) -> tuple[BandRequest, ...]:
        """The columns whose bands are found in the data, and paid for."""
        return tuple(one for one in self.bins if one.is_private)

    @property
    def tables_loss(self) -> Loss:
        """What the tables cost: all of it, or what finding bands leaves."""
        return _part(self.loss, 1 - SEARCHED) if self.searched else self.loss

    @property
    def level_loss(self) -> Loss:
        """What each question costs that finds bands, an even part of their share."""
        levels = sum(levels_of(one.many or 0) for one in self.searched)
        return _part(self.loss, SEARCHED / levels)


@dataclass(frozen=True)
class ReleasePlan:
    """What a release would be, before anything is spent.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     planned = database.plan_release(marginals=["sex,region"], epsilon=1)
    >>> planned.mechanism, planned.to_json()["cells"]
    ('laplace noise on views', 8)
    """

    spec: ReleaseSpec
    layout: TableLayout
    event: events.Event
    mechanism: str
    deviations: Mapping[Subset, float] = field(default_factory=dict)
    marginal_plan: core.MarginalPlan | None = None
    priors: int = 0
    among: Consistent | None = None
    zeros: Zeros = field(default_factory=dict)
    bands: tuple[Bands, ...] = ()
    missed: Mapping[str, RowsMissed] = field(default_factory=dict)
    """By how many rows edges that are found miss their ranks, by their column."""

    @property
    def spent(self) -> Loss:
        """What the tables cost, with what finds their bands."""
        return self.spec.loss if self.spec.searched else events.loss(self.event)

    @property
    def workload(self) -> Workload:
        """The tables, by the places of their attributes."""
        return self.layout.workload

    @property
    def makes_records(self) -> bool:
        """Whether its tables are counted from made-up records."""
        return not self.spec.unbiased and not is_fourier(self.spec.method)

    def to_json(self) -> dict[str, Any]:
        """The plan as plain JSON values; errors are standard deviations of a cell."""
        return {
            "spent": {name: str(value) for name, value in self.spent.amounts.items()},
            "method": self.spec.method,
            "mechanism": self.mechanism,
            "marginals": len(self.workload.marginals),
            "cells": self.workload.total_cells,
            "deviations": {named(self.workload, s): d for s, d in self.deviations.items()},
            "left_out": [vars(one) for one in self.layout.left_out],
            "impossible": [one.when for one in self.layout.impossible],
            **({"bands": [self._bands_json(one) for one in self.bands]} if self.bands else {}),
        }

    def _bands_json(self, bands: Bands) -> dict[str, Any]:
        """Bands with their edges, or that these will be found, and for how much."""
        asked = next(one for one in self.spec.bins if one.column == bands.column)
        if bands.found or not asked.is_private:
            return bands.to_json()
        levels = levels_of(asked.many or 0)
        cost = _part(self.spec.level_loss, Fraction(levels))
        return {
            "column": bands.column,
            "key": bands.name,
            "bands": asked.many,
            "begins": "will be found",
            "rows_missed": vars(self.missed[bands.column]),
            "spent": {name: str(value) for name, value in cost.amounts.items()},
        }


@dataclass(frozen=True)
class Release:
    """What was released: tables, their margins, and the ledger's receipt.

    Tables and margins are found by the places of their attributes in the workload of the
    `plan`; `values` has the values along each of them. `microdata` are the made-up records
    from which all tables were counted, where there are any.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     published = database.release(database.plan_release(marginals=["sex"], epsilon=1))
    >>> published.values, published.tables[0,].shape
    ((('F', 'M'),), (2,))
    """

    plan: ReleasePlan
    values: tuple[tuple[Any, ...], ...]
    tables: Mapping[Subset, NDArray[Any]]
    margins: Mapping[Subset, NDArray[np.float64]]
    microdata: SyntheticRecords | None
    receipt: str
    policy: str
    remaining: Mapping[str, Fraction]
    notes: tuple[str, ...] = ()
    table: str = ""
    version: str | None = None
    """Which data it was, by the curator's word."""
    misfits: Mapping[Subset, float] = field(default_factory=dict)
    """How far each table is from its own noisy measurement, as root of the mean square."""


def named(workload: Workload, subset: Subset) -> str:
    """A marginal by the names of its attributes."""
    return "__".join(workload.names[place] for place in subset)


def plan_release(backend: TableBackend, spec: ReleaseSpec) -> ReleasePlan:
    """The plan of a release; reads no data and spends nothing."""
    planned = _plan_release(backend, spec)
    layout, priors = planned.layout, backend.public()[0]
    zeros, missed = structural_zeros(layout.keys, layout.impossible), dict[str, RowsMissed]()
    if spec.searched:
        missed = rehearse_search(backend, spec.searched, spec.level_loss, spec.confidence)
    return replace(planned, priors=priors, zeros=zeros, missed=missed)


def _plan_release(backend: TableBackend, spec: ReleaseSpec) -> ReleasePlan:
    refuse_free_lunch(backend.policy, "tables are not released")
    if backend.policy.impossible and spec.method != "microdata" and _is_method(spec.method):
        raise QuestionError(
            f"--method {spec.method} does not keep cells empty that [[impossible]] names",
            "use the other method, microdata",
        )
    bands = tuple(_bands(backend, one) for one in spec.bins)
    layout = table_layout(backend, spec.ways, spec.marginals, bands)
    workload = layout.workload
    if is_fourier(spec.method):
        kind = "gaussian" if spec.loss.rho else "laplace"
        event, name = _event(spec.tables_loss), f"{kind} noise on parities"
        planned = ReleasePlan(spec, layout, event, name, bands=bands)
        _rehearse(backend, planned, spec.method)
        return planned
    if spec.method == CONSISTENT:
        return _one_of_all(backend, spec, layout)
    if not _is_method(spec.method):
        hint = "one of " + ", ".join(get_args(ReleaseMethod))
        raise QuestionError(f"there is no method {spec.method[:40]!r}", hint)
    plan = core.plan_marginals(workload, spec.tables_loss, _neighbors(backend, layout))
    if not spec.unbiased:
        core.refuse_records(plan)
    plan.margins(spec.confidence)  # kept by the plan: what it decides is known before it is paid
    return ReleasePlan(spec, layout, plan.event, plan.name, plan.deviations, plan, bands=bands)


def _one_of_all(backend: TableBackend, spec: ReleaseSpec, layout: TableLayout) -> ReleasePlan:
    """A whole table drawn among all that agree with what is public."""
    workload = layout.workload
    if len(workload.marginals) != 1 or spec.loss.rho:
        raise QuestionError(
            "this method publishes one table, for an epsilon",
            "for example --marginals sex,age --epsilon 1",
        )
    if not layout.plain:
        raise QuestionError(
            f"--method {CONSISTENT} takes attributes as they are", "use the other method, microdata"
        )
    among = Consistent(backend, workload.names)
    name = f"a table drawn among the {len(among.tables):,} that agree with what is public"
    event = events.Exponential(spec.tables_loss.epsilon, Fraction(1))
    free = not len(among.moves)
    return ReleasePlan(spec, layout, events.Free() if free else event, name, among=among)


def _bands(backend: TableBackend, request: BandRequest) -> Bands:
    """Public bands; or, in the place of those that will be found, as many."""
    if not request.is_private:
        return public_bands(backend.policy, request)
    refuse_search(backend)
    return even_bands(backend.policy, request)


def _part(loss: Loss, share: Fraction) -> Loss:
    """A part of an epsilon or of a rho."""
    return Loss.concentrated(loss.rho * share) if loss.rho else Loss.pure(loss.epsilon * share)


def _is_method(name: str) -> bool:
    return name in {"microdata", CONSISTENT} or is_fourier(name)


class _Reached(Exception):
    """The data would be read now."""


def _rehearse(backend: TableBackend, planned: ReleasePlan, method: FourierMethod) -> None:
    """Go as far as the data, so that what cannot be released is refused before it is paid."""

    def source(_: object) -> NoReturn:
        raise _Reached

    spec, workload = planned.spec, planned.workload
    options = Options(method=method, delta=1 - spec.confidence)
    with suppress(_Reached):
        release_fourier(workload, source, _promise(backend, planned), options)


def _event(loss: Loss) -> events.Event:
    one = Fraction(1)
    return events.Gaussian(loss.rho, one) if loss.rho else events.Laplace(loss.epsilon, one)


# Doing it


def publish(
    backend: TableBackend, planned: ReleasePlan, payer: Payer, progress: Progress | None = None
) -> Release:
    """Pay, read the data once, add the noise, and fit what is published.

    Bands are found first, where any are to be; what was found is known from then on, so that a
    release that ends early goes on from there.
    """
    if planned.spec.searched:
        planned = _with_bands(backend, planned, payer)
    version = backend.version()
    use = Use(
        statement=f"RELEASE {len(planned.workload.marginals)} marginals ({planned.spec.method})",
        mechanisms=(release_mechanism(backend, planned, progress),),
        promise=backend.knowledge.promise,
        version=version,
        priors=planned.priors,
        findable=(RELEASED + digest(version),),
        what="release",
    )
    paid = spend(backend, payer, use)
    made: ReleasedTables = paid.released[0]
    left = paid.remaining
    values = tuple(key.values for key in planned.layout.keys)
    return Release(
        planned, values, made.tables, made.margins, made.microdata, paid.receipt,
        backend.policy.digest, left, (*made.notes, *_impossible_note(planned)),
        backend.policy.table, backend.policy.version, made.misfits,
    )  # fmt: skip


def _with_bands(backend: TableBackend, planned: ReleasePlan, payer: Payer) -> ReleasePlan:
    """The same plan of the bands that are found: as many, so that nothing else changes in it."""
    spec = planned.spec
    session = Session(backend, payer.analyst, payer.session, payer.budgets.session)
    found = find_bands(session, spec.searched, spec.level_loss, planned.event)
    bands = tuple(found.get(one.column, one) for one in planned.bands)
    layout = table_layout(backend, spec.ways, spec.marginals, bands)
    zeros = structural_zeros(layout.keys, layout.impossible)
    return replace(planned, layout=layout, bands=bands, zeros=zeros)


def _impossible_note(planned: ReleasePlan) -> tuple[str, ...]:
    """That rows may be left out; how many is not paid for."""
    listed = "; ".join(one.when for one in planned.layout.impossible)
    return (f"rows that cannot be are in no table: {listed}",) if listed else ()


def release_mechanism(
    backend: TableBackend, planned: ReleasePlan, progress: Progress | None = None
) -> CoreRelease | ParityRelease | DrawnTable:
    """The mechanism of the spec's method: what is measured is what was priced."""
    spec, layout, workload = planned.spec, planned.layout, planned.workload
    premises: tuple[Premise, ...] = (ExactReleasesHold(),) if planned.priors else ()
    if planned.among is None and total_is_public(_neighbors(backend, layout)):
        premises = (*premises, RowsStay())  # the number of rows comes out as it is
    if planned.among is not None:
        moved = Fraction(planned.among.unit * backend.policy.neighbors.group)
        return DrawnTable(
            workload, planned.event, planned.among.reads, moved, spec.confidence, premises,
            among=planned.among, epsilon=spec.tables_loss.epsilon,
        )  # fmt: skip
    common = (workload, planned.event, layout.reads, _moved(backend, layout))
    if is_fourier(spec.method):
        return ParityRelease(
            *common, spec.confidence, premises,
            method=spec.method, promise=_promise(backend, planned),
        )  # fmt: skip
    assert planned.marginal_plan is not None
    return CoreRelease(
        *common, spec.confidence, premises,
        plan=planned.marginal_plan, unbiased=spec.unbiased, zeros=planned.zeros, progress=progress,
        agree=lambda made: _agreed(backend, planned, made),
    )  # fmt: skip


def _moved(backend: TableBackend, layout: TableLayout) -> Fraction:
    """How many rows come and go between the neighbours that it is priced for."""
    neighbors = _neighbors(backend, layout)
    rows = (neighbors.rows or 1) * neighbors.group * (2 if neighbors.replaces else 1)
    return Fraction(rows)


def _promise(backend: TableBackend, planned: ReleasePlan) -> MarginalPromise:
    layout = planned.layout
    sensitive = _sensitive(backend, layout)
    if sensitive is not None:
        check_premises((RowsStay(),), Facts("", rows_stay=backend.policy.rows_stay))
    return MarginalPromise(planned.spec.tables_loss, _neighbors(backend, layout), sensitive)


def _neighbors(backend: TableBackend, layout: TableLayout) -> Neighbors:
    """The neighbours a release is priced for.

    A row whose value becomes NULL leaves the tables of attributes that are not nullable, one that
    the policy says cannot be is in none, and a line of a text file may be read as no row. So a
    changed row is then priced as one that goes and one that comes, and the total is not public.
    With exact releases public, as many rows come and go as induced neighbours differ in.
    """
    neighbors = backend.policy.neighbors
    known = backend.public()[1]
    if known:
        rows = moves(backend.policy, layout.columns, known)
        if rows == 0:
            raise QuestionError(
                "these tables are already public: they follow from what was released exactly",
                "ask for them, where the released numbers were given",
            )
        return Neighbors("unbounded", None, rows)
    # Of an expression nobody vouches that all its values are listed: a row may have another.
    nullable = layout.plain and all(key.null for key in layout.keys)
    stays = nullable and backend.policy.rows_stay and not layout.impossible
    if stays or not neighbors.replaces:
        return neighbors
    return Neighbors("unbounded", neighbors.rows, 2 * neighbors.group)


def _agreed(
    backend: TableBackend, planned: ReleasePlan, made: core.ReleasedMarginals
) -> tuple[Mapping[Subset, NDArray[Any]], SyntheticRecords, tuple[str, ...]]:
    """Tables and records that agree with what was released exactly, as far as can be."""
    assert made.microdata is not None
    workload = planned.workload
    if not backend.public()[1]:
        return made.marginals, made.microdata, ()
    whole: NDArray[np.int64] | None = None
    if planned.layout.plain and np.prod(workload.sizes, dtype=float) <= MOST_CELLS:
        table = made.microdata.tabulate(workload.sizes, (*range(len(workload.sizes)),))
        whole = agreeing(backend, workload.names, table)
    if whole is None or (whole[in_table(planned.zeros, (*range(whole.ndim),), whole.shape)]).any():
        note = "the tables were not moved to agree with what was released exactly"
        return made.marginals, made.microdata, (note,)
    sums = {
        subset: whole.sum(axis=tuple(i for i in range(whole.ndim) if i not in subset))
        for subset in workload.marginals
    }
    return sums, records_of(whole), ("the tables agree with what was released exactly",)


def _sensitive(backend: TableBackend, layout: TableLayout) -> Subset | None:
    """The keys that need protection, where the policy says that some columns do not."""
    named = backend.policy.attributes.items()
    public = {name for name, attribute in named if not attribute.sensitive}
    places = tuple(i for i, key in enumerate(layout.keys) if not {*key.columns} <= public)
    return None if len(places) == len(layout.keys) else places
