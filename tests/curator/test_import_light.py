"""`import adomnia` stays light: what is slow to load is loaded when it is needed."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ["scipy", "pandas", "polars", "pyarrow", "dp_accounting", "rich", "matplotlib", "click"]


def test_heavy_modules_are_not_imported() -> None:
    program = f"import adomnia, sys; print([m for m in {HEAVY} if m in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    assert found.stdout.strip() == "[]"
