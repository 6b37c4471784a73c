"""A parlour in a process of its own: prints its port, and at the end whether its books hold."""

from __future__ import annotations

import sys
from pathlib import Path

from parlour import open_parlour

if __name__ == "__main__":
    made = open_parlour(Path(sys.argv[1]))
    print(made.port, flush=True)
    sys.stdin.read()
    whole = made.service.database.verify()
    print("whole" if not whole.problems else "broken", len(made.door._tasks), flush=True)
    made.close()
