"""`adomnia attack microdata`: all records that agree with published tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from adomnia.cli import findings as attacked
from adomnia.cli import options
from adomnia.errors import QuestionError
from adomnia.present import terminal
from adomnia.review.exact_columns import read_columns

if TYPE_CHECKING:
    from adomnia.audit.reconstruction.published_statistics import Cells

__all__ = ["microdata"]

COUNT = "count"
MOST_CELLS = 100_000


@click.command("microdata", short_help="Records from published tables of counts.")
@click.argument("tables", nargs=-1, required=True)
@click.option("--rounded", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="The counts were rounded to multiples of N.")  # fmt: skip
@click.option("--noise", type=click.FloatRange(0, min_open=True), metavar="B",
              help="They have Laplace noise of this scale: the best guess.")  # fmt: skip
@click.option("--most", type=click.IntRange(1), default=1000, show_default=True, metavar="N",
              help="Tables that are listed before it stops.")  # fmt: skip
@click.option("--truth", metavar="FILE", help="The true records; they only score.")
@attacked.names
@attacked.limit
@options.policy_unused
@options.form
def microdata(tables: Sequence[str], form: str, **told: Any) -> None:
    """Find all tables of people that agree with published counts, and who is in each of them.

    Each file is a table as `adomnia release` writes it: columns with values, then `count`.

    \b
    Examples:
      adomnia attack microdata sex__age.csv age__region.csv sex__region.csv
      adomnia attack microdata tables/marginals/*.csv --noise 4
    """
    from adomnia.audit.reconstruction.microdata import microdata as attack  # noqa: PLC0415 (needs SciPy)
    from adomnia.audit.reconstruction.noisy_tables import Noisy, best_guess  # noqa: PLC0415
    from adomnia.audit.reconstruction.published_statistics import marginal  # noqa: PLC0415

    cells, counted = _read(tables)
    truth = None if told["truth"] is None else _records(told["truth"], cells)
    with terminal.progress("searching"):
        if told["noise"]:
            noisy = [Noisy(names, counts, told["noise"]) for names, counts in counted]
            found = best_guess(cells, noisy, told["time_limit"], truth)
        else:
            said = [
                one
                for names, counts in counted
                for one in marginal(cells, names, _whole(counts), told["rounded"])
            ]
            found = attack(cells, said, told["most"], told["time_limit"], truth=truth)
    attacked.tell(found, form, told["names"])


_Counted = tuple[tuple[str, ...], Any]


def _read(files: Sequence[str]) -> tuple[Cells, list[_Counted]]:
    """The cells that all tables speak of, and each table laid out over them; what is not listed
    in a file is 0."""
    import numpy as np  # noqa: PLC0415 (slow to import)

    from adomnia.audit.reconstruction.published_statistics import Cells  # noqa: PLC0415

    read = [_table(file) for file in files]
    values: dict[str, set[Any]] = {}
    for names, rows, _ in read:
        for place, name in enumerate(names):
            values.setdefault(name, set()).update(row[place] for row in rows)
    cells = Cells({name: _sorted(name, found) for name, found in values.items()})
    if cells.many > MOST_CELLS:
        raise QuestionError(
            f"the tables span {cells.many:,} cells", f"at most {MOST_CELLS:,} are searched"
        )
    counted = []
    for names, rows, counts in read:
        places = [{value: i for i, value in enumerate(cells.values[name])} for name in names]
        table = np.zeros([len(one) for one in places])
        for row, count in zip(rows, counts, strict=True):
            table[tuple(one[value] for one, value in zip(places, row, strict=True))] += count
        counted.append((names, table))
    return cells, counted


def _table(file: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]], list[float]]:
    data = read_columns(file)
    names = tuple(name for name in data.column_names if name not in {COUNT, "margin"})
    if COUNT not in data.column_names or not names:
        raise QuestionError(
            f"{file!r} is no table of counts", f"columns with values, and one called {COUNT}"
        )
    counts = data[COUNT].to_pylist()
    if not all(isinstance(count, int | float) for count in counts):
        raise QuestionError(f"{file!r} has a count that is no number", "leave such rows out")
    columns = [data[name].to_pylist() for name in names]
    return names, list(zip(*columns, strict=True)), counts


def _sorted(name: str, values: set[Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(values, key=lambda value: (value is None, value)))
    except TypeError:
        raise QuestionError(
            f"the tables write the values of {name!r} differently", "numbers or texts, not both"
        ) from None


def _whole(counts: Any) -> Any:
    import numpy as np  # noqa: PLC0415 (slow to import)

    found = np.rint(counts).astype(np.int64)
    if (found != counts).any() or found.min() < 0:
        raise QuestionError(
            "exact counts are whole and not negative", "noisy ones: --noise with their scale"
        )
    return found


def _records(file: str, cells: Cells) -> Any:
    data = read_columns(file, list(cells.values))
    records = list(zip(*(data[name].to_pylist() for name in cells.values), strict=True))
    for name, column in zip(cells.values, zip(*records, strict=True), strict=True):
        if set(column) - set(cells.values[name]):
            raise QuestionError(
                f"the records have values of {name!r} that no table lists",
                "give the records behind these tables",
            )
    return cells.table(records)
