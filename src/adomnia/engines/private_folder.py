"""A folder on this machine that only its owner may enter, and that one process has at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adomnia.errors import PolicyError

__all__ = ["locked_folder"]


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """The folder, made where there is none, to oneself while the block runs."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077:  # one that was there: its files are rows
            folder.chmod(0o700)
        (folder / "lock").touch(mode=0o600)
        lock = (folder / "lock").open("a")
    except OSError as error:
        raise PolicyError(
            f"no edition can be written to {str(folder)!r} ({type(error).__name__})",
            'name a folder that can be: [data] editions = "…"',
        ) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
