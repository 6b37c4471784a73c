"""Names of columns that refer to a table or are its key, as people give them."""

from __future__ import annotations

from adomnia.review.column_words import CERTAIN, IDS, column_words

__all__ = ["LIKELY", "NONE", "STRONG", "agreement", "has_id_word", "is_count_of", "key_rank",
           "singulars"]  # fmt: skip

STRONG, LIKELY, NONE = 2, 1, 0
"""How clearly a column's name says which table it refers to."""

IRREGULAR = {"people": "person", "children": "child", "staff": "employee"}
LEAST_PREFIX = 3
"""Letters of a short form, such as `pat` of `patients`."""


def singulars(word: str) -> frozenset[str]:
    """A word itself, and what it may be the plural of.

    >>> sorted(singulars("diagnoses"))
    ['diagnos', 'diagnose', 'diagnoses', 'diagnosis']
    """
    found = {word, IRREGULAR.get(word, word)}
    if word.endswith("ies"):
        found.add(f"{word[:-3]}y")
    if word.endswith("es"):
        found |= {word[:-2], f"{word[:-2]}is"}
    if word.endswith("s") and not word.endswith("ss"):
        found.add(word[:-1])
    return frozenset(found)


def agreement(column: str, table: str, key: str) -> int:
    """How clearly a column's name says that it refers to a table with this key.

    >>> [agreement(name, "patients", "id") for name in ("patient_id", "patie_no", "age")]
    [2, 1, 0]
    >>> agreement("o_custkey", "customer", "c_custkey"), agreement("id", "patients", "id")
    (2, 0)
    """
    said, named, own = _stem(column), column_words(table), _stem(key)
    if not said or not named:
        return NONE
    ends = singulars(named[-1])
    if said == own or (said[-1] in ends and said[:-1] in ([], named[:-1])):
        return STRONG
    short = len(said) == 1 and len(said[0]) >= LEAST_PREFIX
    if said[-1] in ends or (short and any(end.startswith(said[0]) for end in ends)):
        return LIKELY
    return NONE


def has_id_word(column: str) -> bool:
    """Whether a name says that it tells one from another: `patient_id`, `custkey`."""
    words = column_words(column)
    return bool(words) and (bool(IDS & {words[0], words[-1]}) or words[-1].endswith("key"))


def is_count_of(column: str, table: str) -> bool:
    """Whether a column is called as the table, in the plural: then it may say how many."""
    words, named = column_words(column), column_words(table)
    return bool(words and named) and words[-1] == named[-1] and len(singulars(words[-1])) > 1


def key_rank(column: str, table: str) -> int:
    """How well a name suits a table's key: `id` and `patient_id` best, then other identifiers."""
    words, named = column_words(column), column_words(table)
    stem = _stem(column)
    if (words and not stem) or (named and stem and stem[-1] in singulars(named[-1])):
        return 3
    if words and words[-1] in CERTAIN:
        return 2
    return 1 if has_id_word(column) else 0


def _stem(column: str) -> list[str]:
    """A name without what says that it is an identifier, or whose column it is: `patient` of
    `patient_id`, `cust` of `o_custkey`; nothing of `id`."""
    words = column_words(column)
    if len(words) > 1 and len(words[0]) <= 2 and words[0] not in IDS:
        words = words[1:]
    if words and words[-1] in IDS:
        words = words[:-1]
    elif words and words[0] in IDS:
        words = words[1:]
    if words and words[-1].endswith("key") and len(words[-1]) > LEAST_PREFIX:
        words = [*words[:-1], words[-1].removesuffix("key")]
    return words
