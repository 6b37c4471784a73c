"""What a source holds before there is a policy: its tables, whether its files are of one,
and how regular their lines are."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

from adomnia.engines.source_facts import LineCounts
from adomnia.errors import PolicyError
from adomnia.limits import MAX_DESCRIPTION
from adomnia.storage.file_address import file_name, is_file_address

__all__ = ["check_columns_alike", "descriptions_of", "line_counts", "table_name_of",
           "tables_of"]  # fmt: skip

MOST_GROUPS, MOST_COLUMNS = 6, 12


def tables_of(place: str) -> Mapping[str, int] | None:
    """The tables at a path or an address with the number of their columns.

    None where the source is one table by itself. Raises a PolicyError where it cannot be looked at.
    """
    scheme, address, _ = place.partition("://")
    if scheme in ("postgresql", "postgres") and address:
        from adomnia.engines.postgres import tables  # noqa: PLC0415 (where it is named)

        return tables.tables(place)
    if is_file_address(place):
        return None
    if address:
        raise PolicyError("an address does not say which table", "name it with --table")
    from adomnia.engines.duckdb import source_tables  # noqa: PLC0415 (slow to import)

    return source_tables.tables(place)


def table_name_of(place: str) -> str:
    """What the only table at a path is called: as its file, the files of a pattern, or a folder."""
    from adomnia.engines.duckdb.folder_tables import table_name  # noqa: PLC0415 (slow to import)

    return table_name(file_name(place) if is_file_address(place) else place)


def descriptions_of(place: str) -> dict[str, str]:
    """What the source itself says of its columns, as a policy may say it: in one short line."""
    if "://" in place:
        return {}
    from adomnia.engines.duckdb import source_tables  # noqa: PLC0415 (slow to import)

    labels = source_tables.column_labels(place).items()
    said = {name: " ".join(label.split()) for name, label in labels}
    plain = {name: "".join(filter(str.isprintable, text)) for name, text in said.items()}
    return {name: text[:MAX_DESCRIPTION] for name, text in plain.items() if text}


def line_counts(place: object, table: str = "") -> LineCounts | None:
    """How regular the lines of a source of text files are, exactly, and whether a workbook's sheet
    begins with a title; None of any other source."""
    path = str(place) if isinstance(place, str | PathLike) else ""
    if not path or "://" in path:
        return None
    from adomnia.engines.duckdb.line_counts import count_lines  # noqa: PLC0415 (loads Arrow)

    return count_lines(path, table)


def check_columns_alike(place: str, table: str) -> None:
    """Refuse files of different columns: side by side they are no table that anybody meant."""
    if "://" in place:
        return
    from adomnia.engines.duckdb import source_tables  # noqa: PLC0415 (slow to import)

    groups = source_tables.column_groups(place, table)
    if len(groups) == 1:
        return
    told = []
    for names, files in groups[:MOST_GROUPS]:
        others = f" and {len(files) - 1} more" if len(files) > 1 else ""
        more = ", …" if len(names) > MOST_COLUMNS else ""
        told.append(f"{files[0].name}{others}: {', '.join(names[:MOST_COLUMNS])}{more}")
    rest = len(groups) - MOST_GROUPS
    told += [f"and {rest} more groups"] if rest > 0 else []
    raise PolicyError(
        "the files do not have the same columns",
        "name those of one table, by a pattern or a folder of their own:\n  " + "\n  ".join(told),
    )
