"""The page of releases: tables that were published, and what was released exactly before."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from adomnia import formatting
from adomnia.curator.answers.omissions import about
from adomnia.curator.answers.released_tables import shown_axes
from adomnia.curator.database import PrivateDatabase
from adomnia.errors import PolicyError, QuestionError
from adomnia.policy.policy import Policy
from adomnia.present.drawing.bars import MOST_BARS, Bar, bar_chart
from adomnia.server.console.ledger_lines import EXACT, LedgerLine, lines

if TYPE_CHECKING:
    from adomnia.server.console.console import PageContext
    from adomnia.server.service import Service

__all__ = ["show"]

MOST_ROWS = 400
MOST_TABLES = 30


@dataclass(frozen=True)
class ReleasedTable:
    """A published table: its attributes, its cells and counts, and a chart of a small one."""

    attributes: tuple[str, ...]
    rows: tuple[tuple[tuple[Any, ...], int], ...]
    margin: str
    confidence: str
    chart: str
    more: int
    not_shown: tuple[str, ...] = ()


async def show(context: PageContext) -> Response:
    """What is public. Who paid how much for it only a curator sees."""
    releases, priors = await context.service.run(_published, context.service)
    return await context.page("releases.html", releases=releases, priors=priors)


def _published(
    service: Service,
) -> tuple[list[tuple[LedgerLine, str | None, list[ReleasedTable], int]], list[LedgerLine]]:
    database = service.database
    listed = lines(database)
    made = []
    for line in reversed(listed):
        if line.kind == "release" and line.answered:
            tables = database.released_tables(line.receipt)
            view = _view(database, line.receipt)
            shown = list(_tables(_policy(database, view), tables[:MOST_TABLES]))
            made.append((line, view, shown, max(0, len(tables) - MOST_TABLES)))
    return made, [line for line in listed if line.kind == EXACT]


def _view(database: PrivateDatabase, receipt: str) -> str | None:
    """The view that was released; None where it was the table itself."""
    paid = database.reservation(receipt)
    return None if paid is None else paid.body["use"].get("view")


def _policy(database: PrivateDatabase, view: str | None) -> Policy:
    """The policy that a release was made by: that of a view, where it is of one."""
    if view is None:
        return database.policy
    try:
        return database.view(view).policy
    except (PolicyError, QuestionError):  # the policy has no such view any more
        return database.policy


def _tables(policy: Policy, marginals: list[Mapping[str, Any]]) -> Iterator[ReleasedTable]:
    for marginal in sorted(marginals, key=lambda one: len(one["attributes"])):
        names, values = tuple(marginal["attributes"]), marginal["values"]
        axes = shown_axes(policy, marginal)
        if axes is None or math.prod(map(len, axes)) != len(values):
            continue  # it was published under another policy
        cells = list(zip(product(*axes), values, strict=True))
        yield ReleasedTable(
            names,
            tuple(cells[:MOST_ROWS]),
            formatting.margin(marginal["margin"]),
            formatting.confidence(marginal["confidence"]),
            _chart(names, cells, marginal["margin"]) if len(cells) <= MOST_BARS else "",
            max(0, len(cells) - MOST_ROWS),
            tuple(_not_shown(marginal.get("not_shown", {}))),
        )


def _not_shown(hidden: Mapping[str, Mapping[str, int | None]]) -> Iterator[str]:
    """How many rows have no value of a key, where any may."""
    for name, told in hidden.items():
        count, off = told["rows"] or 0, told["margin"]
        if off is not None and count + off > 0:
            yield f"{about(count, off, 'row')} without a value of {name} that is shown"


def _chart(names: tuple[str, ...], cells: list[tuple[tuple[Any, ...], int]], margin: float) -> str:
    bars = [
        Bar(", ".join(map(formatting.label, cell)), count, margin, formatting.value(count))
        for cell, count in cells
    ]
    return bar_chart(bars, f"{' × '.join(names)}: counts with their margins of error")
