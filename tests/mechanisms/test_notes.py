"""Every mechanism has its note beside it, complete, and what it says it is checked by exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import adomnia.mechanisms

ROOM = Path(adomnia.mechanisms.__file__).parent
TOP = Path(__file__).parents[2]
NAMES = sorted(path.stem for path in ROOM.glob("*.md"))
SECTIONS = ["Given", "Claim", "Proof", "Limits", "Checked by", "References"]


@pytest.mark.parametrize("name", NAMES)
def test_a_note_has_its_sections_in_order(name):
    note = (ROOM / f"{name}.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", note, re.MULTILINE) == SECTIONS
    assert (ROOM / f"{name}.py").exists()


@pytest.mark.parametrize("name", NAMES)
def test_what_checks_a_claim_exists(name):
    note = (ROOM / f"{name}.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|benchmarks)/[\w/.]+)`", note)
    assert named
    assert all((TOP / path).exists() for path in named)


def test_every_note_that_code_names_exists():
    for file in ROOM.glob("*.py"):
        for note in re.findall(r"`(\w+\.md)`", file.read_text(encoding="utf-8")):
            assert (ROOM / note).exists(), f"{file.name} names {note}"
