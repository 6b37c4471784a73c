"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterator
from html import escape
from importlib import import_module

import click

from tools.handbook.texts import TOP

__all__ = ["command_page"]

Path = tuple[str, ...]
"""The words of a command, `adomnia` first."""


def command_page() -> str:
    """Every verb with its arguments and options, as a page."""
    lines = [
        "# Every command",
        "",
        "Made from the commands themselves; [the command line](cli.md) has the examples.",
    ]
    for path, command in _commands(_root(), ("adomnia",)):
        lines += ["", *_section(path, command)]
    return "\n".join(lines) + "\n"


def _root() -> click.Command:
    """What the script `adomnia` runs: the widest group of the module that it names."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]
    module, _, _ = project["scripts"]["adomnia"].partition(":")
    inside = vars(import_module(module)).values()
    groups = [one for one in inside if isinstance(one, click.Group)]
    return max(groups, key=lambda group: len(group.list_commands(click.Context(group))))


def _commands(command: click.Command, path: Path) -> Iterator[tuple[Path, click.Command]]:
    """A command and all that are under it, from the top down."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inside = command.get_command(context, name)
            if inside is not None and not inside.hidden:
                yield from _commands(inside, (*path, name))


def _section(path: Path, command: click.Command) -> list[str]:
    context = click.Context(command, info_name=" ".join(path))
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f"## `{' '.join(path)}`", "", "```text", f"{' '.join(path)} {usage}".strip(), "```"]
    for part in inspect.cleandoc(command.help or "").split("\n\n"):
        laid_out = part.startswith("\b\n")  # so that click keeps its lines
        lines += ["", *(["```text", part[2:], "```"] if laid_out else [part])]
    rows = [row for one in command.get_params(context) if (row := one.get_help_record(context))]
    if rows:
        lines += ["", "| option | what it does |", "|---|---|"]
        lines += [f"| <code>{_cell(name)}</code> | {_cell(text)} |" for name, text in rows]
    return lines


def _cell(text: str) -> str:
    """A text in a table of Markdown; a bar in it would end the cell, and in code be shown so."""
    return escape(" ".join(text.split())).replace("|", "&#124;")
