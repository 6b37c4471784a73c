"""The page of a release: the promise, what it cost, each table as a chart and in figures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product, starmap
from typing import Any

from adomnia.curator.answers.omissions import sentences
from adomnia.curator.releases.figures import COUNT, figures
from adomnia.curator.releases.presentation import Imprint, Presentation
from adomnia.curator.releases.release import Release
from adomnia.curator.releases.release_plan import named
from adomnia.formatting import margin_size, significant, symbol_amounts, value
from adomnia.marginals.workload import Subset
from adomnia.present.table_chart import CountedTable, table_chart
from adomnia.present.templating import render

__all__ = ["release_page"]

MOST_TABLES = 60
MOST_ROWS = 400


@dataclass(frozen=True)
class _TableView:
    """A table as the page shows it: cells with their figures and margins, and how many more."""

    anchor: str
    names: list[str]
    model: bool
    drawings: list[str]
    figures: list[str]
    rows: list[tuple[tuple[Any, ...], list[tuple[str, str]]]]
    more: int
    not_shown: tuple[str, ...]


def release_page(
    release: Release, imprint: Imprint | None = None, presentation: Presentation | None = None
) -> str:
    """The HTML of a release: who publishes it by the `imprint`, and how else it is printed."""
    imprint = imprint or Imprint()
    workload = release.plan.workload
    shown = sorted(workload.marginals, key=lambda subset: (len(subset), subset))[:MOST_TABLES]
    records, keys = release.microdata, release.plan.layout.keys
    banded = {one.name for one in release.plan.bands}
    tables = [_table(release, subset) for subset in shown]
    beside = {note for table in tables for note in table.not_shown}
    facts = {
        "imprint": imprint,
        "published": f"{imprint.published.day} {imprint.published:%B %Y}",
        "release": release,
        "printed": presentation,
        "workload": workload,
        "cost": symbol_amounts(release.plan.spent.amounts),
        "records": None if records is None else len(records),
        "order": release.plan.spec,
        "notes": [note for note in release.notes if note not in beside],
        "left_out": release.plan.layout.left_out,
        "described": [(key.name, key.description) for key in keys if key.description],
        "keys": [key.written for key in keys if key.written and key.name not in banded],
        "bands": release.plan.bands,
        "receipt": release.receipt,
        "tables": tables,
        "more": len(workload.marginals) - len(shown),
        "quality": _quality(release),
    }
    return render("release.html", facts)


def _quality(release: Release) -> list[tuple[str, int, str, str]]:
    """Of each fitted table its cells, its expected error, and how far the records are from it."""
    workload, deviations = release.plan.workload, release.plan.deviations
    ordered = sorted(release.misfits, key=lambda subset: (len(subset), subset))
    return [
        (" × ".join(workload.names[place] for place in subset), workload.cells(subset),
         significant(deviations[subset], 3) if subset in deviations else "",
         significant(release.misfits[subset], 3))
        for subset in ordered[:MOST_ROWS]
    ]  # fmt: skip


def _table(release: Release, subset: Subset) -> _TableView:
    workload = release.plan.workload
    names = [workload.names[number] for number in subset]
    sides = [release.values[number] for number in subset]
    found = figures(release, subset)
    drawings = [
        table_chart(CountedTable(names, sides, one.values, one.margins, one.said))
        for one in found
        if one.name == COUNT or not one.rounds  # readers look at counts and at averages
    ]
    rows = list(zip(product(*sides), *(one.pairs() for one in found), strict=True))
    shown = [(cell, list(starmap(_shown, pairs))) for cell, *pairs in rows[:MOST_ROWS]]
    more = max(0, len(rows) - MOST_ROWS)
    anchor = re.sub(r"\W+", "_", named(workload, subset))
    said = [one.said for one in found]
    model = found[0].is_model
    gone = sentences(release.not_shown(subset))
    drawn = [one for one in drawings if one]
    return _TableView(anchor, names, model, drawn, said, shown, more, gone)


def _shown(number: Any, off: float | None) -> tuple[str, str]:
    """A number and its margin as texts; both empty where there is none."""
    if number is None:
        return "", ""
    if off is None:
        return value(number, None), "model"
    return value(number, off), margin_size(off) if off else "0"
