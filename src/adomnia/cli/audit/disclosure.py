"""`adomnia audit disclosure`: what noisy tables say about groups of people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adomnia import formatting
from adomnia.audit.files import read_coded
from adomnia.cli import options
from adomnia.errors import MachineryError, QuestionError
from adomnia.policy.policy import Audit, read_policy
from adomnia.present import terminal
from adomnia.present.disclosure_plot import disclosure_plot
from adomnia.present.drawing.svg import standalone
from adomnia.review.disclosures import EPSILONS, Roles, count_disclosures, relation, terms_of
from adomnia.review.exact_columns import own_columns
from adomnia.review.rehearsal import rehearsal

if TYPE_CHECKING:
    from adomnia.audit.disclosure.disclosure_report import DisclosureReport, DisclosureTerms
    from adomnia.audit.files import CodedColumns

__all__ = ["disclosure"]

SHOWN = 40
READINGS = {
    "pair": "groups by two published attributes",
    "all": "groups by all public attributes",
}


@click.command("disclosure", short_help="What noisy tables say about groups of people.")
@click.option("--data", metavar="FILE", help="CSV or Parquet; the policy's own data unless told.")
@click.option("--public", metavar="A,B,…", help="Attributes that somebody may know of a person.")
@click.option("--sensitive", metavar="S", help="The attribute that should not be learned.")
@click.option(
    "--epsilon", default=",".join(EPSILONS), show_default=True, metavar="E,E,…", help="To try."
)
@click.option("--chosen", metavar="E", help="The one of them that is planned; marked in the plot.")
@click.option("--tau", type=float, metavar="T", help="Relative error that is close; 0.2.")
@click.option("--kj", type=float, metavar="K", help="So many times as common is telling; 3.")
@click.option("--kcp", type=float, metavar="P", help="Probability of being close; 0.7.")
@click.option("--neighbors", type=click.Choice(["bounded", "unbounded"]),
              help="Whose sensitivity the noise has; the policy's, of a file bounded.")  # fmt: skip
@click.option("--sanity", type=float, default=1e-4, show_default=True, metavar="X",
              help="For the error, counts are taken as this share of all at least.")  # fmt: skip
@options.names
@click.option("--plot", metavar="FILE.svg", help="Draw disclosures against error.")
@options.view
@options.policy
@options.form
def disclosure(form: str, **told: Any) -> None:
    """Count where noisy two-way tables show that a value is far more common in a group.

    The count is exact and computed from the data, nothing is drawn: keep it with the data.
    Groups are named only with --names.

    \b
    Examples:
      adomnia audit disclosure --public sex,region,education --sensitive occupation
      adomnia audit disclosure --data people.csv --public sex,region --sensitive income --names
    """
    epsilons = [part.strip() for part in told["epsilon"].split(",") if part.strip()]
    for text in epsilons:
        options.amount(text)
    if told["plot"] and Path(told["plot"]).suffix != ".svg":
        raise QuestionError("a plot is an SVG file", "for example --plot disclosure.svg")
    with terminal.progress("counting"):
        columns, roles, terms = _given(told)
        report = count_disclosures(columns, roles, epsilons, terms)
    if told["plot"]:
        _draw(report, told["chosen"], told["plot"])
    if form == "json":
        more = _found(report) if told["names"] else {}
        facts = {"rows": columns.rows, **vars(roles), **_said(terms)}
        terminal.json_text({**report.to_json(), **facts, **more})
        return
    _print(report, told["names"])


def _given(told: dict[str, Any]) -> tuple[CodedColumns, Roles, DisclosureTerms]:
    public, sensitive = options.listed(told["public"], "--public"), told["sensitive"]
    limits = {name: told[name] for name in ("tau", "kj", "kcp", "sanity", "names")}
    limits["reading"] = "both"
    if told["data"]:
        roles = Roles.of(public, sensitive, Audit())
        terms = terms_of(Audit(), told["neighbors"] or "bounded", **limits)
        return read_coded(told["data"], roles.names), roles, terms
    with rehearsal(read_policy(told["policy"]), view=told["view"]) as database:
        policy = database.policy
        roles = Roles.of(public, sensitive, policy.audit)
        terms = terms_of(policy.audit, told["neighbors"] or relation(policy), **limits)
        return own_columns(database, roles.names), roles, terms


def _said(terms: DisclosureTerms) -> dict[str, Any]:
    names = ("tau", "kcp", "neighbors", "sanity")
    return {"kj": float(terms.kj), **{name: getattr(terms, name) for name in names}}


def _found(report: DisclosureReport) -> dict[str, Any]:
    return {
        "found": {
            reading: {level.epsilon: [vars(one) for one in level.found] for level in levels}
            for reading, levels in report.readings.items()
        }
    }


def _print(report: DisclosureReport, names: bool) -> None:
    screen = terminal.console()
    levels = list(zip(*report.readings.values(), strict=True))
    rows = [
        (
            level[0].epsilon,
            *(f"{one.disclosures:,}" for one in level),
            f"{100 * level[0].overall_error:,.1f} %",
        )
        for level in levels
    ]
    headings = ["epsilon", *(READINGS[name] for name in report.readings), "error of the tables"]
    screen.print(terminal.table(headings, rows, range(len(headings))))
    terms = report.terms
    screen.print(
        f"disclosed: at least {float(terms.kj):g} times as common in the group as among all, "
        f"seen to {terms.tau:.0%} with probability {terms.kcp:.0%} or more ({terms.neighbors})"
    )
    if not names:
        screen.print("groups are not named; --names does, for your eyes only")
        return
    screen.print("EXACT DATA: these groups and values are really in the data", style="bold red")
    for reading, found in report.readings.items():
        screen.print(f"{READINGS[reading]}, epsilon {found[0].epsilon}:")
        for one in found[0].found[:SHOWN]:
            group = ", ".join(f"{name} {value}" for name, value in one.group.items())
            line = f"  {group}: {one.value} ({one.j:.1f} times, seen with {one.closeness:.0%})"
            screen.print(formatting.one_line(line))
        if len(found[0].found) > SHOWN:
            more = len(found[0].found) - SHOWN
            screen.print(f"  … and {more:,} more: --format json shows them")


def _draw(report: DisclosureReport, chosen: str | None, file: str) -> None:
    drawn = standalone(disclosure_plot(report.to_json()["readings"], chosen))
    try:
        Path(file).write_text(drawn, "utf-8")
    except OSError as error:
        reason = error.strerror or "the disk refused"
        raise MachineryError(f"the plot could not be written: {reason}") from None
