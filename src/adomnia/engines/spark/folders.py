"""Folders as Spark sees them: on this machine, in HDFS or in an object store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adomnia.errors import MachineryError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SparkFolder"]


@dataclass(frozen=True)
class SparkFolder:
    """A folder, at an address that all machines of a cluster understand."""

    session: SparkSession
    address: str

    def make_private(self) -> None:
        """Make it where there is none; only its owner may enter."""
        path = self._path()
        self._system().mkdirs(path)
        mode = self._java.org.apache.hadoop.fs.permission.FsPermission("700")
        self._system().setPermission(path, mode)

    def names(self) -> list[str]:
        """What is in it; nothing where there is no such folder."""
        if not self._system().exists(self._path()):
            return []
        return [status.getPath().getName() for status in self._system().listStatus(self._path())]

    def rename(self, old: str, new: str) -> None:
        """Give what is in it another name, at once."""
        if not self._system().rename(self._path(old), self._path(new)):
            raise MachineryError("the edition could not be put in its place", "load it again")

    def remove(self, name: str) -> None:
        """Remove what is in it, with all that is in that."""
        self._system().delete(self._path(name), True)

    def read(self, name: str) -> str | None:
        """The text of a file; None where there is none."""
        if not self._system().exists(self._path(name)):
            return None
        stream = self._system().open(self._path(name))
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Write a file; whoever reads it meanwhile may see a part."""
        stream = self._system().create(self._path(name), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    @property
    def _java(self) -> Any:
        return self.session.sparkContext._jvm

    def _path(self, name: str = "") -> Any:
        return self._java.org.apache.hadoop.fs.Path(
            f"{self.address}/{name}" if name else self.address
        )

    def _system(self) -> Any:
        conf = self.session.sparkContext._jsc.hadoopConfiguration()
        return self._path().getFileSystem(conf)
