"""`adomnia why`: the claim behind a mechanism, with its proof."""

from __future__ import annotations

from pathlib import Path

import click

from adomnia.cli import options
from adomnia.errors import QuestionError
from adomnia.present import terminal

__all__ = ["find_notes", "why"]


@click.command(short_help="The claim behind a mechanism, with its proof.")
@click.argument("name", required=False)
@options.policy_unused
@options.form
def why(name: str | None, form: str) -> None:
    """Print the note that lies beside the code: what is given, claimed and proven.

    Without a name it lists the notes.

    \b
    Examples:
      adomnia why
      adomnia why laplace
    """
    notes = find_notes()
    if name is None:
        _list(notes, form)
        return
    found = notes.get(name.lower().removesuffix(".md"))
    if found is None:
        raise QuestionError(f"there is no note {name[:80]!r}", "there are: " + ", ".join(notes))
    _print(name, found, form)


def find_notes() -> dict[str, Path]:
    """Every note in the package, by its name."""
    files = Path(__file__).parents[1].rglob("*.md")
    return {file.stem: file for file in sorted(files, key=lambda file: file.stem)}


def _title(note: Path) -> str:
    return note.read_text("utf-8").partition("\n")[0].lstrip("# ")


def _list(notes: dict[str, Path], form: str) -> None:
    rows = [(name, _title(note), note.parent.name) for name, note in notes.items()]
    if form == "json":
        keys = ("name", "title", "room")
        terminal.json_text({"notes": [dict(zip(keys, row, strict=True)) for row in rows]})
    else:
        terminal.console().print(terminal.table(("name", "what it is about", "room"), rows, []))


def _print(name: str, note: Path, form: str) -> None:
    text = note.read_text("utf-8")
    screen = terminal.console()
    if form == "json":
        terminal.json_text({"name": note.stem, "title": _title(note), "text": text})
    elif screen.is_terminal:
        from rich.markdown import Markdown  # noqa: PLC0415 (slow)

        screen.print(Markdown(text))
    else:
        click.echo(text, nl=False)
