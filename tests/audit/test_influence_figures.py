"""The paper's figures are drawn by one command, and an interrupt leaves what is done."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

SCRIPT = Path(__file__).parents[2] / "experiments/no_free_lunch/figures.py"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("figures")
    subprocess.run(
        [sys.executable, SCRIPT, "--runs", "60", "--out", out],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return out


@pytest.mark.parametrize("name", ["figure2", "figure3", "figure4", "figure5"])
def test_each_figure_has_lines_and_bands(drawn, name):
    picture = ElementTree.parse(drawn / f"{name}.svg").getroot()
    marks = [part.tag.split("}")[1] for part in picture.iter()]
    assert marks.count("polyline") == marks.count("polygon") == 3
    assert picture.get("aria-label")
    points = json.loads((drawn / "figures.json").read_text("utf-8"))[name]
    assert len(points) == 11
    assert all(point["runs"] == 60 for point in points)


def test_the_table_has_every_reading_and_the_paper(drawn):
    text = (drawn / "forest_fire.txt").read_text("utf-8")
    page = (drawn / "forest_fire.html").read_text("utf-8")
    for word in ("literal", "any-link", "at-least-one", "the paper", "≈ 119", "≈ 240"):
        assert word in text
        assert word in page
