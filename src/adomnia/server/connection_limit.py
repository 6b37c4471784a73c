"""How many connections a listener takes, on this machine."""

from __future__ import annotations

import resource

__all__ = ["connection_limit"]

RESERVED_FILES = 200
"""Files that connections leave to the data, the ledger and the accounts."""

LISTENERS = 2


def connection_limit(most: int) -> int:
    """So many, or fewer where the system allows few files: the listeners share them evenly."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return most
    return max(10, min(most, (files - RESERVED_FILES) // LISTENERS))
