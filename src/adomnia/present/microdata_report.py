"""The report of made-up records, for the curator: how far they are from the data, with pictures.

It holds exact data. It is written for its owner alone, and never into what is published.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from adomnia.errors import MachineryError, QuestionError
from adomnia.formatting import label, share, significant
from adomnia.present.drawing.bars import Bar, bar_chart
from adomnia.present.drawing.heat_map import heat_map
from adomnia.present.drawing.plot import Plot, Series, draw
from adomnia.present.templating import render
from adomnia.review.microdata.numbers_comparison import ComparedNumbers
from adomnia.review.microdata.records_comparison import ComparedTable, RecordsComparison

__all__ = ["microdata_report", "refuse_place", "write_microdata_report"]

MOST_COLUMNS = 60
MOST_PAIRS = 40


def refuse_place(file: str | Path, folder: str | Path) -> None:
    """Refuse, before anything is paid, a place that is published, taken, or cannot be written."""
    place, published = Path(file).resolve(), Path(folder).resolve()
    if place == published or published in place.parents:
        raise QuestionError(
            "the report holds exact data, and --out is published",
            "name a file outside of that folder",
        )
    if place.exists() or Path(file).is_symlink():
        raise QuestionError(f"{str(file)!r} is there already", "name a new file with --report")
    if not place.parent.is_dir() or not os.access(place.parent, os.W_OK):
        raise QuestionError(f"no file can be written to {str(place.parent)!r}", "name another")


def write_microdata_report(comparison: RecordsComparison, file: str | Path) -> Path:
    """The report as a page, or as JSON where the file's name ends so; only its owner may read it.

    Raises a MachineryError where it cannot be written.
    """
    place = Path(file)
    as_json = place.suffix.lower() == ".json"
    text = _json(comparison) if as_json else microdata_report(comparison)
    try:
        opened = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "w", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        reason = error.strerror or "the disk refused"
        raise MachineryError(
            f"the report could not be written: {reason}", "the release itself is complete"
        ) from None
    return place


def _json(comparison: RecordsComparison) -> str:
    return json.dumps(comparison.to_json(), indent=1, ensure_ascii=False, default=str) + "\n"


def microdata_report(comparison: RecordsComparison) -> str:
    """The HTML of a comparison of made-up records with the data."""
    pairs = sorted(comparison.pairs, key=lambda one: -one.variation)
    facts = {
        "found": comparison,
        "columns": sorted(comparison.columns, key=lambda one: -one.variation),
        "pairs": pairs[:MOST_PAIRS],
        "more": max(0, len(pairs) - MOST_PAIRS),
        "mean": _mean(comparison.pairs),
        "measured": _mean([one for one in comparison.pairs if one.measured]),
        "bars": _bars(comparison),
        "map": _map(comparison),
        "scatter": _scatter(comparison),
        "numbers": [(one, _quantiles(one)) for one in comparison.numbers],
        "share": share,
        "significant": significant,
    }
    return render("microdata_report.html", facts)


def _mean(tables: tuple[ComparedTable, ...] | list[ComparedTable]) -> str | None:
    return share(sum(one.variation for one in tables) / len(tables)) if tables else None


def _bars(comparison: RecordsComparison) -> str:
    """The columns that are furthest off."""
    worst = sorted(comparison.columns, key=lambda one: -one.variation)[:10]
    bars = [Bar(one.names[0], 100 * one.variation, None, share(one.variation)) for one in worst]
    return bar_chart(bars, "total variation of the worst columns", axis="total variation, in %")


def _map(comparison: RecordsComparison) -> str:
    """The total variation of each pair; that of a column by itself is on the diagonal."""
    names = [one.names[0] for one in comparison.columns][:MOST_COLUMNS]
    if len(names) < 2:
        return ""
    found = {frozenset(one.names): one for one in (*comparison.columns, *comparison.pairs)}
    cells = []
    for down in names:
        told = [(across, found.get(frozenset((down, across)))) for across in names]
        cells.append([_told(down, across, one) for across, one in told])
    title = "total variation of each pair of columns"
    return heat_map((("column", names), ("column", names)), cells, title, share)


def _told(down: str, across: str, one: ComparedTable | None) -> tuple[float, str]:
    pair = label(down) if down == across else f"{label(down)}, {label(across)}"
    if one is None:
        return 0.0, f"{pair}: not compared, too many cells"
    return one.variation, f"{pair}: {share(one.variation)}"


def _quantiles(numbers: ComparedNumbers) -> str:
    """The quantiles of a column, true and made up; none where there are no numbers."""
    if not numbers.quantiles:
        return ""
    shares, true, made = (list(part) for part in zip(*numbers.quantiles, strict=True))
    lines = [Series("in the data", shares, true, paper=True), Series("made up", shares, made)]
    title = f"quantiles of {numbers.column}, true and made up"
    plot = Plot(title, "share of rows below", numbers.column, lines, show_across=share)
    return draw(plot, heading=False)


def _scatter(comparison: RecordsComparison) -> str:
    """Every pair as a dot: how strongly it goes together in the data, and among the records."""
    drawn = []
    for measured, name in ((True, "pairs in a table"), (False, "pairs in no table")):
        some = [one.association for one in comparison.pairs if one.measured is measured]
        known = [one for one in some if one is not None]
        if known:
            true, made = [one.true for one in known], [one.made for one in known]
            drawn.append(Series(name, true, made, dots=True))
    if not drawn:
        return ""
    ends = [value for line in drawn for value in line.places]
    low, high = min(0.0, *ends), max(0.0, *ends)
    even = Series("kept as it is", [low, high], [low, high], paper=True)
    title = "association of each pair of columns, true and made up"
    return draw(Plot(title, "in the data", "among the records", [even, *drawn]), heading=False)
