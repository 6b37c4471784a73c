"""If it is written, it runs: the examples of the README and of docs/, and what they list."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from pyarrow import csv

import adomnia
from adomnia.cli.demo.census import census_rows
from adomnia.cli.main import VERBS, cli
from adomnia.policy.sections import SECTIONS

TOP = Path(__file__).parents[1]
PAGES = ["README.md", *(f"docs/{path.name}" for path in sorted((TOP / "docs").glob("*.md")))]
ATTACKS = [f"docs/attacks/{path.name}" for path in sorted((TOP / "docs/attacks").glob("*.md"))]
RUN = [page for page in (*PAGES, *ATTACKS) if " run\n" in (TOP / page).read_text("utf-8")]
UNDRAFTED = ("README.md", "docs/cli.md", "docs/tutorial.md")
"""Pages that make a policy themselves; the others speak of one that is there."""
DRAFT = "adomnia init people.csv && sed -i 's/confirmed = false/confirmed = true/' adomnia.toml"
BLOCK = re.compile(r"^```(\w+)( run)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def read(page: str) -> str:
    return (TOP / page).read_text("utf-8")


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with a CSV of made-up people, `adomnia` on the path, and chance from a seed."""
    csv.write_csv(census_rows(0, 3000, np.random.default_rng(7)), tmp_path / "people.csv")
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    monkeypatch.setenv("PATH", places)
    sources = os.pathsep.join([str(TOP / "src"), str(TOP / "tests/chance")])
    monkeypatch.setenv("PYTHONPATH", sources)  # of this checkout; with its sitecustomize.py
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", RUN)
def test_marked_examples_run(page, desk):
    """The blocks marked `run`, in the order of the page and in one folder."""
    marked = [(kind, text) for kind, run, text in BLOCK.findall(read(page)) if run]
    assert marked
    if page not in UNDRAFTED:
        marked.insert(0, ("sh", DRAFT))
    program = {"sh": ["bash", "-euc"], "python": [sys.executable, "-c"]}
    for kind, text in marked:
        ran = subprocess.run(
            [*program[kind], text], capture_output=True, text=True, timeout=400, check=False
        )
        assert ran.returncode == 0, ran.stderr


def test_the_example_policy_and_every_sql_example_is_answered(desk):
    policy = next(text for kind, _, text in BLOCK.findall(read("docs/policy.md")) if kind == "toml")
    policy = policy.replace("people.parquet", "people.csv").replace("4.0", "40.0")
    income = "\n[attributes.income]\nlow = 0\nhigh = 200000\n"
    (desk / "adomnia.toml").write_text(policy + income)
    (block,) = [text for kind, _, text in BLOCK.findall(read("docs/sql.md")) if kind == "sql"]
    with adomnia.open() as database:
        for statement in block.strip().splitlines():
            assert database.session().ask(statement, epsilon=1).rows, statement


def test_every_key_of_the_policy_is_documented_and_no_other():
    """Each `## [section]` has a table whose first column names exactly the known keys."""
    documented = {}
    for part in read("docs/policy.md").split("\n## ")[1:]:
        section = re.match(r"`\[+(\w+)", part).group(1)
        cells = re.findall(r"^\| (`.+?) \|", part, re.MULTILINE)
        documented[section] = {key for cell in cells for key in re.findall(r"`(\w+)`", cell)}
    assert documented == {name: set(kind.__struct_fields__) for name, kind in SECTIONS.items()}


def test_every_verb_and_option_is_documented():
    page = read("docs/cli.md")
    parts = {part.split()[1].strip("`"): part for part in page.split("\n## `")[1:]}
    common = page.split("\n## ")[0]
    assert set(parts) >= set(VERBS)
    for name, verb in ((name, cli.get_command(None, name)) for name in VERBS):
        about = parts[name] + common
        for option in verb.params:
            if isinstance(option, click.Option):
                assert any(flag in about for flag in option.opts), (name, option.opts)


def test_contributing_names_what_is_there():
    """Files and folders by their place in the package or in the project, commands of make."""
    text = read("CONTRIBUTING.md")
    named = re.findall(r"`([\w./]+(?:/[\w.]+|\.(?:py|md|yml|toml|lock)))`", text)
    paths = [name for name in named if "NAME" not in name and not name.startswith("build/")]
    assert len(paths) > 10
    roots = (TOP, TOP / "src/adomnia")
    assert [path for path in paths if not any((root / path).exists() for root in roots)] == []
    made = re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE)
    assert set(re.findall(r"`make (\w+)`", text)) <= set(made)


def test_the_readme_is_short_and_its_figures_can_be_filled():
    text = read("README.md")
    assert len(text.split()) < 700
    assert len(text.splitlines()) < 80
    figures = re.findall(r"<!-- figure-(\w+) -->\n- \*\*.+\n<!-- /figure-\1 -->", text)
    assert len(figures) == 3
    for name in figures:
        assert f'readme.figure("{name}"' in read(f"benchmarks/{name}.py")


HABITS = ["CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]


@pytest.mark.parametrize("page", [*PAGES, *ATTACKS, *HABITS, "benchmarks/README.md"])
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)\)", read(page))
    here = (TOP / page).parent
    assert all(link.startswith("https://") or (here / link).exists() for link in links)


def test_the_picture_shows_a_real_answer():
    picture = read("docs/answer.svg")
    assert "±" in picture
    assert "receipt" in picture
