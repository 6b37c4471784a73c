"""Places: how many connections a door has, on this machine."""

from __future__ import annotations

import resource

__all__ = ["places"]

KEPT_FILES = 200
"""Files that connections leave to the data, the ledger and the accounts."""

DOORS = 2


def places(most: int) -> int:
    """So many, or fewer where the system allows few files: the doors share them evenly."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return most
    return max(10, min(most, (files - KEPT_FILES) // DOORS))
