"""Where the files of tests lie: in memory, where there is room for them.

A ledger waits for the disk at every entry. Tests that kill a program look at what the files hold
after it, which is the same in memory; what a disk keeps without power, no test can see.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 2 << 30
"""So much must be free: in containers it is often a few megabytes."""


def in_memory(place: Path = MEMORY, room: int = ROOM) -> Path | None:
    """The folder in memory, if this system has one that may be used and has room; else None."""
    there = place.is_dir() and os.access(place, os.W_OK | os.X_OK)
    return place if there and shutil.disk_usage(place).free >= room else None


def use_memory() -> None:
    """Make new temporary files in memory, here and in programs that are started from here.

    Whoever says `TMPDIR` has chosen.
    """
    place = in_memory()
    if place is None or "TMPDIR" in os.environ:
        return
    os.environ["TMPDIR"] = tempfile.tempdir = str(place)
