"""The notes of choices and of noise that follows the data are complete and name what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import adomnia.mechanisms
import adomnia.privacy

TOP = Path(__file__).parents[2]
ROOM = Path(adomnia.mechanisms.__file__).parent
NOTES = [
    *(
        next(ROOM.rglob(f"{name}.md"))
        for name in (
            "admissible",
            "auction",
            "noisy_max",
            "quantile_loss",
            "randomized_response",
            "select",
            "smooth",
            "sparse_vector",
            "stable",
            "threshold_scan",
            "waring",
        )
    ),
    Path(adomnia.privacy.__file__).parent / "free_lunch.md",
]
SECTIONS = ["Given", "Claim", "Proof", "Limits", "Checked by", "References"]


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.stem)
def test_a_note_has_its_sections_its_code_and_its_checks(note):
    text = note.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == SECTIONS
    assert note.with_suffix(".py").exists()
    named = re.findall(r"`((?:tests|benchmarks)/[\w/.]+)`", text)
    assert named
    assert all((TOP / path).exists() for path in named)
    others = re.findall(r"`(\w+\.md)`", text)
    assert all(list((TOP / "src/adomnia").rglob(other)) for other in others)
