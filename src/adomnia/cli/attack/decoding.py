"""`adomnia attack decoding`: a secret column although some answers are arbitrary."""

from __future__ import annotations

from typing import Any

import click

from adomnia.cli import options
from adomnia.present import findings, terminal
from adomnia.review.attacks import MOST_PEOPLE

__all__ = ["decoding"]


@click.command("decoding", short_help="A secret column although some answers are arbitrary.")
@click.option(
    "--n", "people", type=click.IntRange(1, MOST_PEOPLE), default=64, show_default=True,
    metavar="N", help="How many people.",
)  # fmt: skip
@click.option("--ratio", type=click.FloatRange(0.1, 100), default=10.0, show_default=True,
              metavar="R", help="Questions for each person.")  # fmt: skip
@click.option("--rho", default="0.1,0.15,0.2,0.22,0.25,0.3", show_default=True, metavar="R,R,…",
              help="Shares of the answers that are arbitrary.")  # fmt: skip
@click.option("--signs", is_flag=True, help="Questions of ±1 in the place of normal ones.")
@click.option("--noise", type=click.FloatRange(0), default=0.0, show_default=True, metavar="E",
              help="The other answers are within ±E.")  # fmt: skip
@options.trials(10)
@options.seed
@options.limit
@options.policy_unused
@options.form
def decoding(people: int, ratio: float, rho: str, form: str, **how: Any) -> None:
    """Decode a made-up secret column while a share rho of the answers is arbitrary.

    Random errors are corrected at any share tried; an adversary's only up to about 0.239.

    \b
    Examples:
      adomnia attack decoding
      adomnia attack decoding --rho 0.2,0.25 --n 128 --ratio 20
    """
    from adomnia.audit.reconstruction.decoding import Channel, decoding_curve  # noqa: PLC0415 (slow)

    shares = options.numbers(rho, "--rho")
    channel = Channel(people, ratio, "signs" if how.pop("signs") else "gaussian",
                      noise=how.pop("noise"))  # fmt: skip
    with terminal.progress("attacking"):
        found = decoding_curve(channel, shares, **how)
    if form == "text":
        rows = [
            (f"{row['rho']:g}", row["errors"], f"{row['whole']:.0%}", f"{row['recovered']:.1%}")
            for row in found.details["curve"]
        ]
        headings = ["arbitrary share", "by", "whole column came back", "bits right"]
        terminal.console().print(terminal.table(headings, rows, [0, 2, 3]))
    findings.tell(found, form)
