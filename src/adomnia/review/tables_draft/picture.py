"""The picture of tables and keys, drawn in letters: each table below the one it refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adomnia.review.tables_draft.owner_graph import OwnerGraph

__all__ = ["picture"]


def picture(graph: OwnerGraph, rows: Mapping[str, int]) -> tuple[str, ...]:
    """The unit with all that leads to it, and then the tables that are not in the policy."""
    lost = f", {graph.nobody:,} of nobody" if graph.nobody else ""
    lines = [f"{_named(graph, graph.unit)}  {_rows(rows[graph.unit])}{lost}, the unit"]
    lines += _below(graph, graph.unit, rows, "", {graph.unit})
    for name in rows:
        if name in graph.private:
            continue
        told = "may be public" if name in graph.public else "not in the policy"
        lines.append(f"{_named(graph, name)}  {_rows(rows[name])}, {told}")
        here = [one for one in graph.unused if one.other == name and not one.missed]
        for turn, one in enumerate(here, 1):
            lines.append(f"{'└' if turn == len(here) else '├'}─← {one.table}.{one.column}")
    return tuple(lines)


def _below(
    graph: OwnerGraph, name: str, rows: Mapping[str, int], before: str, drawn: set[str]
) -> Iterator[str]:
    """What refers to a table, and what refers to that; a table is followed but once."""
    here = [one for one in graph.used if one.other == name]
    for turn, one in enumerate(here, 1):
        last = turn == len(here)
        key = f" ({graph.keys[one.table].column})" if one.table in graph.keys else ""
        arrow = f"{before}{'└' if last else '├'}─← {one.table}.{one.column}"
        if one.table in drawn:
            yield arrow
            continue
        drawn.add(one.table)
        nobody = graph.owned[one.table].nobody
        lost = f", {nobody:,} of nobody" if nobody else ""
        yield f"{arrow}{key}  {_rows(rows[one.table])}{lost}"
        yield from _below(graph, one.table, rows, before + ("   " if last else "│  "), drawn)


def _named(graph: OwnerGraph, name: str) -> str:
    return f"{name} ({graph.keys[name].column})" if name in graph.keys else name


def _rows(many: int) -> str:
    return f"{many:,} rows" if many != 1 else "1 row"
