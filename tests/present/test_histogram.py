"""Histograms: each bar is as high as its count, and has the colour of its side of the bounds."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from adomnia.present.drawing.histogram import TALL, BinnedCounts, histogram

BINS = BinnedCounts((-10.0, 0.0, 10.0, 20.0, 30.0), (1, 4, 0, 2), (0.0, 20.0))


def drawn(bins: BinnedCounts = BINS, labels=("low 0", "high 20")) -> str:
    return histogram(bins, "age <&>", ("-10", "30"), labels)


def test_bars_are_as_high_as_counts_and_coloured_by_side():
    bars = re.findall(r'<rect class="(\w+)" x="([\d.]+)" .*?height="([\d.]+)"', drawn())
    assert [(kind, float(height)) for kind, _, height in bars] == [
        ("outside", TALL / 4), ("bar", float(TALL)), ("outside", TALL / 2)]  # fmt: skip
    assert [float(x) for _, x, _ in bars] == sorted(float(x) for _, x, _ in bars)


def test_bounds_are_lines_with_their_labels():
    picture = drawn()
    assert picture.count('class="level"') == 2
    assert "low 0</text>" in picture
    assert "high 20</text>" in picture


def test_it_is_whole_and_escaped():
    root = ElementTree.fromstring(drawn())
    assert root.attrib["aria-label"] == "age <&>"
    assert "highest bar: 4 values" in drawn()


def test_labels_of_bounds_that_are_near_do_not_lie_on_each_other():
    near = BinnedCounts((0.0, 50.0, 100.0), (1, 1), (49.0, 51.0))
    heights = re.findall(r'y="(\d+)"[^>]*>(?:low|high) \d', drawn(near))
    assert heights == ["14", "30"]


def test_nothing_and_one_value_are_drawn():
    assert 'class="bar"' not in drawn(BinnedCounts((0.0, 1.0), (0,), (0.0, 1.0)))
    assert 'class="bar"' in drawn(BinnedCounts((5.0, 5.0), (3,), (5.0, 5.0)))
