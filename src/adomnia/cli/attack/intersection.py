"""`adomnia attack intersection`: several anonymised releases of the same people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from adomnia.audit.files import read_columns
from adomnia.cli import options
from adomnia.errors import QuestionError
from adomnia.present import findings, terminal

__all__ = ["intersection"]


@click.command("intersection", short_help="Several anonymised releases of the same people.")
@click.argument("files", nargs=-1, required=True)
@options.quasi
@click.option("--sensitive", required=True, metavar="COL", help="The column that is learned.")
@click.option("--person", required=True, metavar="COL", help="Who it is; the attacker has it not.")
@options.names
@options.limit
@options.policy_unused
@options.form
def intersection(files: Sequence[str], quasi: str, form: str, **told: Any) -> None:
    """Rule out what is not in every crowd of a person, over several releases.

    \b
    Examples:
      adomnia attack intersection may.csv june.csv --quasi crowd --sensitive illness --person id
    """
    from adomnia.audit.linkage.attacks import Intersection  # noqa: PLC0415 (slow to import)
    from adomnia.audit.linkage.equivalence_classes import PublishedFile  # noqa: PLC0415

    if len(files) < 2:
        raise QuestionError("an intersection needs two files or more", "one alone: uniqueness")
    known = options.listed(quasi, "--quasi")
    wanted = [*known, told["sensitive"], told["person"]]
    releases = [
        PublishedFile(read_columns(file, wanted), known, told["sensitive"], told["person"])
        for file in files
    ]
    with terminal.progress("intersecting"):
        found = Intersection(told["names"], told["time_limit"]).run(releases)
    findings.tell(found, form, told["names"])
