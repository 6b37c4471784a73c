"""Ports for servers that must know theirs beforehand, or come back on the same one."""

from __future__ import annotations

import itertools
import os
import socket

__all__ = ["free_port"]

FIRST, PORTS, EACH = 12_000, 20_000, 16
_turns = itertools.count()


def free_port() -> int:
    """A port that nobody has, and that nobody is given before it is taken.

    One that the system picks (port 0) may be the near end of another test's connection a moment
    later. These lie below all that it picks, and each process begins with others.
    """
    while not _is_free(port := FIRST + (os.getpid() * EACH + next(_turns)) % PORTS):
        continue
    return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
