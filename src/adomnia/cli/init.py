"""`adomnia init`: a first policy, for a person to read and confirm."""

from __future__ import annotations

from pathlib import Path

import click

from adomnia import formatting
from adomnia.cli import options
from adomnia.cli.init_tables import next_lines, print_tables, tables_facts
from adomnia.errors import PolicyError
from adomnia.present import terminal
from adomnia.review.drafts.draft import Draft, DraftColumn, RowsPerUnit, Wish, draft_policy
from adomnia.review.tables_draft.draft import draft_tables
from adomnia.review.tables_draft.drafted_tables import TablesDraft

__all__ = ["init", "save"]


@click.command(short_help="Draft a policy for a file of sensitive rows.")
@click.argument("source")
@click.option("--out", "--policy", "out", default="adomnia.toml", show_default=True,
              metavar="FILE", help="Where to write the policy.")  # fmt: skip
@click.option(
    "--table", metavar="NAME", help="What the table is called in SQL; of several, the only one."
)
@click.option(
    "--unit",
    metavar="COL",
    help="Protect all rows of one value of this column, or of a row of this table.",
)
@click.option("--max-rows", type=click.IntRange(1, 10**9), metavar="N",
              help="With --unit: how many rows of one unit are used at most.")  # fmt: skip
@click.option("--rare", is_flag=True,
              help="List values of fewer than 10 rows, too: each may be a person.")  # fmt: skip
@click.option("--epsilon", default="1.0", show_default=True, metavar="E", help="The budget.")
@click.option("--force", is_flag=True, help="Replace a policy that is there.")
@options.form
def init(source: str, out: str, force: bool, form: str, **known: str | int | bool | None) -> None:
    """Draft a policy: the source, the promise, and a public domain for each column.

    SOURCE is a CSV, Parquet, DuckDB, Excel, Stata, SAS or SPSS file, a pattern, a folder, or an
    address. The domains are taken from the data and marked so; read them, correct them, and set
    confirmed = true. Of several tables that refer to each other the keys are found and drawn.

    \b
    Examples:
      adomnia init people.csv
      adomnia init visits.parquet --unit patient_id --max-rows 5 --epsilon 2 --out visits.toml
      adomnia init hospital.duckdb --unit patients
    """
    if known["unit"] is None and known["max_rows"] is not None:
        raise click.UsageError("--max-rows needs --unit")
    _free(Path(out), force)
    with terminal.progress("looking at the data"):
        made = _drafted(source, out, Wish(**known))  # type: ignore[arg-type]
    save(Path(out), made.text)
    if form == "json":
        told = tables_facts(made, out) if isinstance(made, TablesDraft) else _facts(made, out)
        terminal.json_text(told)
    elif isinstance(made, TablesDraft):
        print_tables(made, out, terminal.console())
    else:
        _print(made, out)


def _drafted(source: str, out: str, wish: Wish) -> Draft | TablesDraft:
    """A draft of several tables, where there are some that refer to each other; else of one."""
    several = draft_tables(source, out, wish) if wish.table is None else None
    return several or draft_policy(source, out, wish)


def save(path: Path, text: str) -> None:
    """Write a policy."""
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise PolicyError(f"the policy {str(path)!r} cannot be written: {error.strerror}") from None


def _free(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise PolicyError(f"there is a policy {str(path)!r} already",
                          "give another name with --out, or replace it with --force")  # fmt: skip


def _facts(made: Draft, out: str) -> dict[str, object]:
    return {
        "policy": out,
        "confirmed": False,
        "confirm": list(made.confirm),
        "undeclared": list(made.undeclared),
        "units": list(made.units),
        "rows_per_unit": {u.name: {"values": u.values, "most": u.most} for u in made.counted},
        "remarks": list(made.remarks),
        "rare_values_left_out": {c.name: c.rare for c in made.columns if c.rare},
    }


def _print(made: Draft, out: str) -> None:
    screen = terminal.console()
    rows = [(column.name, _domain(column), _state(column)) for column in made.columns]
    screen.print(terminal.table(("column", "domain", ""), rows, []))
    for text in made.remarks:
        screen.print(text, style="red")
    screen.print(f"wrote {out}; nothing can be asked yet.")
    for unit in made.counted:
        screen.print(_counted(unit))
    for text in next_lines(made.table, made, out):
        screen.print(text)


def _counted(unit: RowsPerUnit) -> str:
    each = f"up to {unit.most:,} rows each" if unit.most > 1 else "one row each"
    return f"{unit.name}: {unit.values:,} values, {each}{unit.cut_text(unit.max_rows)}"


def _domain(column: DraftColumn) -> str:
    lines = [part.partition("    #")[0] for part in column.lines]
    return (
        formatting.one_line(", ".join(lines), 70)
        if lines
        else formatting.one_line(column.why.replace("#", ""), 70)
    )


def _state(column: DraftColumn) -> str:
    if column.notes:
        return "; ".join(column.notes)
    if column.rare:
        return f"{column.rare} rare values left out: confirm"
    if column.taken:
        return "taken from the data: confirm"
    return "" if column.lines else "undeclared"
