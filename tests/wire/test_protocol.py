"""Words, frames, values and secrets: the parts of the wire, one by one."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.wire.errors import WireError, as_wire_error, error_fields
from adomnia.wire.protocol.messages import MAX_KEPT, MessageBody, read_body
from adomnia.wire.protocol.scram import PLAIN, PLUS, Exchange, make_verifier, parse_first
from adomnia.wire.statements.copy_out import copied, parse_style
from adomnia.wire.statements.cursors import ALL, FetchStep, window
from adomnia.wire.statements.lexer import ClientStatement, TokenStream, split, tokens
from adomnia.wire.statements.results import Outcome
from adomnia.wire.values import types
from adomnia.wire.values.codecs import encode
from adomnia.wire.values.columns import ResultColumn
from adomnia.wire.values.decoding import decode
from adomnia.wire.values.numeric import from_binary, to_binary
from adomnia.wire.values.parse_text import parse_text


def stream(sql: str) -> TokenStream:
    """A text to be read word by word."""
    return TokenStream(ClientStatement(sql, tuple(tokens(sql))))


def test_statements_part_at_semicolons_outside_of_quotes():
    sql = "SELECT ';'; /* ; /* ; */ */ SELECT \"a;b\" ;; -- ;\n SELECT $x$;$x$, E'\\';' ;"
    assert [each.sql for each in split(sql)] == [
        "SELECT ';'",
        'SELECT "a;b"',
        "SELECT $x$;$x$, E'\\';'",
    ]
    for each in split(sql):
        assert sql[each.offset :].startswith(each.sql)
        assert list(each.tokens) == tokens(each.sql)


def test_a_part_of_a_statement_is_a_statement():
    (whole,) = split("  EXPLAIN (FORMAT json) SELECT $1, 'a'")
    words = TokenStream(whole)
    words.expect("EXPLAIN")
    assert words.bracketed().sql == "FORMAT json"
    inner = words.rest()
    assert (inner.sql, inner.offset, inner.first) == ("SELECT $1, 'a'", 22, "SELECT")
    assert [(token.text, token.start) for token in inner.parameters] == [("$1", 7)]
    assert list(inner.tokens) == tokens(inner.sql)


@pytest.mark.parametrize("sql", ["SELECT 'a", 'SELECT "a', "/* a", "$$ a", "'a''b''c"])
def test_what_is_not_closed_is_refused(sql):
    with pytest.raises(WireError) as caught:
        tokens(sql)
    assert caught.value.sqlstate == "42601"
    assert caught.value.position is not None


@given(st.text(alphabet="'\"$;-/*\\ \nabE1.é", max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_or_refused(sql):
    try:
        found = tokens(sql)
    except WireError:
        return
    assert all(sql[token.start : token.end] == token.text for token in found)


def test_commands_are_read_word_by_word():
    words = stream('DECLARE "My C" cursor FOR SELECT 1')
    assert words.expect("DECLARE") == "DECLARE"
    assert words.name() == "My C"
    assert words.accept("NO", "CURSOR") == "CURSOR"
    words.expect("FOR")
    assert words.rest().sql == "SELECT 1"
    with pytest.raises(WireError, match="too early"):
        words.name()


def read(data: bytes, most: int) -> MessageBody:
    """A body read from these bytes."""

    async def go() -> MessageBody:
        stream = asyncio.StreamReader()
        stream.feed_data(data)
        stream.feed_eof()
        return await read_body(stream, most)

    return asyncio.run(go())


def test_messages_are_capped():
    assert read(struct.pack("!i", 8) + b"abcd", 100).rest() == b"abcd"
    with pytest.raises(WireError) as caught:
        read(struct.pack("!i", 2_000_000_000), 4096)
    assert caught.value.fatal
    with pytest.raises(WireError, match="impossible"):
        read(struct.pack("!i", 3), 4096)
    with pytest.raises(EOFError):
        read(struct.pack("!i", 50) + b"abc", 4096)


def test_a_long_message_is_passed_over():
    body = read(struct.pack("!i", MAX_KEPT + 5) + bytes(MAX_KEPT + 1), 64 << 20)
    assert body.data == b""
    with pytest.raises(WireError) as caught:
        body.check()
    assert not caught.value.fatal


@pytest.mark.parametrize("read_it", ["int16", "int32", "text", "value"])
def test_a_body_that_ends_early_is_a_violation(read_it):
    with pytest.raises(WireError) as caught:
        getattr(MessageBody(b"\x01"), read_it)()
    assert caught.value.sqlstate == "08P01"


def test_texts_are_utf8_without_zero_bytes():
    for data in (b"\xff\0", b"\xed\xa0\x80\0"):
        with pytest.raises(WireError) as caught:
            MessageBody(data).text()
        assert caught.value.sqlstate == "22021"


VALUES = [
    (types.INT2, -5), (types.INT4, 70_000), (types.INT8, -(2**40)), (types.OID, 4_000_000_000),
    (types.FLOAT8, 0.1), (types.BOOL, True), (types.BOOL, False), (types.TEXT, "é, \\ \" {"),
    (types.NUMERIC, Decimal("-12345.678900")), (types.DATE, date(1969, 7, 20)),
    (types.TIMESTAMPTZ, datetime(2024, 2, 29, 12, 30, 1, 5, tzinfo=UTC)),
    (types.BYTEA, b"\0\xff"), (1007, [1, None, -3]), (1009, ["a b", 'q"', "", None, "NULL"]),
    (1028, []),
]  # fmt: skip


@pytest.mark.parametrize("form", [0, 1])
@pytest.mark.parametrize(("oid", "value"), VALUES)
def test_values_come_back_as_they_went(oid, value, form):
    assert decode(encode(value, oid, form), oid, form) == value
    assert encode(None, oid, form) is None
    assert decode(None, oid, form) is None


@given(st.decimals(allow_nan=False, allow_infinity=False, places=None))
@settings(max_examples=300, deadline=None)
def test_binary_numerics_are_exact(value):
    if abs(value.adjusted()) > 300:
        return
    assert from_binary(to_binary(value)) == value


def test_numbers_as_postgres_writes_them():
    assert encode(float("inf"), types.FLOAT8, 0) == b"Infinity"
    assert encode(float("nan"), types.FLOAT8, 0) == b"NaN"
    assert encode(3.0, types.INT8, 0) == b"3"
    assert encode(Fraction(1, 4), types.NUMERIC, 0) == b"0.25"
    assert decode(encode(7.0, types.NUMERIC, 1), types.NUMERIC, 1) == 7
    assert decode(to_binary(Decimal("NaN")), types.NUMERIC, 1).is_nan()
    with pytest.raises(WireError):
        encode(2**70, types.INT8, 1)


@pytest.mark.parametrize(
    ("data", "oid", "form", "code"),
    [(b"x", 23, 0, "22P02"), (b"\1", 23, 1, "08P01"), (b"\0\0\0\1", 1007, 1, "08P01"),
     (b"{1", 1007, 0, "22P02"), (b"maybe", 16, 0, "22P02"), (b"2024-13-01", 1082, 0, "22008"),
     (struct.pack("!iiIii", 1, 0, 23, 10**9, 1), 1007, 1, "22P03"),
     (struct.pack("!HhHH", 1, 30000, 0, 0) + b"\0\1", 1700, 1, "22P03"),
     (b"\x7f\xff\xff\xff", 1082, 1, "22008")],
)  # fmt: skip
def test_malformed_parameters_are_refused(data, oid, form, code):
    with pytest.raises(WireError) as caught:
        decode(data, oid, form)
    assert caught.value.sqlstate == code


def test_cursors_move_as_in_postgres():
    rows = lambda step, at: (list(window(step, at, 5)[0]), window(step, at, 5)[1])  # noqa: E731
    assert rows(FetchStep(2), 0) == ([0, 1], 2)
    assert rows(FetchStep(ALL), 2) == ([2, 3, 4], 6)
    assert rows(FetchStep(-2), 6) == ([4, 3], 4)
    assert rows(FetchStep(-ALL), 3) == ([1, 0], 0)
    assert rows(FetchStep(-1), 0) == ([], 0)
    assert rows(FetchStep(0), 3) == ([2], 3)
    assert rows(FetchStep(-1, "ABSOLUTE"), 0) == ([4], 5)
    assert rows(FetchStep(3, "ABSOLUTE"), 5) == ([2], 3)
    assert rows(FetchStep(1, "RELATIVE"), 5) == ([], 6)


def test_copies_are_written_as_asked():
    columns = [ResultColumn("a", types.TEXT), ResultColumn("b,c", types.INT8)]
    outcome = Outcome("SELECT {}", columns, [("x\ty", 1), ('q"', None)])
    text = copied(outcome, parse_style(stream("")))
    assert b"".join(text.copy) == b'x\\ty\t1\nq"\t\\N\n'
    csv = copied(outcome, parse_style(stream("WITH (FORMAT csv, HEADER true, NULL '-')")))
    assert b"".join(csv.copy) == b'a,"b,c"\nx\ty,1\n"q""",-\n'
    old = copied(outcome, parse_style(stream("CSV DELIMITER ';'")))
    assert b"".join(old.copy) == b'x\ty;1\n"q""";\n'
    binary = copied(outcome, parse_style(stream("(FORMAT binary)")))
    assert b"".join(binary.copy).startswith(b"PGCOPY\n\xff\r\n\0")
    assert binary.tag == "COPY 2"
    with pytest.raises(WireError):
        parse_style(stream("(FORMAT parquet)"))


def client_final(challenge: str, secret: str, bare: str, binding: bytes) -> bytes:
    """What a client proves itself with."""
    nonce, salt, count = (part[2:] for part in challenge.split(","))
    salted = hashlib.pbkdf2_hmac("sha256", secret.encode(), base64.b64decode(salt), int(count))
    key = hmac.digest(salted, b"Client Key", "sha256")
    start = f"c={base64.b64encode(binding).decode()},r={nonce}"
    said = f"{bare},{challenge},{start}".encode()
    sign = hmac.digest(hashlib.sha256(key).digest(), said, "sha256")
    proof = bytes(a ^ b for a, b in zip(key, sign, strict=True))
    return f"{start},p={base64.b64encode(proof).decode()}".encode()


@pytest.mark.parametrize(
    ("mechanism", "header", "sent", "passes"),
    [
        (PLAIN, "n,,", b"n,,", True),
        (PLUS, "p=tls-server-end-point,,", b"p=tls-server-end-point,,certificate", True),
        (PLUS, "p=tls-server-end-point,,", b"p=tls-server-end-point,,another", False),
        (PLAIN, "n,,", b"y,,", False),
    ],
)
def test_scram_binds_what_it_should(mechanism, header, sent, passes):
    end_point = b"certificate"
    first = parse_first(mechanism, f"{header}n=,r=abcdefghijkl".encode(), end_point)
    exchange = Exchange(first, make_verifier("secret", b"salt" * 4), end_point)
    challenge = exchange.challenge.decode()
    good = exchange.finish(client_final(challenge, "secret", first.bare, sent))
    assert (good is not None) == passes
    assert exchange.finish(client_final(challenge, "guess", first.bare, sent)) is None


def test_scram_sees_an_offer_that_was_taken_out():
    with pytest.raises(WireError, match="channel binding"):
        parse_first(PLAIN, b"y,,n=,r=abcdefghijkl", b"certificate")
    assert parse_first(PLAIN, b"y,,n=,r=abcdefghijkl", None).nonce == "abcdefghijkl"


@pytest.mark.parametrize(
    "data",
    [b"", b"n,,", b"\xff", b"n,,n=,r=", b"p=other,,n=,r=abcdefghijkl", b"n,x,n=,r=abcdefghi"],
)
def test_scram_refuses_what_is_malformed(data):
    with pytest.raises(WireError):
        parse_first(PLAIN, data, None)


def test_foreign_errors_are_shown_by_kind_alone():
    fields = error_fields(as_wire_error(ValueError("Zzvienna 42")))
    assert fields["M"] == "the machinery failed (ValueError)"
    assert fields["C"] == "XX000"
    assert "Zz" not in str(fields)


@pytest.mark.parametrize("oid", [16, 17, 20, 26, 701, 1007, 1082, 1114, 1700, 2950])
@pytest.mark.parametrize("text", ["1" * 300_000 + "x", " " * 300_000 + "x", "1-" * 150_000])
def test_a_long_value_is_read_once(oid, text):
    """Not again for each of its characters: that would keep everybody waiting."""
    with pytest.raises(WireError):
        parse_text(f"\\x{text}" if oid == 17 else text, oid)
