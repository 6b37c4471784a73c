"""What `tables.py` measured, kept in build/tpch, so that parts are run alone and make one table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PARTS = ("ours", "persons", "qrlew", "tumult")


class Kept:
    """One file for each scale: part, then query, then what was measured and when."""

    def __init__(self, folder: Path) -> None:
        self._file = folder.parent / f"measured-{folder.name}.json"
        self._parts = self._read()

    def _read(self) -> dict[str, dict[str, dict[str, Any]]]:
        return json.loads(self._file.read_text("utf-8")) if self._file.exists() else {}

    def put(self, part: str, name: str, facts: Mapping[str, Any]) -> None:
        """Keep it, in the place of an earlier one; another process may have kept others since."""
        self._parts = self._read()
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
        self._parts.setdefault(part, {})[name] = {**facts, "at": now}
        self._file.write_text(json.dumps(self._parts, indent=1), "utf-8")

    def of(self, part: str) -> Mapping[str, Mapping[str, Any]]:
        """All that is kept of a part, by name."""
        return self._parts.get(part, {})

    @property
    def when(self) -> str:
        """From when to when all of it was measured."""
        times = [str(facts["at"]) for part in self._parts.values() for facts in part.values()]
        return f"{min(times)} to {max(times)} UTC" if times else "never"
