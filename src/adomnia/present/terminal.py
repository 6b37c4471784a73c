"""What a person sees in a terminal: tables, answers, progress; plain where nobody looks."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import click

from adomnia.curator.answers.answer import Answer
from adomnia.curator.answers.answer_view import answer_cells, answer_footer
from adomnia.formatting import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["answer", "clear_line", "console", "json_text", "progress", "table"]

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
        made.add_column(Text(one_line(name)), justify="right" if i in numbers else "left")
    for row in rows:
        cells = [Text(one_line(cell)) for cell in row]
        for i in numbers:
            cells[i].highlight_regex(r" ± .*", "cyan")
        made.add_row(*cells)
    return made


def clear_line() -> None:
    """Take away a line of progress, where a person looks at one."""
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)


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


def answer(found: Answer, screen: Console) -> None:
    """Print an answer: each noisy number with its margin, then what it cost and what is left."""
    rows = [
        [str(cell) for cell in answer_cells(found, number)]
        for number in range(min(len(found.rows), MOST_ROWS))
    ]
    noisy = [i for i, name in enumerate(found.columns) if name in found.margins]
    screen.print(table(found.columns, rows, noisy))
    if len(found.rows) > MOST_ROWS:
        more = len(found.rows) - MOST_ROWS
        screen.print(f"… and {more:,} more rows: --format json shows them, at no further cost")
    styles = chain(("green", "cyan"), repeat("yellow"))
    for text, style in zip(answer_footer(found), styles, strict=False):
        screen.print(text, style=style)
