"""Plans of releases: which tables, at what cost, how exact; made of public facts alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, Literal, NoReturn, get_args

from adomnia.curator.answers.omissions import COUNTABLE, UNKNOWN, Omission
from adomnia.curator.data.editions import edition_of
from adomnia.curator.releases.band_search import (
    RowsMissed,
    levels_of,
    refuse_search,
    rehearse_search,
)
from adomnia.curator.releases.bands import BandRequest, Bands, even_bands, public_bands
from adomnia.curator.releases.consistent import Consistent
from adomnia.curator.releases.cumulative import (
    CumulativePlan,
    plan_cumulative,
)
from adomnia.curator.releases.hidden_rows import HiddenNoise
from adomnia.curator.releases.magnitudes import Magnitude, bind_magnitudes, neighbors_of
from adomnia.curator.releases.release_keys import TableLayout, refuse_names, table_layout
from adomnia.curator.releases.release_omissions import (
    hidden_rows,
    left_out_json,
    left_out_of_release,
    lost_rows,
)
from adomnia.curator.releases.release_pricing import marginal_promise, priced_neighbors
from adomnia.curator.releases.structural_zeros import Zeros, structural_zeros
from adomnia.curator.releases.sum_noise import SumNoise
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import QuestionError
from adomnia.marginals import release as core
from adomnia.marginals.adaptive import (
    AdaptivePlan,
    can_choose,
    part_of,
    plan_adaptively,
    single_plan,
)
from adomnia.marginals.paper.fourier import FourierMethod, Options, is_fourier, release_fourier
from adomnia.marginals.workload import Subset, Workload
from adomnia.policy.policy import refuse_free_lunch
from adomnia.privacy import events
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors

__all__ = [
    "CONSISTENT",
    "ReleaseMethod",
    "ReleasePlan",
    "ReleaseSpec",
    "layout_of",
    "named",
    "plan_release",
]

ReleaseMethod = Literal["microdata", "consistent", FourierMethod]
"""How tables are made that agree with each other."""

CONSISTENT: Final = "consistent"
"""The method that draws a whole table among all that agree with what is public."""

SEARCHED: Final = Fraction(1, 10)
"""The part of a release's loss that finds bands, where any are to be found."""

Progress = Callable[[str, float], None]


MOST_CROWD = 10_000
"""Records that noise may make or lose where nobody has said how many rows there are."""


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
    sums: tuple[str, ...] = ()
    cumulative: tuple[str, ...] = ()
    target: str | None = None
    adaptive: bool | None = None
    """Whether tables are chosen by the data: as told, else as the public number of rows says."""
    accept: bool = False
    """Whether records may be mostly noise."""

    @property
    def searched(self) -> tuple[BandRequest, ...]:
        """The columns whose bands are found in the data, and paid for."""
        return tuple(one for one in self.bins if one.is_private)

    @property
    def tables_loss(self) -> Loss:
        """What the tables cost: all of it, or what finding bands leaves."""
        return part_of(self.loss, 1 - SEARCHED) if self.searched else self.loss

    @property
    def level_loss(self) -> Loss:
        """What each question costs that finds bands, an even part of their share."""
        levels = sum(levels_of(one.many or 0) for one in self.searched)
        return part_of(self.loss, SEARCHED / levels)


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
    marginal_plan: core.MarginalPlan | AdaptivePlan | None = None
    priors: int = 0
    among: Consistent | None = None
    zeros: Zeros = field(default_factory=dict)
    bands: tuple[Bands, ...] = ()
    missed: Mapping[str, RowsMissed] = field(default_factory=dict)
    """By how many rows edges that are found miss their ranks, by their column."""
    left_out: tuple[Omission, ...] = ()
    """Rows that would be in no table, or in none with some key."""
    stay: bool = True
    """Whether it is priced for rows that stay, whatever they hold."""

    @property
    def spent(self) -> Loss:
        """What the tables cost, with what finds their bands."""
        return self.spec.loss if self.spec.searched else events.loss(self.event)

    sums: tuple[SumNoise, ...] = ()
    hidden: HiddenNoise = field(default_factory=HiddenNoise)
    """What is known beforehand of rows that are not shown."""
    cumulative: CumulativePlan = field(default_factory=CumulativePlan)

    @property
    def workload(self) -> Workload:
        """The tables that are published, by the places of their attributes."""
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
            "left_out": left_out_json(self.layout, self.left_out),
            "impossible": [one.when for one in self.layout.impossible],
            **self._adaptive_json(),
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

    def _adaptive_json(self) -> dict[str, Any]:
        """From how many tables how many are chosen; unknown where the rows are counted first."""
        plan = self.marginal_plan
        if not isinstance(plan, AdaptivePlan):
            return {}
        chosen = None if plan.rows is None else plan.schedule(plan.rows).picks
        return {"adaptive": {"candidates": len(plan.candidates), "chosen": chosen}}

    def _bands_json(self, bands: Bands) -> dict[str, Any]:
        """Bands with their edges, or that these will be found, and for how much."""
        asked = next(one for one in self.spec.bins if one.column == bands.column)
        if bands.found or not asked.is_private:
            return bands.to_json()
        levels = levels_of(asked.many or 0)
        cost = part_of(self.spec.level_loss, Fraction(levels))
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


def named(workload: Workload, subset: Subset) -> str:
    """A marginal by the names of its attributes."""
    return "__".join(workload.names[place] for place in subset)


def plan_release(backend: TableBackend, spec: ReleaseSpec) -> ReleasePlan:
    """The plan of a release; reads no data and spends nothing."""
    backend.take_last()  # by which it is priced
    stay, planned = backend.policy.rows_stay, _plan_release(backend, spec)
    layout, priors = planned.layout, backend.public()[0]
    zeros, missed = structural_zeros(layout.keys, layout.impossible), dict[str, RowsMissed]()
    if spec.searched:
        missed = rehearse_search(backend, spec.searched, spec.level_loss, spec.confidence)
    edition = edition_of(backend.version())
    unknown = UNKNOWN if edition is None else COUNTABLE  # nothing is counted in place
    left_out = left_out_of_release(backend, edition, spec.confidence, unknown)
    told = lost_rows if is_fourier(spec.method) else hidden_rows
    rows = (*left_out, *told(layout))
    return replace(planned, priors=priors, zeros=zeros, missed=missed, left_out=rows, stay=stay)


def _plan_release(backend: TableBackend, spec: ReleaseSpec) -> ReleasePlan:
    refuse_free_lunch(backend.policy, "tables are not released")
    if backend.policy.impossible and spec.method != "microdata" and _is_method(spec.method):
        raise QuestionError(
            f"--method {spec.method} does not keep cells empty that [[impossible]] names",
            "use the other method, microdata",
        )
    if spec.adaptive and spec.method != "microdata" and _is_method(spec.method):
        raise QuestionError(
            f"--method {spec.method} measures all tables", "use the other method, microdata"
        )
    beside = spec.sums or spec.cumulative
    if beside and spec.method != "microdata" and _is_method(spec.method):
        raise QuestionError(
            f"--method {spec.method} makes counts of cells alone",
            "sums and cumulative counts go with the other method, microdata",
        )
    bands = tuple(_bands(backend, one) for one in spec.bins)
    layout = layout_of(backend, spec, bands)
    refuse_names(layout)
    workload = layout.measured
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
    share, neighbors = _share(spec), priced_neighbors(backend, layout)
    rows = backend.policy.rows
    plan = _core_plan(spec, workload, share, neighbors, rows)
    if not spec.unbiased:
        _refuse_noise(plan, rows, spec.accept)
    if isinstance(plan, AdaptivePlan):
        plan.whole.margins(spec.confidence)  # kept, as below
        hidden = HiddenNoise.of(layout, plan.whole, spec.confidence)
        return ReleasePlan(
            spec, layout, plan.event, plan.name, {}, plan, bands=bands, hidden=hidden
        )
    plan.margins(spec.confidence)  # kept by the plan: what it decides is known before it is paid
    sums = [_plan_sums(one, plan, share, spec.confidence) for one in layout.magnitudes]
    event = events.composed([plan.event, *(one.sums.event for one in sums)])
    upto = plan_cumulative(layout, spec.cumulative, plan, spec.confidence)
    return ReleasePlan(
        spec, layout, event, plan.name, plan.deviations, plan, bands=bands, sums=tuple(sums),
        cumulative=upto, hidden=HiddenNoise.of(layout, plan, spec.confidence),
    )  # fmt: skip


def layout_of(backend: TableBackend, spec: ReleaseSpec, bands: tuple[Bands, ...]) -> TableLayout:
    """The tables that are asked for, with the keys along their sides and the numbers in them."""
    layout = table_layout(backend, spec.ways, spec.marginals, bands)
    if is_fourier(spec.method):  # parities of the papers have no cell for the rest
        shown = tuple(replace(key, hidden=False) for key in layout.keys)
        layout = replace(layout, keys=shown)
    if spec.target is not None:
        layout = _with_target(layout, spec.target, bands, listed=spec.ways is None)
    return replace(layout, magnitudes=bind_magnitudes(backend, spec.sums))


def _with_target(
    layout: TableLayout, target: str, bands: tuple[Bands, ...], listed: bool
) -> TableLayout:
    """Only tables with one key beside those of one alone."""
    names, workload = layout.workload.names, layout.workload
    banded = {one.column: one.name for one in bands}
    name = banded.get(target, target)
    if listed or name not in names:
        raise QuestionError(
            f"--for {target[:60]!r} goes with --ways, and names a key of the tables",
            "keys are: " + ", ".join(names),
        )
    place = names.index(name)
    kept = tuple(s for s in workload.marginals if len(s) == 1 or place in s)
    return replace(layout, workload=Workload(names, workload.sizes, kept))


def _core_plan(
    spec: ReleaseSpec, workload: Workload, share: Loss, neighbors: Neighbors, rows: int | None
) -> core.MarginalPlan | AdaptivePlan:
    """All tables measured, or those that are worth it, as told or as the public rows say."""
    beside = spec.unbiased or spec.sums or spec.cumulative
    if spec.adaptive and beside:
        raise QuestionError(
            "an adaptive release has counts from made-up records alone",
            "leave out --unbiased, --sums and --cumulative, or --adaptive",
        )
    unasked = spec.adaptive is None and (rows is None or not can_choose(workload))
    if spec.adaptive is False or beside or unasked:
        return core.plan_marginals(workload, share, neighbors)
    plan = plan_adaptively(workload, share, neighbors, rows)
    return plan.whole if rows is not None and plan.measures_all(rows) else plan


def _refuse_noise(plan: core.MarginalPlan | AdaptivePlan, rows: int | None, accept: bool) -> None:
    """Records of which most would be noise are made only where that is accepted."""
    workload = plan.workload
    told = single_plan(plan) if isinstance(plan, AdaptivePlan) else plan
    core.refuse_records(told)
    if accept:
        return
    if told.crowd > (MOST_CROWD if rows is None else rows / 2):
        known = "" if rows is not None else " (say [data] rows in the policy, if there are more)"
        raise QuestionError(
            f"noise alone would make or lose up to {told.crowd:,.0f} records{known}",
            "pay more, ask for fewer tables, or take it as it is: --accept",
        )
    if rows is not None and told.noise > rows:
        worst = max(told.deviations, key=lambda s: told.deviations[s] * workload.cells(s))
        raise QuestionError(
            f"the records would be mostly noise: about {told.noise / rows:,.1f} times the rows of "
            f"a table, and most in that of {named(workload, worst)[:60]!r}",
            "pay more, ask for fewer or smaller tables (--bins puts numbers in bands), or take it "
            "as it is: --accept",
        )


def _share(spec: ReleaseSpec) -> Loss:
    """What the counts, and each of the sums, may cost: equal parts."""
    return part_of(spec.tables_loss, Fraction(1, 1 + len(spec.sums)))


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
    among = Consistent(backend, layout)
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


def _is_method(name: str) -> bool:
    return name in {"microdata", CONSISTENT} or is_fourier(name)


class _Reached(Exception):
    """The data would be read now."""


def _rehearse(backend: TableBackend, planned: ReleasePlan, method: FourierMethod) -> None:
    """Go as far as the data, so that what cannot be released is refused before it is paid."""

    def source(_: object) -> NoReturn:
        raise _Reached

    spec, workload = planned.spec, planned.layout.measured
    options = Options(method=method, delta=1 - spec.confidence)
    with suppress(_Reached):
        promise = marginal_promise(backend, planned.layout, spec.tables_loss)
        release_fourier(workload, source, promise, options)


def _event(loss: Loss) -> events.Event:
    one = Fraction(1)
    return events.Gaussian(loss.rho, one) if loss.rho else events.Laplace(loss.epsilon, one)
