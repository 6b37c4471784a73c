"""`adomnia prior`: what was released exactly, and what that changes."""

from __future__ import annotations

from typing import Any

import click

from adomnia import formatting
from adomnia.cli import options
from adomnia.cli.ask import read_sql
from adomnia.curator.database import PrivateDatabase, open_database
from adomnia.curator.determined_cells import DeterminedCells
from adomnia.errors import CheckError
from adomnia.present import terminal

__all__ = ["prior"]

MOST = 20
HEADINGS = ("#", "time (UTC)", "edition", "numbers", "re-priced", "statement")


@click.group(short_help="What was released exactly: add, confirm, list.")
def prior() -> None:
    """Tell what was released exactly; from then on it is part of the promise.

    After exact totals are out, ordinary noise can be averaged away with them. Registered here,
    every later answer is private among the tables that agree with what is public, and what was
    answered before is priced anew.
    """


@prior.command("add", short_help="Register a statement whose answer is public.")
@click.argument("sql")
@click.option("--values", metavar="FILE", help="A CSV file with the released numbers.")
@click.option("--rounded", type=int, metavar="N", help="They were rounded to multiples of N.")
@click.option("--below", type=int, metavar="N", help="Numbers below N were left out.")
@click.option("--accept", is_flag=True, help="Register it even where a budget is passed.")
@click.option("--unchecked", is_flag=True, help="Do not compare the numbers with the data.")
@options.policy
@options.form
def add(sql: str, policy: str, form: str, **said: Any) -> None:
    """Register a statement (counts and sums) whose exact answer everybody has.

    It does not compute or publish anything. With the released numbers in --values, answers are
    made to agree with them, and what they determine costs nothing. It exits with 3, and nothing
    is registered, where what was answered before would then cost more than a budget allows, and
    with 6 where the data do not have these numbers.

    \b
    Examples:
      adomnia prior add "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
      adomnia prior add "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex" --values sex.csv
    """
    checked = not said.pop("unchecked")
    with open_database(policy, accept=said["accept"]) as database:
        found = database.add_prior(read_sql(sql), check=checked, **said)
        budget, edition = database.policy.budget, _edition(database)
        before, after = budget.spent(found.before), budget.spent(found.after)
    if form == "json":
        terminal.json_text({
            "before": {name: str(value) for name, value in before.items()},
            "after": {name: str(value) for name, value in after.items()},
            "repriced": found.repriced,
            "accepted": found.accepted,
            "edition": edition,
        })  # fmt: skip
        return
    of = "" if edition is None else f", with edition {edition} of the data"
    click.echo(f"registered{of}: from now on it is part of the promise")
    if found.repriced:
        one = found.repriced == 1
        many = "1 earlier answer costs" if one else f"{found.repriced} earlier answers cost"
        click.echo(f"{many} more now: spent {formatting.amounts(before)} becomes "
                   f"{formatting.amounts(after)}")  # fmt: skip
    else:
        click.echo("no earlier answer costs more than it did")
    if found.accepted:
        click.echo("a budget is passed, and that was accepted: it is in the ledger")


@prior.command("confirm", short_help="Say that it holds for the data as they are now.")
@options.policy
@options.form
def confirm(policy: str, form: str) -> None:
    """Say that what was released exactly holds for the data as they are now.

    A release is registered with the version of the data; when these change, whatever would rest
    on it is refused until it is confirmed. Registered numbers are compared with the data first,
    and every row must have a listed value in the columns that were released. The outcome is for
    the curator alone. It exits with 6, and nothing is confirmed, where they do not hold.

    \b
    Examples:
      adomnia prior confirm
      adomnia prior confirm --policy people.toml
    """
    with open_database(policy) as database:
        some = bool(database.priors().releases)
        wrong = database.confirm_priors() if some else None
        edition = _edition(database)
    if wrong is not None:
        raise CheckError(
            f"not confirmed: {formatting.one_line(wrong)}",
            "questions stay refused; put back the data that the release is about, or begin a new "
            "table, policy and ledger for data that have grown",
        )
    if form == "json":
        terminal.json_text({"confirmed": some, "edition": edition})
    elif some:
        of = "the data as they are now" if edition is None else f"edition {edition} of the data"
        click.echo(f"confirmed: what was released exactly holds for {of}")
    else:
        click.echo("nothing was registered as released exactly")


@prior.command("list", short_help="What is public, and which cells that gives away.")
@options.policy
@options.form
def list_priors(policy: str, form: str) -> None:
    """List what was released exactly, and say which cells follow from it alone.

    \b
    Examples:
      adomnia prior list
      adomnia prior list --format json
    """
    with open_database(policy) as database:
        found = database.priors()
    if form == "json":
        terminal.json_text(found.to_json())
    elif not found.releases:
        click.echo("nothing was registered as released exactly")
    else:
        _print(found)


def _edition(database: PrivateDatabase) -> int | None:
    return None if database.edition is None else database.edition.number


def _print(found: DeterminedCells) -> None:
    screen = terminal.console()
    screen.print(terminal.table(HEADINGS, map(_row, found.releases), [0, 2, 4]))
    fixed = found.determined
    if found.cells is None:
        screen.print("they span too many cells to look at each")
    elif not fixed:
        screen.print(f"none of their {found.cells:,} cells is determined by them")
    else:
        screen.print(
            f"WARNING: {len(fixed):,} of {found.cells:,} cells are given away by them alone; "
            "no later noise can protect these:",
            style="bold red",
        )
        for name, count in fixed[:MOST]:
            screen.print(
                f"  {formatting.one_line(name)}" + ("" if count is None else f": {count:,}")
            )
        if len(fixed) > MOST:
            screen.print(f"  … and {len(fixed) - MOST:,} more: --format json shows them")


def _row(release: dict[str, Any]) -> tuple[str, ...]:
    numbers = "given" if release["values"] else "not given"
    if release["rounded"]:
        numbers += f", rounded to {release['rounded']}"
    if release["below"]:
        numbers += f", below {release['below']} left out"
    return (
        str(release["number"]),
        formatting.second(str(release["at"])),
        "" if release["edition"] is None else str(release["edition"]),
        numbers,
        str(release["repriced"]) + (" (accepted)" if release["accepted"] else ""),
        formatting.one_line(str(release["sql"]), 60),
    )
