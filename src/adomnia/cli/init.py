"""`adomnia init`: a first policy, for a person to read and confirm."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from adomnia import formatting
from adomnia.cli import options
from adomnia.errors import PolicyError
from adomnia.present import terminal
from adomnia.review.draft import Draft, DraftColumn, RowsPerUnit, Wish, draft_policy

__all__ = ["init", "save"]


@click.command(short_help="Draft a policy for a file of sensitive rows.")
@click.argument("source")
@click.option("--out", "--policy", "out", default="adomnia.toml", show_default=True,
              metavar="FILE", help="Where to write the policy.")  # fmt: skip
@click.option("--table", metavar="NAME", help="What the table is called in SQL.")
@click.option("--unit", metavar="COL", help="Protect all rows of one value of this column.")
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
    confirmed = true.

    \b
    Examples:
      adomnia init people.csv
      adomnia init visits.parquet --unit patient_id --max-rows 5 --epsilon 2 --out visits.toml
    """
    if known["unit"] is None and known["max_rows"] is not None:
        raise click.UsageError("--max-rows needs --unit")
    _free(Path(out), force)
    with terminal.progress("looking at the data"):
        made = draft_policy(source, out, Wish(**known))  # type: ignore[arg-type]
    save(Path(out), made.text)
    if form == "json":
        terminal.json_text(_facts(made, out))
    else:
        _print(made, out)


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
    if made.confirm:
        screen.print("Confirm what was taken from the data: " + ", ".join(made.confirm))
    for unit in made.counted:
        screen.print(_counted(unit))
    screen.print(f"Then set confirmed = true in {out} and ask:")
    beside = "" if out == "adomnia.toml" else f" --policy {shlex.quote(out)}"
    screen.print(f'  adomnia ask "SELECT COUNT(*) FROM {made.table}" --epsilon 0.1{beside}')  # noqa: S608 (shown, not run)


def _counted(unit: RowsPerUnit) -> str:
    each = f"up to {unit.most:,} rows each" if unit.most > 1 else "one row each"
    text = f"{unit.name}: {unit.values:,} values, {each}"
    if unit.left_out > 0:
        text += f"; max_rows = {unit.max_rows:,} leaves out {100 * unit.left_out:.2g} % of the rows"
    return text


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
