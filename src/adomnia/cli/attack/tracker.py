"""`adomnia attack tracker`: small counts as differences of large ones."""

from __future__ import annotations

from typing import Any

import click

from adomnia.cli import options
from adomnia.cli.attack import asked
from adomnia.present import findings
from adomnia.review.attacks import attack_tracker

__all__ = ["tracker"]


@click.command("tracker", short_help="Small counts as differences of large ones.")
@click.option("--target", "targets", multiple=True, required=True, metavar="SQL",
              help="Who should not be counted alone; repeatable.")  # fmt: skip
@click.option("--tracker", "trackers", multiple=True, required=True, metavar="SQL",
              help="What about half of all people fulfil; repeatable.")  # fmt: skip
@click.option("--slack", type=click.IntRange(0), default=0, show_default=True, metavar="N",
              help="How far an answer is taken to be off at most.")  # fmt: skip
@asked.asking
def tracker(targets: tuple[str, ...], trackers: tuple[str, ...], form: str, **how: Any) -> None:
    """Count people through sets that hold many others, on a copy of the ledger.

    The guesses are scored with the true counts, which are not printed.

    \b
    Examples:
      adomnia attack tracker --target "age = 90" --tracker "sex = 'F'" --epsilon 0.1
    """
    price = options.amount(how["epsilon"])
    with asked.attacked(how["policy"], how["spend"], how["view"]) as database:
        found = attack_tracker(
            database,
            targets,
            trackers,
            epsilon=price,
            slack=how["slack"],
            analyst=how["analyst"],
            time_limit=how["time_limit"],
        )
    findings.tell(found, form)
