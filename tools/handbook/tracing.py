"""A real question, traced: `python -m tools.handbook.tracing` asks one and prints its calls.

It runs in a process of its own, because the tracer sees every call of the interpreter.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Callable
from contextlib import chdir, redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

TOP = Path(__file__).resolve().parents[2]
SOURCE = TOP / "src/adomnia"
QUESTION = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
HIDDEN = ("<module>", "<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "<lambda>")


class Calls:
    """Every call inside the package: who was called, from which file, and how deep."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, int]] = []
        self.depth = 0
        self._files: dict[CodeType, str] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """What the interpreter calls at every call and return."""
        if event not in ("call", "return"):
            return
        file = self._file(frame.f_code)
        if not file or frame.f_code.co_name in HIDDEN:
            return
        self.depth += 1 if event == "call" else -1
        if event == "call":
            self.seen.append((file, frame.f_code.co_qualname, self.depth))

    def _file(self, code: CodeType) -> str:
        if code not in self._files:
            path = Path(code.co_filename)
            inside = path.is_relative_to(SOURCE)
            self._files[code] = path.relative_to(SOURCE).as_posix() if inside else ""
        return self._files[code]


def _entry() -> Callable[[], Any]:
    """What the script `adomnia` runs."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]
    module, _, name = project["scripts"]["adomnia"].partition(":")
    return getattr(import_module(module), name)  # type: ignore[no-any-return]


def _run(*words: str) -> None:
    """The command with these words, its output put aside."""
    sys.argv = ["adomnia", *words]
    try:
        with redirect_stdout(StringIO()):
            _entry()()
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"adomnia {words[0]} ended with {ended.code}") from None


def trace() -> list[tuple[str, str, int]]:
    """Ask one question of made-up people, and return the calls that it took."""
    calls = Calls()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        rows = "".join(f"{'FM'[n % 2]},{20 + n % 60}\n" for n in range(1000))
        Path("people.csv").write_text(f"sex,age\n{rows}", "utf-8")
        _run("init", "people.csv")
        policy = Path("adomnia.toml")
        policy.write_text(
            policy.read_text("utf-8").replace("confirmed = false", "confirmed = true")
        )
        _run("ask", QUESTION, "--epsilon", "0.1")
        _run("ask", "SELECT COUNT(*) AS n FROM people", "--epsilon", "0.1")  # all is loaded now
        sys.setprofile(calls)
        try:
            _run("ask", QUESTION, "--epsilon", "0.2")
        finally:
            sys.setprofile(None)
    return calls.seen


if __name__ == "__main__":
    os.environ["COLUMNS"] = "100"
    print(json.dumps(trace()))
