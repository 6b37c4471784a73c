"""Every mechanism has its note beside it, complete, and what it says it is checked by exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import adomnia.mechanisms

ROOM = Path(adomnia.mechanisms.__file__).parent
TOP = Path(__file__).parents[2]
NOTES = sorted(path for path in ROOM.rglob("*.md") if path.with_suffix(".py").exists())
SECTIONS = ["Given", "Claim", "Proof", "Limits", "Checked by", "References"]


def test_there_are_notes():
    assert len(NOTES) > 20


@pytest.mark.parametrize("path", NOTES, ids=lambda path: path.stem)
def test_a_note_has_its_sections_in_order(path):
    note = path.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", note, re.MULTILINE) == SECTIONS


@pytest.mark.parametrize("path", NOTES, ids=lambda path: path.stem)
def test_what_checks_a_claim_exists(path):
    named = re.findall(r"`((?:tests|benchmarks)/[\w/.]+)`", path.read_text(encoding="utf-8"))
    assert named
    assert all((TOP / checked).exists() for checked in named)


def test_every_note_that_code_names_exists():
    for file in ROOM.rglob("*.py"):
        for note in re.findall(r"`(\w+\.md)`", file.read_text(encoding="utf-8")):
            assert list(ROOM.parent.rglob(note)), f"{file.name} names {note}"
