"""The page of a check: what is wrong with a source, and a picture of each column."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

from adomnia.errors import MachineryError
from adomnia.formatting import label, number, share, significant
from adomnia.present.drawing.bars import Bar, bar_chart
from adomnia.present.drawing.histogram import BinnedCounts, histogram
from adomnia.present.templating import render
from adomnia.queries.calendar import moment_at, seconds_of
from adomnia.review.check.personal_text import looks_like
from adomnia.review.check.remarks import remarks
from adomnia.review.check.row_sizes import row_sizes
from adomnia.review.check.shown_numbers import shown_number
from adomnia.review.check.source_check import (
    InspectedColumn,
    SourceCheck,
    bound_text,
    share_of,
)
from adomnia.schema.domain import Dates, Domain, Grid, Timestamps, step_text

__all__ = ["check_page", "column_bounds", "column_domain", "write_check"]

MOST_BARS = 30
"""A longer list shows its most frequent values."""


@dataclass(frozen=True)
class _ColumnView:
    """A column as the page shows it."""

    anchor: str
    name: str
    domain: str
    origin: str
    figures: list[tuple[str, str]]
    frequent: list[tuple[str, str]]
    bounds: list[tuple[str, str, str]]
    codes: str
    picture: str
    beyond: int


def write_check(checks: Sequence[SourceCheck], file: str | Path) -> Path:
    """The page of one table or several, in a file that its owner alone may read, whole or not at
    all."""
    path = Path(file)
    try:
        handle, made = tempfile.mkstemp(prefix=".check-", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(check_page(checks))
        Path(made).replace(path)
    except OSError as error:
        reason = error.strerror or "the disk refused"
        raise MachineryError(f"the page could not be written: {reason}") from None
    return path


def check_page(checks: Sequence[SourceCheck]) -> str:
    """The HTML of the check of one table, or of several."""
    facts = {
        "made": f"{datetime.now(UTC):%d %B %Y, %H:%M} UTC",
        "tables": [_table(check) for check in checks],
        "share": share,
        "share_of": share_of,
    }
    return render("check.html", facts)


def _table(check: SourceCheck) -> dict[str, Any]:
    """A table as the page shows it."""
    look, said = check.inspection, remarks(check)
    units = look.units
    return {
        "name": check.policy.table,
        "rows": look.rows,
        "edition": check.edition,
        "grave": [one for one in said if one.grave],
        "others": [one for one in said if not one.grave],
        "exceeded": check.exceeded,
        "limits": check.policy.check.any,
        "columns": [_view(check, column) for column in look.columns],
        "undeclared": [(one, looks_like(one)) for one in look.undeclared],
        "unit": check.policy.unit,
        "sizes": None if units is None or not units.sizes else row_sizes(units.sizes),
        "nobody": 0 if units is None else units.nobody,
        "cuts": [] if units is None else [(bound_text(cut), cut) for cut in units.cuts],
        "links": check.links,
        "changes": check.changes,
    }


def column_domain(domain: Domain) -> str:
    """A domain in few words."""
    if isinstance(domain, Grid):
        low, high = (shown_number(float(end), domain, None, 6) for end in (domain.low, domain.high))
        ends = f"{low} to {high}"
        return ends if domain.step == 1 else f"{ends}, step {significant(float(domain.step), 6)}"
    if isinstance(domain, Dates):
        return f"{domain.low} to {domain.high}"
    if isinstance(domain, Timestamps):
        return f"{domain.low} to {domain.high}, step {step_text(domain.step)}"
    values = getattr(domain, "values", ())
    return f"{len(values):,} values" if values else "text"


def column_bounds(column: InspectedColumn, domain: Domain) -> list[tuple[str, str, str]]:
    """Bounds that would leave out so much, with what they leave out."""
    found = {} if column.numbers is None else column.numbers.bounds
    return [
        (share(float(part)), *(_end(end, column, domain) for end in pair))  # type: ignore[misc]
        for part, pair in found.items()
    ]


def _end(end: float | date, column: InspectedColumn, domain: Domain) -> str:
    if isinstance(end, date):
        return str(end)
    finite = math.isfinite(end)
    return shown_number(end, domain, column.numbers, 6) if finite else number(end, 0)


def _view(check: SourceCheck, column: InspectedColumn) -> _ColumnView:
    domain = check.policy.attributes[column.name].domain
    bins = None if column.numbers is None else column.numbers.bins
    return _ColumnView(
        re.sub(r"\W+", "_", f"column-{check.policy.table}-{column.name}"),
        column.name,
        column_domain(domain),
        check.origin(column.name),
        _figures(column, domain),
        [("unreadable" if value is None else repr(value), f"{many:,}")
         for value, many in column.frequent],
        column_bounds(column, domain),
        "" if column.numbers is None else column.numbers.codes,
        _bars(column, domain) if bins is None else _histogram(column, domain),
        0 if bins is None else bins.before + bins.after,
    )  # fmt: skip


def _figures(column: InspectedColumn, domain: Domain) -> list[tuple[str, str]]:
    """What cleaning does, with shares, and the means where there are any."""
    numbers = column.numbers
    counted = {"NULL": (column.rows - column.present, column.rows)}
    if numbers is not None:
        counted |= {"below": (numbers.below, column.present),
                    "above": (numbers.above, column.present)}  # fmt: skip
    else:
        counted |= {"not listed": (column.unlisted, column.present),
                    "counted as other": (column.moved, column.present)}  # fmt: skip
    counted["not read"] = (column.unread, column.present)
    figures = [(name, f"{part:,} ({share(share_of(part, whole))})" if part else "0")
               for name, (part, whole) in counted.items()]  # fmt: skip
    if numbers is not None and numbers.ends is not None:
        low, high = (_end(end, column, domain) for end in numbers.ends)
        figures.append(("in the source", f"{low} to {high}"))
    if numbers is not None and numbers.mean is not None and numbers.cleaned_mean is not None:
        means = numbers.mean, numbers.cleaned_mean
        true, cleaned = (shown_number(mean, domain, numbers) for mean in means)
        figures.append(("mean", f"{true}; cleaned {cleaned}"))
    return figures


def _bars(column: InspectedColumn, domain: Domain) -> str:
    """A bar for each listed value, and for what is not in the list."""
    other = getattr(domain, "other", None)
    counts = sorted(column.counts.items(), key=lambda pair: -pair[1])[:MOST_BARS]
    rest = {"(not listed)": column.unlisted, "(not read)": column.unread,
            "(NULL)": column.rows - column.present}  # fmt: skip
    named = [(label(value) + " (other)" * (value == other), many) for value, many in counts]
    named += [(name, many) for name, many in rest.items() if many]
    bars = [Bar(name, float(many), None, f"{many:,}") for name, many in named]
    return bar_chart(bars, f"{column.name}: how many rows have each value") if bars else ""


def _histogram(column: InspectedColumn, domain: Domain) -> str:
    """The values as the source has them, with the declared bounds."""
    assert column.numbers is not None
    assert column.numbers.bins is not None
    bins = column.numbers.bins
    ends, step, show = _axis(domain)
    binned = BinnedCounts(bins.edges, bins.counts, (ends[0] - step / 2, ends[1] + step / 2))
    first, last = (show(end) for end in (bins.edges[0] + step / 2, bins.edges[-1] - step / 2))
    labels = (f"low {show(ends[0])}", f"high {show(ends[1])}")
    return histogram(binned, f"{column.name}: a histogram, with its bounds", (first, last), labels)


def _axis(domain: Domain) -> tuple[tuple[float, float], float, Callable[[float], str]]:
    """The ends and the step of a domain as numbers, and how such a number is shown."""
    if isinstance(domain, Dates):
        return (float(domain.low.toordinal()), float(domain.high.toordinal())), 1.0, _shown_day
    if isinstance(domain, Timestamps):
        ends = float(seconds_of(domain.low)), float(seconds_of(domain.high))
        return ends, float(domain.step), lambda seconds: str(moment_at(int(seconds)))
    assert isinstance(domain, Grid)
    show = partial(shown_number, domain=domain)
    return (float(domain.low), float(domain.high)), float(domain.step), show


def _shown_day(day: float) -> str:
    return date.fromordinal(min(max(int(day), 1), date.max.toordinal())).isoformat()
