"""The house itself: what must be in it, what must never be, and how fast its door opens."""

from __future__ import annotations

import ast
import importlib
import itertools
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import adomnia
from adomnia import limits

TOP = Path(__file__).parents[1]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))
SKIPPED = {".git", ".venv", "__pycache__", "node_modules", "build", "dist"}
MODULES = sorted(found.name for found in pkgutil.walk_packages(adomnia.__path__, prefix="adomnia."))


def files(*endings: str) -> list[Path]:
    """Every file of the project with one of these endings."""
    return [
        Path(folder) / name
        for folder, inside, names in os.walk(TOP)
        if not inside.__setitem__(
            slice(None), [d for d in inside if d not in SKIPPED and not d.endswith("_cache")]
        )
        for name in names
        if name.endswith(endings)
    ]


def printed(program: str) -> list[str]:
    """The words that a program prints in a process of its own."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_the_import_is_quick():
    """A person waits for it at every command: nothing slow is loaded, and it takes half a second
    of processor time; there is room for a machine thirty times as slow.
    """
    program = (
        "import sys, time, adomnia\n"
        "slow = {'pandas', 'polars', 'scipy', 'rich', 'dp_accounting', 'mpmath', 'jinja2'}\n"
        "print(time.process_time(), *(slow & set(sys.modules)))"
    )
    ran = [printed(program) for _ in range(2)]
    times = [float(words[0]) for words in ran]
    assert ran[0][1:] == []
    assert min(times) < 15


def test_a_question_loads_nothing_that_it_does_not_need():
    """What is slow to load, and what other sources and other questions need, waits until then."""
    program = (
        "import sys, adomnia.cli.ask\n"
        "slow = {'duckdb', 'pyarrow', 'pandas', 'scipy', 'rich', 'psycopg', 'numba'}\n"
        "others = ('engines.spark', 'engines.postgres', 'ledger.stores.postgres_journal',\n"
        "          'privacy.graphs', 'curator.selections', 'audit', 'mining')\n"
        "print(*(name for name in sys.modules\n"
        "        if name in slow or name.startswith(tuple(f'adomnia.{one}' for one in others))))"
    )
    assert printed(program) == []


def test_garbage_is_left_alone_only_where_a_process_is_for_one_command():
    """Who calls the command from a program of their own keeps their garbage collector as it is."""
    program = (
        "import contextlib, gc, io, sys\n"
        "from adomnia.cli.main import main\n"
        "def run(*given):\n"
        "    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "        main(*given)\n"
        "    return gc.get_freeze_count() > 0, gc.isenabled()\n"
        "within = run(['why', 'laplace'])\n"
        "sys.argv = ['adomnia', 'why', 'gaussian']\n"
        "print(within, run())"
    )
    assert " ".join(printed(program)) == "(False, True) (True, True)"


def test_the_version_is_one():
    assert PROJECT["project"]["version"] == adomnia.__version__
    assert f"[{adomnia.__version__}]" in (TOP / "CHANGELOG.md").read_text("utf-8")


def test_the_licence_is_whole():
    text = (TOP / "LICENSE").read_text("utf-8")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_the_lock_pins_every_dependency():
    lock = (TOP / "requirements.lock").read_text("utf-8")
    pinned = {line.split("==")[0].lower() for line in lock.splitlines() if "==" in line}
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = [*PROJECT["project"]["dependencies"], *(part for extra in extras for part in extra)]
    names = {re.match(r"[\w.-]+", part).group().lower().replace("_", "-") for part in wanted}
    assert names - {"adomnia"} <= pinned
    assert "://" not in lock
    assert all(re.match(r"[\w.-]+==[\w.!+-]+( ;.*)?$", line) for line in lock.splitlines())


def test_ci_does_what_a_person_does():
    lines = (TOP / ".ci/run").read_text("utf-8").splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert lines[-1] == "exec make test"
    assert os.access(TOP / ".ci/run", os.X_OK)


def test_ci_of_the_forge_does_the_same_for_every_python():
    text = (TOP / ".github/workflows/ci.yml").read_text("utf-8")
    versions = re.findall(r'"(3\.\d+)"', text.split("steps:")[0])
    said = [line for line in PROJECT["project"]["classifiers"] if "Python :: 3." in line]
    assert versions == [line.rsplit(" ", 1)[1] for line in said]
    assert "run: make test" in text
    assert "--cov" in text


def test_quick_has_something_of_every_room():
    text = (TOP / "Makefile").read_text("utf-8")
    named = re.findall(r"tests/[\w/.]+", text[text.index("QUICK :=") : text.index(".DEFAULT_GOAL")])
    assert [path for path in named if not (TOP / path).exists()] == []
    rooms = {file.parent.name for file in (TOP / "src/adomnia").glob("*/__init__.py")}
    tested = {room for room in rooms if (TOP / "tests" / room).is_dir()}
    assert tested <= {path.split("/")[1] for path in named}


def test_the_habits_are_there():
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", ".github/PULL_REQUEST_TEMPLATE.md"):
        assert len((TOP / name).read_text("utf-8")) > 300, name
    assert len(list((TOP / ".github/ISSUE_TEMPLATE").glob("*.md"))) >= 2
    citation = (TOP / "CITATION.cff").read_text("utf-8")
    assert f'version: "{adomnia.__version__}"' in citation
    assert PROJECT["project"]["authors"][0]["name"] in citation


def test_no_file_knows_a_machine_or_a_registry():
    """No home folder, no path of a machine, no host that serves packages."""
    wrong = re.compile("/" + "root/|/home/\\w|/" + "work/|python" + "hosted|pypi" + "\\.org")
    found = [
        str(file.relative_to(TOP))
        for file in files(".py", ".md", ".toml", ".lock", ".svg", ".yml", ".cff", "Makefile", "run")
        if wrong.search(file.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize("name", MODULES)
def test_what_a_module_offers_exists_and_is_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__, name
    for public in getattr(module, "__all__", []):
        assert hasattr(module, public), f"{name}.{public}"
        made = getattr(module, public)
        if getattr(made, "__module__", None) == name and callable(made):
            assert made.__doc__ or getattr(made, "help", None), f"{name}.{public}"


def test_a_rooms_docstring_is_one_sentence():
    for file in (TOP / "src/adomnia").glob("*/__init__.py"):
        text = ast.get_docstring(ast.parse(file.read_text("utf-8")))
        assert text, file
        assert "\n" not in text


def test_the_notes_travel_with_the_package():
    assert "**/*.md" in PROJECT["tool"]["setuptools"]["package-data"]["adomnia"]
    assert list((TOP / "src/adomnia").rglob("*.md"))


NOTES = sorted((TOP / "src/adomnia").rglob("*.md"))


def test_every_note_has_a_name_of_its_own():
    """`adomnia why NAME` finds a note by its name alone."""
    assert len({note.stem for note in NOTES}) == len(NOTES)


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.stem)
def test_what_a_note_says_it_is_checked_by_exists(note):
    named = re.findall(r"`((?:tests|benchmarks)/[\w/.]+)`", note.read_text("utf-8"))
    assert all((TOP / path).exists() for path in named), named


READING = {
    ".measure", ".histogram", ".keyed", ".contingency", "._exact_groups", "._survey", "._inspect",
    "._code_counts", "._row_changes", "read_sealed", "unseal",
}  # fmt: skip
"""Calls by which exact values are read of an engine, or opened."""
READERS = ("engines/", "mechanisms/", "curator/table_backend.py")
AUDITOR = ("curator/confirmation.py",)
"""Who compares sealed values with released ones, for the curator's own eyes."""


def calls(tree: ast.AST) -> set[str]:
    """The names of everything that is called; those of methods begin with a dot."""
    found = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {
        f".{func.attr}" if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        for func in found
    }


def test_only_spending_reads_what_is_sealed():
    """What the contracts say of imports holds of attributes too: nobody else asks an engine."""
    source = TOP / "src/adomnia"
    for file in sorted(source.rglob("*.py")):
        name = str(file.relative_to(source))
        found = calls(ast.parse(file.read_text("utf-8"))) & READING
        if not name.startswith((*READERS, *AUDITOR)):
            assert not found, f"{name} reads exact values: {found}"


def test_nobody_else_reserves_or_lets_read():
    """A desk is read, and a debit made, in one function of one file."""
    source = TOP / "src/adomnia"
    for file in sorted(source.rglob("*.py")):
        tree = ast.parse(file.read_text("utf-8"))
        names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
                 for alias in node.names if node.module == "adomnia.ledger.reserve"}  # fmt: skip
        if {"reserve", "answered"} & names:
            assert file == source / "curator/spend.py"


def test_the_trusted_base_is_listed_whole_and_small():
    """Every import of a trusted file is accounted for; a day is enough to read what is trusted."""
    program = [sys.executable, str(TOP / "tools/trusted.py")]
    ran = subprocess.run(program, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-2000:]
    said = re.search(r"for every answer: ([\d,]+) lines of code .* at most ([\d,]+)\)", ran.stdout)
    lines, most = (int(number.replace(",", "")) for number in said.groups())
    assert lines <= most


def test_what_tests_share_has_one_name():
    """Under two names a helper is loaded twice, and so is the server that it starts."""
    shared = {path.stem for path in (TOP / "tests").glob("*.py")}
    bare = {
        f"{path.relative_to(TOP)}: {name}"
        for path in (TOP / "tests").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in _imported(node)
        if name in shared
    }
    assert bare == set()


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [str(node.module)] if isinstance(node, ast.ImportFrom) else []


def test_every_limit_says_what_it_bounds_and_is_met_somewhere():
    """A bound that a person can meet has a sentence, and code that refuses what passes it."""
    tree = ast.parse((TOP / "src/adomnia/limits.py").read_text("utf-8")).body
    said = {
        node.targets[0].id: isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        for node, after in itertools.pairwise([*tree, ast.Pass()])
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    assert set(said) - {"__all__"} == set(limits.__all__)
    assert all(said[name] for name in limits.__all__)
    text = "".join(
        path.read_text("utf-8") for path in (TOP / "src").rglob("*.py") if path.name != "limits.py"
    )
    assert [name for name in limits.__all__ if len(re.findall(rf"\b{name}\b", text)) < 2] == []


def test_nobody_reaches_behind_a_database():
    """Engine and ledger together are the curator's; only exact columns for a review go past it."""
    allowed = ("curator/", "review/exact_columns.py")
    package = TOP / "src/adomnia"
    past = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in package.rglob("*.py")
        if not str(path.relative_to(package)).startswith(allowed)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in {"_backend", "desk"}
    ]
    assert past == []


def test_a_class_name_has_one_meaning():
    homes: dict[str, list[str]] = {}
    for file in sorted((TOP / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(f"{file.relative_to(TOP)}:{node.lineno}")
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}
