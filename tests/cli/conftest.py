"""A small made-up table, its policy, and a way to run the command as a person would."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

from adomnia.cli.demo.census import census_rows
from adomnia.cli.main import main

POLICY = """[data]
source = "people.parquet"
table = "people"

[privacy]
epsilon = 4.0
confirmed = true

[attributes.sex]
values = ["F", "M"]

[attributes.age]
low = 0
high = 120

[attributes.income]
low = 0
high = 200000

[analysts.alice]
epsilon = 1.0
"""


@dataclass(frozen=True)
class Ran:
    """How a run of the command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        return json.loads(self.err)["error"]


@pytest.fixture
def run() -> Callable[..., Ran]:
    """Runs `adomnia` with some arguments in this process; a traceback is never right."""
    return _run


def _run(*arguments: str, stdin: str = "") -> Ran:
    out, err, before = io.StringIO(), io.StringIO(), sys.stdin
    sys.stdin = io.StringIO(stdin)
    try:
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as left:
            main(arguments)
    finally:
        sys.stdin = before
    assert "Traceback" not in out.getvalue() + err.getvalue()
    return Ran(int(left.value.code or 0), out.getvalue(), err.getvalue())


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with 3,000 made-up people and their policy, which is the working folder."""
    parquet.write_table(census_rows(0, 3000, np.random.default_rng(7)), tmp_path / "people.parquet")
    (tmp_path / "adomnia.toml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    return tmp_path
