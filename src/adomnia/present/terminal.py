"""What a person sees: tables with margins, amounts and notes; plain where nobody looks."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from adomnia.curator.answers.answer import Answer
from adomnia.privacy.loss import written as amount

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["amount", "amounts", "answer", "console", "json_text", "line", "progress", "table"]

MOST_ROWS = 2000
"""A longer answer is cut in text; JSON has it all."""


def console(stderr: bool = False) -> Console:
    """Where text goes; without colours and line breaks where it is not a terminal."""
    from rich.console import Console  # noqa: PLC0415 (slow; not needed for --help)

    found = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    return found if found.is_terminal else Console(
        stderr=stderr, highlight=False, markup=False, emoji=False, width=1000, no_color=True
    )  # fmt: skip


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int]) -> Table:
    """A table of texts; the columns in `right` are numbers."""
    from rich import box  # noqa: PLC0415 (slow)
    from rich.table import Table  # noqa: PLC0415 (slow)
    from rich.text import Text  # noqa: PLC0415 (slow)

    numbers = set(right)
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(headings):
        made.add_column(Text(line(name)), justify="right" if i in numbers else "left")
    for row in rows:
        cells = [Text(line(cell)) for cell in row]
        for i in numbers:
            cells[i].highlight_regex(r" ± .*", "cyan")
        made.add_row(*cells)
    return made


def line(text: str, longest: int | None = None) -> str:
    """The text on one line, without control characters, shortened to `longest`."""
    clean = " ".join("".join(c if c.isprintable() else " " for c in text).split(" "))
    if longest is None:
        return clean
    short = " ".join(clean.split())
    return short if len(short) <= longest else short[: longest - 1] + "…"


def json_text(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


@contextmanager
def progress(doing: str, total: int | None = None) -> Iterator[Any]:
    """A bar on the terminal while the block runs; it gets a function that says what was done."""
    from rich.progress import Progress  # noqa: PLC0415 (slow)

    screen = console(stderr=True)
    with Progress(console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda done: bar.advance(task, done)


# Amounts


def amounts(values: Mapping[str, Fraction]) -> str:
    """Several amounts with their names; nothing at all is `nothing`."""
    some = [f"{name} {amount(value)}" for name, value in values.items() if value]
    return ", ".join(some) or "nothing"


# Answers


def answer(found: Answer, screen: Console) -> None:
    """Print an answer: each noisy number with its margin, then what it cost and what is left."""
    rows = [_cells(found, number) for number in range(min(len(found.rows), MOST_ROWS))]
    noisy = [i for i, name in enumerate(found.columns) if name in found.margins]
    screen.print(table(found.columns, rows, noisy))
    if len(found.rows) > MOST_ROWS:
        more = len(found.rows) - MOST_ROWS
        screen.print(f"… and {more:,} more rows: --format json shows them, at no further cost")
    for text, style in _footer(found):
        screen.print(text, style=style)


def _footer(found: Answer) -> Iterator[tuple[str, str]]:
    left = {name: value for name, value in found.remaining.items() if name != "delta" or value}
    yield f"paid {amounts(found.spent)}; left {amounts(left)}; receipt {found.receipt}", "green"
    yield f"each ± holds with {found.confidence * 100:g} % confidence", "cyan"
    yield from ((f"note: {line(note)}", "yellow") for note in found.notes)


def _cells(found: Answer, number: int) -> list[str]:
    cells = []
    for name, value in zip(found.columns, found.rows[number], strict=True):
        off = found.margins[name][number] if name in found.margins else None
        in_rows = found.margin_units.get(name) == "rows"
        cells.append(_rank(value, off) if in_rows else _noisy(value, off))
    return cells


def _rank(value: Any, off: float | None) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    told = _number(value, 0) if number and off is not None else _value(value)
    return f"{told} ± {_number(off, 0)} rows" if off is not None else told


def _noisy(value: Any, off: float | None) -> str:
    if off is None or not isinstance(value, int | float) or isinstance(value, bool):
        return _value(value)
    digits = _digits(off)
    return f"{_number(value, digits)} ± {_number(off, digits)}"


def _value(value: Any) -> str:
    return "NULL" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _digits(off: float) -> int:
    """Decimals so that a margin has two digits that say something."""
    if not math.isfinite(off) or off <= 0:
        return 2
    return max(0, min(9, 1 - math.floor(math.log10(off))))


def _number(value: Any, digits: int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"
