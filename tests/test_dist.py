"""What is handed out: a wheel and an sdist that are whole, and answer where nothing else is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
NEEDED = ("pyproject.toml", "README.md", "LICENSE", "src")
QUESTION = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Both, made from a copy of the sources, so that nothing of an earlier build is in them."""
    place = tmp_path_factory.mktemp("dist")
    copy = place / "copy"
    copy.mkdir()
    for name in NEEDED:
        if (TOP / name).is_dir():
            skipped = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(TOP / name, copy / name, ignore=skipped)
        else:
            shutil.copy(TOP / name, copy / name)
    _run("-m", "build", "--no-isolation", "--outdir", str(place), str(copy))
    return place


def _run(*words: str, python: Path | str = sys.executable, **more) -> str:
    ran = subprocess.run(
        [str(python), *words], capture_output=True, text=True, timeout=500, check=False, **more
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def _sources() -> set[str]:
    """Every file of the package, as it is named in a wheel."""
    files = (file for file in (TOP / "src/adomnia").rglob("*") if file.is_file())
    return {
        file.relative_to(TOP / "src").as_posix()
        for file in files
        if "__pycache__" not in file.parts
    }


def test_nothing_is_missing(built):
    """Every file of the package is in both: code, notes, templates, tables, the mark of types."""
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as opened:
        inside = {name for name in opened.namelist() if name.startswith("adomnia/")}
    assert inside == _sources()
    with tarfile.open(sdist) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {f"src/{name}" for name in _sources()} <= names
    assert {"pyproject.toml", "README.md", "LICENSE"} <= names


def test_the_check_of_the_registry_passes(built):
    said = _run("-m", "twine", "check", "--strict", *map(str, built.glob("adomnia-*")))
    assert said.count("PASSED") == 2


def _asks(python: Path, folder: Path, environment: dict[str, str]) -> None:
    """A small policy is drafted, confirmed and asked, by the script that was installed."""
    rows = "".join(f"{'FM'[n % 2]},{20 + n % 60}\n" for n in range(2000))
    (folder / "people.csv").write_text(f"sex,age\n{rows}", "utf-8")
    more = {"cwd": folder, "env": environment}
    where = _run("-c", "import adomnia; print(adomnia.__file__)", python=python, **more)
    assert Path(where.strip()).is_relative_to(folder)
    script = str(python.parent / "adomnia")
    _run(script, "init", "people.csv", python=python, **more)
    policy = folder / "adomnia.toml"
    policy.write_text(policy.read_text("utf-8").replace("confirmed = false", "confirmed = true"))
    asked = (script, "ask", QUESTION, "--epsilon", "0.5", "--format", "json")
    counts = dict(json.loads(_run(*asked, python=python, **more))["rows"])
    assert set(counts) == {"F", "M"}
    assert all(abs(count - 1000) < 100 for count in counts.values())
    assert "Laplace" in _run(script, "why", "laplace", python=python, **more)


def _installed(folder: Path, wheel: Path, *options: str) -> Path:
    """The Python of a new environment that has the wheel."""
    venv.create(folder / "env", with_pip=False)
    python = folder / "env/bin/python"
    words = ("-m", "pip", "--python", str(python), "install", "--quiet", *options, str(wheel))
    _run(*words, env=_environment())  # a path to the sources would count as installed already
    return python


def _environment(**more: str) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, **more}


def test_the_wheel_answers(built, tmp_path):
    """In an environment of its own, which borrows what the wheel depends on: `.pth` files of a
    folder on PYTHONPATH are not read, so the package that is being developed is not found.
    """
    python = _installed(tmp_path, next(built.glob("*.whl")), "--no-deps")
    _asks(python, tmp_path, _environment(PYTHONPATH=sysconfig.get_path("purelib")))


@pytest.mark.slow
def test_the_wheel_brings_all_it_needs(built, tmp_path):
    """The same with nothing borrowed: what it depends on is installed for it."""
    lock = str(TOP / "requirements.lock")
    python = _installed(tmp_path, next(built.glob("*.whl")), "--constraint", lock)
    _asks(python, tmp_path, _environment())
