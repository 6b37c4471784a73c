"""Sensitivity among the tables that agree with what is already public (`prior_knowledge.md`)."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from adomnia.errors import NotAllowedError
from adomnia.priors.prior_knowledge import PriorKnowledge
from adomnia.priors.solver.bound import Bound, Norm
from adomnia.privacy import sensitivity as plain
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.proposal import contribution_of
from adomnia.queries.measurement import Counts, Measurement, Quantile, Sum

if TYPE_CHECKING:
    from adomnia.priors.layout import Layout

__all__ = ["PUBLIC", "bound", "refuse_hopeless", "sensitivity"]

PUBLIC = "what is public"
"""How every argument begins that rests on exact releases."""

HOPELESS = 1000
"""A bound that is not exact and moves this many people at once says nothing useful."""


def sensitivity(
    measurement: Measurement,
    setting: plain.Setting,
    neighbors: Neighbors,
    known: PriorKnowledge | None = None,
    outputs: tuple[int, ...] | None = None,
) -> plain.Sensitivity:
    """The sensitivity of a measurement; with nothing known it is the plain one.

    With `outputs` only these components are measured (numbered cell by cell). A bound that is
    no use to anybody comes back all the same: `refuse_hopeless` is for who would ask with it.
    """
    if not known:
        contribution = contribution_of(measurement, setting, neighbors)
        return plain.sensitivity(contribution, setting, neighbors)
    return _induced(measurement, setting, neighbors, known, outputs)


@lru_cache(maxsize=512)
def _induced(
    measurement: Measurement,
    setting: plain.Setting,
    neighbors: Neighbors,
    known: PriorKnowledge,
    outputs: tuple[int, ...] | None,
) -> plain.Sensitivity:
    """The largest difference between induced neighbours, `group` of them in a row."""
    from adomnia.priors.layout import lay_out  # noqa: PLC0415 (needs SciPy: slow to import)

    if known.universe is None and _is_published(measurement, setting, known):
        nothing = Fraction(0)
        return plain.Sensitivity(nothing, nothing, True, f"{PUBLIC}: it was released itself")
    layout = lay_out(known, measurement, setting.where, setting.keys)
    if outputs is not None:
        layout = layout.only(outputs)
    worth = _worth(measurement) * layout.unit
    l1, l2 = (bound(layout, norm, known) for norm in (1, 2))
    group = neighbors.group
    exact = layout.tight and l1.exact and l2.exact
    argument = f"{PUBLIC}: {l1.argument}"
    if not l1.exact:
        argument += f" (at least {l1.lower * worth * group})"
    return plain.Sensitivity(
        l1.upper * worth * group, l2.upper * (worth * group) ** 2, exact, argument
    )


def _is_published(measurement: Measurement, setting: plain.Setting, known: PriorKnowledge) -> bool:
    """Whether every number that is measured was released, as it stands, over the same cells."""
    told: set[Counts | Sum] = set()
    for release in known.published:
        same = release.where == setting.where and {*release.keys} == {*setting.keys}
        if same and not release.rounded:
            loose = {release.measurements[place] for place in release.loose}
            told.update(m for m in release.measurements if m not in loose)
    if isinstance(measurement, Counts):
        return all(Counts((part,)) in told for part in measurement.conditions)
    return measurement in told


def bound(layout: Layout, norm: Norm, known: PriorKnowledge) -> Bound:
    """The solver's bound, or the smaller one of a declared `max_group`; hopeless ones refused."""
    from adomnia.priors.solver.induced_sensitivity import solve  # noqa: PLC0415 (needs SciPy: slow to import)

    found = solve(layout.system, layout.asked, norm)
    if known.max_group is not None:
        grouped = _grouped(layout, norm, known.max_group)
        if grouped < found.upper:
            said = f"at most {known.max_group} people move together (max_group)"
            found = Bound(grouped, min(found.lower, grouped), said)
    return found


def _worth(measurement: Measurement) -> int:
    """How far one moved row takes the penalties of a quantile."""
    if not isinstance(measurement, Quantile) or measurement.edge:
        return 1
    top, bottom = measurement.share.numerator, measurement.share.denominator
    return max(top, bottom - top)


def _largest(layout: Layout, norm: Norm) -> int:
    """The most that one row adds, in the norm (norm 2: squared)."""
    columns = layout.asked.tocsc()
    sizes = [abs(int(value)) ** norm for value in columns.data.tolist()]
    ends = columns.indptr.tolist()
    return max((sum(sizes[a:b]) for a, b in pairwise(ends)), default=0)


def _grouped(layout: Layout, norm: Norm, most: int) -> Fraction:
    """People who move go from cell to cell: two rows each (`prior_knowledge.md`, claim 4)."""
    moved = 2 * most
    return Fraction(moved * _largest(layout, 1)) if norm == 1 else Fraction(
        moved**2 * _largest(layout, 2)
    )  # fmt: skip


def refuse_hopeless(found: plain.Sensitivity, alone: plain.Sensitivity) -> None:
    """Refuse a bound so far above what one row does `alone` that an answer would be noise."""
    each = alone.l1 or Fraction(1)  # where nothing moves alone, units are compared
    if found.exact or found.l1 <= HOPELESS * each:
        return
    rows = int(found.l1 / each)
    many = f"{rows:,}" if rows < 10**9 else "more than a billion"
    raise NotAllowedError(
        "what is public ties people together: as far as can be proven, a change of one person "
        f"may come with {many} others ({found.argument}), so an answer would be noise",
        "ask about fewer columns, or choose a weaker promise by name in [privacy]: "
        "universe = [all columns that will ever be asked], or max_group = m",
    )
