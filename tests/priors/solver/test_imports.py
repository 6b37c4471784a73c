"""The solver stands on its own: numbers come in, and no other room is known there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import adomnia.priors.solver

ROOM = Path(adomnia.priors.solver.__file__).parent


def imported(file: Path) -> set[str]:
    """The modules that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add(str(node.module))
    return found


@pytest.mark.parametrize(
    "file", sorted(ROOM.rglob("*.py")), ids=lambda file: str(file.relative_to(ROOM))
)
def test_the_solver_imports_nothing_of_other_rooms(file):
    own = "adomnia.priors.solver"
    others = {name for name in imported(file) if name.split(".")[0] == "adomnia"}
    assert all(name == own or name.startswith(f"{own}.") for name in others)
