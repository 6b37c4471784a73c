"""What every verb takes: the policy file, and whether a person or a program reads the output."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import click

from adomnia.errors import QuestionError

__all__ = [
    "amount",
    "confidence",
    "error",
    "form",
    "limit",
    "listed",
    "losses",
    "names",
    "numbers",
    "original",
    "policy",
    "policy_unused",
    "quasi",
    "seed",
    "shadows",
    "trials",
]

Verb = TypeVar("Verb", bound=Callable[..., Any])


def policy(verb: Verb) -> Verb:
    """`--policy FILE`."""
    return click.option(
        "--policy", default="adomnia.toml", show_default=True, metavar="FILE", help="The policy."
    )(verb)


def policy_unused(verb: Verb) -> Verb:
    """`--policy FILE` on a verb that needs none, so that scripts can give it everywhere."""
    return click.option(
        "--policy", metavar="FILE", expose_value=False, help="Taken by every verb; not needed here."
    )(verb)


def form(verb: Verb) -> Verb:
    """`--format text|json`."""
    return click.option(
        "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
        help="For a person or for a program.",
    )(verb)  # fmt: skip


def losses(verb: Verb) -> Verb:
    """`--epsilon`, `--rho` and `--delta`, kept as text: 0.1 and 1/10 stay exact."""
    delta = click.option("--delta", metavar="D", help="For undeclared groups, or --error value.")
    rho = click.option("--rho", metavar="R", help="What to pay, with Gaussian noise (zCDP).")
    epsilon = click.option(
        "--epsilon", metavar="E", help="What to pay, such as 0.1 or 1/10 (Laplace noise)."
    )
    return epsilon(rho(delta(verb)))


def error(verb: Verb) -> Verb:
    """`--error rank|value|interval`."""
    return click.option(
        "--error", type=click.Choice(["rank", "value", "interval"]), default="rank",
        show_default=True,
        help="What shall be small of a quantile: the error of its rank, or of its value; "
        "or an interval of values around it.",
    )(verb)  # fmt: skip


def confidence(verb: Verb) -> Verb:
    """`--confidence C`."""
    return click.option(
        "--confidence", type=float, default=0.95, show_default=True, metavar="C",
        help="How often a margin holds.",
    )(verb)  # fmt: skip


view = click.option(
    "--view", metavar="NAME", help="Of several tables: the view that is taken as one table."
)

# Attacks and audits

names = click.option("--names", is_flag=True, help="Also who and what: exact data, for you only.")
seed = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="S", help="For chance."
)
limit = click.option(
    "--time-limit", type=click.FloatRange(0, min_open=True), default=60.0, show_default=True,
    metavar="T", help="In seconds.",
)  # fmt: skip
shadows = click.option(
    "--shadows", type=click.IntRange(8, 10_000), default=64, show_default=True, metavar="N",
    help="Releases made again, with and without some people.",
)  # fmt: skip
quasi = click.option(
    "--quasi", required=True, metavar="A,B", help="Columns that somebody may know of a person."
)


def trials(many: int) -> Callable[[Verb], Verb]:
    """`--trials N` with this default."""
    return click.option(
        "--trials", type=click.IntRange(1), default=many, show_default=True, metavar="N",
        help="How often it is tried.",
    )  # fmt: skip


def original(verb: Verb) -> Verb:
    """`--data FILE` and `--control FILE`: whom a released file was made from, and others."""
    data = click.option(
        "--data", required=True, metavar="FILE", help="The rows it was made from; they only score."
    )
    control = click.option(
        "--control", metavar="FILE", help="Rows of people who were not among them."
    )
    return data(control(verb))


# Values


def listed(text: str | None, option: str) -> list[str]:
    """Names in one text, divided by commas."""
    parts = [part.strip() for part in (text or "").split(",") if part.strip()]
    if text is not None and (not parts or len(set(parts)) < len(parts)):
        raise QuestionError(f"{option} takes names, each once", f"for example {option} sex,age")
    return parts


def amount(text: str, option: str = "--epsilon") -> Fraction:
    """A number above zero, exactly as it was written."""
    try:
        value = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        value = Fraction(0)
    if not 0 < value < 10**6:
        raise QuestionError(f"{option} must be a number above zero", f"for example {option} 0.1")
    return value


def numbers(text: str, option: str) -> list[float]:
    """Numbers in one text, divided by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise QuestionError(f"{option} takes numbers", f"for example {option} 0.1,0.2") from None
