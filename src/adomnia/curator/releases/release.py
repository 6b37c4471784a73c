"""Publishing: tables that agree with each other, paid for, measured and fitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.answers.omissions import Omission, sentences
from adomnia.curator.data.editions import edition_of
from adomnia.curator.releases.band_search import (
    find_bands,
)
from adomnia.curator.releases.consistent import MOST_CELLS, agreeing
from adomnia.curator.releases.cumulative import (
    CountRange,
    CumulativeTable,
    cumulative_tables,
    range_of,
)
from adomnia.curator.releases.hidden_rows import shown
from adomnia.curator.releases.release_mechanisms import (
    CoreRelease,
    DrawnTable,
    ParityRelease,
    ReleasedTables,
    SumRelease,
    records_of,
)
from adomnia.curator.releases.release_omissions import counted_rows, left_out_of_release, lost_rows
from adomnia.curator.releases.release_plan import ReleasePlan, layout_of
from adomnia.curator.releases.release_pricing import (
    marginal_promise,
    premises_of,
    priced_neighbors,
    rows_moved,
)
from adomnia.curator.releases.structural_zeros import in_table, structural_zeros
from adomnia.curator.releases.sum_tables import SumTables, sum_tables
from adomnia.curator.session import Session
from adomnia.curator.spend import Payer, Use, spend
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import MachineryError, QuestionError
from adomnia.ledger.account import RELEASED
from adomnia.marginals import release as core
from adomnia.marginals.core.cost import total_is_public
from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.marginals.core.range_noise import RangeNoise
from adomnia.marginals.paper.fourier import is_fourier
from adomnia.marginals.workload import Subset, Workload
from adomnia.privacy.premises import RowsStay
from adomnia.queries.canonical import digest
from adomnia.queries.key_list import split_keys

__all__ = ["Release", "publish", "release_mechanism"]

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Release:
    """What was released: tables, their margins, and the ledger's receipt.

    Tables and margins are found by the places of their attributes in the workload of the
    `plan`; `values` has the values along each of them. `microdata` are the made-up records
    from which all tables were counted, where there are any: a row without a value of a key that
    is shown has the number past the last one there, and is in the tables of other keys alone.

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
    edition: int | None = None
    """The number of the edition that was measured; None where the data is read in place."""
    left_out: tuple[Omission, ...] = ()
    """Rows that are in no table, or in none with some key, in numbers where these are known."""

    def not_shown(self, subset: Subset) -> tuple[Omission, ...]:
        """Rows that are not in this table, since they have no value of one of its keys."""
        names = {self.plan.workload.names[place] for place in subset}
        return tuple(one for one in self.left_out if one.what == "values" and one.column in names)

    @property
    def models(self) -> tuple[Subset, ...]:
        """The tables that were not measured: they follow from the records, and have no margin."""
        return tuple(s for s, margins in self.margins.items() if np.isinf(margins).any())

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
        if not isinstance(plan, core.MarginalPlan):
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


def publish(
    backend: TableBackend, planned: ReleasePlan, payer: Payer, progress: Progress | None = None
) -> Release:
    """Pay, read the data once, add the noise, and fit what is published.

    Bands are found first, where any are to be; what was found is known from then on, so that a
    release that ends early goes on from there.
    """
    backend.take_last()
    _refuse_other_source(backend, planned)
    if planned.spec.searched:
        planned = _with_bands(backend, planned, payer)
    version = backend.version()
    _refuse_other_source(backend, planned)
    layout, edition = planned.layout, edition_of(version)
    bounds = left_out_of_release(backend, edition, planned.spec.confidence)
    many, of = (
        len(planned.workload.marginals),
        "" if backend.view is None else f" of {backend.view}",
    )
    use = Use(
        statement=f"RELEASE {many} marginals{of} ({planned.spec.method})",
        mechanisms=(
            release_mechanism(backend, planned, progress),
            *_sum_mechanisms(backend, planned),
        ),
        promise=backend.knowledge.promise,
        version=version,
        of={} if backend.view is None else {"view": backend.view},
        priors=planned.priors,
        findable=(RELEASED + digest(version),),
        what="release",
    )
    paid = spend(backend, payer, use)
    made: ReleasedTables = paid.released[0]
    left, left_out = paid.remaining, (*bounds, *_not_shown(planned, made))
    sums = _sum_tables(planned, made, paid.released[1:])
    upto = cumulative_tables(planned.cumulative, layout, planned.zeros, made)
    values = tuple(key.values for key in layout.keys)
    return Release(
        planned, values, shown(layout, made.tables), shown(layout, made.margins), made.microdata,
        paid.receipt, backend.policy.digest, left,
        (*made.notes, *_few_rows(made, backend.policy.rows), *_left_out_notes(planned),
         *sentences(left_out)),
        backend.policy.table, backend.policy.version, made.misfits,
        tuple(one.shown(layout) for one in sums),
        {s: tuple(one.shown(layout.shown(s)) for one in parts) for s, parts in upto.items()},
        shown(layout, made.unbiased), edition, left_out,
    )  # fmt: skip


def _not_shown(planned: ReleasePlan, made: ReleasedTables) -> Iterator[Omission]:
    """Rows that tables do not show, as many as were counted; or that are in none."""
    if is_fourier(planned.spec.method):
        return lost_rows(planned.layout)
    return counted_rows(planned.layout, made.hidden)


def _refuse_other_source(backend: TableBackend, planned: ReleasePlan) -> None:
    """Refuse a plan of before the data was loaded from files whose rows may come and go."""
    if planned.stay and not backend.policy.rows_stay:
        raise MachineryError(
            "the data was loaded from another kind of source since this was planned",
            "plan it again",
        )


def _with_bands(backend: TableBackend, planned: ReleasePlan, payer: Payer) -> ReleasePlan:
    """The same plan of the bands that are found: as many, so that nothing else changes in it."""
    spec = planned.spec
    session = Session(backend, payer.analyst, payer.session, payer.budgets.session)
    found = find_bands(session, spec.searched, spec.level_loss, planned.event)
    bands = tuple(found.get(one.column, one) for one in planned.bands)
    layout = layout_of(backend, spec, bands)
    zeros = structural_zeros(layout.keys, layout.impossible)
    return replace(planned, layout=layout, bands=bands, zeros=zeros)


def _sum_mechanisms(backend: TableBackend, planned: ReleasePlan) -> list[SumRelease]:
    """A measurement of each number that is summed, of the rows of the counts."""
    layout, confidence = planned.layout, planned.spec.confidence
    moved = rows_moved(backend, layout)
    return [
        SumRelease(
            layout, one.sums.event, layout.summed(one.magnitude), moved, confidence,
            premises_of(planned.priors), plan=one.sums, magnitude=one.magnitude,
        )
        for one in planned.sums
    ]  # fmt: skip


def _sum_tables(
    planned: ReleasePlan, counts: ReleasedTables, measured: Sequence[ReleasedTables]
) -> tuple[SumTables, ...]:
    workload = planned.layout.measured
    empty = {s: in_table(planned.zeros, s, workload.shape(s)) for s in workload.marginals}
    return tuple(
        sum_tables(noise, workload.sizes, counts, one.unbiased, empty)
        for noise, one in zip(planned.sums, measured, strict=True)
    )


def _few_rows(made: ReleasedTables, rows: int | None) -> tuple[str, ...]:
    """That far fewer rows are in the tables than the policy says; both numbers are public."""
    if rows is None or made.microdata is None or len(made.microdata) >= rows / 2:
        return ()
    return (
        f"the tables have about {len(made.microdata):,} rows, and the policy speaks of {rows:,}: "
        "see that every column is read as it is declared",
    )


def _left_out_notes(planned: ReleasePlan) -> tuple[str, ...]:
    """That rows cannot be, or are clamped in sums; how many is not paid for."""
    listed = "; ".join(one.when for one in planned.layout.impossible)
    notes = [f"rows that cannot be are in no table: {listed}"] if listed else []
    return (*notes, *(note for one in planned.layout.magnitudes for note in one.notes))


def release_mechanism(
    backend: TableBackend, planned: ReleasePlan, progress: Progress | None = None
) -> CoreRelease | ParityRelease | DrawnTable:
    """The mechanism of the spec's method: what is measured is what was priced."""
    spec, layout = planned.spec, planned.layout
    premises = premises_of(planned.priors)
    if planned.among is None and total_is_public(priced_neighbors(backend, layout)):
        premises = (*premises, RowsStay())  # the number of rows comes out as it is
    if planned.among is not None:
        moved = Fraction(planned.among.unit * backend.policy.neighbors.group)
        return DrawnTable(
            layout, planned.event, planned.among.reads, moved, spec.confidence, premises,
            among=planned.among, epsilon=spec.tables_loss.epsilon,
        )  # fmt: skip
    plan = planned.marginal_plan
    event = planned.event if plan is None else plan.event
    common = (layout, event, layout.reads, rows_moved(backend, layout))
    if is_fourier(spec.method):
        return ParityRelease(
            *common, spec.confidence, premises,
            method=spec.method, promise=marginal_promise(backend, layout, spec.tables_loss),
        )  # fmt: skip
    assert plan is not None
    return CoreRelease(
        *common, spec.confidence, premises,
        plan=plan, unbiased=spec.unbiased, zeros=planned.zeros, hidden=planned.hidden,
        progress=progress, agree=lambda made: _agreed(backend, planned, made),
    )  # fmt: skip


def _agreed(
    backend: TableBackend, planned: ReleasePlan, made: core.ReleasedMarginals
) -> tuple[Mapping[Subset, NDArray[Any]], SyntheticRecords, tuple[str, ...]]:
    """Tables and records that agree with what was released exactly, as far as can be."""
    assert made.microdata is not None
    layout, workload = planned.layout, planned.layout.measured
    if not backend.public()[1]:
        return made.marginals, made.microdata, ()
    whole: NDArray[np.int64] | None = None
    if layout.plain and np.prod(workload.sizes, dtype=float) <= MOST_CELLS:
        table = made.microdata.tabulate(workload.sizes, (*range(len(workload.sizes)),))
        whole = agreeing(backend, layout, table)
    if whole is None or (whole[in_table(planned.zeros, (*range(whole.ndim),), whole.shape)]).any():
        note = "the tables were not moved to agree with what was released exactly"
        return made.marginals, made.microdata, (note,)
    sums = {
        subset: whole.sum(axis=tuple(i for i in range(whole.ndim) if i not in subset))
        for subset in workload.marginals
    }
    return sums, records_of(whole), ("the tables agree with what was released exactly",)
