"""Plain mathematics cut into tokens: numbers, letters, words, operators."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["BREAKS", "CLOSE", "FUNCTIONS", "OPEN", "PROSE", "RELATIONS", "Token", "tokenize"]

RELATIONS = frozenset("=<>≤≥≠≈∈∉∋∝⊆⊂⊇⊑→↦≪≫:")
BREAKS = frozenset("+−±·×∪∩∖⊗⊕…") | RELATIONS
"""Operators that stand between two operands; what is not here binds its neighbours closely."""
OPEN = {"(": ")", "[": "]", "{": "}", "⌈": "⌉", "⌊": "⌋", "⟨": "⟩"}
CLOSE = frozenset(OPEN.values())
LARGE = frozenset("∑∏∫⋃")
FUNCTIONS = frozenset({
    "exp", "log", "ln", "min", "max", "sup", "inf", "mod", "Var", "Cov", "Pr", "sign", "erf",
    "sin", "cos", "deg", "rank", "median", "argmax", "argmin", "gcd", "diag",
})  # fmt: skip
PROSE = frozenset({
    "an", "as", "at", "be", "by", "do", "go", "he", "if", "in", "is", "it", "me", "my", "no",
    "of", "on", "or", "so", "to", "up", "us", "we", "vs", "eg", "ie", "am", "An", "As", "At",
    "By", "Do", "He", "If", "In", "Is", "It", "No", "Of", "On", "Or", "So", "To", "We",
})  # fmt: skip
"""Words of two letters that are no product of two variables."""

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀᵗ", "0123456789+−Tt")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉₍₎₊₋ₓ", "0123456789()+−x")
_PATTERN = re.compile(
    r"""(?P<space>[ \n]+)
    |(?P<number>\d+(?:,\d{3})+(?!\d)|\d+\.\d+|\d+)
    |(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀᵗ]+)
    |(?P<lowered>[₀₁₂₃₄₅₆₇₈₉₍₎₊₋ₓ]+)
    |(?P<word>[A-Za-zÀ-ÖØ-öø-ɏ]{2,}(?:[-'][A-Za-z]+)*)
    |(?P<letter>[A-Za-zŜēΑ-Ωα-ωℓℤ\U0001d49c-\U0001d4cf][̂̄]*(?:['′]+(?![A-Za-z]))?)
    |(?P<large>[∑∏∫⋃])
    |(?P<fraction>[½¼])
    |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """A piece of the text: its kind, what it says, where it begins and ends."""

    kind: str
    text: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """The tokens of a text, all of it; raised and lowered digits as plain ones of their kind."""
    tokens: list[Token] = []
    for match in _PATTERN.finditer(text):
        kind, found = match.lastgroup or "mark", match.group()
        if kind == "raised":
            found = found.translate(_RAISED)
        elif kind == "lowered":
            found = found.translate(_LOWERED)
        tokens.append(Token(kind, found, match.start(), match.end()))
    return tokens
