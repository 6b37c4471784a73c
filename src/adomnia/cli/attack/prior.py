"""`adomnia attack prior`: what exact releases and noisy answers tell together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from adomnia import formatting
from adomnia.cli import options
from adomnia.curator.database import open_database
from adomnia.errors import QuestionError
from adomnia.present import findings, terminal
from adomnia.review.attacks import attack_prior

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["prior"]


@click.command("prior", short_help="What exact releases and noisy answers tell together.")
@click.option("--chain", metavar="K,K,…", help="The paper's chain of so many cells instead.")
@click.option("--epsilon", default="0.1", show_default=True, metavar="E", help="Of each answer.")
@options.trials(200)
@options.seed
@options.limit
@options.policy
@options.form
def prior(chain: str | None, policy: str, form: str, **how: Any) -> None:
    """Rebuild tables from exact releases and noisy counts of every cell.

    Before accounting each count has noise as if disjoint counts did not add up; after it, as
    this database prices them. The tables that are attacked are made up from what is public: the
    data is not read.

    \b
    Examples:
      adomnia attack prior --chain 10,100,1000,10000
      adomnia attack prior --epsilon 0.5
    """
    epsilon = float(options.amount(how.pop("epsilon")))
    found = _on_chain(chain, epsilon, how) if chain else _on_policy(policy, epsilon, how)
    if form == "json":
        terminal.json_text(found.to_json())
        return
    screen = terminal.console()
    if chain:
        rows = [
            (f"{point['k']:,}", *(_share(point[when]["value"]) for when in ("before", "after")))
            for point in found.details["curve"]
        ]
        headings = ["cells", "whole table rebuilt", "with accounting"]
        screen.print(terminal.table(headings, rows, [0, 1, 2]))
    else:
        _print_policy(found)
    screen.print(formatting.one_line(found.claim))
    if not found.complete:
        screen.print(findings.LATE, style="yellow")


def _on_chain(chain: str, epsilon: float, how: dict[str, Any]) -> Finding:
    from adomnia.audit.exact_releases.prior_leak import chain_leak  # noqa: PLC0415 (needs SciPy: slow to import)

    try:
        sizes = [int(part) for part in chain.split(",")]
        if min(sizes) < 2 or max(sizes) > 1_000_000:
            raise ValueError
    except ValueError:
        raise QuestionError(
            "--chain takes numbers of cells, from 2 to 1,000,000", "for example --chain 10,100,1000"
        ) from None
    return chain_leak(sizes, epsilon, **how)


def _on_policy(policy: str, epsilon: float, how: dict[str, Any]) -> Finding:
    with open_database(policy) as database, terminal.progress("attacking"):
        return attack_prior(database, epsilon=epsilon, **how)


def _print_policy(found: Finding) -> None:
    facts = found.details
    screen = terminal.console()
    screen.print(f"{facts['cells']:,} cells, of which {facts.get('determined', 0):,} follow from "
                 "the exact releases alone")  # fmt: skip
    rows = [
        (name, _share(facts[when]["cells"]["value"]), _share(facts[when]["table"]["value"]))
        for name, when in (("as if counts were apart", "before"), ("with accounting", "after"))
        if facts.get(when)
    ]
    headings = ["noise", "cells rebuilt exactly", "whole table rebuilt"]
    screen.print(terminal.table(headings, rows, [1, 2]))


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"
