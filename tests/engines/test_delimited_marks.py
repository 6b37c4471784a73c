"""One row more never changes how another is read: marks of byte order, quotes, ragged lines."""

from __future__ import annotations

import io
import random
from collections import Counter

import pytest

from adomnia.engines.duckdb import delimited
from adomnia.engines.duckdb.delimited import LONGEST, _Form, _lines, _shortened, _tables

MARK = b"\xef\xbb\xbf"
FIELDS = [
    b"", b" ", b"\0", b"a\0b", b"\xff", b"\xc3", b"\x85", b"\xe2\x80\xa8", b"'", b'a"b', b'"q"',
    b'"q""r"', b'"q"z', b"\r", b"\\", MARK, MARK + b"x", MARK * 2 + b"x", b"x" + MARK, b"x", b"NA",
    b'""', b"\xc3\xa9", b"\xff\xfe", b"\xfe\xff",
]  # fmt: skip


def rows(lines: list[bytes], form: _Form) -> Counter:
    text = b"head\n" + b"".join(line + b"\n" for line in lines)
    tables = _tables(_lines(io.BytesIO(text)), form)
    return Counter(tuple(row.values()) for table in tables for row in table.to_pylist())


@pytest.mark.parametrize("piece", [1 << 23, 7])
def test_a_row_more_is_a_row_more(piece, monkeypatch):
    """Also where pieces are so short that each has few lines."""
    monkeypatch.setattr(delimited, "CHUNK", piece)
    chance = random.Random(piece)
    for _ in range(3000):
        form = _Form(",", ("a", "b")[: chance.choice([1, 2])], ())

        widths = [len(form.names)] * 4 + [1, 2, 3]
        *lines, more = (
            b",".join(chance.choice(FIELDS) for _ in range(chance.choice(widths)))
            for _ in range(chance.randint(1, 6))
        )
        place = chance.randrange(len(lines) + 1)
        before, after = rows(lines, form), rows([*lines[:place], more, *lines[place:]], form)
        assert sum(((before - after) + (after - before)).values()) <= 1


@pytest.mark.parametrize("other", [b'"y",2', b"y,2,3", b"y\0,2"])
def test_files_put_behind_each_other_are_read_alike(other):
    form = _Form(",", ("a", "b"), ())
    lines = [MARK + b"x,1", b"y,2"]
    found = rows([*lines, other], form) - rows(lines, form)
    assert sum(found.values()) == 1
    assert rows(lines, form) == Counter({("x", "1"): 1, ("y", "2"): 1})


def test_a_long_line_is_cut_and_others_stay():
    text = b"a\n" + b"x" * (LONGEST + 5) + b"\nb\n"
    assert _shortened(text) == b"a\n" + b"x" * LONGEST + b"\nb\n"
    assert _shortened(b"x" * LONGEST + b"\n" + b"y\n") == b"x" * LONGEST + b"\ny\n"
