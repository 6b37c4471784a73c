"""`adomnia ask`: one private answer."""

from __future__ import annotations

import sys

import click

from adomnia.cli import options
from adomnia.curator.database import open_database
from adomnia.errors import QuestionError
from adomnia.present import terminal

__all__ = ["ask", "read_sql"]


@click.command(short_help="Ask one question, get one private answer.")
@click.argument("sql")
@click.option("--graph", is_flag=True, help="Ask about the policy's graph instead of its table.")
@options.losses
@options.error
@options.confidence
@click.option("--analyst", metavar="NAME", help="Who asks; the curator where nobody is named.")
@click.option("--key", metavar="K", help="Repeat with the same key: same answer, paid once.")
@options.policy
@options.form
def ask(
    sql: str,
    graph: bool,
    policy: str,
    form: str,
    **asked: str | float | None,
) -> None:
    """Ask one question in SQL and pay for it with a part of the budget.

    The answer shows beside each noisy number how far off it may be, what it cost and what is
    left. SQL can be - to read the statement from standard input.

    \b
    Examples:
      adomnia ask "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex" --epsilon 0.1
      echo "SELECT AVG(income) FROM people" | adomnia ask - --epsilon 1/2 --format json
      adomnia ask --graph "edges within party" --epsilon 0.5
    """
    _one_loss(asked)
    statement = read_sql(sql)
    if graph:
        _of_graph(statement, policy, form, asked)
        return
    with open_database(policy) as database:
        session = database.session(asked.pop("analyst"))  # type: ignore[arg-type]
        found = session.ask(statement, **asked)  # type: ignore[arg-type]
        if form == "json":
            terminal.json_text(found.to_json())
        else:
            terminal.answer(found, terminal.console())


def _of_graph(question: str, policy: str, form: str, asked: dict[str, str | float | None]) -> None:
    """One question about the policy's graph: triangles, edges within ATTRIBUTE, 2-stars, …."""
    if asked.pop("delta") is not None or asked.pop("error") != "rank":
        raise QuestionError(
            "questions about a graph take no --delta and no --error", "leave it out"
        )
    from adomnia.curator.networks.network import open_graph  # noqa: PLC0415 (only for graphs)

    with open_graph(policy) as network:
        session = network.session(asked.pop("analyst"))  # type: ignore[arg-type]
        found = session.ask(question, **asked)  # type: ignore[arg-type]
    if form == "json":
        terminal.json_text(found.to_json())
    else:
        terminal.answer(found, terminal.console())


def read_sql(sql: str) -> str:
    """The statement itself, or the one on standard input."""
    return sys.stdin.read() if sql == "-" else sql


def _one_loss(asked: dict[str, str | float | None]) -> None:
    if asked["epsilon"] is None and asked["rho"] is None:
        raise QuestionError(
            "every answer is paid for: say how much with --epsilon",
            "for example --epsilon 0.1; adomnia plan shows what margin that gives, for free",
        )
    if asked["epsilon"] is not None and asked["rho"] is not None:
        raise QuestionError("pay with --epsilon or with --rho, not with both", "leave one out")
