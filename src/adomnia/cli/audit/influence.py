"""`adomnia audit influence`: what one edge at the start makes of a network at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from adomnia.cli import options
from adomnia.errors import QuestionError
from adomnia.present import findings, terminal

if TYPE_CHECKING:
    from adomnia.audit.networks.growth.models import GrowthName

__all__ = ["influence"]


@click.command("influence", short_help="One edge, and what a network grows from it.")
@click.option("--model", default="forest-fire", show_default=True, metavar="NAME",
              help="forest-fire, copying or mvs.")  # fmt: skip
@click.option("--runs", type=click.IntRange(2), default=100_000, show_default=True, metavar="N",
              help="Networks grown with the edge, and without.")  # fmt: skip
@click.option("--reading", default="literal", show_default=True, metavar="NAME",
              help="How the paper's text is read.")  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="NAME=X",
              help="A parameter of the model, such as nodes=50; repeatable.")  # fmt: skip
@click.option("--epsilon", default="1", show_default=True, metavar="E", help="Of the noisy count.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, metavar="N",
              help="Threads; the figures do not depend on it.")  # fmt: skip
@click.option("--time-limit", type=click.FloatRange(0, min_open=True), metavar="T",
              help="In seconds; without it, until it is done.")  # fmt: skip
@options.seed
@options.policy_unused
@options.form
def influence(model: GrowthName, runs: int, form: str, **told: Any) -> None:
    """Grow a network with and without one edge, and count the edges that cross at the end.

    Differential privacy hides the edge itself, not what grew from it.

    \b
    Examples:
      adomnia audit influence --model forest-fire --runs 100000 --seed 1
      adomnia audit influence --model copying --set nodes=100
    """
    from adomnia.audit.networks.influence import influence as measure  # noqa: PLC0415 (needs numba)

    settings = dict(_setting(text) for text in told["settings"])
    reached = 0
    with terminal.progress("growing networks", runs) as bar:

        def watch(done: int, _: int) -> None:
            nonlocal reached
            bar(done - reached)
            reached = done

        report = measure(
            model,
            runs=runs,
            seed=told["seed"],
            epsilon=float(options.amount(told["epsilon"])),
            workers=told["workers"],
            time_limit=told["time_limit"],
            progress=watch,
            reading=told["reading"],
            **settings,
        )
    if form == "json":
        terminal.json_text(report.to_json())
        return
    facts = report.to_json()
    rows = [
        (name, f"{facts[key]['mean']:,.2f}", f"{facts[key]['se']:,.3f}")
        for name, key in (("without the edge", "without"), ("with it", "with"),
                          ("difference", "difference"))
    ]  # fmt: skip
    screen = terminal.console()
    screen.print(
        terminal.table(["edges that cross at the end", "mean", "standard error"], rows, [1, 2])
    )
    findings.tell(report.finding(), form)


def _setting(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        return name, int(number)
    except ValueError:
        pass
    try:
        return name, float(number)
    except ValueError:
        raise QuestionError(
            "--set takes a name and a number", "for example --set nodes=50"
        ) from None
