"""COPY (question) TO STDOUT: an answer as a stream of text, CSV or binary rows."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adomnia.wire.errors import WireError, placed
from adomnia.wire.statements.lexer import TokenStream
from adomnia.wire.statements.query_handler import QueryHandler
from adomnia.wire.statements.results import Command, Outcome
from adomnia.wire.values.codecs import encoders
from adomnia.wire.values.columns import ResultColumn

__all__ = ["CopyStyle", "copied", "copy_command", "parse_style"]

_SIGNATURE = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)
_ESCAPES = str.maketrans({
    "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
})  # fmt: skip


@dataclass(frozen=True)
class CopyStyle:
    """How the rows are written."""

    form: str = "text"
    header: str = ""
    delimiter: str = ""
    null: str | None = None
    quote: str = '"'
    escape: str = ""

    @property
    def separator(self) -> str:
        """What stands between two values."""
        return self.delimiter or ("," if self.form == "csv" else "\t")

    @property
    def nothing(self) -> str:
        """How NULL is written."""
        return ("" if self.form == "csv" else "\\N") if self.null is None else self.null


async def copy_command(
    handler: QueryHandler, words: TokenStream, declared: Sequence[int]
) -> Command:
    """`COPY (SELECT …) TO STDOUT …`."""
    if words.next != "(":
        hint = "COPY (SELECT …) TO STDOUT copies an answer"
        raise WireError("rows of a table cannot be copied, in or out", hint, "42501")
    inner = words.bracketed()
    words.expect("TO")
    words.expect("STDOUT")
    style = parse_style(words)
    with placed(inner.offset):
        command = await handler.query(inner, declared)

    async def run(values: Sequence[Any]) -> Outcome:
        return copied((await command.run(values)).cut(command.columns()), style)

    return Command(run, parameters=command.parameters)


def parse_style(words: TokenStream) -> CopyStyle:
    """What follows STDOUT: `[WITH] (FORMAT csv, HEADER, …)`, or the words of older versions."""
    words.accept("WITH")
    style = CopyStyle()
    if words.accept("("):
        while True:
            style = _option(words, style)
            if words.expect(",", ")") == ")":
                break
    else:
        while words.next:
            style = _old_option(words, style)
    words.end()
    for sign in (style.separator, style.quote, style.escape or style.quote):
        if len(sign) != 1 or sign in "\r\n":
            raise WireError("a delimiter, a quote and an escape are one character", "", "22023")
    return style


def _option(words: TokenStream, style: CopyStyle) -> CopyStyle:
    name = words.token("word").upper
    value = ""
    if words.next not in (",", ")"):
        value = words.token("word", "string", "escaped", "number").value
    if name == "FORMAT" and value in ("text", "csv", "binary"):
        return replace(style, form=value)
    if name == "HEADER":
        return replace(style, header="" if value.lower() in ("false", "off", "0") else "on")
    if name in _SIGNS:
        return replace(style, **{name.lower(): value})
    if name == "ENCODING" and value.lower().replace("-", "") == "utf8":
        return style
    words.at -= 1
    words.fail()


def _old_option(words: TokenStream, style: CopyStyle) -> CopyStyle:
    name = words.expect("CSV", "BINARY", "HEADER", *_SIGNS)
    if name in ("CSV", "BINARY"):
        return replace(style, form=name.lower())
    if name == "HEADER":
        return replace(style, header="on")
    words.accept("AS")
    return replace(style, **{name.lower(): words.token("string", "escaped").value})


_SIGNS = ("DELIMITER", "NULL", "QUOTE", "ESCAPE")


def copied(outcome: Outcome, style: CopyStyle) -> Outcome:
    """The rows of an outcome as the data of a COPY, one piece for each."""
    columns = outcome.columns or ()
    data = list(_PIECES[style.form](columns, outcome.rows, style))
    return replace(
        outcome,
        tag=f"COPY {len(outcome.rows)}",
        rows=(),
        copy=data,
        copy_form=int(style.form == "binary"),
    )


def _text(
    columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]], style: CopyStyle
) -> list[bytes]:
    def write(value: str) -> str:
        plain = value.translate(_ESCAPES)
        return plain.replace(style.separator, "\\" + style.separator) if style.delimiter else plain

    return _lines(columns, rows, style, write)


def _csv(
    columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]], style: CopyStyle
) -> list[bytes]:
    special = {style.separator, style.quote, "\r", "\n"}

    def write(value: str) -> str:
        if value and value != style.nothing and not special & set(value) and value != "\\.":
            return value
        escape = style.escape or style.quote
        inner = value.replace(escape, escape * 2)
        if escape != style.quote:
            inner = inner.replace(style.quote, escape + style.quote)
        return style.quote + inner + style.quote

    return _lines(columns, rows, style, write)


def _lines(
    columns: Sequence[ResultColumn],
    rows: Sequence[Sequence[Any]],
    style: CopyStyle,
    write: Callable[[str], str],
) -> list[bytes]:
    makers = encoders([column.oid for column in columns], [0] * len(columns))
    lines = [[write(column.name) for column in columns]] if style.header else []
    for row in rows:
        values = [maker(value) for maker, value in zip(makers, row, strict=True)]
        lines.append([style.nothing if v is None else write(v.decode()) for v in values])
    return [(style.separator.join(line) + "\n").encode() for line in lines]


def _binary(
    columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]], style: CopyStyle
) -> list[bytes]:
    makers = encoders([column.oid for column in columns], [1] * len(columns))
    pieces = [_SIGNATURE]
    for row in rows:
        parts = [struct.pack("!h", len(columns))]
        for maker, value in zip(makers, row, strict=True):
            data = maker(value)
            parts.append(struct.pack("!i", -1 if data is None else len(data)) + (data or b""))
        pieces.append(b"".join(parts))
    pieces[0:2] = [b"".join(pieces[0:2])]  # clients expect the signature with the first row
    return [*pieces, struct.pack("!h", -1)]


_PIECES: Mapping[
    str, Callable[[Sequence[ResultColumn], Sequence[Sequence[Any]], CopyStyle], list[bytes]]
] = {
    "text": _text,
    "csv": _csv,
    "binary": _binary,
}
