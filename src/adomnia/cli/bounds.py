"""`adomnia bounds`: the bounds of a column, found privately."""

from __future__ import annotations

from collections.abc import Iterator

import click

from adomnia.cli import options
from adomnia.curator.database import confirmed_policy
from adomnia.curator.quality.column_bounds import ProposedBounds, propose_bounds
from adomnia.formatting import amounts
from adomnia.formatting import confidence as told
from adomnia.present import terminal

__all__ = ["bounds"]


@click.command(short_help="Propose bounds of a column, privately.")
@click.argument("column")
@click.option("--epsilon", metavar="E", required=True, help="What may be spent on it.")
@click.option("--step", metavar="S", help="The step of its numbers; 1 if none is declared.")
@options.confidence
@options.policy
@options.form
def bounds(
    column: str, epsilon: str, step: str | None, confidence: float, policy: str, form: str
) -> None:
    """Propose `low` and `high` of a column of numbers, for a curator who must not look.

    Two private scans over round numbers find bounds that few people have values beyond. The column
    need not be declared; text, as in CSV files, is then read as numbers with --step alone. The
    lines that are printed go into the policy.

    \b
    Examples:
      adomnia bounds income --epsilon 0.1
      adomnia bounds price --epsilon 0.1 --step 0.01
    """
    found = propose_bounds(confirmed_policy(policy), column, (epsilon, step, confidence))
    if form == "json":
        terminal.json_text(found.to_json())
    else:
        click.echo("\n".join(_lines(found, step)))


def _lines(found: ProposedBounds, step: str | None) -> Iterator[str]:
    if found.found:
        yield found.lines()
        if step is None and found.step == 1:
            yield "step 1 was taken, and decimals are rounded; for two decimals give --step 0.01"
        for many, where in ((found.below, "below low"), (found.above, "above high")):
            yield f"at most {many:,} {found.who} have a value {where}"
        yield f"with {told(found.confidence)} confidence"
    else:
        yield f"no bounds were found: too few {found.who}, or too little epsilon"
    yield f"paid {amounts(found.spent)}; left {amounts(found.remaining)}; receipt {found.receipt}"
