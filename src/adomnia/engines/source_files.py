"""Sources on disk: which files one names, of what kind they are, and when they changed."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import unquote

from adomnia.engines.engine import ADDRESS, quietly
from adomnia.engines.remote_files import RemoteFile
from adomnia.errors import AdomniaError, MachineryError, PolicyError
from adomnia.storage.file_address import is_file_address, shown_file_address

__all__ = ["Source", "check_declared", "check_names", "file_stem", "files_by_kind", "find", "holds",
           "lies_beside",
           "partitions", "reading_failure", "state", "unreadable", "version"]  # fmt: skip

SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "parquet": (".parquet", ".pq"),
    "text": (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz"),
    "database": (".duckdb", ".ddb", ".db"),
    "excel": (".xlsx", ".xlsm"),
    "stata": (".dta",),
    "spss": (".sav", ".zsav"),
    "sas": (".sas7bdat",),
    "transport": (".xpt",),
}
OF_FOLDERS = ("parquet", "text")
"""What a folder is read for, as one table, where it has any; codebooks and notes may lie beside."""

UNSTABLE = ("text", "transport", "excel")
"""Kinds of which a row's content may change how many rows are read: an open quote takes others in,
and what is blank at the end of a transport file or a sheet may not have been stored."""

NOTHING = "__HIVE_DEFAULT_PARTITION__"
HINT = (
    "a source is CSV or Parquet (a file, a pattern or a folder), a DuckDB file, one of Excel, "
    "Stata, SAS or SPSS, or Parquet at https:// or s3://"
)


@dataclass(frozen=True)
class Source:
    """The files of a source, sorted by name, all of one kind: parquet, text, database, …"""

    path: str
    kind: str
    files: tuple[Path | RemoteFile, ...]

    @property
    def rows_stay(self) -> bool:
        """Whether no value decides how many rows there are."""
        return self.kind not in UNSTABLE


def find(path: str) -> Source:
    """The files that a path names: one, those of a folder, or those a pattern matches; or the one
    at an address."""
    if is_file_address(path):
        return _remote(path)
    files = quietly(lambda: _listed(path), lambda kind: unreadable(_shown(path), kind))
    kinds = {_kind(file) for file in files}
    if not files:
        message = f"the source {_shown(path)!r} has no file"
        raise PolicyError(message, f"check source in [data]; {HINT}")
    if len(kinds) > 1:
        raise PolicyError(f"the source {path!r} mixes files of several kinds", HINT)
    kind = kinds.pop()
    if kind is None:
        raise PolicyError(f"the source {path!r} is of no known kind", HINT)
    if kind == "database" and len(files) > 1:
        raise PolicyError(f"the source {path!r} names several databases", "name one")
    return Source(path, kind, tuple(files))


def _remote(url: str) -> Source:
    file = RemoteFile(url)
    if _kind(file) != "parquet":
        message = f"the source {file} is no Parquet file by its name"
        raise PolicyError(message, "at an address, only Parquet is read: people.parquet")
    return Source(str(file), "parquet", (file,))


def files_by_kind(path: str) -> dict[Path, str]:
    """The files on this disk that a path names, each with its kind; those of none are left out, and
    of a folder databases, which hold tables of their own."""
    files = quietly(lambda: _named(path), lambda kind: unreadable(_shown(path), kind))
    inside = Path(path).is_dir()
    kinds = {file: kind for file in files if (kind := _kind(file)) is not None}
    return {file: kind for file, kind in kinds.items() if not (inside and kind == "database")}


def lies_beside(place: str) -> bool:
    """Whether a file may be a codebook or notes beside the tables of a folder, by its kind."""
    return _kind(Path(place)) not in OF_FOLDERS


def file_stem(file: Path) -> str:
    """A file's name without the ending that tells its kind."""
    ends = sorted((end for ends in SUFFIXES.values() for end in ends), key=len, reverse=True)
    found = next((end for end in ends if file.name.lower().endswith(end)), "")
    return file.name[: len(file.name) - len(found)]


def _listed(path: str) -> list[Path]:
    """The files of one table; of a folder CSV and Parquet, where it has any."""
    files = _named(path)
    if not Path(path).is_dir():
        return files
    kinds = {file: _kind(file) for file in files}
    known = [file for file, kind in kinds.items() if kind in OF_FOLDERS]
    return known or [f for f, kind in kinds.items() if kind not in (None, "database")]


def _named(path: str) -> list[Path]:
    place = Path(path)
    if place.is_dir():
        return sorted(file for file in place.rglob("*") if file.is_file())
    if place.exists():
        return [place]
    return sorted(
        file for name in glob.glob(path, recursive=True) if (file := Path(name)).is_file()
    )


def holds(path: str, file: Path) -> bool:
    """Whether a source's path names this file: itself, by a link, in a folder or by a pattern.

    Links of every kind are followed: what is compared is where the bytes lie.
    """
    place = _place(file)
    if place is None:
        return False
    names = {*map(Path, glob.glob(path, recursive=True)), Path(path)}
    inside = [below for name in names if name.is_dir() for below in _below(name)]
    return any(_place(name) == place for name in (*names, *inside))


def _below(folder: Path) -> Iterator[Path]:
    """All files under a folder, also those behind links to other folders."""
    seen = set()
    for top, folders, files in os.walk(folder, followlinks=True):
        seen.add(os.path.realpath(top))
        folders[:] = [f for f in folders if os.path.realpath(os.path.join(top, f)) not in seen]
        yield from (Path(top, name) for name in files)


def _place(file: Path) -> tuple[int, int] | None:
    """Where a file's bytes lie; None where it cannot be seen."""
    try:
        found = file.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _kind(file: Path | RemoteFile) -> str | None:
    name = file.name.lower()
    return next((kind for kind, ends in SUFFIXES.items() if name.endswith(ends)), None)


def _shown(path: str) -> str:
    """A path that names no file: with a sign of addresses it may be one, and hold a password."""
    return "…" if ADDRESS & {*path} else path


def partitions(file: Path | RemoteFile) -> dict[str, str | None]:
    """The columns whose values the folders above a file say, such as `year=2020`, as text."""
    folders = [part for part in file.parent.parts if part.count("=") == 1 and part[0] != "="]
    pairs = (folder.split("=") for folder in folders)
    return {name: None if value == NOTHING else unquote(value) for name, value in pairs}


def check_names(file: str, names: Sequence[str]) -> None:
    """Refuse a file in which two columns have one name, but for capital letters, and say which."""
    places: dict[str, list[int]] = {}
    for number, name in enumerate(names, 1):
        places.setdefault(name.lower(), []).append(number)
    for found in places.values():
        if len(found) > 1:
            name, (first, *_, last) = names[found[0] - 1], found
            raise PolicyError(
                f"the file {file!r} has two columns of one name: {name[:60]!r} is column {first} "
                f"and column {last}",
                "rename one",
            )


def check_declared(files: Iterable[tuple[str, Sequence[str]]], declared: Iterable[str]) -> None:
    """Refuse files of which one lacks a declared column that another has: its rows would be read
    as if they had no value. Says which file and column, and what the column may be called there."""
    listed = [(file, {name.lower(): name for name in names}) for file, names in files]
    for name in declared:
        having = [file for file, names in listed if name.lower() in names]
        lacking = [(file, names) for file, names in listed if name.lower() not in names]
        if having and lacking:
            file, names = lacking[0]
            raise PolicyError(
                f"the file {file!r} has no column {name!r}, which {having[0]!r} has",
                f"{_renamed(name, names, declared, listed)}; nothing of the source was taken",
            )


def _renamed(
    name: str,
    names: Mapping[str, str],
    declared: Iterable[str],
    listed: Sequence[tuple[str, Mapping[str, str]]],
) -> str:
    """Which column of a file may be the one that it lacks: one by a like name, else those that no
    file has that has the column."""
    known = {one.lower() for one in declared}
    others = {one for _, held in listed if name.lower() in held for one in held}
    own = [one for one in names if one not in known and one not in others]
    close = get_close_matches(name.lower(), own, 1, 0.5) or own
    if not close:
        return f"add {name!r} to it, or take the file out of the source"
    said = " or ".join(repr(names[one]) for one in close[:3])
    return f"perhaps it is called {said} there: rename it"


def state(source: Source) -> object:
    """What changes when a file does, or is put in another's place."""
    stats = ((file, file.stat()) for file in source.files)
    return [
        (str(file), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
        for file, stat in stats
    ]


def version(source: Source) -> str:
    """A digest of the files' names, sizes and times, without reading them."""
    return quietly(lambda: _digest(source), _gone)


def _digest(source: Source) -> str:
    files = list(source.files)
    if source.kind == "database":
        files += [log for log in [Path(f"{files[0]}.wal")] if log.exists()]
    stats = [(file.name, file.stat()) for file in files]
    facts = repr([(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats])
    return hashlib.sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()


def _gone(kind: str) -> MachineryError:
    return MachineryError("the source is gone", f"its files cannot be found any more ({kind})")


def reading_failure(source: Source, before: object) -> Callable[[str], AdomniaError]:
    """What a reading fails with: that the files changed meanwhile, where they did."""

    def failed(kind: str) -> AdomniaError:
        if quietly(lambda: state(source), _gone) != before:
            return MachineryError("the source changed while it was read", "load it again")
        return unreadable(source.path, kind)

    return failed


def unreadable(path: str, kind: str) -> PolicyError:
    """The failure of opening a source."""
    path = shown_file_address(path) if is_file_address(path) else path
    return PolicyError(f"the source {path!r} cannot be read ({kind})", f"check [data]; {HINT}")
