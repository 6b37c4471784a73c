"""`adomnia audit --out DIR`: one page about everything, and the group of single audits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from adomnia import formatting
from adomnia.cli import options
from adomnia.cli.audit.claim import claim
from adomnia.cli.audit.disclosure import disclosure
from adomnia.cli.audit.influence import influence
from adomnia.curator.releases.release_folder import refuse_folder
from adomnia.errors import QuestionError
from adomnia.policy.policy import read_policy
from adomnia.present import terminal
from adomnia.present.audit_page import write_audit
from adomnia.present.findings import success_text
from adomnia.present.records_plot import RECORDS, left_out_text
from adomnia.review.audit import STEPS, AuditCase, examine
from adomnia.review.audit_report import AuditReport

__all__ = ["audit"]


@click.group(invoke_without_command=True, short_help="What a release would disclose; one page.")
@click.option("--out", metavar="DIR", help="The folder to make, with index.html and audit.json.")
@click.option("--public", metavar="A,B,…", help="Attributes that somebody may know of a person.")
@click.option("--sensitive", metavar="S", help="The attribute that should not be learned.")
@click.option(
    "--microdata",
    metavar="FILE",
    help="Records that are, or will be, public: a file, or the folder of a release.",
)
@click.option(
    "--control",
    metavar="FILE",
    help="Rows of people who were not in the data, to tell what is learned anyway.",
)
@options.shadows
@options.names
@options.seed
@click.option("--time-limit", type=click.FloatRange(0, min_open=True), default=30.0,
              show_default=True, metavar="T", help="Of each attack, in seconds.")  # fmt: skip
@options.view
@options.policy
@options.form
@click.pass_context
def audit(context: click.Context, /, out: str | None, policy: str, form: str, **told: Any) -> None:
    """Attack the policy's promise and data, and write down for others what was found.

    The page says what is promised, what each attack learned against knowing nothing, which of
    that the promise covers, and what to change. Nothing real is spent: what is asked, is asked
    on a copy of the ledger.

    \b
    Examples:
      adomnia audit --out report --public sex,region,education --sensitive occupation
      adomnia audit --out report --microdata tables --control others.csv
      adomnia audit disclosure --public sex,region --sensitive occupation
    """
    if context.invoked_subcommand is not None:
        return
    if out is None:
        raise QuestionError("an audit needs a folder", "for example: adomnia audit --out report")
    refuse_folder(Path(out))
    if told["control"] is not None and told["microdata"] is None:
        raise QuestionError(
            "a control group is for a file of records", "name it, too: --microdata FILE"
        )
    public, view = tuple(options.listed(told.pop("public"), "--public")), told.pop("view")
    case = AuditCase(public=public, **told)
    with terminal.progress("auditing", len(STEPS)) as bar:
        made = examine(read_policy(policy), case, progress=bar, view=view)
    write_audit(made, out)
    _print(made, out, form)


def _print(made: AuditReport, out: str, form: str) -> None:
    colours = made.colours()
    if form == "json":
        found = [
            {
                "attack": one.attack,
                "colour": colour,
                "claim": one.claim,
                "success": vars(one.success),
            }
            for one, colour in zip(made.findings, colours, strict=True)
        ]
        terminal.json_text({"folder": out, "verdict": made.verdict(), "findings": found})
        return
    screen = terminal.console()
    for one, colour in zip(made.findings, colours, strict=True):
        style = {"green": "green", "amber": "yellow", "red": "red"}[colour]
        screen.print(f"{colour:<6} {formatting.one_line(one.claim)}", style=style)
        if one.attack in RECORDS:
            screen.print(f"       {success_text(one)}")
    for text in dict.fromkeys(filter(None, map(left_out_text, made.findings))):
        screen.print(f"       {formatting.one_line(text)}")
    for name, reason in made.skipped:
        screen.print(f"       not looked at: {name} ({formatting.one_line(reason)})")
    if made.names:
        screen.print("the report names groups and exact values: keep it with the data", style="red")
    screen.print(f"the report is in {out}; open {out}/index.html")


for _verb in (disclosure, influence, claim):
    audit.add_command(_verb)
