"""The walks: through how many files and functions a command goes, traced while it really runs.

`make walks` prints them beside the recorded figures of `walks.toml`; `--write` records them anew.

Counted is every function with a name whose body ran, in this process and in all its threads, and
every file of the package that has one. What runs while a module is being imported is not counted,
nor are comprehensions and lambdas, which some versions of Python run without a frame. The depth is
that of the package's own functions alone. Each walk is a process of its own, so that nothing is
remembered from another; an answer lies in the ledger already.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

__all__ = ["QUESTION", "RECORDED", "WALKS", "Walk", "grown", "recorded", "walked", "write"]

TOP = Path(__file__).resolve().parents[1]
RECORDED = Path(__file__).with_suffix(".toml")
QUESTION = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
HIDDEN = ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "<lambda>")
SECRET = "alices-own"  # noqa: S105 (of a made-up account)
SLACK = 10
"""A walk may grow by a tenth before the recorded figures must be changed on purpose."""


@dataclass(frozen=True)
class Walk:
    """Where a command went: each function with the file that called it first, in their order."""

    steps: list[tuple[str, str, str]]
    depth: int

    @property
    def files(self) -> set[str]:
        """The files in which a function ran."""
        return {file for _, file, _ in self.steps}

    @property
    def functions(self) -> set[tuple[str, str]]:
        """The functions that ran."""
        return {(file, function) for _, file, function in self.steps}

    @property
    def figures(self) -> dict[str, int]:
        """How many, and how deep."""
        return {
            "files": len(self.files),
            "functions": len(self.functions),
            "depth": self.depth,
        }


# The tracer

IMPORT = "<import>"
"""Stands for a file whose module is being made, and for all that this calls."""


class Tracer:
    """What the interpreter calls at every call and return, in every thread."""

    def __init__(self, package: Path) -> None:
        self.steps: dict[tuple[str, str, str], None] = {}
        self.depth = 0
        self.counting = False
        self._package = package
        self._files: dict[CodeType, str] = {}
        self._threads = threading.local()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Note a call inside the package."""
        if event not in ("call", "return"):
            return
        file = self._file(frame.f_code)
        if not file:
            return
        stack: list[str] = self._threads.__dict__.setdefault("stack", [])
        if event == "return":
            del stack[-1:]  # one that was called before tracing began is not there
            return
        caller = stack[-1] if stack else ""
        stack.append(IMPORT if caller == IMPORT else file)
        if self.counting and stack[-1] != IMPORT:
            self.steps.setdefault((caller, file, frame.f_code.co_qualname))
            self.depth = max(self.depth, len(stack))

    def _file(self, code: CodeType) -> str:
        """The file that a function is in; nothing where it is not counted."""
        if code not in self._files:
            path = Path(code.co_filename)
            inside = path.is_relative_to(self._package) and code.co_name not in HIDDEN
            file = path.relative_to(self._package).as_posix() if inside else ""
            self._files[code] = IMPORT if file and code.co_name == "<module>" else file
        return self._files[code]

    @contextmanager
    def watching(self) -> Iterator[None]:
        """See every call while the block runs; what is `counting` is counted."""
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @contextmanager
    def count(self) -> Iterator[None]:
        """Count while the block runs."""
        self.counting = True
        try:
            yield
        finally:
            self.counting = False


# The walks


def _run(*words: str) -> None:
    """The command `adomnia` with these words, its output put aside."""
    from adomnia.cli.main import main as command  # noqa: PLC0415 (of the package that is traced)

    try:
        with redirect_stdout(StringIO()):
            command(words)
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"adomnia {' '.join(words)} ended with {ended.code}") from None


def _prepare() -> None:
    """Made-up people, their policy, an account, and one answer in the ledger."""
    rows = "".join(f"{'FM'[n % 2]},{20 + n % 60},{n % 7}\n" for n in range(1000))
    Path("people.csv").write_text(f"sex,age,rooms\n{rows}", "utf-8")
    _run("init", "people.csv")
    policy = Path("adomnia.toml")
    text = policy.read_text("utf-8").replace("confirmed = false", "confirmed = true")
    policy.write_text(f"{text}\n[analysts.alice]\nepsilon = 1\n", "utf-8")
    sys.stdin = StringIO(SECRET)
    _run("account", "add", "alice", "--role", "analyst", "--secret-stdin")
    _run("ask", "SELECT COUNT(*) AS n FROM people", "--epsilon", "0.1")


def _command(*words: str) -> Callable[[Tracer], None]:
    def walk(tracer: Tracer) -> None:
        with tracer.count():
            _run(*words)

    return walk


def _psql(tracer: Tracer) -> None:
    """Log in, say what to pay, ask: from the connection to the answer; the server runs already."""
    from adomnia.curator.database import open_database  # noqa: PLC0415 (of what is traced)
    from adomnia.server.serve import Where, run  # noqa: PLC0415

    failures: list[BaseException] = []

    def ask(port: int) -> None:
        try:
            with tracer.count():
                _asked(port)
        except BaseException as failure:
            failures.append(failure)
        os.kill(os.getpid(), signal.SIGTERM)

    with open_database("adomnia.toml") as database:
        run(database, Where(http=None, pg=0), ready=lambda at: threading.Thread(
            target=ask, args=(at.pg,)).start())  # fmt: skip
    if failures:
        raise failures[0]


def _asked(port: int) -> None:
    import psycopg  # noqa: PLC0415 (this walk alone needs it)

    login = f"host=127.0.0.1 port={port} user=alice password={SECRET} dbname=people"
    with psycopg.connect(login, autocommit=True) as connection:
        connection.execute("SET adomnia.epsilon = 0.2")
        connection.execute(QUESTION).fetchall()


def _fit(tracer: Tracer) -> None:
    """Learn through a session that is open."""
    from adomnia.curator.database import open_database  # noqa: PLC0415 (of what is traced)
    from adomnia.mining.k_means import KMeans  # noqa: PLC0415

    with open_database("adomnia.toml") as database, tracer.count():
        KMeans(2).fit(database.session(), features=["age", "rooms"], epsilon=0.3)


WALKS: dict[str, Callable[[Tracer], None]] = {
    "ask": _command("ask", QUESTION, "--epsilon", "0.2"),
    "psql": _psql,
    "release": _command("release", "--ways", "2", "--epsilon", "0.5", "--out", "tables"),
    "prior add": _command("prior", "add", QUESTION),
    "attack reconstruct": _command("attack", "reconstruct", "--n", "64", "--noise", "2"),
    "KMeans.fit": _fit,
}
"""Each is traced in a folder that `_prepare` has made."""


def _trace(name: str) -> dict[str, Any]:
    """Walk, in this process."""
    import adomnia  # noqa: PLC0415 (whichever is on the path)

    tracer = Tracer(Path(adomnia.__file__).parent)
    with tracer.watching():
        WALKS[name](tracer)
    return {"steps": list(tracer.steps), "depth": tracer.depth}


# From outside


def walked(names: Iterable[str] = WALKS) -> dict[str, Walk]:
    """Where each of these walks goes, each in a process and a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared"
        prepared.mkdir()
        _child(prepared, "--prepare")
        walks = {}
        for name in names:
            place = shutil.copytree(prepared, Path(folder) / name.replace(" ", "_"))
            traced = json.loads(_child(place, "--trace", name))
            walks[name] = Walk([tuple(step) for step in traced["steps"]], traced["depth"])
        return walks


def _child(folder: Path, *words: str) -> str:
    line = [sys.executable, __file__, *words]
    env = {**os.environ, "COLUMNS": "100"}
    ran = subprocess.run(  # noqa: S603 (this very file)
        line, cwd=folder, env=env, stdout=subprocess.PIPE, text=True, check=True
    )
    return ran.stdout


def recorded() -> dict[str, dict[str, int]]:
    """The figures that were recorded on purpose."""
    return tomllib.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else {}


def grown(walks: dict[str, Walk]) -> list[str]:
    """Which walks have grown by more than a tenth, and by what; empty where none has."""
    before = recorded()
    return [f"{name}: nothing is recorded" for name in walks if name not in before] + [
        f"{name}: {walk.figures[what]} {what}, {before[name][what]} recorded"
        for name, walk in walks.items()
        if name in before
        for what in ("files", "functions")
        if 100 * walk.figures[what] > (100 + SLACK) * before[name][what]
    ]


def _table(walks: dict[str, Walk]) -> str:
    before = recorded()
    lines = ["| walk | files | functions | depth |", "|---|---|---|---|"]
    for name, walk in walks.items():
        was = before.get(name, {})
        cells = (f"{now} ({was.get(what, '-')})" for what, now in walk.figures.items())
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", "In brackets what is recorded."])


def write(walks: dict[str, Walk]) -> None:
    """Record the figures of these walks."""
    text = "# Recorded by `python tools/walks.py --write`; a walk may grow by a tenth of it.\n"
    for name, walk in walks.items():
        lines = "".join(f"{what} = {many}\n" for what, many in walk.figures.items())
        text += f"\n[{json.dumps(name)}]\n{lines}"
    RECORDED.write_text(text, "utf-8")


def main() -> int:
    """Print the table, or what else is asked for; 1 where a walk has grown too much."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="record the figures")
    parser.add_argument("--files", choices=WALKS, help="the files of one walk, with functions")
    parser.add_argument("--trace", choices=WALKS, help=argparse.SUPPRESS)
    parser.add_argument("--prepare", action="store_true", help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.prepare:
        _prepare()
    elif said.trace:
        print(json.dumps(_trace(said.trace)))
    elif said.files:
        for file, function in sorted(walked([said.files])[said.files].functions):
            print(f"{file}: {function}")
    else:
        walks = walked()
        if said.write:
            write(walks)
        print(_table(walks))
        more = grown(walks)
        print(*more, sep="\n")
        return 1 if more else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
