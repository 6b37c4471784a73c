"""`adomnia attack uniqueness`: who is alone in a published file."""

from __future__ import annotations

from typing import Any

import click

from adomnia.audit.files import read_columns
from adomnia.cli import options
from adomnia.present import findings, terminal

__all__ = ["uniqueness"]


@click.command("uniqueness", short_help="Who is alone in a published file.")
@click.argument("file")
@options.quasi
@click.option("--sensitive", metavar="COL", help="Also l-diversity and t-closeness of it.")
@options.names
@options.limit
@options.policy_unused
@options.form
def uniqueness(file: str, quasi: str, sensitive: str | None, names: bool, **how: Any) -> None:
    """Count the rows of a CSV or Parquet file that are alone with what is known of them.

    \b
    Examples:
      adomnia attack uniqueness people.csv --quasi sex,age,region --sensitive income
    """
    from adomnia.audit.linkage.attacks import Uniqueness  # noqa: PLC0415 (slow to import)

    known = tuple(options.listed(quasi, "--quasi"))
    data = read_columns(file, [*known, *([sensitive] if sensitive else [])])
    with terminal.progress("counting"):
        found = Uniqueness(known, sensitive, names, how["time_limit"]).run(data)
    if how["form"] == "text":
        rows = [
            (one["column"], f"{one['values']:,}", f"{one['uniques_without']:,}")
            for one in found.details["columns"]
        ]
        headings = ["column", "values", "alone without it"]
        terminal.console().print(terminal.table(headings, rows, [1, 2]))
    findings.tell(found, how["form"], names)
