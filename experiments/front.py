"""The front door for experiments: a made-up table behind a policy, asked with fresh books."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow
from numpy.typing import NDArray
from pyarrow import parquet

import adomnia

__all__ = ["Front"]


class Front:
    """A table in a folder of its own. Every `open` begins a new ledger, so that nothing that was
    answered before is given again."""

    def __init__(
        self,
        columns: Mapping[str, NDArray[Any]],
        sizes: Mapping[str, int],
        privacy: str = "epsilon = 1000000000",
    ) -> None:
        self._room = TemporaryDirectory(prefix="adomnia-papers-")
        self._numbers = count()
        self._folder = Path(self._room.name)
        parquet.write_table(pyarrow.table(dict(columns)), self._folder / "people.parquet")
        domains = "".join(
            f"[attributes.{name}]\nlow = 0\nhigh = {size - 1}\n" for name, size in sizes.items()
        )
        self._text = (
            '[data]\nsource = "people.parquet"\ntable = "people"\n'
            f"[privacy]\nconfirmed = true\n{privacy}\n{domains}"
        )

    @contextmanager
    def open(self) -> Iterator[adomnia.Database]:
        """The database with an empty ledger, while the block runs."""
        number = next(self._numbers)
        file = self._folder / f"policy{number}.toml"
        file.write_text(f'{self._text}[ledger]\nurl = "{number}.ledger"\n', "utf-8")
        with adomnia.open(file) as database:
            yield database

    def close(self) -> None:
        """Remove the folder."""
        self._room.cleanup()

    def __enter__(self) -> Front:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
