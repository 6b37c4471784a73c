"""`adomnia attack inference`: a secret told by the nearest released record."""

from __future__ import annotations

from typing import Any

import click

from adomnia.audit.files import read_columns
from adomnia.cli import options
from adomnia.present import findings, terminal

__all__ = ["inference"]


@click.command("inference", short_help="A secret told by the nearest released record.")
@click.argument("file")
@options.original
@click.option("--secret", metavar="A,B", help="What is guessed; each column unless told.")
@click.option("--known", metavar="A,B", help="What is known of a person; all others unless told.")
@options.seed
@options.limit
@options.policy_unused
@options.form
def inference(file: str, data: str, control: str | None, form: str, **how: Any) -> None:
    """Guess secrets of people by the released records that are most alike.

    \b
    Examples:
      adomnia attack inference released.csv --data people.csv --control others.csv --secret income
    """
    from adomnia.audit.synthetic.attacks import Inference  # noqa: PLC0415 (slow to import)
    from adomnia.audit.synthetic.coded_files import Population  # noqa: PLC0415

    secrets = tuple(options.listed(how.pop("secret"), "--secret"))
    known = tuple(options.listed(how.pop("known"), "--known"))
    released, truth = read_columns(file), Population.read(data, control)
    with terminal.progress("guessing"):
        found = Inference(secrets, known, **how).run(released, truth)
    findings.tell(found, form)
