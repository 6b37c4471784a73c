"""`adomnia plan`: what an answer would cost and how far off it would be."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import click

from adomnia import formatting
from adomnia.cli import options
from adomnia.cli.ask import read_sql
from adomnia.curator.database import open_database
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
    rows = [(n, _margin(value, found.margin_units[n])) for n, value in found.margins.items()]
    screen.print(
        terminal.table(["column", f"margin ({formatting.confidence(found.confidence)})"], rows, [1])
    )
    cells = f", {found.cells:,} cells" if found.cells > 1 else ""
    screen.print(
        f"it would cost {formatting.amounts(found.spent)} ({found.mechanism} noise{cells})"
    )
    for step in found.to_json()["measurements"]:
        bound = f"{step['norm']} sensitivity {formatting.amount(Fraction(step['value']))}"
        tight = "" if step["exact"] else " at most"
        screen.print(
            f"{step['measurement']}: {bound}{tight}, {formatting.one_line(step['argument'])}"
        )
    for name, candidates in found.quantiles.items():
        screen.print(f"{formatting.one_line(name)}: {_compared(candidates)}")
    for name, worth in found.worth.items():
        screen.print(f"{formatting.one_line(name)}: {_worth(worth)}")
    if found.row_level.get("ratio") is not None:
        screen.print(_against_rows(found))
    screen.print("nothing was spent")


def _compared(candidates: Mapping[str, Any]) -> str:
    """What each mechanism for a quantile would err by, and who answers."""
    names = {"exponential": "exponential", "smooth": "smooth sensitivity",
             "smooth_delta": "smooth sensitivity with delta"}  # fmt: skip
    sizes = [
        f"{said} {candidates[name]:.3g}"
        for name, said in names.items()
        if candidates[name] is not None
    ]
    return (
        f"mean error on {candidates['rows']:,} rows spread evenly: {', '.join(sizes)}; "
        f"used: {candidates['used']} ({candidates['why']})"
    )


def _worth(worth: Mapping[str, Any]) -> str:
    """How useless an answer is under free-lunch privacy."""
    told = str(worth["says"])
    if "discriminant" in worth:
        told += (
            f"; nobody can tell its {worth['outcomes']:,} outcomes apart with more than "
            f"{worth['discriminant']:.2g} (free-lunch privacy)"
        )
    return told


def _against_rows(found: QueryPlan) -> str:
    """What it costs to protect all rows of a unit together."""
    unit, ratio = found.row_level["unit"], found.row_level["ratio"]
    most = "up to " if len(found.steps) > 1 else ""
    return (
        f"protecting all rows of one {formatting.one_line(unit)}: margins are {most}{ratio:.3g} "
        "times those of protecting single rows"
    )


def _margin(value: float | None, unit: str) -> str:
    if value is None:
        return "comes with the answer"
    return formatting.margin(value, unit)
