"""`adomnia release`: tables that agree with each other, as a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import click

from adomnia import formatting
from adomnia.cli import options
from adomnia.curator.answers.omissions import sentences
from adomnia.curator.database import PrivateDatabase, open_database
from adomnia.curator.releases.presentation import Imprint, Presentation
from adomnia.curator.releases.release import Release
from adomnia.curator.releases.release_folder import refuse_folder, write_folder
from adomnia.curator.releases.release_omissions import left_out_json
from adomnia.curator.releases.release_plan import ReleaseMethod, ReleasePlan, named
from adomnia.errors import QuestionError
from adomnia.present import terminal
from adomnia.present.microdata_report import refuse_place, write_microdata_report
from adomnia.present.release_page import release_page
from adomnia.review.gate import ReleaseCheck, gate_of
from adomnia.review.microdata.records_comparison import compare_records, refuse_comparison

__all__ = ["release"]

SHOWN = 20


@click.command(short_help="Publish tables that agree with each other.")
@click.option("--ways", type=int, metavar="K", help="All tables of one to K attributes.")
@click.option(
    "--marginals",
    multiple=True,
    metavar="A,B",
    help="One table by its keys: attributes, or what GROUP BY takes; repeatable.",
)
@click.option(
    "--bins",
    multiple=True,
    metavar="COLUMN=N",
    help="Put numbers in N bands, found privately, or in bands that begin at E1,E2,…; repeatable.",
)
@click.option(
    "--sums", multiple=True, metavar="NUMBER",
    help="Also sums and averages of a number with public bounds; repeatable.",
)  # fmt: skip
@click.option(
    "--cumulative", multiple=True, metavar="KEY",
    help="Also counts up to each value of a key of numbers or days; repeatable.",
)  # fmt: skip
@click.option(
    "--for", "target", metavar="COLUMN", help="Of the tables of several, those with this column."
)
@click.option(
    "--adaptive/--no-adaptive", default=None,
    help="Choose privately which tables are measured; the others are a model, without margins.",
)  # fmt: skip
@click.option("--accept", is_flag=True, help="Make records even if most of them are noise.")
@click.option("--epsilon", metavar="E", help="What to pay (Laplace noise).")
@click.option("--rho", metavar="R", help="What to pay, with Gaussian noise (zCDP).")
@click.option("--out", metavar="DIR", help="The folder to make.")
@click.option("--microdata", is_flag=True, help="Also the made-up records behind the tables.")
@click.option(
    "--report", metavar="FILE",
    help="Compare the made-up records with the data, for the curator alone: a page, or .json.",
)  # fmt: skip
@click.option("--title", metavar="TEXT", help="What the publication is called.")
@click.option("--publisher", metavar="NAME", help="Who publishes it.")
@click.option(
    "--round-to", type=click.IntRange(1), metavar="N",
    help="Also a folder of tables as they are printed: multiples of N.",
)  # fmt: skip
@click.option(
    "--suppress-unsure", is_flag=True,
    help="Also a folder of tables as they are printed: blank where a margin is wider than its "
    "number.",
)  # fmt: skip
@click.option(
    "--unbiased", is_flag=True, help="Right on average, perhaps negative: to be averaged."
)
@click.option(
    "--method", type=click.Choice(get_args(ReleaseMethod)), default="microdata",
    show_default=True,
    help="How tables are made: consistent draws one that agrees with exact releases; the others "
    "are the paper's own.",
)  # fmt: skip
@click.option("--plan", "only_plan", is_flag=True, help="Show the expected errors; spends nothing.")
@click.option(
    "--gate", is_flag=True, help="Refuse what would disclose more than the policy's [audit] allows."
)
@click.option("--analyst", metavar="NAME", help="Who pays; the curator where nobody is named.")
@options.view
@options.confidence
@options.policy
@options.form
def release(  # noqa: PLR0913, PLR0917 (what the verb may be told)
    out: str | None,
    microdata: bool,
    report: str | None,
    title: str | None,
    publisher: str | None,
    round_to: int | None,
    suppress_unsure: bool,
    only_plan: bool,
    gate: bool,
    analyst: str | None,
    view: str | None,
    policy: str,
    form: str,
    **order: object,
) -> None:
    """Publish tables of counts that agree with each other: whole numbers, none negative.

    \b
    Examples:
      adomnia release --ways 2 --epsilon 1 --plan
      adomnia release --marginals sex,age --marginals region --rho 0.1 --out tables
      adomnia release --marginals "age / 10 AS decade, sex" --epsilon 1 --out tables
      adomnia release --ways 2 --bins income=10 --epsilon 1 --out tables --microdata
      adomnia release --marginals region,sex --sums income --rho 0.1 --out tables
      adomnia release --view stays --ways 2 --epsilon 1 --out tables
    """
    if not only_plan and out is None:
        raise QuestionError("a release needs a folder", "for example --out tables, or --plan")
    if out is not None:
        refuse_folder(Path(out))
    if report is not None:
        _refuse_report(report, out)
    imprint, printed = Imprint(title, publisher), None
    if round_to is not None or suppress_unsure:
        printed = Presentation(round_to or 1, suppress_unsure)
    with open_database(policy) as opened:
        database = opened if view is None else opened.view(view)
        planned = database.plan_release(**order)  # type: ignore[arg-type]
        if report is not None:
            refuse_comparison(planned.makes_records, analyst)
        if gate or not only_plan:
            check = gate_of(database, planned, analyst, asked=gate)
            if check is not None and not check.passed:
                _print_check(check, form)
                check.enforce()
        if only_plan or out is None:
            _print_plan(planned, form)
            return
        with terminal.progress("making the tables", total=1) as bar:
            made = database.release(planned, analyst=analyst, progress=_watch(bar))
        pages = {"index.html": release_page(made, imprint, printed)}
        write_folder(
            made, out, microdata=microdata, pages=pages, presentation=printed, imprint=imprint
        )
        _print_made(made, out, form)
        if report is not None:  # after all else: what is published does not wait for it
            _write_report(database, made, report)


def _refuse_report(report: str, out: str | None) -> None:
    if out is None:
        raise QuestionError(
            "the report compares records that were made, and a plan makes none", "leave it out"
        )
    refuse_place(report, out)


def _write_report(database: PrivateDatabase, made: Release, report: str) -> None:
    with terminal.progress("comparing with the data", total=1):
        write_microdata_report(compare_records(database, made), report)
    terminal.console(stderr=True).print(f"{report} has exact data: for your eyes only")


def _print_check(check: ReleaseCheck, form: str) -> None:
    """Name the groups: exact data, on the curator's own terminal.

    For a program: in the place of the release, or beside it where there will be one.
    """
    if form == "json":
        told = json.dumps({"gate": check.to_json()}, ensure_ascii=False, default=str)
        click.echo(told, err=check.gate == "warn")
        return
    screen = terminal.console(stderr=True)
    many = f"{len(check.found):,} where {check.allowed:,} are allowed"
    screen.print(f"the gate: expected disclosures of {check.tables} tables: {many}", style="red")
    for one in sorted(check.found, key=lambda one: -one.j)[:SHOWN]:
        group = ", ".join(f"{name} {value}" for name, value in one.group.items())
        screen.print(
            formatting.one_line(f"  {group}: {one.value}, {one.j:.1f} times as common as among all")
        )
    if len(check.found) > SHOWN:
        screen.print(f"  … and {len(check.found) - SHOWN:,} more: --format json shows them")
    screen.print("  these are exact data: for your eyes only, and so is that the gate spoke")


_STEPS = ("measure", "estimate", "fit", "tabulate", "done")


def _watch(advance: Callable[[float], None]) -> Callable[[str, float], None]:
    """What the release calls as it goes on, as steps of a bar of length one."""
    reached = 0.0

    def say(step: str, done: float) -> None:
        nonlocal reached
        place = _STEPS.index(step) if step in _STEPS else 0
        now = max(reached, min(1.0, (place + done) / len(_STEPS)))
        advance(now - reached)
        reached = now

    return say


def _print_plan(planned: ReleasePlan, form: str) -> None:
    facts = planned.to_json()
    if form == "json":
        terminal.json_text(facts)
        return
    screen = terminal.console()
    shown = sorted(planned.deviations.items(), key=lambda pair: (len(pair[0]), pair[0]))[:40]
    rows = [
        (
            named(planned.workload, s),
            f"{planned.workload.cells(s):,}",
            f"{d:,.1f}",
            *(formatting.significant(one.deviation(s)) for one in planned.sums),
        )
        for s, d in shown
    ]
    sums = [f"of a sum of {one.magnitude.name}" for one in planned.sums]
    heads = ["table", "cells", "expected error of a cell", *sums]
    if rows:
        screen.print(terminal.table(heads, rows, range(1, len(heads))))
    if len(planned.deviations) > len(rows):
        more = len(planned.deviations) - len(rows)
        screen.print(f"… and {more:,} more tables: --format json shows them")
    screen.print(f"{facts['marginals']:,} tables, {facts['cells']:,} cells; {facts['mechanism']}")
    if "adaptive" in facts:
        screen.print(_adaptive_line(facts["adaptive"]))
    if planned.sums:
        parts = (f"{name} {formatting.amounts(part)}" for name, part in facts["parts"].items())
        screen.print(f"each a part of the price: {'; '.join(parts)}")
    for one in planned.layout.magnitudes:
        screen.print("\n".join(one.notes))
    _print_left_out(planned)
    for note in sentences(planned.left_out):
        screen.print(f"note: {note}")
    for one in facts.get("bands", ()):
        screen.print(formatting.one_line(_band_line(one), 200))
    screen.print("nothing was spent")


def _adaptive_line(told: Mapping[str, Any]) -> str:
    """How many tables will be measured, as far as that is known."""
    many = f"{told['candidates']:,} tables of two attributes and more"
    if told["chosen"] is None:
        said = f"rows are counted first; that decides how many of {many} are measured"
    elif not told["chosen"]:
        said = f"none of {many} is worth measuring"
    else:
        said = f"of {many}, {told['chosen']:,} are chosen by the data and measured"
    return f"single columns are measured; {said}. The others are a model, and have no margin"


def _band_line(bands: Mapping[str, Any]) -> str:
    """Where bands begin, or that it will be found, and for how much."""
    if bands["begins"] == "will be found":
        cost = formatting.amounts(bands["spent"])
        return (
            f"{bands['key']}: {bands['bands']} bands, whose edges will be found for {cost} of it; "
            f"their ranks are off by about {bands['rows_missed']['about']:,.0f} rows"
        )
    return f"{bands['key']}: bands begin at {', '.join(bands['begins'])}"


def _print_left_out(planned: ReleasePlan) -> None:
    for one in planned.layout.left_out:
        terminal.console().print(formatting.one_line(f"in no table: {one}", 120))


def _print_made(made: Release, out: str, form: str) -> None:
    workload = made.plan.workload
    if form == "json":
        facts = {"folder": out, "receipt": made.receipt, "marginals": len(workload.marginals)}
        left = {name: str(value) for name, value in made.remaining.items()}
        without = left_out_json(made.plan.layout, made.left_out)
        told = {"remaining": left, "notes": list(made.notes), "left_out": without}
        told |= {"bands": [one.to_json() for one in made.plan.bands]}
        terminal.json_text({**facts, **told})
        return
    screen = terminal.console()
    screen.print(f"{len(workload.marginals):,} tables are in {out}; open {out}/index.html")
    screen.print(f"left {formatting.amounts(made.remaining)}; receipt {made.receipt}")
    _print_left_out(made.plan)
    for one in made.plan.bands:
        screen.print(formatting.one_line(_band_line(one.to_json()), 200))
    for note in made.notes:
        screen.print(f"note: {note}")
