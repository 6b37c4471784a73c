"""The elements of MathML that formulas are made of."""

from __future__ import annotations

import re
from html import escape

__all__ = ["fence", "letter", "operator", "plain_row", "scripts"]


def letter(text: str) -> str:
    """A variable, with its primes."""
    name, primes = text.rstrip("'′"), len(text) - len(text.rstrip("'′"))
    upright = " mathvariant='normal'" if name in "ℤ" else ""
    return f"<mi{upright}>{name}</mi>" + (f"<mo {_TIGHT}>{'′' * primes}</mo>" if primes else "")


_TIGHT = "lspace='0' rspace='0'"
_SPACES = {"/": _TIGHT, "!": _TIGHT, "..": "lspace='0.1em' rspace='0.1em'"}
_FORMS = {"prefix": "form='prefix' " + _TIGHT, "first": "form='infix' lspace='0' rspace='0.28em'"}


def operator(text: str, place: str = "") -> str:
    """An operator; before its operand, or the first of a line, it has other spaces around it."""
    spaces = _FORMS.get(place) or _SPACES.get(text, "")
    return f"<mo {spaces}>{escape(text)}</mo>" if spaces else f"<mo>{escape(text)}</mo>"


def fence(text: str) -> str:
    """A bracket or a bar, as high as a letter."""
    return f"<mo stretchy='false' {_TIGHT}>{escape(text)}</mo>"


def plain_row(text: str) -> str:
    """Raised or lowered digits, signs and letters, one by one."""
    tags = {"+": "mo", "−": "mo", "T": "mi", "t": "mi", "x": "mi"}
    pieces = re.findall(r"\d+|.", text)
    return "".join(f"<{tags.get(one, 'mn')}>{one}</{tags.get(one, 'mn')}>" for one in pieces)


def scripts(base: str, below: str, above: str, large: bool) -> str:
    """Indices and powers; under and over where the operator is a large one."""
    row, low, high = f"<mrow>{base}</mrow>", f"<mrow>{below}</mrow>", f"<mrow>{above}</mrow>"
    if large:
        row = base
    if below and above:
        tag = "munderover" if large else "msubsup"
        return f"<{tag}>{row}{low}{high}</{tag}>"
    if below:
        tag = "munder" if large else "msub"
        return f"<{tag}>{row}{low}</{tag}>"
    tag = "mover" if large else "msup"
    return f"<{tag}>{row}{high}</{tag}>"
