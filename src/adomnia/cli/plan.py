"""`adomnia plan`: what an answer would cost and how far off it would be."""

from __future__ import annotations

import click

from adomnia import formatting
from adomnia.cli import options
from adomnia.cli.ask import read_sql
from adomnia.curator.database import open_database
from adomnia.curator.plan_view import plan_lines, plan_margins
from adomnia.curator.query_plan import QueryPlan
from adomnia.errors import QuestionError
from adomnia.present import terminal

__all__ = ["plan"]


@click.command(short_help="What margin an epsilon gives, or the reverse; free.")
@click.argument("sql")
@click.option("--graph", is_flag=True, help="Of the policy's graph instead of its table.")
@options.losses
@options.error
@click.option("--margin", type=float, metavar="M", help="The margin you need.")
@options.confidence
@options.policy
@options.form
def plan(sql: str, graph: bool, policy: str, form: str, **asked: str | float | None) -> None:
    """See the margin that an epsilon would give, or the epsilon that a margin needs.

    It spends nothing and does not read the data.

    \b
    Examples:
      adomnia plan "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex" --epsilon 0.1
      adomnia plan "SELECT COUNT(*) AS n FROM people" --margin 50 --confidence 0.99
    """
    if sum(asked[name] is not None for name in ("epsilon", "rho", "margin")) != 1:
        raise QuestionError(
            "plan with one of --epsilon, --rho and --margin",
            "for example --margin 50, to see the epsilon that it needs",
        )
    if graph:
        _of_graph(read_sql(sql), policy, form, asked)
        return
    with open_database(policy) as database:
        found = database.session().plan(read_sql(sql), **asked)  # type: ignore[arg-type]
    if form == "json":
        terminal.json_text(found.to_json())
    else:
        _print(found)


def _of_graph(question: str, policy: str, form: str, asked: dict[str, str | float | None]) -> None:
    """What a question about the policy's graph would cost."""
    asked.pop("error")  # it is about quantiles
    if asked.pop("margin") is not None or asked.pop("delta") is not None:
        raise QuestionError("a graph is planned with --epsilon or --rho", "give one of them")
    from adomnia.curator.networks.network import open_graph  # noqa: PLC0415 (only for graphs)

    with open_graph(policy) as network:
        found = network.session().plan(question, **asked)  # type: ignore[arg-type]
    if form == "json":
        terminal.json_text(found)
        return
    bound, off = found["sensitivity"], found["margins"]["n"]
    click.echo(f"margin {'comes with the answer' if off is None else formatting.margin(off)} "
               f"({found['mechanism']} noise)")  # fmt: skip
    click.echo(f"{bound['norm']} sensitivity {bound['value']}: {bound['argument']}")
    click.echo("nothing was spent")


def _print(found: QueryPlan) -> None:
    screen = terminal.console()
    heads = ["column", f"margin ({formatting.confidence(found.confidence)})"]
    screen.print(terminal.table(heads, plan_margins(found), [1]))
    for line in plan_lines(found, margins=False):
        screen.print(line)
