"""Templates escape what they are given, miss nothing silently, and travel with the package."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from adomnia.present.templating import FOLDER, environment, render

TOP = Path(__file__).parents[2]


def test_a_title_is_escaped_and_the_style_is_inside():
    page = render("page.html", {"title": "<b>", "body": "<p>as it is</p>"})
    assert "<title>&lt;b&gt;</title>" in page
    assert "<p>as it is</p>" in page
    assert ".drawing .bar" in page


def test_what_is_missing_is_an_error():
    with pytest.raises(UndefinedError):
        render("page.html", {})


def test_a_folder_of_ones_own_comes_before_the_shared_one(tmp_path):
    (tmp_path / "page.html").write_text("{{ text | sentence }} {{ at | one_line(3) }}")
    own = environment(tmp_path)
    assert own.get_template("page.html").render(text="a <b", at="a\nbcd") == "A &lt;b. a …"
    shared = (FOLDER / "palette.css").read_text("utf-8")
    assert own.get_template("palette.css").render() == shared.rstrip("\n")


def test_the_templates_travel_with_the_package():
    project = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))
    packed = project["tool"]["setuptools"]["package-data"]["adomnia"]
    assert {f"**/*{path.suffix}" for path in FOLDER.iterdir()} <= set(packed)
    assert {"page.html", "audit.html", "release.html"} <= {path.name for path in FOLDER.iterdir()}
