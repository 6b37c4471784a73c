"""Small parts of the console: pointers."""

from __future__ import annotations

from adomnia.errors import QuestionError
from adomnia.server.console.views.pointer import pointer


def test_pointers_stay_within_a_long_line():
    sql = "SELECT " + "a, " * 200 + "b"
    found = pointer(QuestionError("no", sql=sql, position=300))
    assert found.before.startswith("…")
    assert len(found.before + found.at + found.after) <= 122
    assert pointer(QuestionError("no", sql=sql, position=10**6)).at == " "
    assert pointer(QuestionError("no")) is None
