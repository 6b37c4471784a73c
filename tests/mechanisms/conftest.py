"""Lets these tests hand in the seeded bits of `tests/chance`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "chance"))
