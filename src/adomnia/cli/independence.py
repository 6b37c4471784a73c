"""`adomnia independence`: a private test of two attributes whose histograms are public."""

from __future__ import annotations

import click

from adomnia import formatting
from adomnia.cli import options
from adomnia.curator.database import open_database
from adomnia.present import terminal

__all__ = ["independence"]


@click.command(short_help="Test two attributes for independence.")
@click.argument("first")
@click.argument("second")
@click.option("--epsilon", required=True, metavar="E", help="What to pay, such as 0.5.")
@click.option("--analyst", metavar="NAME", help="Who pays; the curator where nobody is named.")
@options.policy
@options.form
def independence(
    first: str, second: str, epsilon: str, analyst: str | None, policy: str, form: str
) -> None:
    """Test whether two attributes are independent, where the counts of each are public.

    The square root of a damped chi-squared changes little between tables that agree with what
    is public, so it needs little noise; the p-value takes that noise into account.

    \b
    Examples:
      adomnia independence sex income --epsilon 0.5
    """
    with open_database(policy) as database:
        found = database.session(analyst).independence(first, second, epsilon)
    if form == "json":
        terminal.json_text(found.to_json())
        return
    click.echo(f"root of chi-squared {found.statistic:.3g}, with noise of scale {found.noise:.3g}")
    click.echo(f"p-value {found.p_value:.3g}: how often independent attributes look like this")
    paid, left = formatting.amounts(found.spent), formatting.amounts(found.remaining)
    click.echo(f"paid {paid}; left {left}; receipt {found.receipt}")
