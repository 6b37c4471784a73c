"""`adomnia attack uniqueness`, `linkage` and `intersection`: files of people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from adomnia.cli import findings as attacked
from adomnia.cli import options
from adomnia.errors import QuestionError
from adomnia.present import terminal
from adomnia.review.exact_columns import read_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow

__all__ = ["intersection", "linkage", "uniqueness"]

quasi = click.option(
    "--quasi", required=True, metavar="A,B", help="Columns that somebody may know of a person."
)


@click.command("uniqueness", short_help="Who is alone in a published file.")
@click.argument("file")
@quasi
@click.option("--sensitive", metavar="COL", help="Also l-diversity and t-closeness of it.")
@attacked.names
@attacked.limit
@options.policy_unused
@options.form
def uniqueness(file: str, quasi: str, sensitive: str | None, names: bool, **how: Any) -> None:
    """Count the rows of a CSV or Parquet file that are alone with what is known of them.

    \b
    Examples:
      adomnia attack uniqueness people.csv --quasi sex,age,region --sensitive income
    """
    from adomnia.audit.linkage.uniqueness import uniqueness as attack  # noqa: PLC0415 (slow to import)

    known = attacked.listed(quasi, "--quasi")
    data = read_columns(file, [*known, *([sensitive] if sensitive else [])])
    if sensitive in known:
        raise QuestionError("the sensitive column cannot be known", "leave it out of --quasi")
    if not data.num_rows:
        raise QuestionError("the file has no rows", "give a file with people")
    with terminal.progress("counting"):
        found = attack(data, known, sensitive, names, how["time_limit"])
    if how["form"] == "text":
        rows = [
            (one["column"], f"{one['values']:,}", f"{one['uniques_without']:,}")
            for one in found.details["columns"]
        ]
        headings = ["column", "values", "alone without it"]
        terminal.console().print(terminal.table(headings, rows, [1, 2]))
    attacked.tell(found, how["form"], names)


@click.command("linkage", short_help="People of one file found in another.")
@click.argument("published")
@click.argument("known")
@click.option("--on", "shared", metavar="A,B", help="Columns that both have; all unless told.")
@click.option("--tolerance", multiple=True, metavar="COL=N", help="Numbers may be off by N.")
@click.option("--probable", is_flag=True, help="Weigh columns: values may be off.")
@click.option("--confidence", type=click.FloatRange(0, 1, min_open=True), default=0.9,
              show_default=True, metavar="C", help="From when on a link is claimed.")  # fmt: skip
@click.option("--person", metavar="COL", help="Who it is, in both files; it only scores.")
@attacked.names
@attacked.limit
@options.policy_unused
@options.form
def linkage(published: str, known: str, form: str, **told: Any) -> None:
    """Link known people (with names) to a published file (without), by the columns they share.

    \b
    Examples:
      adomnia attack linkage hospital.csv voters.csv --on born,sex,zip
      adomnia attack linkage hospital.csv voters.csv --on born,sex,zip --tolerance born=1
    """
    from adomnia.audit.linkage.linkage import (  # noqa: PLC0415 (slow to import)
        Shared,
        Weighing,
        link_exactly,
        link_probably,
    )

    files = read_columns(published), read_columns(known)
    truth = _truth(*files, told["person"]) if told["person"] else None
    on = attacked.listed(told["shared"], "--on") or _common(*files, told["person"])
    off = _tolerances(told["tolerance"], on)
    for file, data in zip((published, known), files, strict=True):
        for name in on:
            if name not in data.column_names:
                hint = "it has: " + ", ".join(data.column_names[:30])
                raise QuestionError(f"{file!r} has no column {name[:60]!r}", hint)
    with terminal.progress("linking"):
        if told["probable"] or off:
            columns = [Shared(name, off.get(name, 0.0)) for name in on]
            how = Weighing(told["confidence"], names=told["names"])
            found = link_probably(*files, columns, truth, how, told["time_limit"])
        else:
            found = link_exactly(*files, on, truth, told["names"], told["time_limit"])
    attacked.tell(found, form, told["names"])


@click.command("intersection", short_help="Several anonymised releases of the same people.")
@click.argument("files", nargs=-1, required=True)
@quasi
@click.option("--sensitive", required=True, metavar="COL", help="The column that is learned.")
@click.option("--person", required=True, metavar="COL", help="Who it is; the attacker has it not.")
@attacked.names
@attacked.limit
@options.policy_unused
@options.form
def intersection(files: Sequence[str], quasi: str, form: str, **told: Any) -> None:
    """Rule out what is not in every crowd of a person, over several releases.

    \b
    Examples:
      adomnia attack intersection may.csv june.csv --quasi crowd --sensitive illness --person id
    """
    from adomnia.audit.linkage.equivalence_classes import Release  # noqa: PLC0415 (slow to import)
    from adomnia.audit.linkage.intersection import intersection as attack  # noqa: PLC0415

    if len(files) < 2:
        raise QuestionError("an intersection needs two files or more", "one alone: uniqueness")
    known = attacked.listed(quasi, "--quasi")
    wanted = [*known, told["sensitive"], told["person"]]
    releases = [
        Release(read_columns(file, wanted), known, told["sensitive"], told["person"])
        for file in files
    ]
    with terminal.progress("intersecting"):
        found = attack(releases, told["names"], told["time_limit"])
    attacked.tell(found, form, told["names"])


def _common(published: pyarrow.Table, known: pyarrow.Table, person: str | None) -> list[str]:
    both = [name for name in published.column_names if name in known.column_names]
    found = [name for name in both if name != person]
    if not found:
        raise QuestionError(
            "the files have no common column", "name alike what means the same, or give --on"
        )
    return found


def _tolerances(given: Sequence[str], on: Sequence[str]) -> dict[str, float]:
    found = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            found[name] = float(number)
        except ValueError:
            name = ""
        if name not in on:
            raise QuestionError(
                "--tolerance takes a shared column and a number", "for example --tolerance born=1"
            )
    return found


def _truth(published: pyarrow.Table, known: pyarrow.Table, person: str) -> list[int]:
    """For each known person the row of the published file, -1 where there is none."""
    columns = []
    for data in (published, known):
        if person not in data.column_names:
            raise QuestionError(
                f"a file has no column {person[:60]!r}", "both need it to be scored"
            )
        columns.append(data[person].to_pylist())
    rows = {who: row for row, who in enumerate(columns[0])}
    if len(rows) < len(columns[0]):
        raise QuestionError(
            f"{person!r} does not name each row of the published file", "give a column that does"
        )
    found = [rows.get(who, -1) for who in columns[1]]
    if all(row < 0 for row in found):
        raise QuestionError("nobody is in both files", f"check that {person!r} means the same")
    return found
