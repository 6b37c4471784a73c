"""Every table gets a picture that suits it: with axes, names and figures, and safe words."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from adomnia.present.drawing.bars import Bar, bar_chart
from adomnia.present.drawing.pyramid import PyramidSide, pyramid
from adomnia.present.table_chart import CountedTable, table_chart

AGES = tuple(range(30))
MONTHS = tuple(date(2025, month, 1) for month in range(1, 13))
SEXES = ("F", "<M>")
TOWNS = tuple(f"town {i}" for i in range(9))


def table(**sides: tuple) -> CountedTable:
    shape = [len(side) for side in sides.values()]
    counts = np.arange(np.prod(shape)).reshape(shape)
    return CountedTable(list(sides), list(sides.values()), counts, np.full(shape, 3.0))


def drawn(one: CountedTable) -> tuple[ElementTree.Element, str]:
    """The picture, and all words in it."""
    picture = ElementTree.fromstring(table_chart(one))
    return picture, " ".join("".join(part.itertext()) for part in picture.iter())


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (table(age=AGES), ["age", "count"]),
        (table(month=MONTHS), ["month", "count", "2025-01-01"]),
        (table(age=AGES, sex=SEXES), ["sex F", "sex <M>", "age", "count"]),
        (table(sex=SEXES, month=MONTHS), ["sex F", "month", "count"]),
        (table(town=TOWNS, band=TOWNS), ["town", "band", "town 3", "80"]),
        (table(age=AGES, town=TOWNS), ["age", "town", "269 ± 3"]),
        (table(sex=SEXES, town=TOWNS), ["F, town 0", "count", "17 ± 3"]),
        (table(age=(*AGES, None)), ["age", "count"]),
    ],
)
def test_a_picture_has_axes_and_names(one, words):
    _, said = drawn(one)
    assert all(word in said for word in words), said
    assert "NaN" not in said


def test_a_pyramid_is_of_two_groups_and_a_heat_map_of_many_pairs():
    marks = table_chart(table(age=AGES, sex=SEXES))
    assert marks.count("<rect") == 2 * len(AGES)
    heat = table_chart(table(town=TOWNS, band=TOWNS))
    assert heat.count('class="heat"') == len(TOWNS) ** 2 + 5


def test_all_stays_in_its_frame():
    for one in (table(age=AGES, sex=SEXES), table(town=TOWNS, band=TOWNS)):
        picture, _ = drawn(one)
        wide, high = (float(part) for part in picture.get("viewBox").split()[2:])
        for part in picture.iter():
            for name, most in (("x", wide), ("x1", wide), ("x2", wide), ("y", high), ("y1", high)):
                assert 0 <= float(part.get(name, 0)) <= most + 0.01


STEPS = {
    "years": [str(i) for i in range(100)],
    "bands": [f"{5 * i} to {5 * i + 4} years" for i in range(20)],
    "words": [f"a step with a very long name, {i}" for i in range(8)],
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("most", [3, 98_765, 1_234_567, 9_876_543_210])
@pytest.mark.parametrize("name", ["sex", "sex of the person as it was written down"])
def test_what_is_written_at_a_pyramid_is_whole_and_covers_nothing(steps, most, name):
    sides = [
        PyramidSide(f"{name} {group}", [most * (i + 1) / len(steps) for i in range(len(steps))],
                    [most / 50] * len(steps))
        for group in "FM"
    ]  # fmt: skip
    made = pyramid(steps, (sides[0], sides[1]), ("People", f"{name}, in steps", "count"))
    picture = ElementTree.fromstring(made)
    wide = float(picture.get("viewBox").split()[2])
    lines = {}
    for part in picture.iter("text"):
        half = 7.9 * len(part.text) / 2 * (1.1 if part.get("class") == "title" else 1)
        x = float(part.get("x"))
        assert 0 <= x - half <= x + half <= wide
        lines.setdefault(part.get("y"), []).append((x - half, x + half))
    for found in lines.values():
        assert all(left[1] <= right[0] for left, right in pairwise(sorted(found)))
    names = [part for part in picture.iter("text") if part.text[:9] in {s[:9] for s in steps}]
    half = max(7.9 * len(part.text) / 2 for part in names)
    for bar in picture.iter("rect"):
        near = min(abs(float(bar.get("x")) - wide / 2),
                   abs(float(bar.get("x")) + float(bar.get("width")) - wide / 2))  # fmt: skip
        assert near >= half


def test_a_certain_zero_has_no_margin_and_says_so():
    one = table(sex=SEXES)
    sure = CountedTable(one.names, one.sides, np.array([7, 0]), np.array([3.0, 0.0]))
    picture = table_chart(sure)
    assert "0, for certain" in picture
    assert "7 ± 3" in picture


def test_what_is_too_large_for_a_picture_has_none():
    assert table_chart(table(a=tuple("abcdefghij"), b=TOWNS, c=TOWNS)) == ""


def test_an_axis_of_bars_has_ticks_beneath_them():
    bars = [Bar("a", 730, 20, "730"), Bar("b", -80, 20, "-80")]
    plain, named = bar_chart(bars, "t"), bar_chart(bars, "t", axis="people")
    assert "people" in named
    assert "people" not in plain
    high = [int(float(ElementTree.fromstring(one).get("height"))) for one in (plain, named)]
    assert high[1] > high[0]
    assert "800" in named
