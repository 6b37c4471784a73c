"""Publishing: tables that agree with each other, planned, paid for, measured and fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from adomnia.curator.releases.cumulative import (
    CountRange,
    CumulativePlan,
    CumulativeTable,
    cumulative_tables,
    plan_cumulative,
    range_of,
)
from adomnia.curator.releases.magnitudes import Magnitude, bind_magnitudes, neighbors_of
from adomnia.curator.releases.release_keys import TableLayout, refuse_names, table_layout
from adomnia.curator.releases.release_mechanisms import (
    CoreRelease,
    DrawnTable,
    ParityRelease,
    ReleasedTables,
    SumRelease,
    records_of,
)
from adomnia.curator.releases.structural_zeros import Zeros, in_table, structural_zeros
from adomnia.curator.releases.sum_noise import SumNoise
from adomnia.curator.releases.sum_tables import SumTables, sum_tables
from adomnia.curator.session import Session
from adomnia.curator.spend import Payer, Use, spend
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import QuestionError
from adomnia.ledger.account import RELEASED
from adomnia.marginals import release as core
from adomnia.marginals.core.cost import total_is_public
from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.marginals.core.range_noise import RangeNoise
from adomnia.marginals.paper.fourier import FourierMethod, Options, is_fourier, release_fourier
from adomnia.marginals.paper.promise import MarginalPromise
from adomnia.marginals.workload import Subset, Workload
from adomnia.policy.policy import refuse_free_lunch
from adomnia.priors.prior_knowledge import PriorKnowledge
from adomnia.privacy import events
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.premises import ExactReleasesHold, Facts, Premise, RowsStay, check_premises
from adomnia.queries.canonical import digest
from adomnia.queries.key_list import split_keys

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

    sums: tuple[str, ...] = ()
    cumulative: tuple[str, ...] = ()


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

    sums: tuple[SumNoise, ...] = ()
    cumulative: CumulativePlan = field(default_factory=CumulativePlan)

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
            "parts": {
                name: {currency: str(part) for currency, part in amounts.items()}
                for name, amounts in self.parts.items()
            },
            "sums": {
                one.magnitude.name: {
                    named(self.workload, s): one.deviation(s) for s in self.workload.marginals
                }
                for one in self.sums
            },
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

    @property
    def parts(self) -> dict[str, dict[str, Fraction]]:
        """What each part of it costs: the counts, and each of the sums."""
        counts = self.event if self.marginal_plan is None else self.marginal_plan.event
        paid = {f"sums of {one.magnitude.name}": one.sums.event for one in self.sums}
        named = {"counts": counts, **paid}
        return {name: dict(events.loss(event).amounts) for name, event in named.items()}


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
    sums: tuple[SumTables, ...] = ()
    """What numbers add up to in the cells of the same tables, and averages."""
    cumulative: Mapping[Subset, tuple[CumulativeTable, ...]] = field(default_factory=dict)
    """Counts up to each value of the keys that were named for it."""
    unbiased: Mapping[Subset, NDArray[Any]] = field(default_factory=dict)
    """The tables before they were fitted to records, where margins are known of these."""

    def range(self, table: str | Sequence[str], key: str, low: Any, high: Any) -> CountRange:
        """The counts of a table from one value of a key to another, both included, with the margin
        of that sum: it is not the sum of the cells' margins.

        `table` is one of the release by its keys, a list or a text with commas. Returns counts and
        margins over its other keys. Raises a QuestionError where there is no such table or key, or
        where the method tells no margins of sums.

        >>> from adomnia.testing import town
        >>> with town(rows=500).open() as database:
        ...     made = database.release(database.plan_release(marginals=["sex,age"], epsilon=1))
        >>> grown = made.range("sex,age", "age", 18, 120)
        >>> grown.names, bool((grown.counts <= made.tables[0, 1].sum(axis=1)).all())
        (('sex',), True)
        """
        plan = self.plan.marginal_plan
        if plan is None:
            raise QuestionError(
                f"--method {self.plan.spec.method} tells no margins of sums of cells",
                "use the other method, microdata",
            )
        names = split_keys(table) if isinstance(table, str) else table
        subset, place = _named(self.plan.workload, [name.strip() for name in names], key)
        noise = RangeNoise(plan.workload, plan.strategy, plan.blocks)
        made = ReleasedTables(self.tables, self.margins, self.microdata, unbiased=self.unbiased)
        confidence = self.plan.spec.confidence
        return range_of(self.plan.layout, noise, confidence, made, subset, place, (low, high))


def _named(workload: Workload, names: Sequence[str], key: str) -> tuple[Subset, int]:
    """A table by the names of its keys, and the place of one of them."""
    known = {frozenset(workload.names[p] for p in s): s for s in workload.marginals}
    subset = known.get(frozenset(names))
    if subset is None or key not in names:
        listed = "; ".join(", ".join(sorted(one)) for one in known)
        raise QuestionError(
            f"there is no table of {', '.join(names)[:60]!r} with a key {key[:60]!r}",
            f"tables of this release are: {listed[:400]}",
        )
    return subset, workload.names.index(key)


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
    beside = spec.sums or spec.cumulative
    if beside and spec.method != "microdata" and _is_method(spec.method):
        raise QuestionError(
            f"--method {spec.method} makes counts of cells alone",
            "sums and cumulative counts go with the other method, microdata",
        )
    bands = tuple(_bands(backend, one) for one in spec.bins)
    layout = table_layout(backend, spec.ways, spec.marginals, bands)
    layout = replace(layout, magnitudes=bind_magnitudes(backend, spec.sums))
    refuse_names(layout)
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
    share, neighbors = _share(spec), _neighbors(backend, layout)
    plan = core.plan_marginals(workload, share, neighbors)
    if not spec.unbiased:
        core.refuse_records(plan)
    plan.margins(spec.confidence)  # kept by the plan: what it decides is known before it is paid
    sums = [_plan_sums(one, plan, share, spec.confidence) for one in layout.magnitudes]
    event = events.composed([plan.event, *(one.sums.event for one in sums)])
    upto = plan_cumulative(layout, spec.cumulative, plan, spec.confidence)
    return ReleasePlan(
        spec, layout, event, plan.name, plan.deviations, plan, bands=bands, sums=tuple(sums),
        cumulative=upto,
    )  # fmt: skip


def _share(spec: ReleaseSpec) -> Loss:
    """What the counts, and each of the sums, may cost: equal parts."""
    return _part(spec.tables_loss, Fraction(1, 1 + len(spec.sums)))


def _plan_sums(
    magnitude: Magnitude, counts: core.MarginalPlan, share: Loss, confidence: float
) -> SumNoise:
    """The same tables as the counts', of rows that count several times."""
    neighbors = neighbors_of(magnitude, counts.neighbors)
    sums = core.plan_marginals(counts.workload, share, neighbors)
    noise = SumNoise(magnitude, counts, sums, confidence)
    noise.prepare()
    return noise


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
        mechanisms=(
            release_mechanism(backend, planned, progress),
            *_sum_mechanisms(backend, planned),
        ),
        promise=backend.knowledge.promise,
        version=version,
        priors=planned.priors,
        findable=(RELEASED + digest(version),),
        what="release",
    )
    paid = spend(backend, payer, use)
    made: ReleasedTables = paid.released[0]
    left = paid.remaining
    sums = _sum_tables(planned, made, paid.released[1:])
    values = tuple(key.values for key in planned.layout.keys)
    return Release(
        planned, values, made.tables, made.margins, made.microdata, paid.receipt,
        backend.policy.digest, left, (*made.notes, *_left_out_notes(planned)),
        backend.policy.table, backend.policy.version, made.misfits, sums,
        cumulative_tables(planned.cumulative, planned.layout, planned.zeros, made), made.unbiased,
    )  # fmt: skip


def _with_bands(backend: TableBackend, planned: ReleasePlan, payer: Payer) -> ReleasePlan:
    """The same plan of the bands that are found: as many, so that nothing else changes in it."""
    spec = planned.spec
    session = Session(backend, payer.analyst, payer.session, payer.budgets.session)
    found = find_bands(session, spec.searched, spec.level_loss, planned.event)
    bands = tuple(found.get(one.column, one) for one in planned.bands)
    layout = table_layout(backend, spec.ways, spec.marginals, bands)
    layout = replace(layout, magnitudes=planned.layout.magnitudes)
    zeros = structural_zeros(layout.keys, layout.impossible)
    return replace(planned, layout=layout, bands=bands, zeros=zeros)


def _sum_mechanisms(backend: TableBackend, planned: ReleasePlan) -> list[SumRelease]:
    """A measurement of each number that is summed, of the rows of the counts."""
    layout, confidence = planned.layout, planned.spec.confidence
    moved = _moved(backend, layout)
    return [
        SumRelease(
            planned.workload, one.sums.event, layout.summed(one.magnitude), moved, confidence,
            _premises(planned), plan=one.sums, magnitude=one.magnitude,
        )
        for one in planned.sums
    ]  # fmt: skip


def _sum_tables(
    planned: ReleasePlan, counts: ReleasedTables, measured: Sequence[ReleasedTables]
) -> tuple[SumTables, ...]:
    workload = planned.workload
    empty = {s: in_table(planned.zeros, s, workload.shape(s)) for s in workload.marginals}
    return tuple(
        sum_tables(noise, workload.sizes, counts, one.unbiased, empty)
        for noise, one in zip(planned.sums, measured, strict=True)
    )


def _left_out_notes(planned: ReleasePlan) -> tuple[str, ...]:
    """That rows may be left out or clamped; how many is not paid for."""
    listed = "; ".join(one.when for one in planned.layout.impossible)
    notes = [f"rows that cannot be are in no table: {listed}"] if listed else []
    return (*notes, *(note for one in planned.layout.magnitudes for note in one.notes))


def _premises(planned: ReleasePlan) -> tuple[Premise, ...]:
    return (ExactReleasesHold(),) if planned.priors else ()


def release_mechanism(
    backend: TableBackend, planned: ReleasePlan, progress: Progress | None = None
) -> CoreRelease | ParityRelease | DrawnTable:
    """The mechanism of the spec's method: what is measured is what was priced."""
    spec, layout, workload = planned.spec, planned.layout, planned.workload
    premises = _premises(planned)
    if planned.among is None and total_is_public(_neighbors(backend, layout)):
        premises = (*premises, RowsStay())  # the number of rows comes out as it is
    if planned.among is not None:
        moved = Fraction(planned.among.unit * backend.policy.neighbors.group)
        return DrawnTable(
            workload, planned.event, planned.among.reads, moved, spec.confidence, premises,
            among=planned.among, epsilon=spec.tables_loss.epsilon,
        )  # fmt: skip
    plan = planned.marginal_plan
    event = planned.event if plan is None else plan.event
    common = (workload, event, layout.reads, _moved(backend, layout))
    if is_fourier(spec.method):
        return ParityRelease(
            *common, spec.confidence, premises,
            method=spec.method, promise=_promise(backend, planned),
        )  # fmt: skip
    assert plan is not None
    return CoreRelease(
        *common, spec.confidence, premises,
        plan=plan, unbiased=spec.unbiased, zeros=planned.zeros, progress=progress,
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
    the policy says cannot be is in none, nor one without a number that is summed, and a line of a
    text file may be read as no row. So a
    changed row is then priced as one that goes and one that comes, and the total is not public.
    With exact releases public, as many rows come and go as induced neighbours differ in.
    """
    neighbors = backend.policy.neighbors
    known = backend.public()[1]
    if known:
        rows = _moves(backend, layout, known)
        if rows == 0:
            raise QuestionError(
                "these tables are already public: they follow from what was released exactly",
                "ask for them, where the released numbers were given",
            )
        return Neighbors("unbounded", None, rows)
    # Of an expression nobody vouches that all its values are listed: a row may have another.
    nullable = layout.plain and all(key.null for key in layout.keys)
    left_out = layout.impossible or layout.magnitudes
    stays = nullable and backend.policy.rows_stay and not left_out
    if stays or not neighbors.replaces:
        return neighbors
    return Neighbors("unbounded", neighbors.rows, 2 * neighbors.group)


def _moves(backend: TableBackend, layout: TableLayout, known: PriorKnowledge) -> int:
    """How many rows come and go at once; a number that is summed is a column among the others."""
    try:
        return moves(backend.policy, layout.columns, known)
    except QuestionError:
        if not layout.magnitudes:
            raise
        named = ", ".join(one.name for one in layout.magnitudes)
        raise QuestionError(
            f"beside what was released exactly, sums of {named[:60]} have too many values to be "
            "priced",
            "declare a coarser step of the column in the policy, or release counts alone",
        ) from None


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
