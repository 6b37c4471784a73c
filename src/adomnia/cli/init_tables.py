"""What `adomnia init` says of several tables: their picture, and what must be confirmed."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from adomnia.review.drafts.draft import Draft
from adomnia.review.tables_draft.drafted_tables import DraftTable, TablesDraft
from adomnia.review.tables_draft.policy_text import bound_text

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["next_lines", "print_tables", "tables_facts"]


def print_tables(made: TablesDraft, out: str, screen: Console) -> None:
    """Draw the tables, and say what was taken from the data and what is not in the policy."""
    screen.print()
    for line in made.picture:
        screen.print(line)
    screen.print()
    for one in made.graph.used:
        screen.print(one.text)
    for table in made.tables:
        if table.owned is not None:
            screen.print(bound_text(table, made.graph.unit))
    for text in (*made.notes, *made.remarks):
        screen.print(text, style="yellow")
    screen.print(f"wrote {out}; nothing can be asked yet.")
    screen.print(f"Is the unit {made.graph.unit}? {_others(made)}")
    for text in next_lines(made.tables[-1].name, made, out):
        screen.print(text)


def next_lines(table: str, made: Draft | TablesDraft, out: str) -> tuple[str, ...]:
    """What a curator does next: confirm, and ask; or mend what names no columns."""
    if made.titled:
        return ("Let the names of columns come first, and draft it again, with --force.",)
    confirm = ", ".join(made.confirm)
    said = (f"Confirm what was taken from the data: {confirm}",) if confirm else ()
    return (*said, *_ask_lines(table, out))


def _ask_lines(table: str, out: str) -> tuple[str, str]:
    beside = "" if out == "adomnia.toml" else f" --policy {shlex.quote(out)}"
    return (
        f"Then set confirmed = true in {out} and ask:",
        f'  adomnia ask "SELECT COUNT(*) FROM {table}" --epsilon 0.1{beside}',  # noqa: S608 (shown, not run)
    )


def _others(made: TablesDraft) -> str:
    others = made.graph.alternatives
    return f"It may be {' or '.join(others)}." if others else "No other table may be."


def tables_facts(made: TablesDraft, out: str) -> dict[str, Any]:
    """The same for programs."""
    graph = made.graph
    links = [(one, None) for one in graph.used] + [*graph.unused.items()]
    return {
        "policy": out,
        "confirmed": False,
        "unit": graph.unit,
        "units": list(graph.alternatives),
        "tables": {table.name: _table(made, table) for table in made.tables},
        "references": [
            {
                "table": one.table,
                "column": one.column,
                "refers_to": one.other,
                "key": one.key,
                "rows": one.match.rows,
                "matched": one.match.matched,
                "declared": one.declared,
                "not_used": why,
            }
            for one, why in links
        ],
        "public": list(graph.public),
        "picture": list(made.picture),
        "confirm": list(made.confirm),
        "notes": list(made.notes),
        "remarks": list(made.remarks),
    }


def _table(made: TablesDraft, table: DraftTable) -> dict[str, Any]:
    key = made.graph.keys.get(table.name)
    owned = table.owned
    return {
        "rows": table.rows,
        "key": None if key is None else key.column,
        "repeated_keys": 0 if key is None else key.repeated,
        "nobody": table.nobody,
        "max_rows": None if owned is None else owned.max_rows,
        "most": None if owned is None else owned.most,
        "undeclared": [column.name for column in table.columns if not column.lines],
        "rare_values_left_out": {c.name: c.rare for c in table.columns if c.rare},
    }
