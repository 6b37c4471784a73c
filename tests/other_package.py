"""A package of somebody else, put on the path with its entry points."""

from __future__ import annotations

from pathlib import Path

import pytest


def put_package(
    folder: Path, monkeypatch: pytest.MonkeyPatch, group: str, points: str, **modules: str
) -> None:
    """Modules with these texts, and a distribution that registers `points` in a group."""
    monkeypatch.syspath_prepend(str(folder))
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    info = folder / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{points}\n")
