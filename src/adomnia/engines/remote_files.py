"""Files at an address, with what a file on disk has: a name, a state, and a stream of its bytes.

On a web server (`https://`, `http://`) they are read by ranges; in an object store (`s3://`) by
Arrow, which finds keys and regions where Amazon's own tools do.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from adomnia.engines.web_ranges import WebFile
from adomnia.errors import PolicyError
from adomnia.storage.file_address import file_name, shown_file_address

__all__ = ["RemoteFile", "RemoteState"]

AHEAD = 1 << 20
"""So many bytes are asked for at least."""


class RemoteState(NamedTuple):
    """What changes when a file does, by the names that the state of a file on disk has."""

    st_size: int
    st_mtime_ns: int
    st_ctime_ns: int = 0
    st_ino: int = 0


@dataclass(frozen=True)
class RemoteFile:
    """A file at an address."""

    url: str = field(repr=False)

    def __str__(self) -> str:
        return shown_file_address(self.url)

    @property
    def name(self) -> str:
        """Its own name."""
        return file_name(self.url)

    @property
    def parent(self) -> PurePosixPath:
        """The folders above it."""
        return PurePosixPath(str(self).partition("://")[2]).parent

    def stat(self) -> RemoteState:
        """Its size, and a number that changes when it does."""
        if self._in_store:
            files, path = self._store()
            found = files.get_file_info(path)
            if found.size is None:
                raise PolicyError(f"the source {self} has no file", "check the address in [data]")
            return RemoteState(found.size, found.mtime_ns or 0)
        with WebFile(self.url) as opened:
            digest = hashlib.sha256(opened.state.tag.encode()).digest()
            return RemoteState(opened.state.size, int.from_bytes(digest[:7], "big"))

    def open(self, mode: str = "rb") -> Any:
        """Its bytes, as a stream in which one can move."""
        if self._in_store:
            files, path = self._store()
            return files.open_input_file(path)
        return BufferedReader(WebFile(self.url), AHEAD)

    @property
    def _in_store(self) -> bool:
        return self.url.lower().startswith("s3://")

    def _store(self) -> Any:
        from pyarrow.fs import FileSystem  # noqa: PLC0415 (slow to import)

        return FileSystem.from_uri(self.url)
