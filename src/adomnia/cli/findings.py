"""What the verbs of attacks and audits share: options, numbers, and how a finding is told."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import click

from adomnia.errors import QuestionError
from adomnia.present import formatting, terminal
from adomnia.present.findings import success_text
from adomnia.review.audit_report import without_names

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["amount", "limit", "listed", "names", "numbers", "seed", "tell", "trials"]

Verb = TypeVar("Verb", bound=Callable[..., Any])
LATE = "it was ended before it was done: this is what there was by then"

names = click.option("--names", is_flag=True, help="Also who and what: exact data, for you only.")
seed = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="S", help="For chance."
)
limit = click.option(
    "--time-limit", type=click.FloatRange(0, min_open=True), default=60.0, show_default=True,
    metavar="T", help="In seconds.",
)  # fmt: skip


def trials(many: int) -> Callable[[Verb], Verb]:
    """`--trials N` with this default."""
    return click.option(
        "--trials", type=click.IntRange(1), default=many, show_default=True, metavar="N",
        help="How often it is tried.",
    )  # fmt: skip


def listed(text: str | None, option: str) -> list[str]:
    """Names in one text, divided by commas."""
    found = [part.strip() for part in (text or "").split(",") if part.strip()]
    if text is not None and (not found or len(set(found)) < len(found)):
        raise QuestionError(f"{option} takes names, each once", f"for example {option} sex,age")
    return found


def amount(text: str, option: str = "--epsilon") -> Fraction:
    """A number above zero, exactly as it was written."""
    try:
        found = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found < 10**6:
        raise QuestionError(f"{option} must be a number above zero", f"for example {option} 0.1")
    return found


def numbers(text: str, option: str) -> list[float]:
    """Numbers in one text, divided by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise QuestionError(f"{option} takes numbers", f"for example {option} 0.1,0.2") from None


def tell(found: Finding, form: str, named: bool = False) -> None:
    """Print a finding; who and what exactly only where names were asked for."""
    facts = found.to_json() if named else without_names(found)
    if form == "json":
        terminal.json_text(facts)
        return
    screen = terminal.console()
    screen.print(formatting.one_line(found.claim), style="bold")
    rows = [
        ("success", success_text(found)),
        ("affected", found.affected),
        ("promise", "covers this" if found.covered else "does not cover this"),
        ("remedy", found.remedy),
        ("source", found.source),
    ]
    for name, text in rows:
        screen.print(f"  {name:<9}{formatting.one_line(text)}")
    if not found.complete:
        screen.print(LATE, style="yellow")
    for key in sorted(set(facts["details"]) - set(without_names(found)["details"])):
        screen.print(
            f"  {key}: {formatting.one_line(str(facts['details'][key]), 2000)}", style="red"
        )
