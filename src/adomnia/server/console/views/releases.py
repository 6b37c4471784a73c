"""The page of releases: tables that were published, and what was released exactly before."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from adomnia import formatting
from adomnia.curator.answers.released_tables import shown_axes
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


async def show(context: PageContext) -> Response:
    """What is public. Who paid how much for it only a curator sees."""
    releases, priors = await context.service.run(_published, context.service)
    return await context.page("releases.html", releases=releases, priors=priors)


def _published(
    service: Service,
) -> tuple[list[tuple[LedgerLine, list[ReleasedTable], int]], list[LedgerLine]]:
    database = service.database
    listed = lines(database)
    made = []
    for line in reversed(listed):
        if line.kind == "release" and line.answered:
            tables = database.released_tables(line.receipt)
            shown = list(_tables(database.policy, tables[:MOST_TABLES]))
            made.append((line, shown, max(0, len(tables) - MOST_TABLES)))
    return made, [line for line in listed if line.kind == EXACT]


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
        )


def _chart(names: tuple[str, ...], cells: list[tuple[tuple[Any, ...], int]], margin: float) -> str:
    bars = [
        Bar(", ".join(map(formatting.label, cell)), count, margin, formatting.value(count))
        for cell, count in cells
    ]
    return bar_chart(bars, f"{' × '.join(names)}: counts with their margins of error")
