"""`adomnia audit claim`: is the epsilon of a mechanism true?"""

from __future__ import annotations

from typing import Any

import click

from adomnia.cli import options
from adomnia.present import findings, terminal

__all__ = ["claim"]


@click.command("claim", short_help="A lower bound on the epsilon of a mechanism, from samples.")
@click.option("--mechanism", default="laplace", show_default=True, metavar="NAME",
              help="One of ours, a known broken one, or FILE.py:FUNCTION.")  # fmt: skip
@click.option("--epsilon", default="1", show_default=True, metavar="E", help="What it claims.")
@click.option("--delta", default="0.001", show_default=True, metavar="D", help="Where it has one.")
@click.option("--data", metavar="X", help="Of FILE.py:FUNCTION: an input, a number; 0.")
@click.option("--neighbour", metavar="Y", help="A neighbouring input; 1.")
@click.option("--samples", type=click.IntRange(16), default=100_000, show_default=True,
              metavar="N", help="Outputs drawn of either input.")  # fmt: skip
@click.option("--confidence", type=click.FloatRange(0.5, 0.999999), default=0.99,
              show_default=True, metavar="C", help="Of the lower bound.")  # fmt: skip
@options.seed
@options.limit
@options.policy_unused
@options.form
def claim(mechanism: str, samples: int, confidence: float, form: str, **told: Any) -> None:
    """Run a mechanism on two neighbouring inputs and bound its true epsilon from below.

    Exit 5 where the claim is violated, so that a pipeline stops. FILE.py:FUNCTION runs your own
    code: a function of one input that returns a number, a list of numbers or a text.

    \b
    Examples:
      adomnia audit claim --mechanism laplace --epsilon 1 --samples 100000
      adomnia audit claim --mechanism floating_point --epsilon 1
      adomnia audit claim --mechanism mine.py:answer --epsilon 0.5 --data 10 --neighbour 11
    """
    from adomnia.audit.claims.claim import refute  # noqa: PLC0415 (needs SciPy: slow to import)
    from adomnia.audit.claims.named_targets import target_named  # noqa: PLC0415

    epsilon, delta = options.amount(told["epsilon"]), options.amount(told["delta"], "--delta")
    target = target_named(mechanism, epsilon, delta, _inputs(told), told["seed"])
    with terminal.progress("sampling"):
        found = refute(target, samples, confidence, told["time_limit"])
    findings.tell(found, form)
    if found.details["verdict"] == "violated":
        raise click.exceptions.Exit(5)


def _inputs(told: dict[str, Any]) -> tuple[float, float] | None:
    """Two neighbouring inputs, where one of them was given: 0 and 1 unless told."""
    if told["data"] is None and told["neighbour"] is None:
        return None
    one, other = (_input(told[key], at) for at, key in enumerate(("data", "neighbour")))
    return one, other


def _input(text: str | None, default: int) -> float:
    try:
        return default if text is None else int(text)
    except ValueError:
        return options.numbers(text or "", "--data")[0]
