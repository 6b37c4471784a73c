"""Bars, gauges and stairs: words are escaped, everything stays in its frame."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from adomnia.present.drawing.bars import THIN, Bar, bar_chart
from adomnia.present.drawing.gauges import meter, share_gauge
from adomnia.present.drawing.key_graph import KeyedTable, key_graph
from adomnia.present.drawing.stairs import stairs
from adomnia.present.drawing.svg import element, text


def test_pictures_escape_their_words_and_stay_in_their_frame():
    drawn = bar_chart([Bar("<b>", -5.0, 2.0, "-5 & 2"), Bar("x", 5.0, None, "5")], "<i>")
    assert "<b>" not in drawn
    assert "<i>" not in drawn
    places = [float(place) for place in re.findall(r'x[12]?="(-?[\d.]+)%"', drawn)]
    assert min(places) >= 0
    assert max(places) <= 100
    assert "NaN" not in stairs([(0.0, 0.0)], 0.0, "", ("a", "b"), "nothing")
    assert bar_chart([], "nothing").endswith("</svg>")


def test_a_gauge_names_its_baseline():
    assert "knowing &lt;nothing" in share_gauge(0.5, (0.4, 0.6), 0.1, "knowing <nothing")
    assert 'text-anchor="end"' in share_gauge(0.9, (0.9, 0.9), 0.9, "x")


@pytest.mark.parametrize(("spent", "mood"), [(0.1, "calm"), (0.9, "low"), (1.0, "gone")])
def test_a_meter_says_what_it_shows(spent, mood):
    drawn = ElementTree.fromstring(meter(spent, 1.0, "Budget: <x>", "a & b"))
    assert drawn.get("class") == f"meter {mood}"
    assert drawn.get("aria-label") == "Budget: <x>"
    assert drawn.get("aria-valuetext") == "a & b"
    assert float(drawn.get("aria-valuenow")) == spent


def test_very_many_bars_are_thin_and_without_words():
    bars = [Bar(f"b{i}", i, 1.0, str(i)) for i in range(100)]
    drawn = ElementTree.fromstring(bar_chart(bars, "many", most=400))
    assert int(drawn.get("height")) == 100 * THIN
    assert not list(drawn.iter("text"))
    few = ElementTree.fromstring(bar_chart(bars, "many"))
    assert len(list(few.iter("text"))) == 120


def test_elements_escape_and_leave_out_what_is_none():
    assert element("a", x=1.50, class_="b", text_anchor=None) == '<a x="1.5" class="b"/>'
    assert element("a", title='"<') == '<a title="&quot;&lt;"/>'
    assert text("<x>", 0, 1.25) == '<text x="0" y="1.25">&lt;x&gt;</text>'


def test_tables_stand_to_the_right_of_what_they_refer_to():
    tables = {
        "people": KeyedTable("the unit"),
        "visits": KeyedTable("4 rows are used", {"person": "people"}),
        "notes<": KeyedTable("", {"visit": "visits", "author": "people"}),
    }
    drawn = ElementTree.fromstring(key_graph(tables, "tables & keys"))
    assert drawn.get("aria-label") == "tables & keys"
    boxes = [float(box.get("x")) for box in drawn.iter("rect")]
    assert boxes == sorted(boxes)
    assert len(set(boxes)) == 3
    words = [one.text for one in drawn.iter("text")]
    assert {"people", "visits", "notes<", "person", "visit", "author"} <= {*words}
    assert len(list(drawn.iter("polyline"))) == 2 * 3
