"""`adomnia audit claim`: is the epsilon of a mechanism true?"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adomnia.cli import findings as attacked
from adomnia.cli import options
from adomnia.errors import QuestionError
from adomnia.present import terminal

if TYPE_CHECKING:
    from adomnia.audit.claims.audit_target import AuditTarget

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
@attacked.seed
@attacked.limit
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

    subject = _subject(mechanism, told)
    with terminal.progress("sampling"):
        found = refute(subject, samples, confidence, told["time_limit"])
    attacked.tell(found, form)
    if found.details["verdict"] == "violated":
        raise click.exceptions.Exit(5)


def _subject(name: str, told: dict[str, Any]) -> AuditTarget:
    from adomnia.audit.claims.audit_target import AuditTarget  # noqa: PLC0415
    from adomnia.audit.claims.broken_mechanisms import SUSPECTS, suspect  # noqa: PLC0415
    from adomnia.audit.claims.reference_mechanisms import OURS, ours  # noqa: PLC0415 (slow to import)

    epsilon, delta = attacked.amount(told["epsilon"]), attacked.amount(told["delta"], "--delta")
    if ":" in name:
        data, other = (_input(told[key], place) for place, key in enumerate(("data", "neighbour")))
        return AuditTarget.of(_function(name), data, other, float(epsilon))
    if told["data"] or told["neighbour"]:
        raise QuestionError("--data and --neighbour are for FILE.py:FUNCTION", "leave them out")
    if name in OURS:
        return ours(name, epsilon, delta)
    if name in SUSPECTS:
        return suspect(name, float(epsilon), told["seed"])
    raise QuestionError(
        f"there is no mechanism {name[:40]!r}",
        f"ours: {', '.join(OURS)}; known to be broken: {', '.join(SUSPECTS)}; or FILE.py:FUNCTION",
    )


def _input(text: str | None, default: int) -> float:
    try:
        return default if text is None else int(text)
    except ValueError:
        return attacked.numbers(text or "", "--data")[0]


def _function(name: str) -> Callable[[Any], Any]:
    """A function of the curator's own file, which is run."""
    file, _, wanted = name.rpartition(":")
    if not Path(file).is_file():
        raise QuestionError(f"there is no file {file!r}", "for example --mechanism mine.py:answer")
    spec = importlib.util.spec_from_file_location("adomnia_claim", file)
    if spec is None or spec.loader is None:
        raise QuestionError(f"{file!r} is no Python file", "for example mine.py:answer")
    module = importlib.util.module_from_spec(spec)
    sys.modules["adomnia_claim"] = module
    spec.loader.exec_module(module)
    found = getattr(module, wanted, None)
    if not callable(found):
        raise QuestionError(f"{file!r} has no function {wanted!r}", "a function of one input")
    return found  # type: ignore[no-any-return]
