"""`adomnia attack ratings`: naming people by what they rated."""

from __future__ import annotations

from typing import Any

import click

from adomnia.cli import options
from adomnia.present import findings, terminal

__all__ = ["ratings"]


@click.command("ratings", short_help="People named by a few of their ratings.")
@click.argument("file")
@click.option("--person", default="person", show_default=True, metavar="COL", help="Who rated.")
@click.option("--item", default="item", show_default=True, metavar="COL", help="What was rated.")
@click.option("--value", default="rating", show_default=True, metavar="COL", help="How.")
@click.option("--day", metavar="COL", help="When: a date, or a number of days.")
@click.option("--facts", type=click.IntRange(1), metavar="N", help="Ratings known; else a range.")
@click.option("--wrong", type=click.IntRange(0), default=0, show_default=True, metavar="N",
              help="So many of them are wrong.")  # fmt: skip
@click.option("--day-error", type=click.IntRange(0), default=3, show_default=True, metavar="N",
              help="Days are off by up to N.")  # fmt: skip
@click.option("--targets", type=click.IntRange(1), default=200, show_default=True, metavar="N",
              help="People who are looked for.")  # fmt: skip
@options.seed
@options.names
@options.limit
@options.policy_unused
@options.form
def ratings(file: str, form: str, **told: Any) -> None:
    """Look for people in a file of ratings by a few that somebody knows of them.

    The file has one rating a row. Without --facts several attackers are tried: with 2 ratings,
    4, and 8 of which 2 are wrong, without and with days.

    \b
    Examples:
      adomnia attack ratings ratings.csv --person user --item film --value stars --day date
      adomnia attack ratings ratings.csv --facts 8 --wrong 2
    """
    from adomnia.audit.linkage.attacks import RatingsAttack  # noqa: PLC0415 (needs SciPy: slow)
    from adomnia.audit.linkage.rating_files import RatingColumns, read_ratings  # noqa: PLC0415

    columns = RatingColumns(*(told.pop(name) for name in ("person", "item", "value", "day")))
    published = read_ratings(file, columns)
    with terminal.progress("looking"):
        found = RatingsAttack(**told).run(published)
    if form == "text" and "curve" in found.details:
        rows = [
            (
                f"{one['facts']}, {one['wrong']} wrong",
                "yes" if one["dated"] else "no",
                *(f"{one[key]['value']:.0%}" for key in ("claimed_rightly", "claimed_wrongly")),
                f"{one['false_positive']['value']:.0%}",
            )
            for one in found.details["curve"]
        ]
        headings = ["known ratings", "days", "named rightly", "wrongly", "named though absent"]
        terminal.console().print(terminal.table(headings, rows, [2, 3, 4]))
    findings.tell(found, form, told["names"])
