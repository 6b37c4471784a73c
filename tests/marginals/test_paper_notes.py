"""Every note of the paper's method is complete, and what it says it is checked by exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import adomnia.marginals.paper

ROOM = Path(adomnia.marginals.paper.__file__).parent
TOP = Path(__file__).parents[2]
NAMES = ["bits", "fourier", "linear_program", "nonnegative", "parities"]
SECTIONS = ["Given", "Claim", "Proof", "Limits", "Checked by", "References"]


@pytest.mark.parametrize("name", NAMES)
def test_a_note_is_complete(name):
    note = (ROOM / f"{name}.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", note, re.MULTILINE) == SECTIONS
    named = re.findall(r"`(tests/[\w/.]+)`", note)
    assert named
    assert all((TOP / path).exists() for path in named)


@pytest.mark.parametrize("name", [*NAMES, "promise"])
def test_the_notes_that_code_names_exist(name):
    named = re.findall(r"`(\w+\.md)`", (ROOM / f"{name}.py").read_text(encoding="utf-8"))
    assert named
    assert all((ROOM / note).exists() for note in named)
