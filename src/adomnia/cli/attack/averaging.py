"""`adomnia attack averaging`: one question, again and again."""

from __future__ import annotations

from typing import Any

import click

from adomnia.cli import options
from adomnia.cli.attack import asked
from adomnia.present import findings, terminal
from adomnia.review.attacks import MOST_REPEATS, attack_averaging, planned_repeats

__all__ = ["averaging"]


@click.command("averaging", short_help="One question again and again, and the mean.")
@click.option("--condition", metavar="SQL", required=True, help="Who is counted.")
@click.option("--repeats", type=click.IntRange(1, MOST_REPEATS), metavar="N",
              help="How often; as often as the noise needs.")  # fmt: skip
@click.option("--same", is_flag=True, help="In the same words each time.")
@asked.asking
def averaging(condition: str, repeats: int | None, same: bool, form: str, **how: Any) -> None:
    """Ask one count until the budget ends and round the mean, on a copy of the ledger.

    Each time the question is put in other words, so that it is not recognised and answered from
    memory; with --same it is not.

    \b
    Examples:
      adomnia attack averaging --condition "sex = 'F'" --epsilon 0.1
    """
    price = options.amount(how["epsilon"])
    planned = planned_repeats(price, repeats)
    with (
        asked.attacked(how["policy"], how["spend"], how["view"]) as database,
        terminal.progress("asking", planned) as bar,
    ):
        found = attack_averaging(
            database,
            condition,
            epsilon=price,
            repeats=planned,
            same=same,
            analyst=how["analyst"],
            time_limit=how["time_limit"],
            progress=bar,
        )
    findings.tell(found, form)
