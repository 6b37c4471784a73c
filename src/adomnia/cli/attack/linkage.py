"""`adomnia attack linkage`: people of one file found in another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from adomnia.audit.files import read_columns
from adomnia.cli import options
from adomnia.errors import QuestionError
from adomnia.present import findings, terminal

__all__ = ["linkage"]


@click.command("linkage", short_help="People of one file found in another.")
@click.argument("published")
@click.argument("known")
@click.option("--on", "shared", metavar="A,B", help="Columns that both have; all unless told.")
@click.option("--tolerance", multiple=True, metavar="COL=N", help="Numbers may be off by N.")
@click.option("--probable", is_flag=True, help="Weigh columns: values may be off.")
@click.option("--confidence", type=click.FloatRange(0, 1, min_open=True), default=0.9,
              show_default=True, metavar="C", help="From when on a link is claimed.")  # fmt: skip
@click.option("--person", metavar="COL", help="Who it is, in both files; it only scores.")
@options.names
@options.limit
@options.policy_unused
@options.form
def linkage(published: str, known: str, form: str, person: str | None, **told: Any) -> None:
    """Link known people (with names) to a published file (without), by the columns they share.

    \b
    Examples:
      adomnia attack linkage hospital.csv voters.csv --on born,sex,zip
      adomnia attack linkage hospital.csv voters.csv --on born,sex,zip --tolerance born=1
    """
    from adomnia.audit.linkage.attacks import (  # noqa: PLC0415 (slow to import)
        Linkage,
        TwoFiles,
        true_rows,
    )

    tables = {file: read_columns(file) for file in (published, known)}
    files = TwoFiles(tables[published], tables[known])
    truth = true_rows(files, person) if person else None
    on = options.listed(told["shared"], "--on") or _common(files, person)
    attack = Linkage(
        tuple(on),
        _tolerances(told["tolerance"], on),
        told["probable"],
        told["confidence"],
        told["names"],
        told["time_limit"],
    )
    for file, data in tables.items():
        for name in on:
            if name not in data.column_names:
                hint = "it has: " + ", ".join(data.column_names[:30])
                raise QuestionError(f"{file!r} has no column {name[:60]!r}", hint)
    with terminal.progress("linking"):
        found = attack.run(files, truth)
    findings.tell(found, form, told["names"])


def _common(files: Any, person: str | None) -> list[str]:
    both = [name for name in files.published.column_names if name in files.known.column_names]
    shared = [name for name in both if name != person]
    if not shared:
        raise QuestionError(
            "the files have no common column", "name alike what means the same, or give --on"
        )
    return shared


def _tolerances(given: Sequence[str], on: Sequence[str]) -> dict[str, float]:
    tolerances = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            tolerances[name] = float(number)
        except ValueError:
            name = ""
        if name not in on:
            raise QuestionError(
                "--tolerance takes a shared column and a number", "for example --tolerance born=1"
            )
    return tolerances
