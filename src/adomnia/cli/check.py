"""`adomnia check`: the source as it is now, held against the policy, exactly; for the curator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adomnia import formatting
from adomnia.cli import options
from adomnia.errors import PolicyError, QuestionError
from adomnia.policy.policy import Policy, read_policy
from adomnia.present import terminal
from adomnia.present.check_page import column_bounds, column_domain, write_check
from adomnia.review.check.examination import check_source
from adomnia.review.check.remarks import Remark, remarks
from adomnia.review.check.source_check import SourceCheck, share_of
from adomnia.review.check.tables_check import TablesCheck, check_tables

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["check"]

MOST_GRAVE, MOST_OTHERS, MOST_NAMED = 15, 8, 20
"""So many remarks, and names of columns, are printed; JSON and the page have all."""

WIDEST = 110
"""The table is no wider, also where its text goes into a file."""


@click.command(short_help="Hold the source against the policy, exactly, before it is loaded.")
@click.option("--out", metavar="FILE.html", help="A page with a picture of each column.")
@options.policy
@options.form
def check(out: str | None, policy: str, form: str) -> None:
    """Look at the source as it is now: what cleaning and bounds leave out, and what has changed.

    All numbers are exact: they are for the curator alone, and no analyst can ask for them. Nothing
    is loaded or spent, and the policy need not be confirmed. Where a limit of [check] in the policy
    is exceeded, the exit code is 6.

    Of several tables each is looked at; also how many rows belong to nobody, how many have a key
    that another one has, and how many refer to a row that is not there.

    \b
    Examples:
      adomnia check
      adomnia check --out check.html
      adomnia check --format json
    """
    if out is not None and Path(out).suffix.lower() not in (".html", ".htm"):
        raise QuestionError("the page is an HTML file", "for example --out check.html")
    read = read_policy(policy)
    if not read.source and read.several is None:
        raise PolicyError("this policy has a graph and no table", "a check is of a table")
    found = check_source(read) if read.several is None else check_tables(read)
    terminal.clear_line()
    tables = [*found.tables.values()] if isinstance(found, TablesCheck) else [found]
    if out is not None:
        write_check(tables, out)
    if form == "json":
        said = [vars(one) for one in remarks(tables[0])] if read.several is None else None
        terminal.json_text({**found.to_json(), **({} if said is None else {"remarks": said})})
    else:
        for one in tables:
            _print(one)
        if out is not None:
            terminal.console().print(f"the page is {out}, for your eyes alone")
        _no_limits(read)
    found.enforce()


def _print(found: SourceCheck) -> None:
    screen, said = terminal.console(), remarks(found)
    grave = [one for one in said if one.grave]
    compared = "" if found.edition is None else f", compared with edition {found.edition}"
    screen.print(f"{found.policy.table}: {found.inspection.rows:,} rows{compared}")
    if grave:
        screen.print("What is wrong:", style="bold red")
        _remarks(screen, grave, MOST_GRAVE, "red")
    else:
        screen.print("Nothing grave was found.", style="green")
    others = [one for one in said if not one.grave]
    if others:
        screen.print("What else was seen:")
        _remarks(screen, others, MOST_OTHERS, "")
    if found.inspection.columns:
        _columns(screen, found)
    _undeclared(screen, found)


def _no_limits(policy: Policy) -> None:
    if not policy.check.any:
        said = "the policy sets no limits: [check] left_out = 0.01 makes a check fail"
        terminal.console().print(said)


def _remarks(screen: Console, said: Sequence[Remark], most: int, style: str) -> None:
    for one in said[:most]:
        screen.print(f"  {formatting.one_line(one.about)}: {one.text}", style=style or None)
    if len(said) > most:
        screen.print(f"  … and {len(said) - most:,} more: --format json or --out shows them")


def _columns(screen: Console, found: SourceCheck) -> None:
    """A line for each declared column: what is left out, and bounds that leave out a hundredth."""
    rows = []
    for one in found.inspection.columns:
        numbers = one.numbers
        left_out = share_of(one.left_out, one.present)
        domain = found.policy.attributes[one.name].domain
        bounds = column_bounds(one, domain)
        but = f", without {numbers.codes}" if numbers and numbers.codes else ""
        nearly = [f"{low} to {high}{but}" for part, low, high in bounds if part == "1%"]
        rows.append((
            one.name,
            column_domain(domain),
            found.origin(one.name),
            formatting.share(left_out) if left_out else "",
            *(f"{many:,}" if many else "" for many in (
                numbers.below if numbers else 0, numbers.above if numbers else 0,
                one.unlisted, one.unread, one.rows - one.present)),
            "".join(nearly),
        ))  # fmt: skip
    headings = ("column", "domain", "origin", "left out", "below", "above", "not listed",
                "not read", "NULL", "99% lie in")  # fmt: skip
    used = [i for i in range(len(headings)) if i == 0 or any(row[i] for row in rows)]
    shown = terminal.table(
        [headings[i] for i in used],
        [[row[i] for i in used] for row in rows],
        [place for place, i in enumerate(used) if i in range(3, 9)],
    )
    screen.print(shown, width=min(screen.width, WIDEST))


def _undeclared(screen: Console, found: SourceCheck) -> None:
    """The columns of the source that the policy does not name."""
    names = [one.name for one in found.inspection.undeclared if one.name != found.policy.unit]
    if names:
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        listed = ", ".join(formatting.one_line(name) for name in names[:MOST_NAMED])
        screen.print(f"not declared: {listed}{more}")
