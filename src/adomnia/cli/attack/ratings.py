"""`adomnia attack ratings`: naming people by what they rated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from adomnia.cli import findings as attacked
from adomnia.cli import options
from adomnia.errors import QuestionError
from adomnia.present import terminal
from adomnia.review.exact_columns import read_columns

if TYPE_CHECKING:
    from adomnia.audit.linkage.scoreboard import Ratings

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
@attacked.seed
@attacked.names
@attacked.limit
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
    from adomnia.audit.linkage.scoreboard import (  # noqa: PLC0415 (needs SciPy: slow to import)
        HUNTS,
        Hunt,
        scoreboard,
        scoreboard_curve,
    )

    published = _read(file, told)
    how = {"seed": told["seed"], "time_limit": told["time_limit"]}
    about = {name: told[name] for name in ("day_error", "targets", "names")}
    with terminal.progress("looking"):
        if told["facts"]:
            dated = published.day is not None
            found = scoreboard(published, Hunt(told["facts"], told["wrong"], dated, **about), **how)
        else:
            hunts = [Hunt(one.facts, one.wrong, one.dated, **about) for one in HUNTS]
            found = scoreboard_curve(published, hunts, **how)
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
    attacked.tell(found, form, told["names"])


def _read(file: str, told: dict[str, Any]) -> Ratings:
    import numpy as np  # noqa: PLC0415 (slow to import)
    import pyarrow as pa  # noqa: PLC0415

    from adomnia.audit.linkage.equivalence_classes import codes  # noqa: PLC0415
    from adomnia.audit.linkage.scoreboard import Ratings  # noqa: PLC0415

    names = [told["person"], told["item"], told["value"], *([told["day"]] if told["day"] else [])]
    table = read_columns(file, names)
    if not table.num_rows:
        raise QuestionError("the file has no ratings", "one rating a row")
    try:
        value = table[told["value"]].cast(pa.float64()).to_numpy()
        day = _days(table[told["day"]]) if told["day"] else None
    except pa.ArrowException:
        raise QuestionError(
            "a rating is a number, and a day a date or a number", "see --value and --day"
        ) from None
    if np.isnan(value).any() or (day is not None and np.isnan(day).any()):
        raise QuestionError("a rating or a day is missing", "leave such rows out")
    return Ratings.of(codes(table, told["person"])[0], codes(table, told["item"])[0], value, day)


def _days(column: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_timestamp(kind):
        column = column.cast(pa.date32())
    if pa.types.is_date(column.type):
        column = column.cast(pa.date32()).cast(pa.int32())
    return column.cast(pa.float64()).to_numpy()
