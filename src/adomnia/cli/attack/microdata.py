"""`adomnia attack microdata`: all records that agree with published tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from adomnia.cli import options
from adomnia.present import findings, terminal

__all__ = ["microdata"]


@click.command("microdata", short_help="Records from published tables of counts.")
@click.argument("tables", nargs=-1, required=True)
@click.option("--rounded", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="The counts were rounded to multiples of N.")  # fmt: skip
@click.option("--noise", type=click.FloatRange(0, min_open=True), metavar="B",
              help="They have Laplace noise of this scale: the best guess.")  # fmt: skip
@click.option("--most", type=click.IntRange(1), default=1000, show_default=True, metavar="N",
              help="Tables that are listed before it stops.")  # fmt: skip
@click.option("--truth", metavar="FILE", help="The true records; they only score.")
@options.names
@options.limit
@options.policy_unused
@options.form
def microdata(tables: Sequence[str], truth: str | None, names: bool, form: str, **how: Any) -> None:
    """Find all tables of people that agree with published counts, and who is in each of them.

    Each file is a table as `adomnia release` writes it: columns with values, then `count`.

    \b
    Examples:
      adomnia attack microdata sex__age.csv age__region.csv sex__region.csv
      adomnia attack microdata tables/marginals/*.csv --noise 4
    """
    from adomnia.audit.reconstruction.attacks import Microdata  # noqa: PLC0415 (needs SciPy)
    from adomnia.audit.reconstruction.table_files import read_records  # noqa: PLC0415

    published = Microdata.read(tables)
    records = None if truth is None else read_records(truth, published.cells)
    with terminal.progress("searching"):
        found = Microdata(**how).run(published, records)
    findings.tell(found, form, names)
