"""The text of a drafted policy for several tables: what is proposed, and in comments why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adomnia.formatting import one_line
from adomnia.review.drafts.draft import Wish
from adomnia.review.drafts.draft_columns import TAKEN, toml_text
from adomnia.review.drafts.policy_lines import HEAD, SERVER, attribute_lines, toml_amount, toml_key
from adomnia.review.tables_draft.drafted_tables import DraftTable, TablesDraft
from adomnia.review.tables_draft.surveyed_tables import KeyCandidate
from adomnia.storage.file_address import is_file_address

__all__ = ["bound_text", "policy_text"]

PUBLIC_FILES = (".csv", ".parquet", ".pq")
"""What a public table can be read from."""


def policy_text(draft: TablesDraft, wish: Wish, public: Mapping[str, str]) -> Iterator[str]:
    """The lines of a policy; `public` says where tables are that everybody may know."""
    yield from HEAD
    yield "# Numbers of rows in these comments are exact, for the curator alone."
    yield "#"
    yield from map(_comment, draft.picture)
    if draft.graph.unused:
        yield "#"
        for one, why in draft.graph.unused.items():
            yield _comment(f"not used: {one.text}; {why}")
    yield from map(_comment, draft.remarks)
    yield from ("", "[privacy]", *_privacy(draft, wish))
    for table in draft.tables:
        yield from ("", *_table(draft, table), *attribute_lines(table.columns, table.name))
    for name, place in public.items():
        yield from ("", *_public(draft, name, place))


def _privacy(draft: TablesDraft, wish: Wish) -> Iterator[str]:
    graph, unit = draft.graph, toml_text(draft.graph.unit)
    taken = "" if wish.unit else f"; {TAKEN[2:]}"
    yield 'neighbors = "unbounded"    # what is hidden: whether one unit is there'
    yield f"unit = {unit}    # a row of this table with all that refers to it{taken}"
    for other in graph.alternatives:
        if other in graph.private:
            yield f"# unit = {toml_text(other)}    # hides less: one of these at a time"
        else:
            yield f"# unit = {toml_text(other)}, or unit = [{unit}, {toml_text(other)}] for both"
    yield from _bounds(draft, wish)
    yield f"epsilon = {toml_amount(wish.epsilon)}    # for everything, for ever"
    yield "# delta = 1e-9    # allows groups whose names are not declared (private selection)"
    yield "confirmed = false    # nothing is answered until this is true"


def _bounds(draft: TablesDraft, wish: Wish) -> Iterator[str]:
    """How many rows of one unit are used in each table, as they are distributed."""
    owned = [table for table in draft.tables if table.owned is not None]
    if not owned:
        return
    for table in owned:
        yield _comment(bound_text(table, draft.graph.unit, wish.max_rows))
    if wish.max_rows is not None:
        yield f"max_rows = {wish.max_rows}    # rows of one unit that are used in each table"
        return
    pairs = (f"{toml_key(t.name)} = {t.owned.max_rows}" for t in owned if t.owned is not None)
    yield (
        f"max_rows = {{ {', '.join(pairs)} }}"
        f"    # rows of one unit that are used at most; {TAKEN[2:]}"
    )
    yield f'# {toml_key(owned[-1].name)} = "auto" finds a bound privately, for a part of each loss'


def bound_text(table: DraftTable, unit: str, most: int | None = None) -> str:
    """How many rows the units have in a table, and what the bound leaves out."""
    rows = table.owned
    assert rows is not None
    if not rows.values:
        return f"{table.name}: no row belongs to a row of {unit}"
    each = f"up to {rows.most:,} rows each" if rows.most > 1 else "one row each"
    text = f"{table.name}: {rows.values:,} units have {each}"
    text += rows.cut_text(most or rows.max_rows)
    if table.nobody:
        text += f"; {table.nobody:,} rows belong to nobody"
    return text


def _table(draft: TablesDraft, table: DraftTable) -> Iterator[str]:
    yield f"[tables.{toml_key(table.name)}]"
    yield f"source = {toml_text(table.source)}"
    if "://" in table.source and not is_file_address(table.source):
        yield from SERVER if table is draft.tables[0] else ()
    if table.relation != table.name:
        yield f"table = {toml_text(table.relation)}"
    key = draft.graph.keys.get(table.name)
    if key is not None:
        yield f"key = {toml_text(key.column)}    # {_key_words(key, table.owned is None)}"
    used = draft.graph.of(table.name)
    for one in used:
        yield _comment(one.text + (", as the source declares" if one.declared else ""))
    if used:
        pairs = ", ".join(f"{toml_key(one.column)} = {toml_text(one.other)}" for one in used)
        sure = all(one.declared for one in used)
        yield f"references = {{ {pairs} }}" + ("" if sure else f"    {TAKEN}")


def _key_words(key: KeyCandidate, unit: bool) -> str:
    if key.declared:
        return "as the source declares"
    if not key.repeated:
        return f"each has one row; {TAKEN[2:]}"
    many = f"{key.repeated:,} of its values have" if key.repeated > 1 else "one of its values has"
    told = "each is one unit" if unit else "what leads to several units is nobody's"
    return f"{many} several rows: {told}; {TAKEN[2:]}"


def _public(draft: TablesDraft, name: str, place: str) -> Iterator[str]:
    """A small table as a public one, for a curator who knows that it is."""
    read = place.lower().endswith(PUBLIC_FILES) and "*" not in place
    yield _comment(f"{name} is small. If everybody may know it, questions may join it; if not,")
    yield "# leave it out, or let its rows be units too:"
    yield f"# [public.{toml_key(name)}]"
    if read:
        yield f"# source = {toml_text(place)}"
    else:
        yield f"# source = {toml_text(f'{name}.csv')}    # write it to a CSV or Parquet file first"
    yield f"# key = {toml_text(draft.graph.keys[name].column)}"


def _comment(text: str) -> str:
    return f"# {one_line(text)}"
