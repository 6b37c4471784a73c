"""`adomnia attack averaging` and `tracker`: questions put to the policy's own database."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count
from typing import Any

import click

from adomnia.cli import findings as attacked
from adomnia.cli import options
from adomnia.curator.database import Database
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import BudgetError, QuestionError
from adomnia.present import terminal
from adomnia.review.exact_columns import exact_counts
from adomnia.review.rehearsal import counting, rehearsal
from adomnia.schema.domain import Grid

__all__ = ["averaging", "limited", "reworded", "tracker"]

MOST_REPEATS = 100_000


def _asking(verb: attacked.Verb) -> attacked.Verb:
    """What both verbs take."""
    analyst = click.option("--analyst", metavar="NAME", help="Who asks; the curator if not given.")
    spend = click.option("--spend", is_flag=True, help="Spend the real budget, not a copy's.")
    epsilon = click.option(
        "--epsilon", default="0.1", show_default=True, metavar="E", help="Of each question."
    )
    return epsilon(analyst(spend(attacked.limit(options.policy(options.form(verb))))))


@click.command("averaging", short_help="One question again and again, and the mean.")
@click.option("--condition", metavar="SQL", required=True, help="Who is counted.")
@click.option("--repeats", type=click.IntRange(1, MOST_REPEATS), metavar="N",
              help="How often; as often as the noise needs.")  # fmt: skip
@click.option("--same", is_flag=True, help="In the same words each time.")
@_asking
def averaging(condition: str, repeats: int | None, same: bool, form: str, **how: Any) -> None:
    """Ask one count until the budget ends and round the mean, on a copy of the ledger.

    Each time the question is put in other words, so that it is not recognised and answered from
    memory; with --same it is not.

    \b
    Examples:
      adomnia attack averaging --condition "sex = 'F'" --epsilon 0.1
    """
    from adomnia.audit.reconstruction.averaging import averaging as attack  # noqa: PLC0415 (only needed here)
    from adomnia.audit.reconstruction.averaging import repeats_needed  # noqa: PLC0415

    price = attacked.amount(how["epsilon"])
    planned = repeats or min(MOST_REPEATS, repeats_needed(float(price)))
    with (
        rehearsal(how["policy"], how["spend"]) as database,
        terminal.progress("asking", planned) as bar,
    ):
        _counts(database, [condition])
        words = None if same else reworded(database.desk)
        ask = limited(counting(database.session(how["analyst"]), price, words), how["time_limit"])
        found = attack(_watched(ask, bar), condition, float(price), planned)
    attacked.tell(found, form)


@click.command("tracker", short_help="Small counts as differences of large ones.")
@click.option("--target", "targets", multiple=True, required=True, metavar="SQL",
              help="Who should not be counted alone; repeatable.")  # fmt: skip
@click.option("--tracker", "trackers", multiple=True, required=True, metavar="SQL",
              help="What about half of all people fulfil; repeatable.")  # fmt: skip
@click.option("--slack", type=click.IntRange(0), default=0, show_default=True, metavar="N",
              help="How far an answer is taken to be off at most.")  # fmt: skip
@_asking
def tracker(targets: tuple[str, ...], form: str, **how: Any) -> None:
    """Count people through sets that hold many others, on a copy of the ledger.

    The guesses are scored with the true counts, which are not printed.

    \b
    Examples:
      adomnia attack tracker --target "age = 90" --tracker "sex = 'F'" --epsilon 0.1
    """
    from adomnia.audit.reconstruction.tracker import tracker as attack  # noqa: PLC0415 (only needed here)

    price = attacked.amount(how["epsilon"])
    with rehearsal(how["policy"], how["spend"]) as database:
        truth = _counts(database, [*targets, *how["trackers"]])
        ask = limited(counting(database.session(how["analyst"]), price), how["time_limit"])
        found = attack(ask, targets, how["trackers"], how["slack"], truth[: len(targets)])
    attacked.tell(found, form)


def reworded(desk: TableBackend) -> Callable[[str], str]:
    """Puts a condition in other words every time, which mean the same.

    A part of those who are counted is counted, too; which part is another one each time.
    """
    turns, part = count(), _parts(desk)

    def rewrite(condition: str) -> str:
        return f"({condition}) OR (({condition}) AND {part(next(turns))})"

    return rewrite


def _parts(desk: TableBackend) -> Callable[[int], str]:
    """Conditions that differ from turn to turn, over a column of this data."""
    attributes = desk.policy.attributes
    for name, attribute in attributes.items():
        domain = attribute.domain
        if isinstance(domain, Grid) and domain.step == 1:
            low, size = int(domain.low), int(domain.high - domain.low) + 1
            return lambda turn: (
                f'"{name}" BETWEEN {low + turn % size} AND {low + turn % size + turn // size}'
            )
    free = [name for name in desk.engine.columns() if name not in attributes]
    if free:
        return lambda turn: f"\"{free[0]}\" = '{turn}'"
    name = next(iter(attributes))
    return lambda turn: f'"{name}" IS NULL AND {turn} < {turn + 1}'


def limited(ask: Callable[[str], float], seconds: float) -> Callable[[str], float]:
    """A door that closes when the time is over, as it does when a budget ends."""
    end = time.monotonic() + seconds

    def timed(condition: str) -> float:
        if time.monotonic() > end:
            raise BudgetError("the time is over", "--time-limit gives more")
        return ask(condition)

    return timed


def _watched(ask: Callable[[str], float], bar: Callable[[float], None]) -> Callable[[str], float]:
    def watched(condition: str) -> float:
        bar(1)
        return ask(condition)

    return watched


def _counts(database: Database, conditions: list[str]) -> list[int]:
    """How many rows really fulfil each condition; wrong SQL is refused here, before it costs."""
    for condition in conditions:
        if not condition.strip():
            raise QuestionError("an empty condition", "for example \"sex = 'F'\"")
    return exact_counts(database.desk, conditions)
