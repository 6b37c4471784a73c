"""Mathematics as the notes write it, `e^(−βt)·A_t(x) ≤ ∑_{i≠j} x_i`, set as MathML.

The notes are read in editors and terminals, so their formulas are plain text. Here each run of
formula in a paragraph becomes MathML, which browsers set without a script or a font of ours.
"""

from __future__ import annotations

import re
from html import escape, unescape

from tools.handbook.mathml import fence, letter, operator, plain_row, scripts
from tools.handbook.tokens import (
    BREAKS,
    CLOSE,
    FUNCTIONS,
    OPEN,
    PROSE,
    RELATIONS,
    Token,
    tokenize,
)

__all__ = ["typeset", "typeset_html"]

ARTICLES = frozenset({"a", "A", "I"})
"""Letters that are words too: alone, they stay as they are."""
_BARS = frozenset("|‖∣")
_KEPT = "code|pre|a|math|h1|h2|h3|script|style"
_SILENT = re.compile(rf"(<(?:{_KEPT})\b.*?</(?:{_KEPT})>|<[^>]+>)", re.DOTALL)


class _NoFormulaError(Exception):
    """What was begun as a formula is prose."""


def typeset_html(page: str) -> str:
    """A page with the formulas of its texts set; code, links and headings stay as they are."""
    pieces = _SILENT.split(page)
    return "".join(
        piece if index % 2 else typeset(unescape(piece)) for index, piece in enumerate(pieces)
    )


def typeset(text: str) -> str:
    """The HTML of a text whose formulas are MathML."""
    tokens = tokenize(text)
    made, index = [], 0
    while index < len(tokens):
        run = _Run(tokens, index)
        formula = run.formula()
        if formula:
            made.append(formula)
            index = run.index
        else:
            made.append(escape(text[tokens[index].start : tokens[index].end], quote=False))
            index += 1
    return "".join(made)


class _Run:
    """A formula that begins at a token, read as far as it goes."""

    def __init__(self, tokens: list[Token], index: int) -> None:
        self.tokens, self.index = tokens, index

    def formula(self) -> str:
        """MathML of the longest formula from here, or nothing where there is only prose."""
        begin = self.index
        before = self.tokens[begin - 1] if begin else None
        if before and (before.kind in ("word", "letter", "number") or before.text in "'’"):
            return ""
        if self._kind() == "space":
            return ""
        chunks, plain = self._sequence(outer=True)
        if not chunks or (plain and not self._stands_for_a_variable(begin)):
            self.index = begin
            return ""
        return " ".join(f"<math>{chunk}</math>" for chunk in chunks)

    def _stands_for_a_variable(self, begin: int) -> bool:
        """Whether what was read, without any operator, is a letter and no word or number."""
        first = self.tokens[begin]
        return first.kind == "letter" and first.text not in ARTICLES

    def _sequence(self, outer: bool, until: str = "") -> tuple[list[str], bool]:
        """Operands and operators up to where prose begins, or to the closing bracket.

        Outside brackets a new chunk begins at every relation, so that lines can break there.
        """
        chunks: list[list[str]] = [[]]
        plain, good = True, (self.index, 0, 0)
        expects = True
        while self.index < len(self.tokens):
            spaced = self._skip()
            token = self._token()
            if token is None or (until and token.text == until and not expects):
                break
            if expects and (operand := self._signed_operand(outer, bool(chunks[-1]))):
                chunks[-1].append(operand[0])
                plain, expects = plain and operand[1], False
                good = (self.index, len(chunks), len(chunks[-1]))
            elif not expects and (infix := self._infix(token, spaced, until)):
                if outer and (infix in RELATIONS or len("".join(chunks[-1])) > 700):
                    chunks.append([])
                chunks[-1].append(operator(infix, "" if chunks[-1] else "first"))
                plain, expects = False, infix not in ("!", "…") or self._follows_operand()
                if not expects:
                    good = (self.index, len(chunks), len(chunks[-1]))
            elif not expects and (joined := self._juxtaposed(token, spaced, outer)):
                chunks[-1].append(joined)
                plain = False
                good = (self.index, len(chunks), len(chunks[-1]))
            else:
                break
        if until:
            if expects or self._text() != until:
                raise _NoFormulaError
            return ["".join(chunk) for chunk in chunks], plain
        self.index, whole, last = good
        kept = [*chunks[: max(0, whole - 1)], chunks[whole - 1][:last]] if whole else []
        return ["".join(chunk) for chunk in kept], plain

    def _infix(self, token: Token, spaced: bool, until: str) -> str:
        """The operator between two operands that stands here, read; or nothing."""
        text = token.text
        if token.kind != "mark":
            return ""
        if text in "<>" or text in BREAKS or text in "/!" or (text == "*" and spaced):
            if text == ":" and not until:
                return ""
        elif (text in _BARS and spaced and self._space_after()) or (text in ",;" and until):
            pass
        elif text == "." and self._text(1) == "." and not spaced:
            self.index += 1
            text = ".."
        elif text == "-" and spaced and self._space_after():
            text = "−"
        else:
            return ""
        if text == "/" and spaced != self._space_after():
            return ""
        self.index += 1
        return text

    def _signed_operand(self, outer: bool, inside: bool) -> tuple[str, bool] | None:
        """An operand, with its sign before it; and whether it is nothing but a name or number."""
        begin, signs = self.index, ""
        while self._text() in ("−", "±", "+", "-", "~") and self._kind() == "mark":
            signs += operator(self._text().replace("-", "−"), "prefix")
            self.index += 1
        try:
            operand, plain = self._operand(word=inside or not outer or self._leads_a_relation())
        except _NoFormulaError:
            self.index = begin
            return None
        return signs + operand, plain and not signs

    def _leads_a_relation(self) -> bool:
        """Whether an operator follows the word that stands here, as in `high − low`."""
        after = self.index + 1
        while after < len(self.tokens) and self.tokens[after].kind == "space":
            after += 1
        if after == self.index + 1 or after + 1 >= len(self.tokens):
            return False
        spaced = self.tokens[after + 1].kind == "space"  # else it is a sign, as in `for −1`
        return spaced and self.tokens[after].text in BREAKS - {":", "…"}

    def _juxtaposed(self, token: Token, spaced: bool, outer: bool) -> str:
        """What stands beside an operand without an operator: a product or an argument."""
        if token.kind in ("word", "number") and (spaced or token.kind == "word"):
            known = token.text in FUNCTIONS or self._is_product(token)
            if not known or (spaced and self._is_product(token)):
                return ""
        if spaced and (token.text in ARTICLES or token.text in OPEN or token.text in _BARS):
            return ""
        if spaced and outer and self._before_space() in ARTICLES:
            return ""
        if token.kind == "mark" and token.text not in OPEN and token.text not in "‖√|":
            return ""
        begin = self.index
        try:
            operand, _ = self._operand(word=token.kind == "word", attached=not spaced)
        except _NoFormulaError:
            self.index = begin
            return ""
        return ("<mspace width='0.17em'></mspace>" if spaced else "") + operand

    def _operand(self, word: bool, attached: bool = False) -> tuple[str, bool]:
        """An atom with its indices and powers."""
        base, plain, large = self._atom(word, attached)
        below = above = ""
        while True:
            token = self._token()
            if token is None:
                break
            if token.kind == "raised":
                above += plain_row(token.text)
                self.index += 1
            elif token.kind == "lowered":
                below += plain_row(token.text.removeprefix("(").removesuffix(")"))
                self.index += 1
            elif token.text in "^_" and token.kind == "mark" and self._text(1).strip():
                self.index += 1
                if token.text == "^":
                    above += self._script()
                else:
                    below += self._script()
            else:
                break
        if not below and not above:
            return base, plain
        return scripts(base, below, above, large), False

    def _script(self) -> str:
        """What `^` or `_` raises or lowers: a bracket without its brackets, or one atom."""
        text = self._text()
        if text in ("(", "{"):
            return self._bracket(text, shown=False)
        sign = ""
        if text in ("−", "-", "+", "*"):
            sign = operator(text.replace("-", "−"), "prefix")
            self.index += 1
            if text in "+*" and self._kind() not in ("letter", "number"):
                return sign
        return sign + self._atom(word=True)[0]

    def _atom(self, word: bool, attached: bool = False) -> tuple[str, bool, bool]:
        """A name, a number, a bracket, a root or a large operator."""
        token = self._token()
        if token is None:
            raise _NoFormulaError
        text = token.text
        if token.kind == "mark":
            return (*self._marked(text, attached), False)
        if token.kind == "word" and not (text in FUNCTIONS or self._is_product(token) or word):
            raise _NoFormulaError
        if token.kind in ("space", "raised", "lowered") or text in PROSE:
            raise _NoFormulaError
        self.index += 1
        if token.kind == "word" and not self._is_product(token):
            if text in FUNCTIONS and self._text() != "(" and not word:
                raise _NoFormulaError
            return f"<mi mathvariant='normal'>{escape(text)}</mi>", True, False
        if token.kind == "word":
            return "".join(f"<mi>{one}</mi>" for one in text), True, False
        if token.kind in ("number", "fraction"):
            return f"<mn>{text}</mn>", True, False
        if token.kind == "large":
            return f"<mo>{text}</mo>", False, True
        return letter(text), True, False

    def _marked(self, text: str, attached: bool) -> tuple[str, bool]:
        """An atom that begins with a mark: a bracket, bars, a root, dots, infinity."""
        if text in OPEN:
            return self._bracket(text, words=attached), False
        if text in _BARS:
            return self._bars(text), False
        if text == "√":
            self.index += 1
            if self._text() == "(":
                return f"<msqrt>{self._bracket('(', shown=False)}</msqrt>", False
            return f"<msqrt>{self._operand(word=False)[0]}</msqrt>", False
        if text in "…∞∅":
            self.index += 1
            return f"<mi>{text}</mi>", True
        raise _NoFormulaError

    def _bracket(self, text: str, shown: bool = True, words: bool = False) -> str:
        """A bracket and what is inside, to its end."""
        close, begin = OPEN[text], self.index
        self.index += 1
        try:
            inside, _ = self._sequence(outer=False, until=close)
            body = "".join(inside)
        except _NoFormulaError:
            if not words:
                raise
            body = self._worded(begin, close)
        if shown and not words and not any(map(self._is_symbol, self.tokens[begin : self.index])):
            raise _NoFormulaError  # words in brackets are arguments only after a name
        self.index += 1
        return f"{fence(text)}{body}{fence(close)}" if shown else f"<mrow>{body}</mrow>"

    def _worded(self, begin: int, close: str) -> str:
        """Short prose as an argument, as in `P(right guess)`."""
        self.index, said = begin + 1, ""
        while (token := self._token()) and token.text != close:
            if token.text in OPEN or token.text in CLOSE or len(said) > 40:
                raise _NoFormulaError
            said += token.text
            self.index += 1
        if token is None or not said.strip():
            raise _NoFormulaError
        return f"<mtext>{escape(said)}</mtext>"

    def _bars(self, text: str) -> str:
        """What lies between two equal bars, without a space after the first: a size or a norm."""
        self.index += 1
        if self._kind() == "space":
            raise _NoFormulaError
        inside, _ = self._sequence(outer=False, until=text)
        self.index += 1
        return f"{fence(text)}{''.join(inside)}{fence(text)}"

    def _is_product(self, token: Token) -> bool:
        """Whether a word of two letters is two variables beside each other."""
        return token.kind == "word" and len(token.text) == 2 and token.text not in PROSE | FUNCTIONS

    def _is_symbol(self, token: Token) -> bool:
        """Whether a token can be nothing but mathematics, or a number."""
        return token.kind in ("letter", "number", "large") or self._is_product(token)

    def _follows_operand(self) -> bool:
        """Whether an operand stands right here, as after the dots of `1, …, n`."""
        token = self._token()
        return token is not None and (token.kind in ("letter", "number") or token.text in OPEN)

    def _before_space(self) -> str:
        return self.tokens[self.index - 2].text if self.index > 1 else ""

    def _skip(self) -> bool:
        """Pass over a space, and say whether there was one."""
        spaced = self._kind() == "space"
        self.index += spaced
        return spaced

    def _space_after(self) -> bool:
        return self._kind(1) in ("space", "")

    def _token(self) -> Token | None:
        return self.tokens[self.index] if self.index < len(self.tokens) else None

    def _text(self, ahead: int = 0) -> str:
        index = self.index + ahead
        return self.tokens[index].text if index < len(self.tokens) else ""

    def _kind(self, ahead: int = 0) -> str:
        index = self.index + ahead
        return self.tokens[index].kind if index < len(self.tokens) else ""
