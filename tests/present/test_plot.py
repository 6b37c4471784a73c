"""Drawings can be read: axes have ends, lines their own colours and samples, and words say all."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from adomnia.present.drawing.frame import LETTER, WHOLE
from adomnia.present.drawing.pen import COLOURS
from adomnia.present.drawing.plot import Plot, Series, draw
from adomnia.present.drawing.scale import Scale
from adomnia.present.drawing.svg import standalone, style
from adomnia.present.templating import FOLDER


def drawn(*lines, title="Title", **options):
    """The drawing as a tree: it is well-formed XML."""
    return ElementTree.fromstring(draw(Plot(title, "across", "up", lines, **options)))


def texts(tree):
    """All words in the drawing."""
    return [one.text for one in tree.iter("text")]


@pytest.mark.parametrize(
    ("low", "high"), [(0.25, 4), (5.1, 8.9), (3.1, 3.4), (1e-6, 1e5), (7, 7), (0.2, 0.2000001)]
)
def test_a_logarithmic_axis_has_ticks_at_both_ends_around_all_values(low, high):
    axis = Scale.up([low, high], True, None)
    assert axis.low <= low
    assert axis.high >= high
    assert (axis.ticks[0], axis.ticks[-1]) == (axis.low, axis.high)
    assert list(axis.ticks) == sorted(set(axis.ticks))
    shown = axis.spaced(290, lambda tick: 21)
    assert (shown[0], shown[-1]) == (axis.low, axis.high)


@pytest.mark.parametrize("values", [[3, 17], [-4, 4], [0.001, 0.0042], [5]])
def test_an_even_axis_has_ticks_at_both_ends_around_zero_and_all_values(values):
    axis = Scale.up(values, False, None)
    assert axis.low <= min(0, *values, 0)
    assert axis.high >= max(values)
    assert (axis.ticks[0], axis.ticks[-1]) == (axis.low, axis.high)


def test_few_places_are_the_ticks_themselves():
    assert Scale.across([4, 0.25, 1], True).ticks == (0.25, 1, 4)
    assert texts(drawn(Series("a", [0.25, 1, 4], [1, 2, 3]), log_across=True)).count("0.25") == 1


def test_labels_of_an_axis_do_not_touch():
    axis = Scale.across([1, 1.01, 1.02, 50, 99.9, 100], False)
    assert axis.spaced(464, lambda tick: 40) == [1, 50, 100]


def test_eight_lines_have_eight_colours_and_a_sample_each():
    lines = [Series(f"line {i}", [1, 2], [i, i + 1], paper=i % 2 == 1) for i in range(8)]
    paths = list(drawn(*lines).iter("polyline"))
    assert len(paths) == 16
    for i in range(8):
        line, sample = paths[i], paths[i + 8]
        assert f"c{i}" in line.get("class").split()
        assert line.get("class") == sample.get("class")
        assert ("paper" in line.get("class")) == (i % 2 == 1)


def test_every_colour_is_another_one_by_day_and_by_night():
    named = re.findall(r"[.]c([0-7]) { color: var[(]--c([0-7]), (#[0-9a-f]{6})[)]", style())
    assert [pair[:2] for pair in named] == [(str(i), str(i)) for i in range(COLOURS)]
    assert len({colour for *_, colour in named}) == COLOURS
    palette = (FOLDER / "palette.css").read_text("utf-8")
    for part in palette.split("@media"):
        assert len(set(re.findall(r"--c[0-7]: (#[0-9a-f]{6})", part))) == COLOURS


def test_lines_that_are_covered_are_wider_than_those_above():
    same = [Series(name, [1, 2, 3], [5, 6, 7]) for name in "abc"]
    paths = list(drawn(*same, Series("d", [1, 2, 3], [0, 1, 2])).iter("polyline"))[:4]
    assert [path.get("stroke-width") for path in paths] == ["12", "8", "2", "2"]


def test_dots_are_named_apart_from_each_other():
    dots = Series("paper", [1, 1], [4, 4.01], dots=True, paper=True, labels=["EDU", "OCC"])
    tree = drawn(dots, Series("ours", [1, 2], [4, 5]))
    at = {one.text: one for one in tree.iter("text") if one.get("class") == "label"}
    assert set(at) == {"EDU", "OCC"}
    assert abs(float(at["EDU"].get("y")) - float(at["OCC"].get("y"))) >= 15


def test_names_of_dots_keep_clear_of_lines():
    dots = Series("paper", [1, 3], [5, 5], dots=True, labels=["first", "last"])
    tree = drawn(dots, Series("ours", [1, 2, 3], [5, 5, 5]), ends_up=(0, 10))
    line = float(tree.find("polyline").get("points").split()[0].split(",")[1])
    heights = [float(one.get("y")) for one in tree.iter("text") if one.get("class") == "label"]
    assert len(heights) == 2
    assert all(abs(y - 5 - line) > 8 for y in heights)


def test_a_long_title_and_long_names_are_broken_into_lines():
    words = " ".join(["made-up"] * 20)
    tree = drawn(Series(words, [1, 2], [1, 2]), title=words)
    assert max(map(len, texts(tree))) < 75
    assert tree.find("title").text == words


def test_what_is_drawn_is_said_in_words():
    tree = drawn(Series("a < b", [1, 10_000], [0.5, 0.25], [0.1, 0.0]), log_across=True)
    said = tree.find("desc").text
    assert "a < b: 0.5 ± 0.1 at 1, 0.25 at 10,000." in said
    assert "Logarithmic: across." in said
    assert tree.get("role") == "img"
    ids = {one.get("id") for one in tree if one.get("id")}
    assert set(tree.get("aria-labelledby").split()) == ids


def test_values_past_the_ends_stay_inside_the_frame():
    tree = drawn(Series("a", [1, 2], [-9, 9], [1, 1]), ends_up=(0, 1))
    corners = tree.find("polygon").get("points").split()
    frame = next(tree.iter("polyline")).get("points").split()
    assert {float(corner.split(",")[1]) for corner in corners} == {
        float(point.split(",")[1]) for point in frame
    }


def test_levels_and_rings_are_drawn_with_their_names():
    line = Series("ours", [1, 10], [0.5, 0.9], labels=["one", "ten"], ringed=frozenset({1}))
    tree = drawn(line, log_across=True, levels=[("guessing", 0.5)])
    rings = [one for one in tree.iter("circle") if one.get("class") == "ring"]
    assert len(rings) == 1
    assert {"ours", "guessing", "one", "ten", "across"} <= set(texts(tree))
    assert "A level at 0.5: guessing." in tree.find("desc").text


@pytest.mark.parametrize(
    "points", [[], [(1.0, 0.0)], [(1.0, 5.0), (1.0, 5.0)], [(0.001, 1e9), (1e6, 0)]]
)
def test_odd_figures_are_drawn_inside_the_frame(points):
    places, values = [x for x, _ in points], [y for _, y in points]
    line = Series("x", places, values, ringed=frozenset(range(len(points))))
    tree = drawn(line, log_across=True)
    assert "nan" not in ElementTree.tostring(tree, "unicode")
    rings = list(tree.iter("circle"))
    assert len(rings) == len(points)
    assert all(60 <= float(ring.get("cx")) <= 640 for ring in rings)


def test_whole_numbers_have_no_parts_on_their_axis():
    assert Scale.up([0, 0], False, whole=True).ticks == (0, 1)
    assert Scale.up([0, 3], False, whole=True).ticks == (0, 1, 2, 3)
    assert all(tick == int(tick) for tick in Scale.up([0, 47], False, whole=True).ticks)


def test_without_a_heading_the_title_is_read_aloud_only():
    plot = Plot("A title", "across", "up", [Series("a", [1, 2], [1, 2])])
    tree = ElementTree.fromstring(draw(plot, heading=False))
    assert "A title" not in texts(tree)
    assert tree.find("title").text == "A title"


def test_a_file_of_its_own_has_its_style_inside():
    tree = ElementTree.fromstring(standalone(draw(Plot("t", "x", "y", [Series("a", [1], [1])]))))
    space = "{http://www.w3.org/2000/svg}"
    assert tree.tag == f"{space}svg"
    assert "background" in tree.find(f"{space}style").text


@pytest.mark.parametrize("shown", ["2025-02-01", "a rather long name of a place"])
def test_what_stands_below_the_axis_ends_with_the_drawing(shown):
    tree = drawn(Series("a", [0, 1], [1, 2]), show_across=lambda tick: shown)
    middles = [float(one.get("x")) for one in tree.iter("text") if one.text == shown]
    assert middles
    assert max(middles) + LETTER * len(shown) / 2 <= WHOLE
