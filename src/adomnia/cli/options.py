"""What every verb takes: the policy file, and whether a person or a program reads the output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["confidence", "error", "form", "losses", "policy", "policy_unused"]

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
    """`--error rank|value`."""
    return click.option(
        "--error", type=click.Choice(["rank", "value"]), default="rank", show_default=True,
        help="What shall be small of a quantile: the error of its rank, or of its value.",
    )(verb)  # fmt: skip


def confidence(verb: Verb) -> Verb:
    """`--confidence C`."""
    return click.option(
        "--confidence", type=float, default=0.95, show_default=True, metavar="C",
        help="How often a margin holds.",
    )(verb)  # fmt: skip
