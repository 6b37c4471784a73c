"""Sources on disk: which files one names, of what kind they are, and when they changed."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from adomnia.engines.engine import ADDRESS, quietly
from adomnia.engines.remote_files import RemoteFile
from adomnia.errors import AdomniaError, MachineryError, PolicyError
from adomnia.storage.file_address import is_file_address, shown_file_address

__all__ = ["Source", "find", "holds", "partitions", "reading_failure", "state",
           "unreadable", "version"]  # fmt: skip

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
"""What a folder is read for where it has any; codebooks and notes may lie beside it."""

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


def _listed(path: str) -> list[Path]:
    place = Path(path)
    if place.is_dir():
        kinds = {file: _kind(file) for file in place.rglob("*") if file.is_file()}
        known = [f for f, kind in kinds.items() if kind in OF_FOLDERS]
        return sorted(known or [f for f, kind in kinds.items() if kind not in (None, "database")])
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
