"""Files that lie side by side and are several tables: one by itself, those of a folder, or those
whose names differ by a number at the end."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from adomnia.engines.duckdb.source_tables import column_groups
from adomnia.engines.source_files import file_stem, files_by_kind, lies_beside

__all__ = ["folder_tables", "table_name"]


def folder_tables(path: str) -> Mapping[str, str] | None:
    """The tables of a folder or a pattern and where each is; None where all files are of one."""
    kinds = files_by_kind(path)
    files = [*kinds]
    if len(files) < 2 or any("=" in part for file in files for part in _below(path, file)[:-1]):
        return None  # what folders say (`year=2020`) is a column of one table
    alike = _alike(path, kinds)
    if len(alike) == len(files) or any(len(_below(path, file)) > 1 for file in alike):
        return None
    made: dict[str, str] = {}
    rest = {file: kind for file, kind in kinds.items() if file not in alike}
    for group in (*([alike] if alike else ()), *_groups(path, rest)):
        for name, place in _tables(path, group):
            made[_free(name, made)] = place
    return made if len(made) > 1 else None


def _alike(path: str, kinds: Mapping[Path, str]) -> list[Path]:
    """The files that a folder is read for where they are all of one table, and more than one."""
    main = [file for file in kinds if not lies_beside(str(file))] or [*kinds]
    if len(main) < 2 or len({kinds[file] for file in main}) > 1:
        return []
    return main if len(column_groups(path, "")) == 1 else []


def _groups(path: str, kinds: Mapping[Path, str]) -> list[list[Path]]:
    """Files that may be of one table: of one folder, or of one kind and nearly one name."""
    groups: dict[object, list[Path]] = {}
    for file, kind in kinds.items():
        inside, ending = _below(path, file), file.name[len(file_stem(file)) :]
        key = inside[0] if len(inside) > 1 else (_numberless(file), ending, kind)
        groups.setdefault(key, []).append(file)
    return [*groups.values()]


def _below(path: str, file: Path) -> tuple[str, ...]:
    """A file's folders and name below a folder; below a pattern it is its name alone."""
    return file.relative_to(path).parts if Path(path).is_dir() else (file.name,)


def _numberless(file: Path) -> str:
    """What is before a number at the end of a name: `visits` of `visits-2020`."""
    stem = file_stem(file)
    return str(file.parent / (re.sub(r"[\W_]*\d+$", "", stem) or stem))


def _tables(path: str, files: list[Path]) -> Iterator[tuple[str, str]]:
    """The table of a folder, or those of files whose names differ by a number."""
    inside = _below(path, files[0])
    if len(inside) > 1:
        yield inside[0], str(Path(path) / inside[0])
        return
    start = _start(files)
    ending = files[0].name[len(file_stem(files[0])) :]
    pattern = f"{glob.escape(start)}*{ending}"
    exactly = len(files) > 1 and sorted(map(Path, glob.glob(pattern))) == files
    if exactly and len(column_groups(pattern, "")) == 1:
        yield table_name(pattern), pattern
        return
    yield from ((file_stem(file), str(file)) for file in files)


def _start(files: list[Path]) -> str:
    """What the names of files begin with, before a number at their end; their folder at least."""
    starts = {_numberless(file) for file in files}
    first, last = min(starts), max(starts)
    return first[: next((i for i, sign in enumerate(first) if sign != last[i]), len(first))]


def table_name(path: str) -> str:
    """What the only table at a path is called: as its file, what a pattern's files begin with, or
    their folder.

    >>> table_name("survey/*.dta"), table_name("claims/claims-*.csv"), table_name("people.csv.gz")
    ('survey', 'claims', 'people')
    """
    name = file_stem(Path(path))
    if not glob.has_magic(path) or Path(path).exists():
        return _plain(name)
    files = glob.glob(path, recursive=True)
    if len(files) == 1:
        return _plain(file_stem(Path(files[0])))
    before = re.sub(r"[\W_]*\d+$", "", re.split(r"[*?\[]", name)[0])
    return _plain(before) if re.search(r"\w", before) else _plain(_folder(path))


def _folder(path: str) -> str:
    parts = [part for part in Path(path).absolute().parts[:-1] if not glob.has_magic(part)]
    return parts[-1] if parts else ""


def _plain(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_") or "data"


def _free(name: str, taken: Mapping[str, str]) -> str:
    """A name for SQL that no other table has."""
    plain = _plain(name)
    numbers = range(2, len(taken) + 3)
    known = {one.lower() for one in taken}
    return next(n for n in (plain, *(f"{plain}_{i}" for i in numbers)) if n.lower() not in known)
