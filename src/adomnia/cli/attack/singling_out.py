"""`adomnia attack singling-out`: words that fit one released record, and one person."""

from __future__ import annotations

from typing import Any

import click

from adomnia.audit.files import read_columns
from adomnia.cli import options
from adomnia.present import findings, terminal

__all__ = ["singling_out"]


@click.command("singling-out", short_help="Words that fit one released record, and one person.")
@click.argument("file")
@options.original
@options.seed
@options.limit
@options.policy_unused
@options.form
def singling_out(file: str, data: str, control: str | None, form: str, **how: Any) -> None:
    """Describe single records of a released file, and count how often that is one real person.

    \b
    Examples:
      adomnia attack singling-out released.csv --data people.csv --control others.csv
    """
    from adomnia.audit.synthetic.attacks import SinglingOut  # noqa: PLC0415 (slow to import)
    from adomnia.audit.synthetic.coded_files import Population  # noqa: PLC0415

    released, truth = read_columns(file), Population.read(data, control)
    with terminal.progress("describing"):
        found = SinglingOut(**how).run(released, truth)
    findings.tell(found, form)
