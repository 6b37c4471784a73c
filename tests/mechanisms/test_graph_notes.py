"""Every argument about graphs has its note, complete, and what it is checked by exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import adomnia.mechanisms.graphs
import adomnia.privacy

ROOM = Path(adomnia.mechanisms.graphs.__file__).parent
NOTES = [
    Path(adomnia.privacy.__file__).parent / "graphs.md",
    *(ROOM / f"{name}.md" for name in ("degree_bound", "ladder", "triangles")),
]
SECTIONS = ["Given", "Claim", "Proof", "Limits", "Checked by", "References"]
TOP = Path(__file__).parents[2]


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.stem)
def test_a_note_is_complete(note):
    text = note.read_text("utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == SECTIONS
    named = re.findall(r"`((?:tests|benchmarks)/[\w/.]+)`", text)
    assert named
    assert all((TOP / path).exists() for path in named)
    package = TOP / "src/adomnia"
    assert all(list(package.rglob(other)) for other in re.findall(r"`(\w+\.md)`", text))
