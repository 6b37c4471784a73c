"""What is said of lines of text that have more or fewer fields than the first, and of quotes that
may have been left open."""

from __future__ import annotations

from collections.abc import Iterator

from adomnia.engines.source_facts import LineCounts
from adomnia.formatting import share

__all__ = ["is_titled", "line_remarks"]

GRAVE = 0.01
"""From such a share of lines on it is grave."""

OPEN_QUOTE = 100
"""A field with more line breaks is hardly one: a quote was left open."""


def line_remarks(counts: LineCounts | None) -> Iterator[tuple[bool, str, float]]:
    """Whether each is grave, what is said, and the share of rows that it is of.

    >>> [(grave, text) for grave, text, _ in line_remarks(LineCounts(200, shorter=24))]
    [(True, '12% of the lines (24) have fewer fields than the first: the rest of them is NULL')]
    """
    if counts is None:
        return
    long, short = (many / max(1, counts.rows) for many in (counts.longer, counts.shorter))
    grave = long + short > GRAVE
    if counts.titles:
        yield True, _title(counts), 1.0
    if counts.longer:
        text = "have more fields than the first, and lose them: a comma inside a number?"
        yield grave, f"{share(long)} of the lines ({counts.longer:,}) {text}", long
    if counts.shorter:
        text = "have fewer fields than the first: the rest of them is NULL"
        yield grave, f"{share(short)} of the lines ({counts.shorter:,}) {text}", short
    if counts.broken:
        fields = "1 field holds" if counts.broken == 1 else f"{counts.broken:,} fields hold"
        text = f"{fields} line breaks, up to {counts.most_breaks:,} in one"
        open_quote = counts.most_breaks > OPEN_QUOTE
        hint = ": a quote that is not closed swallows the lines after it" if open_quote else ""
        yield open_quote, text + hint, 1.0 if open_quote else 0.0


def is_titled(counts: LineCounts | None) -> bool:
    """Whether a first line seems to be a title, and names no columns."""
    return counts is not None and counts.titles > 0


def _title(counts: LineCounts) -> str:
    files = counts.titles
    where = "the first line has" if files == 1 else f"the first lines of {files:,} files have"
    return (
        f"{where} one field while later lines have several: it names no columns (a title, or "
        f"sep=;); the names seem to be in line {counts.header}: delete what stands before it"
    )
