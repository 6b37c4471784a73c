"""The binary form of `numeric`: groups of four decimal digits."""

from __future__ import annotations

import struct
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

__all__ = ["as_decimal", "from_binary", "to_binary"]

_NEGATIVE, _NAN, _INFINITE, _MINUS_INFINITE = 0x4000, 0xC000, 0xD000, 0xF000
_SPECIAL = {_NAN: "NaN", _INFINITE: "Infinity", _MINUS_INFINITE: "-Infinity"}
_DIGITS = Context(prec=38)


def as_decimal(value: Any) -> Decimal:
    """A number as a decimal; of a fraction and a float the nearest short one."""
    if isinstance(value, Fraction):
        exact = Decimal(value.numerator)
        return exact if value.denominator == 1 else _DIGITS.divide(exact, value.denominator)
    if isinstance(value, float):
        return Decimal(int(value)) if value.is_integer() else Decimal(repr(value))
    return Decimal(value)


def to_binary(value: Decimal) -> bytes:
    """The value as PostgreSQL sends it: counts, weight, sign, scale, groups of digits."""
    if not value.is_finite():
        sign = _NAN if value.is_nan() else _INFINITE if value > 0 else _MINUS_INFINITE
        return struct.pack("!HhHH", 0, 0, sign, 0)
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)) + "0" * max(exponent, 0)
    scale = max(-exponent, 0)
    whole, part = (text[:-scale] or "0", text[-scale:].zfill(scale)) if scale else (text, "")
    whole = whole.zfill(-(-len(whole) // 4) * 4)
    part = part.ljust(-(-len(part) // 4) * 4, "0")
    groups = [int((whole + part)[i : i + 4]) for i in range(0, len(whole + part), 4)]
    weight = len(whole) // 4 - 1
    while groups and groups[0] == 0:
        groups, weight = groups[1:], weight - 1
    while groups and groups[-1] == 0:
        groups.pop()
    head = struct.pack("!HhHH", len(groups), weight if groups else 0, sign * _NEGATIVE, scale)
    return head + struct.pack(f"!{len(groups)}H", *groups)


def from_binary(data: bytes) -> Decimal:
    """The value that PostgreSQL's binary form says; struct.error where it is cut short."""
    count, weight, sign, scale = struct.unpack_from("!HhHH", data)
    groups = struct.unpack(f"!{count}H", data[8:])
    if sign in _SPECIAL:
        return Decimal(_SPECIAL[sign])
    if abs(weight) > 1000 or scale > 4000 or any(group > 9999 for group in groups):
        raise ValueError("not a numeric")
    total = sum(Fraction(group) * Fraction(10000) ** (weight - i) for i, group in enumerate(groups))
    digits = Fraction(total) * 10**scale
    sign_bit = 1 if sign == _NEGATIVE else 0
    return Decimal((sign_bit, tuple(map(int, str(int(digits)))), -scale))
