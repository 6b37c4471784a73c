"""Small parts of the console: pointers, amounts in words, pictures."""

from __future__ import annotations

import re
from fractions import Fraction

from adomnia.errors import QuestionError
from adomnia.present.drawing.bars import Bar, bar_chart, stairs
from adomnia.present.formatting import amount, amounts, value
from adomnia.server.console.views.pointer import pointer


def test_pointers_stay_within_a_long_line():
    sql = "SELECT " + "a, " * 200 + "b"
    found = pointer(QuestionError("no", sql=sql, position=300))
    assert found.before.startswith("…")
    assert len(found.before + found.at + found.after) <= 122
    assert pointer(QuestionError("no", sql=sql, position=10**6)).at == " "
    assert pointer(QuestionError("no")) is None


def test_amounts_and_values_are_written_as_people_do():
    assert [amount(given) for given in ("1/10", "1/3", "2")] == ["0.1", "1/3", "2"]
    assert amount(Fraction(10**400)) == "more than 10^308"
    assert amounts({"epsilon": "0", "rho": "1/4"}) == "ρ 0.25"
    assert amounts({}) == "nothing"
    assert [value(None), value(True), value(1234)] == ["NULL", "True", "1,234"]
    assert value(0.53279, 0.012) == "0.533"
    assert value(float("inf"), 1.0) == "∞"


def test_pictures_escape_their_words_and_stay_in_their_frame():
    drawn = bar_chart([Bar("<b>", -5.0, 2.0, "-5 & 2"), Bar("x", 5.0, None, "5")], "<i>")
    assert "<b>" not in drawn
    assert "<i>" not in drawn
    places = [float(place) for place in re.findall(r'x[12]?="(-?[\d.]+)%"', drawn)]
    assert min(places) >= 0
    assert max(places) <= 100
    assert "NaN" not in stairs([(0.0, 0.0)], 0.0, "", ("a", "b"), "nothing")
    assert bar_chart([], "nothing").endswith("</svg>")
