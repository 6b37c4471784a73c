"""The gate of a release: what its tables would disclose, seen by the curator before it is paid.

It reads exact counts and spends nothing, so its outcome is no differentially private answer:
only the curator may see it (`docs/audit.md`).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from adomnia.cli.audit.disclosure import relation, terms_of
from adomnia.curator.database import Database
from adomnia.curator.releases.release import CONSISTENT, ReleasePlan
from adomnia.errors import NotAllowedError, QuestionError
from adomnia.present import formatting, terminal
from adomnia.review.exact_columns import Coded, own_columns

if TYPE_CHECKING:
    from adomnia.audit.disclosure.disclosure import Disclosure

__all__ = ["pass_gate"]

SHOWN = 20
LEAST = 1e-6
"""A scale of noise in the place of none, where a table comes out exactly."""


@dataclass(frozen=True)
class _Judged:
    """How much the planned tables disclose in expectation, and how much may be."""

    tables: int
    allowed: int
    found: list[Disclosure]


def pass_gate(
    database: Database, planned: ReleasePlan, analyst: str | None, form: str, asked: bool
) -> None:
    """Refuse a planned release, or warn, where it would disclose more than the policy allows.

    Without a limit in the policy there is a gate only if it is `asked` for, and nothing may be
    disclosed.
    """
    audit = database.policy.audit
    if audit.disclosures is None and not asked:
        return
    if analyst is not None:  # whether or not it would pass: the outcome would tell
        raise NotAllowedError(
            "a release behind the gate is the curator's own", "leave --analyst out"
        )
    judged = _judge(database, planned)
    if len(judged.found) <= judged.allowed:
        return
    _show(judged, form, warning=audit.gate == "warn")
    if audit.gate == "refuse":
        raise NotAllowedError(
            "the planned tables would disclose more than the policy allows; nothing was spent",
            'publish fewer or coarser tables, pay less, or set gate = "warn" in [audit]',
        )


def _judge(database: Database, planned: ReleasePlan) -> _Judged:
    audit = database.policy.audit
    if not audit.public or audit.sensitive is None:
        raise QuestionError(
            "the gate does not know what is sensitive",
            'say in [audit] of the policy: public = ["sex", …] and sensitive = "…"',
        )
    if planned.order.method == CONSISTENT:
        raise QuestionError(
            f"the gate cannot judge --method {CONSISTENT}", "its noise has no scale; leave one out"
        )
    tables = _tables(planned, audit.public, audit.sensitive)
    found: list[Disclosure] = []
    if tables:
        coded = own_columns(database.desk, [*dict.fromkeys(n for axes in tables for n in axes)])
        for axes, scale in tables.items():
            found += _expected(database, coded, axes, scale)
    return _Judged(len(tables), audit.disclosures or 0, found)


def _tables(
    planned: ReleasePlan, public: tuple[str, ...], sensitive: str
) -> dict[tuple[str, ...], float]:
    """Tables of public attributes and the sensitive one that follow, with the least noise of each.

    Other attributes of a table can be summed over. That adds up their noise; it is taken as if
    it did not, so that no disclosure is missed.
    """
    names = planned.workload.names
    found: dict[tuple[str, ...], float] = {}
    for subset in planned.workload.marginals:
        held = [names[place] for place in subset]
        axes = (*(name for name in held if name in public), sensitive)
        if sensitive in held and len(axes) > 1:
            scale = _scale(planned, subset)
            found[axes] = min(scale, found.get(axes, scale))
    return found


def _expected(
    database: Database, coded: Coded, axes: tuple[str, ...], scale: float
) -> tuple[Disclosure, ...]:
    from adomnia.audit.disclosure.disclosure import expected_disclosures  # noqa: PLC0415 (slow to import)

    policy = database.policy
    report = expected_disclosures(
        {axes: coded.table(axes)},
        ["1"],
        terms_of(policy.audit, relation(policy), names=True),
        sensitivity=Fraction(scale),
        domains=coded.domains,
    )
    return report.readings["planned"][0].found


def _scale(planned: ReleasePlan, subset: tuple[int, ...]) -> float:
    """The scale of Laplace noise as wide as that of the table's cells, before they are fitted.

    The paper's methods promise no deviation of a cell: there it is that of tables counted one by
    one.
    """
    deviation = planned.deviations.get(subset)
    if deviation is not None:
        return max(LEAST, deviation / math.sqrt(2))
    loss = planned.order.loss
    epsilon = float(loss.epsilon) if loss.epsilon else math.sqrt(2 * float(loss.rho))
    return 2 * len(planned.workload.marginals) / epsilon


def _show(judged: _Judged, form: str, warning: bool) -> None:
    """Name the groups: exact data, on the curator's own terminal.

    For a program: in the place of the release, or beside it where there will be one.
    """
    facts: dict[str, Any] = {"allowed": judged.allowed, "disclosures": len(judged.found)}
    if form == "json":
        told = {"gate": {**facts, "found": [vars(one) for one in judged.found]}}
        click.echo(json.dumps(told, ensure_ascii=False, default=str), err=warning)
        return
    screen = terminal.console(stderr=True)
    many = f"{len(judged.found):,} where {judged.allowed:,} are allowed"
    screen.print(f"the gate: expected disclosures of {judged.tables} tables: {many}", style="red")
    for one in sorted(judged.found, key=lambda one: -one.j)[:SHOWN]:
        group = ", ".join(f"{name} {value}" for name, value in one.group.items())
        screen.print(
            formatting.one_line(f"  {group}: {one.value}, {one.j:.1f} times as common as among all")
        )
    if len(judged.found) > SHOWN:
        screen.print(f"  … and {len(judged.found) - SHOWN:,} more: --format json shows them")
    screen.print("  these are exact data: for your eyes only, and so is that the gate spoke")
