"""Plans as a person reads them: in a terminal, in Python and as EXPLAIN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from adomnia.curator.answers.omissions import Omission
from adomnia.formatting import amount, amounts, confidence, margin, one_line

__all__ = ["ShownPlan", "plan_lines", "plan_margins"]


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
    def to_json(self) -> dict[str, Any]: ...


def plan_margins(plan: ShownPlan) -> Iterator[tuple[str, str]]:
    """Each noisy column and its margin, where that can be told beforehand."""
    for name, value in plan.margins.items():
        known = "comes with the answer" if value is None else margin(value, plan.margin_units[name])
        yield name, known


def plan_lines(plan: ShownPlan, margins: bool = True) -> Iterator[str]:
    """What it would cost, with the margins or without, and why."""
    cells = f", {plan.cells:,} cells" if plan.cells > 1 else ""
    yield f"it would cost {amounts(plan.spent)} ({plan.mechanism} noise{cells})"
    if margins:
        for name, known in plan_margins(plan):
            sure = f" with {confidence(plan.confidence)} confidence" if "±" in known else ""
            yield f"  {one_line(name)}: margin {known}{sure}"
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
    yield from (f"  {one_line(part.says)}" for part in plan.left_out)
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
    return (
        f"protecting all rows of one {one_line(row_level['unit'])}: margins are "
        f"{most}{row_level['ratio']:.3g} times those of protecting single rows"
    )
