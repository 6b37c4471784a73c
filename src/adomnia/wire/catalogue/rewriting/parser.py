"""Reading: a client's statement as a tree that holds nothing but what is allowed."""

from __future__ import annotations

import logging
import re
from functools import lru_cache

import sqlglot
from sqlglot import Token, TokenType, exp

from adomnia.wire.catalogue.errors import (
    CatalogueError,
    undefined_function,
    unsupported,
)
from adomnia.wire.catalogue.macros import EMULATED, TABLE_MACROS
from adomnia.wire.catalogue.rewriting.functions import NATIVE, STRUCTURE, TYPED, name_of
from adomnia.wire.catalogue.types import REGISTRIES

__all__ = ["check", "read"]

MOST_CHARACTERS, MOST_WORDS, MOST_DEPTH, MOST_NESTED = 100_000, 10_000, 64, 200
MOST_KEPT = 8_000
_WORD = re.compile(r"\w+|[^\w\s]")
_NESTED = re.compile(
    r"\b(?:not|case|join|union|except|intersect|is|collate)\b|::|\]\s*\[|[-+~!@]\s*(?=[-+~!@])"
    r"|\w\s*\.\s*\w+\s*\.\s*\w",
    re.IGNORECASE,
)
VERBS = {TokenType.DELETE, TokenType.INSERT, TokenType.SELECT, TokenType.TABLE, TokenType.UPDATE}
IDENTIFIERS = {"oid", *REGISTRIES}
REWRITTEN = {
    "all", "any", "clock_timestamp", "now", "pg_typeof", "set_config",
    "statement_timestamp", "to_regclass", "to_regnamespace", "to_regproc", "to_regrole",
    "to_regtype", "transaction_timestamp",
}  # fmt: skip
"""Functions that are replaced before DuckDB sees the statement."""

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it would quote statements


def read(sql: str) -> exp.Query:
    """The one query of a text, to be changed by whoever asked for it; or an error.

    Drivers send a statement to be described, then run, then run again, so short ones are kept.
    """
    return _kept(sql).copy() if len(sql) <= MOST_KEPT else _parsed(sql)


@lru_cache(maxsize=64)
def _kept(sql: str) -> exp.Query:
    return _parsed(sql)


def _parsed(sql: str) -> exp.Query:
    _measure(sql)
    try:
        trees = sqlglot.parse(_plain(sql), read="postgres")
    except Exception:  # the parser's own failures on odd text are the text's fault here
        raise CatalogueError("syntax error", sqlstate="42601") from None
    statements = [each for each in trees if each is not None]
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise CatalogueError("the catalogue answers one query at a time", sqlstate="42601")
    return statements[0]


def check(tree: exp.Query) -> None:
    """Refuse whatever is not on the list of what a question about the catalogue may hold."""
    for node in tree.walk():
        if isinstance(node, exp.Anonymous):
            name = name_of(node)
            if name not in EMULATED | NATIVE.keys() | TABLE_MACROS | REWRITTEN:
                raise undefined_function(f"{name}()")
        elif type(node) not in TYPED and type(node) not in STRUCTURE:
            raise unsupported(type(node).__name__.upper())


def _measure(sql: str) -> None:
    """Bound a text before the parser sees it, which is neither linear nor deep in odd ones."""
    depth = deepest = 0
    for sign in sql[: MOST_CHARACTERS + 1]:
        depth += (sign in "([{") - (sign in ")]}")
        deepest = max(deepest, depth)
    counts = (
        (len(sql), MOST_CHARACTERS),
        (deepest, MOST_DEPTH),
        (len(_WORD.findall(sql)), MOST_WORDS),
    )
    if any(count > most for count, most in counts) or len(_NESTED.findall(sql)) > MOST_NESTED:
        raise CatalogueError("this statement is too long or too deep", sqlstate="54001")


def _plain(sql: str) -> str:
    """The text without `pg_catalog.`, which is looked into first anyway.

    An array of oids gets it instead, since the parser knows `oid[]` only with a schema; and a
    column that is called as a verb is (`AS update`) gets quotes.
    """
    tokens = sqlglot.tokenize(sql, read="postgres")
    pieces, at, place = [], 0, 0
    while place < len(tokens):
        token = tokens[place]
        if _is_schema(tokens, place):
            pieces.append(sql[at : token.start])
            place += 2
            at = tokens[place].start if place < len(tokens) else len(sql)
            continue
        if _is_array(tokens, place):
            pieces += [sql[at : token.start], "pg_catalog."]
            at = token.start
        elif _is_name(tokens, place):
            pieces += [sql[at : token.start], f'"{token.text.lower()}"']
            at = token.end + 1
        place += 1
    return "".join(pieces) + sql[at:]


def _is_schema(tokens: list[Token], place: int) -> bool:
    following = tokens[place + 1 : place + 2]
    named = tokens[place].text.lower() == "pg_catalog"
    text = tokens[place].token_type == TokenType.STRING
    return named and not text and [each.token_type for each in following] == [TokenType.DOT]


def _is_array(tokens: list[Token], place: int) -> bool:
    following = [each.token_type for each in tokens[place + 1 : place + 3]]
    brackets = [TokenType.L_BRACKET, TokenType.R_BRACKET]
    return tokens[place].text.lower() in IDENTIFIERS and following == brackets


def _is_name(tokens: list[Token], place: int) -> bool:
    before = tokens[place - 1].token_type if place else None
    return tokens[place].token_type in VERBS and before in (TokenType.ALIAS, TokenType.DOT)
