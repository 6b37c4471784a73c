"""The page of a release: the promise, what it cost, each table as a chart and in figures."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import product

from adomnia.curator.releases.release import Publication, named
from adomnia.marginals.workload import Subset
from adomnia.present.bars import bars
from adomnia.present.page import page, table
from adomnia.privacy import events

__all__ = ["release_page"]

MOST_TABLES = 60
MOST_BARS = 400
MOST_ROWS = 400


def release_page(publication: Publication) -> str:
    """The HTML of a release."""
    workload = publication.prospect.workload
    shown = sorted(workload.marginals, key=lambda subset: (len(subset), subset))[:MOST_TABLES]
    left = len(workload.marginals) - len(shown)
    body = [*_head(publication)]
    for subset in shown:
        body += _section(publication, subset)
    if left:
        body.append(
            f'<p class="soft">{left:,} more tables are in the folder <code>marginals</code>.</p>'
        )
    return page("Released tables", body)


def _head(publication: Publication) -> Iterator[str]:
    spent = events.loss(publication.prospect.event)
    cost = f"ε = {spent.epsilon}" if spent.epsilon else f"ρ = {spent.rho}"
    order, workload = publication.prospect.order, publication.prospect.workload
    yield "<h1>Released tables</h1>"
    yield (
        f"<p>{len(workload.marginals):,} tables of {len(workload.names)} attributes, "
        f"{workload.total_cells:,} cells. They are differentially private together: {cost}.</p>"
    )
    if publication.microdata is not None:
        yield (
            "<p>All tables are counted from one made-up file of "
            f"{len(publication.microdata):,} records, so they agree with each other, "
            "hold whole numbers, and none is negative.</p>"
        )
    yield (
        f"<p>Each number has a margin: with a confidence of {order.confidence:.0%} the truth is "
        "that close. The line through the end of a bar shows it.</p>"
    )
    for note in publication.notes:
        yield f"<p>{escape(note)}</p>"
    method, receipt = escape(order.method), escape(publication.receipt)
    yield f'<p class="soft">Method {method}; receipt {receipt}.</p>'


def _section(publication: Publication, subset: Subset) -> Iterator[str]:
    names = [publication.prospect.workload.names[place] for place in subset]
    title = " × ".join(names)
    values = publication.tables[subset].reshape(-1).tolist()
    margins = publication.margins[subset].reshape(-1).tolist()
    cells = list(product(*(publication.values[place] for place in subset)))
    yield f'<h2 id="{escape(named(publication.prospect.workload, subset))}">{escape(title)}</h2>'
    if len(values) <= MOST_BARS:
        labels = [", ".join("NULL" if v is None else str(v) for v in cell) for cell in cells]
        yield bars(labels, values, margins, f"{title}: counts with margins")
    rows = [
        (*cell, value, margin) for cell, value, margin in zip(cells, values, margins, strict=True)
    ]
    inside = table([*names, "count", "±"], rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        inside += f'<p class="soft">{len(rows) - MOST_ROWS:,} more rows are in the file.</p>'
    yield f"<details><summary>Figures</summary>{inside}</details>"
