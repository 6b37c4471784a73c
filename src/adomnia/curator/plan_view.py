"""Plans as a person reads them: in a terminal, in Python and as EXPLAIN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from adomnia.curator.answers.known_rows import DECLARED
from adomnia.curator.answers.omissions import Omission, sentences
from adomnia.formatting import amount, amounts, confidence, margin, margin_size, one_line, share

__all__ = [
    "ShownPlan",
    "assumptions",
    "estimate_basis",
    "margin_told",
    "plan_lines",
    "plan_margins",
]

EVENLY = "values are spread evenly over their range"


class ShownEstimate(Protocol):
    """What is shown of an estimated margin."""

    @property
    def margin(self) -> float: ...
    @property
    def most(self) -> float: ...
    @property
    def unit(self) -> str: ...


class ShownRows(Protocol):
    """What is shown of the rows that an estimate rests on."""

    @property
    def rows(self) -> tuple[int, ...]: ...
    @property
    def source(self) -> str: ...
    @property
    def assumes(self) -> tuple[str, ...]: ...


class ShownPlan(Protocol):
    """What is shown of a plan."""

    @property
    def spent(self) -> dict[str, Fraction]: ...
    @property
    def mechanism(self) -> str: ...
    @property
    def margins(self) -> dict[str, float | None]: ...
    @property
    def margin_units(self) -> Mapping[str, str]: ...
    @property
    def confidence(self) -> float: ...
    @property
    def cells(self) -> int: ...
    @property
    def quantiles(self) -> dict[str, dict[str, Any]]: ...
    @property
    def worth(self) -> dict[str, dict[str, Any]]: ...
    @property
    def row_level(self) -> dict[str, Any]: ...
    @property
    def left_out(self) -> Sequence[Omission]: ...
    @property
    def paid_in(self) -> Sequence[str]: ...
    @property
    def estimated_margins(self) -> Mapping[str, ShownEstimate]: ...
    @property
    def known_rows(self) -> ShownRows | None: ...
    def to_json(self) -> dict[str, Any]: ...


def plan_margins(plan: ShownPlan) -> Iterator[tuple[str, str]]:
    """Each noisy column and its margin, where that can be told beforehand."""
    for name, value in plan.margins.items():
        yield name, margin_told(plan, name, value)


def margin_told(plan: ShownPlan, name: str, value: float | None) -> str:
    """A margin as it is told beforehand; an estimate says that it is one."""
    about = plan.estimated_margins.get(name)
    if value is None:
        return "comes with the answer" if about is None else f"about {_estimated(about)}"
    told = margin(value, plan.margin_units[name])
    return told if about is None else f"{told}, about {share(about.most, 2)} of them"


def _estimated(about: ShownEstimate) -> str:
    """A margin in a group of middling size, and where it is most."""
    middle, most = margin(about.margin), margin_size(about.most)
    return middle if middle == f"± {most}" else f"{middle} (up to {most} in a small group)"


def assumptions(known: ShownRows, estimates: Mapping[str, ShownEstimate]) -> list[str]:
    """What is assumed beside the number of rows."""
    spread = any(about.unit == "value" for about in estimates.values())
    return [*known.assumes, *([EVENLY] if spread else [])]


def estimate_basis(known: ShownRows, assumed: list[str]) -> str:
    """What the estimates rest on."""
    groups, total = len(known.rows), sum(known.rows)
    if known.source == DECLARED:
        by = "as the policy says"
    else:
        by = f"by the private count of receipt {known.source}"
    each = " in each group" if groups == 1 and any("groups" in one for one in known.assumes) else ""
    over = f" in {groups:,} groups" if groups > 1 else ""
    taken = f", if {' and '.join(assumed)}" if assumed else ""
    return f"about: on {total:,} rows{each}{over}, {by}{taken}; the answer's own margin decides"


def plan_lines(plan: ShownPlan, margins: bool = True) -> Iterator[str]:
    """What it would cost, with the margins or without, and why."""
    cells = f", {plan.cells:,} cells" if plan.cells > 1 else ""
    yield f"it would cost {amounts(plan.spent)} ({plan.mechanism} noise{cells})"
    yield from (f"  {one_line(said)}" for said in plan.paid_in)
    if margins:
        for name, known in plan_margins(plan):
            sure = f" with {confidence(plan.confidence)} confidence" if "±" in known else ""
            yield f"  {one_line(name)}: margin {known}{sure}"
    if plan.known_rows is not None and plan.estimated_margins:
        assumed = assumptions(plan.known_rows, plan.estimated_margins)
        yield f"  {estimate_basis(plan.known_rows, assumed)}"
    measurements = plan.to_json()["measurements"]
    for step in measurements:
        tight = "" if step["exact"] else "at most "
        bound = f"{step['norm']} sensitivity {tight}{amount(Fraction(step['value']))}"
        yield f"  {step['measurement']}: {bound}, {one_line(step['argument'])}"
    for name, candidates in plan.quantiles.items():
        yield f"  {one_line(name)}: {_compared(candidates)}"
    for name, worth in plan.worth.items():
        yield f"  {one_line(name)}: {_worth(worth)}"
    if plan.row_level.get("ratio") is not None:
        yield _against_rows(plan.row_level, len(measurements))
    yield from (f"  {one_line(said)}" for said in sentences(plan.left_out))
    yield "nothing was spent"


def _compared(candidates: Mapping[str, Any]) -> str:
    """What each mechanism for a quantile would err by, and who answers."""
    names = {"exponential": "exponential", "smooth": "smooth sensitivity",
             "smooth_delta": "smooth sensitivity with delta"}  # fmt: skip
    sizes = [f"{said} {candidates[name]:.3g}" for name, said in names.items()
             if candidates[name] is not None]  # fmt: skip
    return (
        f"mean error on {candidates['rows']:,} rows spread evenly: {', '.join(sizes)}; "
        f"used: {candidates['used']} ({candidates['why']})"
    )


def _worth(worth: Mapping[str, Any]) -> str:
    """How useless an answer is under free-lunch privacy."""
    told = str(worth["says"])
    if "discriminant" in worth:
        told += (
            f"; nobody can tell its {worth['outcomes']:,} outcomes apart with more than "
            f"{worth['discriminant']:.2g} (free-lunch privacy)"
        )
    return told


def _against_rows(row_level: Mapping[str, Any], steps: int) -> str:
    """What it costs to protect all rows of a unit together."""
    most = "up to " if steps > 1 else ""
    tables = row_level.get("units")
    one = row_level["unit"] if tables is None else f"of {' or '.join(tables)}"
    return (
        f"protecting all rows of one {one_line(one)}: margins are "
        f"{most}{row_level['ratio']:.3g} times those of protecting single rows"
    )
